//===- Tuner.cpp - Searches for faster schedules --------------------------===//

#include "espalier/Tuning/Tuner.h"
#include "Script.h"
#include "Task.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

using Clock = std::chrono::steady_clock;

namespace {
/// One search over all kernels of a program.
class Tuner {
public:
  Tuner(MLIRContext *context, const TuneOptions &options)
      : context(context), options(options), random(options.seed) {}

  llvm::Error openRecords();
  llvm::Error addTask(const ProgramKernel &kernel);
  llvm::Error search();
  llvm::Expected<TuneResult> finish();

private:
  bool mustStop() const;
  double getElapsed() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  void report() const;

  MLIRContext *context;
  const TuneOptions &options;
  Sketch::Random random;
  Clock::time_point start = Clock::now();
  std::unique_ptr<TuningRecords> records;
  std::vector<std::unique_ptr<Task>> tasks;
  TuneResult result;
  unsigned numTrials = 0;
};

/// Collects the scripts of single kernels in one.
class ScriptCollector {
public:
  explicit ScriptCollector(MLIRContext *context);

  /// Adds a script for a kernel called `kernel`, which is called `name` here.
  void add(ModuleOp script, StringRef name);
  std::string print() const;

private:
  OwningOpRef<ModuleOp> script;
  transform::NamedSequenceOp sequence;
};
} // namespace

//===----------------------------------------------------------------------===//
// The script of the program
//===----------------------------------------------------------------------===//

ScriptCollector::ScriptCollector(MLIRContext *context) {
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  script = ModuleOp::create(builder, loc);
  script->getOperation()->setAttr(
      transform::TransformDialect::kWithNamedSequenceAttrName,
      builder.getUnitAttr());
  builder.setInsertionPointToEnd(script->getBody());
  sequence = transform::NamedSequenceOp::create(
      builder, loc, transform::TransformDialect::kTransformEntryPointSymbolName,
      transform::AnyOpType::get(context), TypeRange(),
      [](OpBuilder &body, Location loc, BlockArgument) {
        transform::YieldOp::create(body, loc);
      });
  sequence.setArgAttr(0, transform::TransformDialect::kArgReadOnlyAttrName,
                      builder.getUnitAttr());
}

void ScriptCollector::add(ModuleOp part, StringRef name) {
  Builder builder(part.getContext());
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](SymbolRefAttr symbol) -> std::optional<Attribute> {
        if (symbol.getRootReference() != kKernelName)
          return std::nullopt;
        return SymbolRefAttr::get(builder.getStringAttr(name),
                                  symbol.getNestedReferences());
      });
  replacer.recursivelyReplaceElementsIn(part);
  // One choice of the program is of one kernel.
  part.walk([&](transform::tune::KnobOp knob) {
    knob.setNameAttr(
        builder.getStringAttr(name + "." + knob.getName().getValue()));
  });
  Block &from = getSequence(part).getBody().front();
  Block &to = sequence.getBody().front();
  from.getArgument(0).replaceAllUsesWith(to.getArgument(0));
  from.getTerminator()->erase();
  to.getOperations().splice(to.getTerminator()->getIterator(),
                            from.getOperations());
}

std::string ScriptCollector::print() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  script.get().print(os);
  return text;
}

//===----------------------------------------------------------------------===//
// Searching
//===----------------------------------------------------------------------===//

llvm::Error Tuner::openRecords() {
  if (options.records.empty())
    return llvm::Error::success();
  auto opened = TuningRecords::open(options.records);
  if (!opened)
    return opened.takeError();
  records = std::move(*opened);
  return llvm::Error::success();
}

llvm::Error Tuner::addTask(const ProgramKernel &kernel) {
  auto task = Task::create(kernel, context, options.measure);
  if (!task)
    return task.takeError();
  TunedKernel tuned;
  tuned.name = kernel.name;
  tuned.numCalls = kernel.numCalls;
  if (!(*task)->hasSpace())
    tuned.reason = "runs in program order";
  else if (llvm::Error error = (*task)->measureDefault())
    tuned.reason = llvm::toString(std::move(error));
  result.kernels.push_back(std::move(tuned));
  if (records && result.kernels.back().reason.empty()) {
    auto trials = records->find((*task)->getKey());
    if (!trials)
      return trials.takeError();
    for (const Trial &trial : *trials)
      (*task)->recall(trial);
  }
  tasks.push_back(std::move(*task));
  return llvm::Error::success();
}

bool Tuner::mustStop() const {
  return numTrials >= options.trials ||
         (options.seconds > 0 && getElapsed() >= options.seconds) ||
         options.measure.codegen.mustStop();
}

void Tuner::report() const {
  if (!options.progress)
    return;
  TuneProgress progress;
  progress.trials = numTrials;
  progress.elapsed = getElapsed();
  for (const std::unique_ptr<Task> &task : tasks) {
    progress.failures += task->getNumFailures();
    progress.original += task->getKernel().numCalls * task->getOriginal();
    progress.best += task->getKernel().numCalls * task->getBest();
  }
  options.progress(progress);
}

llvm::Error Tuner::search() {
  // A task without space, or of which all was tried.
  std::vector<bool> isDone;
  for (const TunedKernel &kernel : result.kernels)
    isDone.push_back(!kernel.reason.empty());
  while (!mustStop()) {
    size_t best = tasks.size();
    for (size_t i = 0; i < tasks.size(); ++i)
      if (!isDone[i] &&
          (best == tasks.size() ||
           tasks[i]->estimateGain() > tasks[best]->estimateGain()))
        best = i;
    if (best == tasks.size())
      break;
    std::optional<Trial> trial = tasks[best]->tryNext(random);
    if (!trial) {
      isDone[best] = true;
      continue;
    }
    // An interrupt ends the candidate, too.
    if (options.measure.codegen.mustStop())
      break;
    ++numTrials;
    if (records)
      if (llvm::Error error =
              records->add(tasks[best]->getKey(), *trial, options.seed))
        return error;
    report();
  }
  return llvm::Error::success();
}

llvm::Expected<TuneResult> Tuner::finish() {
  ScriptCollector script(context);
  for (auto [task, tuned] : llvm::zip_equal(tasks, result.kernels)) {
    tuned.original = tuned.best = task->getOriginal();
    tuned.trials = task->getNumTrials();
    tuned.failures = task->getNumFailures();
    if (!tuned.reason.empty() || options.measure.codegen.mustStop())
      continue;
    std::optional<Winner> winner;
    bool isDecided = task->findWinner(winner);
    if (options.measure.codegen.mustStop())
      continue;
    if (records && isDecided)
      if (llvm::Error error = records->setWinner(task->getKey(), winner))
        return error;
    tuned.original = tuned.best = task->getOriginal();
    if (!winner)
      continue;
    tuned.best = winner->seconds;
    tuned.rule = winner->rule;
    auto part = parseSourceString<ModuleOp>(winner->script, context);
    script.add(*part, tuned.name);
  }
  result.isInterrupted = options.measure.codegen.mustStop();
  if (!result.isInterrupted)
    result.script = script.print();
  return std::move(result);
}

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

llvm::Expected<TuneResult> tuning::tuneModule(ModuleOp module,
                                              const TuneOptions &options) {
  FailureOr<std::vector<ProgramKernel>> kernels =
      formKernels(module, options.measure.codegen);
  if (failed(kernels))
    return llvm::createStringError("expects a model that can be compiled");
  MLIRContext context(module.getContext()->getDialectRegistry(),
                      MLIRContext::Threading::DISABLED);
  DialectRegistry compilation;
  registerCompilation(compilation);
  context.appendDialectRegistry(compilation);
  context.loadAllAvailableDialects();
  // What is wrong with a candidate is in its record.
  ScopedDiagnosticHandler handler(&context,
                                  [](Diagnostic &) { return success(); });
  Tuner tuner(&context, options);
  if (llvm::Error error = tuner.openRecords())
    return error;
  for (const ProgramKernel &kernel : joinCalls(std::move(*kernels))) {
    if (options.measure.codegen.mustStop())
      break;
    if (llvm::Error error = tuner.addTask(kernel))
      return error;
  }
  if (llvm::Error error = tuner.search())
    return error;
  return tuner.finish();
}
