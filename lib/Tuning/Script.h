//===- Script.h - Scripts of tuned kernels ----------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_TUNING_SCRIPT_H
#define ESPALIER_LIB_TUNING_SCRIPT_H

#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/Diagnostics.h"

namespace espalier::tuning {

/// Keeps the first error while it lives; nobody else hears of diagnostics.
class FirstError {
public:
  explicit FirstError(mlir::MLIRContext *context);

  const std::string &getText() const { return text; }

private:
  std::string text;
  mlir::ScopedDiagnosticHandler handler;
};

/// The sequence that `script` begins with; null if there is none.
inline mlir::transform::NamedSequenceOp getSequence(mlir::ModuleOp script) {
  return script.lookupSymbol<mlir::transform::NamedSequenceOp>(
      mlir::transform::TransformDialect::kTransformEntryPointSymbolName);
}

/// The script that `text` is; null, after an error, unless its sequence takes a
/// module and edits nothing but schedules and choices.
mlir::OwningOpRef<mlir::ModuleOp> parseScript(llvm::StringRef text,
                                              mlir::MLIRContext *context);

/// Moves the commands of `part` to the end of `to`.
void appendCommands(mlir::transform::NamedSequenceOp part,
                    mlir::transform::NamedSequenceOp to);

/// Lets the sequence of `script` transform `module`. Fails after an error.
mlir::LogicalResult applyScript(mlir::ModuleOp script, mlir::ModuleOp module);

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_SCRIPT_H
