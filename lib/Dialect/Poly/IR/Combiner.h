//===- Combiner.h - Checks of combiners -------------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_IR_COMBINER_H
#define ESPALIER_LIB_DIALECT_POLY_IR_COMBINER_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// Whether `op` may be in a body: it is of arith or math, and of numbers alone.
bool isScalar(mlir::Operation &op);

/// Checks C18 and C19 of a computation.
mlir::LogicalResult verifyCombined(ComputeOp compute);

/// Checks C20 of a computation whose body and combiner have the right form.
mlir::LogicalResult verifyCombinedUpdate(ComputeOp compute);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_IR_COMBINER_H
