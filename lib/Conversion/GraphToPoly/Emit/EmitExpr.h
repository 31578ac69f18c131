//===- EmitExpr.h - Scalar expressions as arith and math ops ----*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_EMIT_EMITEXPR_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_EMIT_EMITEXPR_H

#include "espalier/Definition/Expr.h"
#include "mlir/IR/Builders.h"

namespace espalier::graphtopoly {

/// The type that values of `type` have in IR: integers without sign, since the
/// operations carry it.
mlir::Type getComputeType(mlir::Type type);

/// Emits `expr` with `arith` and `math`. `leaf` gives the values of variables,
/// parameters (of type index) and accesses (of the compute type).
mlir::Value emitExpr(mlir::OpBuilder &builder, mlir::Location loc,
                     definition::Expr expr,
                     llvm::function_ref<mlir::Value(definition::Expr)> leaf);

/// Emits one application of `fn` to values whose element type is `type`.
mlir::Value emitScalarFn(mlir::OpBuilder &builder, mlir::Location loc,
                         definition::ScalarFn fn, mlir::Type type,
                         mlir::ValueRange args);

/// Emits a literal of `type`.
mlir::Value emitConstant(mlir::OpBuilder &builder, mlir::Location loc,
                         definition::Expr literal, mlir::Type type);

/// Converts a value between element types: a nonzero number is true, fractions
/// are dropped, and integers wrap.
mlir::Value emitCast(mlir::OpBuilder &builder, mlir::Location loc,
                     mlir::Value value, mlir::Type from, mlir::Type to);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_EMIT_EMITEXPR_H
