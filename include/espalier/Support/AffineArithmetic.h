//===- AffineArithmetic.h - Affine operations as arith ----------*- C++ -*-===//

#ifndef ESPALIER_SUPPORT_AFFINEARITHMETIC_H
#define ESPALIER_SUPPORT_AFFINEARITHMETIC_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/AffineExpr.h"

namespace espalier {

/// Emits an affine operation on two values of one type; quotients are rounded
/// as their kind says, and remainders have the sign of the divisor. `flags` are
/// those of sums and products.
inline mlir::Value
emitAffineOperation(mlir::OpBuilder &builder, mlir::Location loc,
                    mlir::AffineExprKind kind, mlir::Value lhs, mlir::Value rhs,
                    mlir::arith::IntegerOverflowFlags flags =
                        mlir::arith::IntegerOverflowFlags::none) {
  namespace arith = mlir::arith;
  switch (kind) {
  case mlir::AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, lhs, rhs, flags);
  case mlir::AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs, flags);
  case mlir::AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
  case mlir::AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(builder, loc, lhs, rhs);
  default: {
    mlir::Value quotient = arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
    mlir::Value whole =
        arith::MulIOp::create(builder, loc, quotient, rhs, flags);
    return arith::SubIOp::create(builder, loc, lhs, whole, flags);
  }
  }
}

} // namespace espalier

#endif // ESPALIER_SUPPORT_AFFINEARITHMETIC_H
