//===- Passes.h - Passes that search for substitutions ----------*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_SEARCH_PASSES_H
#define ESPALIER_SUBSTITUTION_SEARCH_PASSES_H

#include "espalier/Substitution/Search/Search.h"
#include "mlir/Pass/Pass.h"

namespace espalier::substitution {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "espalier/Substitution/Search/Passes.h.inc"

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_SEARCH_PASSES_H
