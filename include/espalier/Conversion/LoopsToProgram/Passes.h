//===- Passes.h - Passes from stage loops to stage program ------*- C++ -*-===//

#ifndef ESPALIER_CONVERSION_LOOPSTOPROGRAM_PASSES_H
#define ESPALIER_CONVERSION_LOOPSTOPROGRAM_PASSES_H

#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Pass/Pass.h"

namespace espalier {

#define GEN_PASS_DECL
#define GEN_PASS_REGISTRATION
#include "espalier/Conversion/LoopsToProgram/Passes.h.inc"

} // namespace espalier

#endif // ESPALIER_CONVERSION_LOOPSTOPROGRAM_PASSES_H
