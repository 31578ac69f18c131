//===- PolyTransformOps.h - Scheduling commands -----------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYTRANSFORMOPS_H
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYTRANSFORMOPS_H

#include "espalier/Dialect/Poly/TransformOps/OpenNumbers.h"
#include "espalier/Dialect/Poly/Transforms/Script.h"
#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformTypes.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/IR/OpDefinition.h"

#define GET_OP_CLASSES
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h.inc"

namespace espalier::poly {

/// Makes the scheduling commands, and the choices of `transform.tune`,
/// available to transform scripts.
void registerTransformExtension(mlir::DialectRegistry &registry);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_POLYTRANSFORMOPS_H
