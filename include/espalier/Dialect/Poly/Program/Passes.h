//===- Passes.h - Kernels that work together --------------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_PROGRAM_PASSES_H
#define ESPALIER_DIALECT_POLY_PROGRAM_PASSES_H

#include "mlir/IR/BuiltinOps.h"
#include "mlir/Pass/Pass.h"

namespace espalier::poly {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "espalier/Dialect/Poly/Program/Passes.h.inc"

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_PROGRAM_PASSES_H
