//===- Passes.h - Passes that apply rules as patterns -----------*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_PATTERNS_PASSES_H
#define ESPALIER_SUBSTITUTION_PATTERNS_PASSES_H

#include "mlir/Pass/Pass.h"

namespace espalier::substitution {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "espalier/Substitution/Patterns/Passes.h.inc"

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_PATTERNS_PASSES_H
