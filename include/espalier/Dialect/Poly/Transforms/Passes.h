//===- Passes.h - Schedules of kernels --------------------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMS_PASSES_H
#define ESPALIER_DIALECT_POLY_TRANSFORMS_PASSES_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Pass/Pass.h"

namespace espalier::poly {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "espalier/Dialect/Poly/Transforms/Passes.h.inc"

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMS_PASSES_H
