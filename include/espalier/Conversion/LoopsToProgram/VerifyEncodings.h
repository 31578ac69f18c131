//===- VerifyEncodings.h - Tensors that have all elements -------*- C++ -*-===//

#ifndef ESPALIER_CONVERSION_LOOPSTOPROGRAM_VERIFYENCODINGS_H
#define ESPALIER_CONVERSION_LOOPSTOPROGRAM_VERIFYENCODINGS_H

#include "mlir/Dialect/Func/IR/FuncOps.h"

namespace espalier {

/// Reports the first tensor of `function`, other than a constant, whose type
/// has an encoding of the `sparse_tensor` dialect: programs receive, compute
/// and return all elements, so it would say what is not so.
mlir::LogicalResult verifyEncodings(mlir::func::FuncOp function);

} // namespace espalier

#endif // ESPALIER_CONVERSION_LOOPSTOPROGRAM_VERIFYENCODINGS_H
