//===- Arrays.h - Arrays on the command line --------------------*- C++ -*-===//

#ifndef ESPALIER_TOOLS_ESPALIERRUN_ARRAYS_H
#define ESPALIER_TOOLS_ESPALIERRUN_ARRAYS_H

#include "espalier-c/Runtime.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <vector>

namespace espalier::run {

/// A dense array that owns its elements.
class Array {
public:
  Array(int32_t dtype, std::vector<int64_t> extents);

  /// Parses "2x3xf32=iota": extents and type, then the values: a number for all
  /// elements, a list of numbers, `iota` for 0, 1, 2, ..., or `random`, numbers
  /// from -1 to 1 that are the same every time. Without values, 0.
  static llvm::Expected<Array> parse(llvm::StringRef text);

  espalier_tensor getTensor();
  int64_t getNumElements() const;
  double get(int64_t index) const;
  void set(int64_t index, double value);

  /// Prints extents, type and elements: "2xf32 = [1, 2]".
  void print(llvm::raw_ostream &os) const;

private:
  void printElements(llvm::raw_ostream &os, size_t dim, int64_t &index) const;

  int32_t dtype;
  std::vector<int64_t> extents;
  /// Of a type that is aligned enough for all elements.
  std::vector<uint64_t> storage;
};

} // namespace espalier::run

#endif // ESPALIER_TOOLS_ESPALIERRUN_ARRAYS_H
