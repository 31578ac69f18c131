//===- Passes.h - Lowerings between levels ----------------------*- C++ -*-===//

#ifndef ESPALIER_CONVERSION_PASSES_H
#define ESPALIER_CONVERSION_PASSES_H

#include "mlir/Pass/Pass.h"

namespace espalier {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "espalier/Conversion/Passes.h.inc"

/// Lets pipelines call passes by the names that they had before, too.
void registerFormerPassNames();

} // namespace espalier

#endif // ESPALIER_CONVERSION_PASSES_H
