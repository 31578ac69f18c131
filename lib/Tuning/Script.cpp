//===- Script.cpp - Scripts of tuned kernels ------------------------------===//

#include "Script.h"
#include "espalier/Dialect/Poly/TransformOps/Script.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

FirstError::FirstError(MLIRContext *context)
    : handler(context, [this](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
            text.empty())
          text = diagnostic.str();
        return success();
      }) {}

/// Fails, after an error, if `script` is none for a module of kernels.
static LogicalResult checkScript(ModuleOp script) {
  transform::NamedSequenceOp sequence = getSequence(script);
  if (!sequence || sequence.isExternal() || sequence.getNumArguments() != 1)
    return script.emitError("expects a script with a sequence '")
           << transform::TransformDialect::kTransformEntryPointSymbolName
           << "' of one argument, the module";
  if (Operation *edit = poly::findForeignEdit(sequence))
    return poly::reportForeignEdit(edit);
  return success();
}

OwningOpRef<ModuleOp> tuning::parseScript(llvm::StringRef text,
                                          MLIRContext *context) {
  auto script = parseSourceString<ModuleOp>(text, context);
  if (!script || failed(checkScript(*script)))
    return nullptr;
  return script;
}

LogicalResult tuning::applyScript(ModuleOp script, ModuleOp module) {
  return transform::applyTransformNamedSequence(
      module, getSequence(script), ModuleOp(), transform::TransformOptions());
}

void tuning::appendCommands(transform::NamedSequenceOp part,
                            transform::NamedSequenceOp to) {
  Block &from = part.getBody().front(), &end = to.getBody().front();
  from.getArgument(0).replaceAllUsesWith(end.getArgument(0));
  from.getTerminator()->erase();
  end.getOperations().splice(end.getTerminator()->getIterator(),
                             from.getOperations());
}
