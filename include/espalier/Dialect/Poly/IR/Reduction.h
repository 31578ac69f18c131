//===- Reduction.h - What a reduction accumulates ---------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_REDUCTION_H
#define ESPALIER_DIALECT_POLY_IR_REDUCTION_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

namespace espalier::poly {

/// How the body of a computation updates an element: `x = x op value`, as often
/// as it likes, with one `op`.
struct ReductionUpdate {
  unsigned read; ///< Number of the read of the element that is written.
  /// The operation of `arith` that combines two partial results.
  mlir::StringAttr combiner;
  /// Combining with it changes nothing.
  mlir::TypedAttr neutral;

  /// Emits the combination of two partial results.
  mlir::Value combine(mlir::OpBuilder &builder, mlir::Location loc,
                      mlir::Value lhs, mlir::Value rhs) const;
};

/// The numbers of the reads whose access is that of a write.
llvm::SmallVector<unsigned> getUpdateReads(ComputeOp compute);

/// The number of the read of the element of each write, if there is one for
/// each and its value decides neither what else is accessed nor where the
/// computation runs.
std::optional<llvm::SmallVector<unsigned>> getElementReads(ComputeOp compute);

/// What changes nothing when `combiner`, an operation of `arith` by name,
/// combines it with another value of `type`; null if it combines nothing.
mlir::TypedAttr getNeutral(llvm::StringRef combiner, mlir::Type type);

/// What is expected of an atomic reduction, and what `compute` is instead;
/// empty if it may be one.
std::string findAtomicFault(ComputeOp compute);

/// How memory combines a value with an element, for an atomic reduction.
mlir::arith::AtomicRMWKind getAtomicKind(ComputeOp compute);

/// The operations that combine, by name.
llvm::SmallVector<llvm::StringRef> getCombiners();

/// The update that `compute` makes, if it writes one element, reads that once,
/// and its body combines it as `kind` says with values that do not depend on
/// it, in any order.
std::optional<ReductionUpdate> matchReduction(ComputeOp compute,
                                              Reduction kind);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_IR_REDUCTION_H
