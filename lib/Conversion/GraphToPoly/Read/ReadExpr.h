//===- ReadExpr.h - Expressions of arith and math ops -----------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_READ_READEXPR_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_READ_READEXPR_H

#include "espalier/Definition/Expr.h"
#include "mlir/IR/Operation.h"
#include "llvm/ADT/DenseMap.h"

namespace espalier::graphtopoly {

/// Reads what `op`, of `arith` or `math`, computes of `operands`: the inverse
/// of `emitExpr`. Each expression has the type of its value; where an operation
/// takes integers as unsigned, they are converted. Null for an operation that
/// no scalar function stands for.
definition::Expr readExpr(mlir::Operation *op,
                          llvm::ArrayRef<definition::Expr> operands);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_READ_READEXPR_H
