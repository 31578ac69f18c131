//===- Search.cpp - What searches of a program begin with -----------------===//

#include "Search.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// Calls that differ in which arguments are constants share the kernel, and so
/// its script: that of the call which comes first.
static std::vector<ProgramKernel>
joinCalls(std::vector<ProgramKernel> kernels) {
  std::vector<ProgramKernel> joined;
  llvm::StringMap<size_t> places;
  for (ProgramKernel &kernel : kernels) {
    auto [place, isNew] = places.try_emplace(kernel.name, joined.size());
    if (isNew)
      joined.push_back(std::move(kernel));
    else
      joined[place->second].numCalls += kernel.numCalls;
  }
  return joined;
}

llvm::Expected<std::vector<ProgramKernel>>
tuning::collectTasks(ModuleOp module, const TuneOptions &options) {
  FailureOr<std::vector<ProgramKernel>> kernels =
      formKernels(module, options.measure.codegen, options.measure.sizes);
  if (failed(kernels))
    return llvm::createStringError("expects a model that can be compiled");
  return joinCalls(std::move(*kernels));
}

static DialectRegistry extend(const DialectRegistry &dialects) {
  DialectRegistry registry;
  dialects.appendTo(registry);
  registerCompilation(registry);
  return registry;
}

SearchContext::SearchContext(ModuleOp module)
    : context(extend(module.getContext()->getDialectRegistry()),
              MLIRContext::Threading::DISABLED),
      handler(&context, [](Diagnostic &) { return success(); }) {
  context.loadAllAvailableDialects();
}
