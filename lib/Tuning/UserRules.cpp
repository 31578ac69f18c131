//===- UserRules.cpp - Sketches of rules that users write -----------------===//

#include "Script.h"
#include "espalier/Tuning/Sketch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

llvm::Expected<Sketch> tuning::parseSketch(StringRef rule, StringRef text,
                                           ModuleOp module) {
  FirstError error(module.getContext());
  FailureOr<Sketch> sketch = failure();
  if (auto script = parseScript(text, module.getContext()))
    sketch = Sketch::create(rule, std::move(script), {});
  if (failed(sketch))
    return llvm::createStringError(error.getText());
  return std::move(*sketch);
}
