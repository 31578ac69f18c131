//===- UserRules.cpp - Sketches of rules that users write -----------------===//

#include "Script.h"
#include "espalier/Dialect/Poly/TransformOps/Script.h"
#include "espalier/Tuning/Sketch.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// Fails, after an error, if `script` is none for a kernel.
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

llvm::Expected<Sketch> tuning::parseSketch(StringRef rule, StringRef text,
                                           ModuleOp module) {
  std::string reason;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error &&
            reason.empty())
          reason = diagnostic.str();
        return success();
      });
  auto script = parseSourceString<ModuleOp>(text, module.getContext());
  FailureOr<Sketch> sketch = failure();
  if (script && succeeded(checkScript(*script)))
    sketch = Sketch::create(rule, std::move(script), SelectionLimits());
  if (failed(sketch))
    return llvm::createStringError(reason);
  return std::move(*sketch);
}
