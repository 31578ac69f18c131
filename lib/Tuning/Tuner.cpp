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

/// With fewer candidates, a model knows nothing.
static constexpr size_t kMinSamples = 16;
/// Nor does the best of fewer of one kernel tell how good the others are.
static constexpr size_t kMinOfKernel = 8;

using Clock = std::chrono::steady_clock;

namespace {
/// One search over all kernels of a program.
class Tuner {
public:
  Tuner(MLIRContext *context, const TuneOptions &options)
      : context(context), options(options), random(options.seed) {}

  llvm::Error openRecords();
  llvm::Error addTask(const ProgramKernel &kernel);
  /// Loads the model and what is known of other kernels, after all tasks are
  /// there.
  llvm::Error prepareModel();
  llvm::Error search();
  llvm::Expected<TuneResult> finish();

private:
  bool isOutOfTime(double reserved) const;
  bool mustStop() const;
  /// Seconds that the comparison of the best candidates will take.
  double estimateFinals() const;
  void loadModel();
  void trainModel();
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
  double trialSeconds = 0; ///< Of all trials.
  std::unique_ptr<CostModel> model;
  std::vector<Sample> others; ///< Candidates of kernels that are no tasks.
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
  auto task = Task::create(kernel, context, options);
  if (!task)
    return task.takeError();
  TunedKernel tuned;
  tuned.name = kernel.name;
  tuned.numCalls = kernel.numCalls;
  if (!(*task)->hasSpace())
    tuned.reason = "runs in program order";
  else if (isOutOfTime(0))
    tuned.reason = "expects more time: it ended before the default schedule "
                   "could be measured";
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

bool Tuner::isOutOfTime(double reserved) const {
  return options.seconds > 0 &&
         getElapsed() + std::min(reserved, options.seconds / 2) >=
             options.seconds;
}

double Tuner::estimateFinals() const {
  unsigned numRuns = 0;
  for (const std::unique_ptr<Task> &task : tasks)
    numRuns += task->countFinalRuns();
  return numRuns * trialSeconds / std::max(numTrials, 1u);
}

bool Tuner::mustStop() const {
  return numTrials >= options.trials || isOutOfTime(estimateFinals()) ||
         options.measure.codegen.mustStop();
}

//===----------------------------------------------------------------------===//
// The model of costs
//===----------------------------------------------------------------------===//

/// Adds the samples of one kernel to those that a model is trained on.
static void addSamples(ArrayRef<Sample> kernel, std::vector<Sample> &all) {
  if (llvm::count_if(kernel, [](const Sample &sample) {
        return sample.score > 0;
      }) >= ptrdiff_t(kMinOfKernel))
    llvm::append_range(all, kernel);
}

/// The search goes on without a model.
void Tuner::loadModel() {
  if (options.search != Search::Model)
    return;
  if (options.modelLibrary.empty()) {
    result.modelFault = "model of costs: expects XGBoost, but got no library";
    return;
  }
  auto loaded = CostModel::load(options.modelLibrary);
  if (loaded)
    model = std::move(*loaded);
  else
    result.modelFault = llvm::toString(loaded.takeError());
}

/// Reads what is known of other kernels on the same machine.
llvm::Error Tuner::prepareModel() {
  loadModel();
  if (!model || !records || tasks.empty())
    return llvm::Error::success();
  auto kernels = records->findSamples(tasks.front()->getKey().target);
  if (!kernels)
    return kernels.takeError();
  for (auto &[key, samples] : *kernels)
    if (llvm::none_of(tasks, [&, &name = key](const auto &task) {
          return task->getKey().task == name;
        }))
      addSamples(samples, others);
  return llvm::Error::success();
}

void Tuner::trainModel() {
  if (!model)
    return;
  std::vector<Sample> samples = others;
  for (const std::unique_ptr<Task> &task : tasks)
    addSamples(task->getSamples(), samples);
  if (samples.size() < kMinSamples)
    return;
  if (llvm::Error error = model->train(samples)) {
    result.modelFault = llvm::toString(std::move(error));
    model.reset();
  }
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
    if (tasks[best]->needsDrafts()) {
      trainModel();
      tasks[best]->chooseDrafts(random, model.get());
    }
    double begin = getElapsed();
    auto tried = tasks[best]->tryNext(random);
    if (!tried)
      return tried.takeError();
    const std::optional<Trial> &trial = *tried;
    if (!trial) {
      isDone[best] = true;
      continue;
    }
    trialSeconds += getElapsed() - begin;
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
    llvm::Expected<bool> isDecided = task->findWinner(winner);
    if (!isDecided)
      return isDecided.takeError();
    if (options.measure.codegen.mustStop())
      continue;
    if (records && *isDecided)
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

std::optional<Search> tuning::parseSearch(llvm::StringRef spelling) {
#define ESPALIER_SEARCH(name, text)                                            \
  if (spelling == text)                                                        \
    return Search::name;
  ESPALIER_FOR_EACH_SEARCH(ESPALIER_SEARCH)
#undef ESPALIER_SEARCH
  return std::nullopt;
}

llvm::Expected<std::vector<JudgedKernel>>
tuning::judgeModel(StringRef path, StringRef modelLibrary) {
  auto records = TuningRecords::openToRead(path);
  if (!records)
    return records.takeError();
  auto kernels = (*records)->findSamples("");
  if (!kernels)
    return kernels.takeError();
  auto model = CostModel::load(modelLibrary);
  if (!model)
    return model.takeError();
  std::vector<JudgedKernel> judged;
  for (auto &[key, own] : *kernels) {
    std::vector<Sample> rest, measured;
    for (auto &[other, samples] : *kernels)
      if (other != key)
        addSamples(samples, rest);
    llvm::copy_if(own, std::back_inserter(measured),
                  [](const Sample &sample) { return sample.score > 0; });
    if (measured.size() < kMinOfKernel)
      continue;
    if (llvm::Error error = (*model)->train(rest))
      return std::move(error);
    if (!(*model)->isTrained())
      continue;
    std::vector<double> scores, estimates;
    for (const Sample &sample : measured) {
      scores.push_back(sample.score);
      estimates.push_back(-sample.features[Feature::Cycles]);
    }
    auto predicted = (*model)->predict(measured);
    if (!predicted)
      return predicted.takeError();
    judged.push_back(
        {measured.size(),
         computeRankCorrelation(
             std::vector<double>(predicted->begin(), predicted->end()), scores),
         computeRankCorrelation(estimates, scores)});
  }
  return std::move(judged);
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
  if (llvm::Error error = tuner.prepareModel())
    return error;
  if (llvm::Error error = tuner.search())
    return error;
  return tuner.finish();
}
