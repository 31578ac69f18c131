//===- Reduction.h - What a reduction accumulates ---------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_REDUCTION_H
#define ESPALIER_DIALECT_POLY_IR_REDUCTION_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// How the body of a computation updates an element: `x = x op value`, as often
/// as it likes, with one `op`.
struct ReductionUpdate {
  unsigned read;  ///< Number of the read of the element.
  unsigned write; ///< Number of the write, of the same access.
  /// The operation of `arith` that combines two partial results.
  mlir::StringAttr combiner;
  /// Combining with it changes nothing.
  mlir::TypedAttr neutral;

  /// Emits the combination of two partial results.
  mlir::Value combine(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value lhs, mlir::Value rhs) const;
};

/// The update that `compute` makes, if its body combines as `kind` says with a
/// value that does not depend on the element, in any order.
std::optional<ReductionUpdate> matchReduction(ComputeOp compute,
                                              Reduction kind);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_IR_REDUCTION_H
