//===- Parameters.h - The parameters of a kernel ----------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_PARAMETERS_H
#define ESPALIER_DIALECT_POLY_IR_PARAMETERS_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// Writes all sets and maps of `kernel` over other parameters: what was
/// parameter p is `parameters[p]`, an expression over `count` symbols. Symbols
/// behind the parameters follow. The arguments themselves are left alone.
void replaceParameters(KernelOp kernel,
                       llvm::ArrayRef<mlir::AffineExpr> parameters,
                       unsigned count);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_IR_PARAMETERS_H
