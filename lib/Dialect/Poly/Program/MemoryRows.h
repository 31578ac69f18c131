//===- MemoryRows.h - Rows of what a program's buffers view -----*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_PROGRAM_MEMORYROWS_H
#define ESPALIER_LIB_DIALECT_POLY_PROGRAM_MEMORYROWS_H

#include "mlir/IR/OpDefinition.h"

namespace espalier::poly {

/// A product of a number and sizes.
struct SizeProduct {
  int64_t number = 1;
  llvm::SmallVector<mlir::Value> sizes; ///< In the order of their addresses.

  bool operator==(const SizeProduct &other) const {
    return number == other.number && sizes == other.sizes;
  }
  bool operator!=(const SizeProduct &other) const { return !(*this == other); }
  void multiply(mlir::OpFoldResult factor);
};

/// A buffer of a program: the memory that it views, and the elements of one
/// point of its first dimension, one point after the other from the first
/// element on; nothing if they do not lie so.
struct MemoryRows {
  mlir::Value memory;
  std::optional<SizeProduct> row;
};
MemoryRows getMemoryRows(mlir::Value buffer);

/// Whether memory is nobody else's: an argument of the function, an allocation
/// or a constant.
bool isOwnMemory(mlir::Value memory);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_PROGRAM_MEMORYROWS_H
