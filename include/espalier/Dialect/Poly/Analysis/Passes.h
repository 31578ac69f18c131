//===- Passes.h - Checks of kernels -----------------------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_ANALYSIS_PASSES_H
#define ESPALIER_DIALECT_POLY_ANALYSIS_PASSES_H

#include "espalier/Polyhedral/Set.h"
#include "mlir/Pass/Pass.h"

namespace espalier::poly {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "espalier/Dialect/Poly/Analysis/Passes.h.inc"

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_ANALYSIS_PASSES_H
