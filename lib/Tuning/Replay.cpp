//===- Replay.cpp - Records that are tried again --------------------------===//

#include "Search.h"
#include "Task.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// Tries again what `records` has of `task`.
static llvm::Error replayTask(Task &task, TuningRecords &records, unsigned most,
                              const TuneOptions &options,
                              std::vector<ReplayedTrial> &replayed) {
  auto trials = records.findFastest(task.getKey(), most);
  if (!trials || trials->empty())
    return trials.takeError();
  // What they compute is compared with the default schedule's results.
  llvm::Expected<std::string> reason = task.measureDefault();
  if (!reason)
    return reason.takeError();
  if (!reason->empty())
    return llvm::createStringError(*reason);
  for (Trial &trial : *trials) {
    if (options.measure.codegen.mustStop())
      break;
    llvm::Expected<Trial> now = task.replay(trial);
    if (!now)
      return now.takeError();
    if (trial.compiler == task.getKey().compiler)
      trial.compiler.clear();
    replayed.push_back({task.getKernel().name, trial, std::move(*now)});
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<ReplayedTrial>>
tuning::replayRecords(ModuleOp module, const TuneOptions &options,
                      unsigned most) {
  auto records = TuningRecords::openToRead(options.records);
  if (!records)
    return records.takeError();
  auto kernels = collectTasks(module, options);
  if (!kernels)
    return kernels.takeError();
  SearchContext search(module);
  std::unique_ptr<Measurer> measurer = makeLocalMeasurer(options);
  std::vector<ReplayedTrial> replayed;
  for (const ProgramKernel &kernel : *kernels) {
    auto task = Task::create(kernel, search.get(), options, *measurer);
    if (!task)
      return task.takeError();
    if (llvm::Error error =
            replayTask(**task, **records, most, options, replayed))
      return std::move(error);
  }
  return std::move(replayed);
}
