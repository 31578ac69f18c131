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

/// Lets the script of a kernel by itself speak of it as the program calls it.
void renameKernel(mlir::ModuleOp script, llvm::StringRef name);

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_SCRIPT_H
