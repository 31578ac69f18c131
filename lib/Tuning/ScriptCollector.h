//===- ScriptCollector.h - The script of a program --------------*- C++ -*-===//

#ifndef ESPALIER_LIB_TUNING_SCRIPTCOLLECTOR_H
#define ESPALIER_LIB_TUNING_SCRIPTCOLLECTOR_H

#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace espalier::tuning {

/// Collects the scripts of single kernels in one.
class ScriptCollector {
public:
  explicit ScriptCollector(mlir::MLIRContext *context);

  /// Adds a script for a kernel called `kernel`, which is called `name` here.
  void add(mlir::ModuleOp script, llvm::StringRef name);
  /// Adds a script for statements.
  void addChoice(mlir::ModuleOp script);
  std::string print() const;

private:
  mlir::OwningOpRef<mlir::ModuleOp> script;
  mlir::transform::NamedSequenceOp addSequence(llvm::StringRef name);

  mlir::transform::NamedSequenceOp sequence, choices;
};

} // namespace espalier::tuning

#endif // ESPALIER_LIB_TUNING_SCRIPTCOLLECTOR_H
