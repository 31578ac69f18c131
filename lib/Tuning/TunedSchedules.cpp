//===- TunedSchedules.cpp - What searches found, when compiling -----------===//

#include "espalier/Tuning/TunedSchedules.h"
#include "Script.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Dialect/Poly/TransformOps/Choices.h"
#include "espalier/Measurement/KernelCost.h"
#include "espalier/Tuning/ProgramChoices.h"
#include "espalier/Tuning/TuningRecords.h"
#include "llvm/ADT/StringSet.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// Applies `text`, which was found for the kernel by itself, to such a module,
/// and returns the kernel. Fails after an error.
static FailureOr<poly::KernelOp> schedule(StringRef text, ModuleOp alone) {
  auto script = parseScript(text, alone.getContext());
  if (!script)
    return failure();
  if (Operation *choice = poly::findOpenChoice(getSequence(*script)))
    return poly::reportOpenChoice(choice);
  auto type = alone.lookupSymbol<poly::KernelOp>(kKernelName).getFunctionType();
  if (failed(applyScript(*script, alone)))
    return failure();
  auto kernel = alone.lookupSymbol<poly::KernelOp>(kKernelName);
  if (!kernel || !llvm::hasSingleElement(*alone.getBody()) ||
      kernel.getFunctionType() != type)
    return emitError(alone.getLoc(),
                     "expects a script that schedules one kernel");
  return kernel;
}

/// Lets `kernel` of `module` run as the script says; one that does not fit is a
/// warning and changes nothing.
static void tryScript(ModuleOp module, poly::KernelOp kernel, StringRef text) {
  OwningOpRef<ModuleOp> alone =
      copyAlone(kernel, module->getAttr(poly::TargetAttr::getAttrName()));
  std::string reason;
  FailureOr<poly::KernelOp> scheduled = failure();
  {
    FirstError error(module.getContext());
    scheduled = schedule(text, *alone);
    reason = error.getText();
  }
  if (failed(scheduled)) {
    emitWarning(module.getLoc(), "kernel '")
        << kernel.getSymName()
        << "': what was tuned does not fit any more: " << reason;
    return;
  }
  scheduled->setSymNameAttr(kernel.getSymNameAttr());
  scheduled->setSymVisibilityAttr(kernel.getSymVisibilityAttr());
  (*scheduled)->moveBefore(kernel);
  kernel.erase();
}

/// Schedules those kernels of `module` that have no schedule and are among
/// `winners`.
static void scheduleKernels(ModuleOp module,
                            const llvm::StringMap<Winner> &winners,
                            const MeasureOptions &options) {
  llvm::StringSet<> seen;
  for (const ProgramKernel &found : collectKernels(module)) {
    // Calls that differ in which arguments are constants share the kernel.
    if (!seen.insert(found.name).second)
      continue;
    auto kernel = module.lookupSymbol<poly::KernelOp>(found.name);
    auto winner = winners.find(computeKernelKey(found, options));
    if (winner != winners.end() && !kernel.getSchedule())
      tryScript(module, kernel, winner->second.script);
  }
}

/// What is scheduled by `winners` follows from it.
static std::string describe(const llvm::StringMap<Winner> &winners,
                            const MeasureOptions &options) {
  std::vector<uint64_t> hashes;
  for (const auto &winner : winners)
    hashes.push_back(llvm::xxh3_64bits(winner.getKey()) * 31 +
                     llvm::xxh3_64bits(winner.getValue().script));
  llvm::sort(hashes);
  std::string text = (llvm::Twine(options.threads) + " threads, " +
                      llvm::Twine(options.constantBytes) + " bytes")
                         .str();
  for (uint64_t hash : hashes)
    text += " " + llvm::utohexstr(hash);
  return text;
}

void tuning::useRecords(ModuleOp module, StringRef path,
                        const MeasureOptions &options,
                        CodegenOptions &codegen) {
  if (path.empty() || !llvm::sys::fs::exists(path))
    return;
  auto warn = [&](llvm::Error error) {
    emitWarning(module.getLoc(), "cannot use what was tuned: ")
        << llvm::toString(std::move(error));
  };
  MLIRContext *context = module.getContext();
  Attribute target = module->getAttr(poly::TargetAttr::getAttrName());
  if (!target) {
    auto machine = describeMachine(context, codegen);
    // The compilation reports what is wrong.
    if (!machine)
      return llvm::consumeError(machine.takeError());
    target = *machine;
  }
  auto records = TuningRecords::openToRead(path);
  if (!records)
    return warn(records.takeError());
  std::string name;
  llvm::raw_string_ostream(name) << target;
  auto winners = (*records)->findWinners(name);
  if (!winners)
    return warn(winners.takeError());
  if (winners->empty())
    return;
  codegen.schedulesKey = describe(*winners, options);
  StatementScripts choices;
  for (const auto &winner : *winners)
    if (auto statement = parseChoiceKey(winner.getKey(), options))
      choices.push_back({*statement, winner.getValue().script});
  llvm::sort(choices);
  if (!choices.empty())
    codegen.chooseStatements = [choices = std::move(choices),
                                inner = codegen](ModuleOp statements) {
      if (llvm::Error error = applyChoices(statements, choices, inner))
        emitWarning(statements.getLoc(),
                    "what was tuned does not fit any more: ")
            << llvm::toString(std::move(error));
    };
  codegen.scheduleKernels = [winners = std::move(*winners),
                             options](ModuleOp kernels) {
    scheduleKernels(kernels, winners, options);
  };
}
