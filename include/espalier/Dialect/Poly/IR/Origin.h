//===- Origin.h - The operators that computations are of --------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_ORIGIN_H
#define ESPALIER_DIALECT_POLY_IR_ORIGIN_H

#include "mlir/IR/Location.h"
#include "llvm/ADT/SmallVector.h"

namespace espalier::poly {
class KernelOp;

/// What a computation is of that merely moves elements, and that no operator
/// asks for.
inline constexpr llvm::StringLiteral kMoveOrigin = "copy";

/// The location of a computation that is written for an operator called
/// `name`, without its dialect: `matmul`.
mlir::Location getOrigin(mlir::Location loc, llvm::StringRef name);
/// The same for `op`.
mlir::Location getOrigin(mlir::Operation *op);

/// The operator that a computation at `loc` is of; empty if that is not known.
llvm::StringRef getOperator(mlir::Location loc);

/// The operators that the computations of a kernel are of, once each and in
/// order. A mere move counts if there is nothing else.
llvm::SmallVector<llvm::StringRef> getOperators(KernelOp kernel);

/// The location without that.
mlir::Location getSource(mlir::Location loc);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_IR_ORIGIN_H
