//===- RecTransformOps.h - Commands for recursive models --------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_REC_TRANSFORMOPS_RECTRANSFORMOPS_H
#define ESPALIER_DIALECT_REC_TRANSFORMOPS_RECTRANSFORMOPS_H

#include "espalier/Dialect/Rec/IR/Rec.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpDefinition.h"

#define GET_OP_CLASSES
#include "espalier/Dialect/Rec/TransformOps/RecTransformOps.h.inc"

namespace espalier::rec {

/// Makes the commands for recursive models available to transform scripts.
void registerTransformExtension(mlir::DialectRegistry &registry);

} // namespace espalier::rec

#endif // ESPALIER_DIALECT_REC_TRANSFORMOPS_RECTRANSFORMOPS_H
