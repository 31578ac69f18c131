//===- Passes.h - Passes on recursive models --------------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_REC_TRANSFORMS_PASSES_H
#define ESPALIER_DIALECT_REC_TRANSFORMS_PASSES_H

#include "espalier/Dialect/Rec/IR/Rec.h"
#include "mlir/Pass/Pass.h"

namespace espalier::rec {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "espalier/Dialect/Rec/Transforms/Passes.h.inc"

} // namespace espalier::rec

#endif // ESPALIER_DIALECT_REC_TRANSFORMS_PASSES_H
