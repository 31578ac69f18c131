//===- Arrays.h - Arrays on the command line --------------------*- C++ -*-===//

#ifndef ESPALIER_TOOLS_ESPALIERRUN_ARRAYS_H
#define ESPALIER_TOOLS_ESPALIERRUN_ARRAYS_H

#include "espalier-c/Runtime.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/raw_ostream.h"
#include <cstdlib>
#include <memory>
#include <vector>

namespace espalier::run {

/// A dense array that owns its elements.
class Array {
public:
  /// An array of zeros; fails where there is no memory for it.
  static llvm::Expected<Array> create(int32_t dtype,
                                      std::vector<int64_t> extents);

  /// Parses extents and type, "2x3xf32", for an array of zeros.
  static llvm::Expected<Array> parse(llvm::StringRef text);

  /// Sets the elements: a number for all of them, a list of numbers, `iota` for
  /// 0, 1, 2, ..., or `random`, numbers from -1 to 1 that are the same every
  /// time. An empty text leaves them.
  llvm::Error fill(llvm::StringRef values);

  espalier_tensor getTensor();
  int64_t getNumElements() const { return numElements; }
  double get(int64_t index) const;
  /// Fails if the type has no such number.
  llvm::Error set(int64_t index, double value);

  /// Prints extents, type and elements: "2xf32 = [1, 2]".
  void print(llvm::raw_ostream &os) const;

private:
  Array(int32_t dtype, std::vector<int64_t> extents, int64_t numElements,
        void *storage)
      : dtype(dtype), extents(std::move(extents)), numElements(numElements),
        storage(storage, std::free) {}
  void printElements(llvm::raw_ostream &os, size_t dim, int64_t &index) const;

  int32_t dtype;
  std::vector<int64_t> extents;
  int64_t numElements;
  /// Memory that a large array does not use is not touched.
  std::unique_ptr<void, void (*)(void *)> storage;
};

} // namespace espalier::run

#endif // ESPALIER_TOOLS_ESPALIERRUN_ARRAYS_H
