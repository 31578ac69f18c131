//===- Recursive.cpp - C API for recursive models -------------------------===//

#include "espalier-c/Recursive.h"
#include "espalier/CAPI/Module.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/Transforms/Explain.h"
#include "espalier/Dialect/Rec/Transforms/Transforms.h"
#include "espalier/Pipeline/Pipeline.h"
#include "mlir/IR/OwningOpRef.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace espalier;

/// Says what becomes one loop nest of each recurrence that `module` has when it
/// is kernels. Nothing of a module that cannot be compiled: compiling says why.
static void explainFusion(ModuleOp module,
                          llvm::function_ref<void(const Twine &)> say) {
  ScopedDiagnosticHandler quiet(module.getContext(),
                                [](Diagnostic &) { return success(); });
  OwningOpRef<ModuleOp> kernels(module.clone());
  if (failed(compileToStage(*kernels, Stage::Poly)))
    return;
  kernels->walk([&](poly::KernelOp kernel) {
    poly::explainFusion(kernel, poly::getTarget(kernel), say);
  });
}

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
      os << line;
      auto place = dyn_cast<FileLineColLoc>(target->getLoc());
      if (target != model && place && place.getFilename() != "-")
        os << " (" << llvm::sys::path::filename(place.getFilename()) << ":"
           << place.getLine() << ")";
      os << '\n';
    });
  });
  if (!op.getOps<rec::ModelOp>().empty())
    explainFusion(op, [&](const Twine &line) { os << line << '\n'; });
  write(text.data(), text.size(), user);
}
