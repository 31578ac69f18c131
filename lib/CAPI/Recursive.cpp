//===- Recursive.cpp - C API for recursive models -------------------------===//

#include "espalier-c/Recursive.h"
#include "espalier/CAPI/Module.h"
#include "espalier/Dialect/Rec/Transforms/Transforms.h"

using namespace mlir;
using namespace espalier;

void espalier_module_explain_batching(const espalier_module *module,
                                      void (*write)(const char *, size_t,
                                                    void *),
                                      void *user) {
  if (!module)
    return;
  std::string text;
  llvm::raw_string_ostream os(text);
  ModuleOp op = *const_cast<espalier_module *>(module)->module;
  op.walk([&](rec::ModelOp model) {
    rec::explainBatching(model, [&](Operation *target, const Twine &line) {
      if (target != model)
        os << "  " << target->getName() << ": ";
      os << line << '\n';
    });
  });
  write(text.data(), text.size(), user);
}
