//===- Access.h - What an access touches ------------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_TUNING_ACCESS_H
#define ESPALIER_LIB_TUNING_ACCESS_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinTypes.h"

namespace espalier::tuning {

/// Bytes of a line of a cache.
inline constexpr int64_t kLine = 64;

/// The points along each dimension of a computation.
using Box = llvm::SmallVector<int64_t>;

/// An access that is no register. Two digits of an index, as packed operands
/// have them, are that index: `(j floordiv 16, k, j mod 16)` is `(k, j)`.
struct Access {
  /// Joins the digits of \p map, and the dimensions of \p type that they are
  /// of.
  Access(mlir::AffineMap map, mlir::MemRefType type, bool isWrite);

  mlir::AffineMap map;
  mlir::MemRefType type;
  bool isWrite;
  /// Whether rows of digits are parts of lines, and so share these with others.
  bool sharesLines = false;

  bool dependsOn(unsigned dim) const { return map.isFunctionOfDim(dim); }
  int64_t getBytes() const {
    mlir::Type element = type.getElementType();
    return element.isIntOrFloat()
               ? llvm::divideCeil(element.getIntOrFloatBitWidth(), 8)
               : 8;
  }
  /// How far apart the elements of two neighbours along `dim` are in the last
  /// dimension of the array: nothing if not only there.
  std::optional<int64_t> getStride(unsigned dim) const;
  /// Elements that all points of a box touch together, and their lines.
  double countElements(const Box &box) const;
  double countLines(const Box &box) const;
};

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_ACCESS_H
