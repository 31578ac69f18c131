//===- Script.h - Scripts of tuned kernels ----------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_TUNING_SCRIPT_H
#define ESPALIER_LIB_TUNING_SCRIPT_H

#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace espalier::tuning {

/// The sequence that `script` begins with; null if there is none.
inline mlir::transform::NamedSequenceOp getSequence(mlir::ModuleOp script) {
  return script.lookupSymbol<mlir::transform::NamedSequenceOp>(
      mlir::transform::TransformDialect::kTransformEntryPointSymbolName);
}

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_SCRIPT_H
