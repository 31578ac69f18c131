//===- Accesses.h - What keeps accesses inside arrays -----------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_ANALYSIS_ACCESSES_H
#define ESPALIER_DIALECT_POLY_ANALYSIS_ACCESSES_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// An extent of an argument that neither its type nor `poly.shape` states: only
/// the kernel's callers know it.
struct UnstatedExtent {
  unsigned argument;
  unsigned dim;
};

/// Those of all arguments, in their order.
llvm::SmallVector<UnstatedExtent> getUnstatedExtents(KernelOp kernel);

/// The extent of `array` that its type, its sizes or `poly.shape` states, over
/// the kernel's parameters; null if nothing does.
mlir::AffineExpr getStatedExtent(mlir::Value array, unsigned dim);

/// Sizes for which an access would be outside of its array.
struct ForbiddenSizes {
  /// What is expected of sizes.
  std::string message;
  /// The sizes are in one of these sets without dimensions. Symbols are the
  /// parameters, then the unstated extents; constraints need not be affine.
  llvm::SmallVector<mlir::IntegerSet> sets;
};

/// The sizes with which `kernel` would leave its arrays where
/// `poly-verify-accesses` does not look: at extents that nothing states, and at
/// indices and extents that are not affine. Of the latter, some sizes may be
/// found for which nothing would happen. Emits an error where values that
/// nothing bounds decide, or where it cannot be told.
mlir::FailureOr<llvm::SmallVector<ForbiddenSizes>>
findForbiddenSizes(KernelOp kernel);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_ANALYSIS_ACCESSES_H
