//===- Tuner.cpp - Searches for faster schedules --------------------------===//

#include "espalier/Tuning/Tuner.h"
#include "Script.h"
#include "Search.h"
#include "Task.h"
#include "espalier/Tuning/ProgramChoices.h"
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

/// What of other builds is tried before anything new.
static constexpr unsigned kSuggested = 8;

using Clock = std::chrono::steady_clock;

namespace {
/// One search over all kernels of a program.
class Tuner {
public:
  /// The time that is given counts from \p start.
  Tuner(MLIRContext *context, const TuneOptions &options,
        Clock::time_point start)
      : context(context), options(options), random(options.seed), start(start) {
  }

  llvm::Error openRecords();
  /// Takes what was compared before, and records what won.
  llvm::Error keepChoices(std::vector<TunedStatement> statements);
  llvm::Error addTask(const ProgramKernel &kernel);
  /// Loads the model and what is known of other kernels, after all tasks are
  /// there.
  llvm::Error prepareModel();
  llvm::Error search();
  llvm::Expected<TuneResult> finish();

private:
  bool isOutOfTime(double reserved) const;
  bool isTargetReached() const;
  bool isGivenUp(const Task &task) const;
  std::vector<TaskHistory> getHistories(const std::vector<bool> &isDone) const;
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
  Clock::time_point start;
  std::unique_ptr<TuningRecords> records;
  std::vector<std::unique_ptr<Task>> tasks;
  TuneResult result;
  unsigned numTrials = 0;
  double trialSeconds = 0; ///< Of all trials.
  std::unique_ptr<CostModel> model;
  /// Until that one is trained, and where it is not.
  std::unique_ptr<CostModel> shipped;
  std::vector<Sample> others; ///< Candidates of kernels that are no tasks.
};

/// Collects the scripts of single kernels in one.
class ScriptCollector {
public:
  explicit ScriptCollector(MLIRContext *context);

  /// Adds a script for a kernel called `kernel`, which is called `name` here.
  void add(ModuleOp script, StringRef name);
  /// Adds a script for statements.
  void addChoice(ModuleOp script);
  std::string print() const;

private:
  OwningOpRef<ModuleOp> script;
  transform::NamedSequenceOp addSequence(StringRef name);

  transform::NamedSequenceOp sequence, choices;
};
} // namespace

/// The sequence for modules whose kernels are not formed yet.
static constexpr llvm::StringLiteral kStatementsSequence =
    "__transform_statements";

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
  sequence =
      addSequence(transform::TransformDialect::kTransformEntryPointSymbolName);
}

transform::NamedSequenceOp ScriptCollector::addSequence(StringRef name) {
  auto builder = OpBuilder::atBlockBegin(script->getBody());
  auto added = transform::NamedSequenceOp::create(
      builder, builder.getUnknownLoc(), name,
      transform::AnyOpType::get(builder.getContext()), TypeRange(),
      [](OpBuilder &body, Location loc, BlockArgument) {
        transform::YieldOp::create(body, loc);
      });
  added.setArgAttr(0, transform::TransformDialect::kArgReadOnlyAttrName,
                   builder.getUnitAttr());
  return added;
}

/// Moves the commands of `part` to the end of `to`.
static void appendCommands(transform::NamedSequenceOp part,
                           transform::NamedSequenceOp to) {
  Block &from = part.getBody().front(), &end = to.getBody().front();
  from.getArgument(0).replaceAllUsesWith(end.getArgument(0));
  from.getTerminator()->erase();
  end.getOperations().splice(end.getTerminator()->getIterator(),
                             from.getOperations());
}

void ScriptCollector::addChoice(ModuleOp part) {
  if (!choices)
    choices = addSequence(kStatementsSequence);
  appendCommands(getSequence(part), choices);
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
  appendCommands(getSequence(part), sequence);
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

llvm::Error Tuner::keepChoices(std::vector<TunedStatement> statements) {
  result.statements = std::move(statements);
  if (!records || result.statements.empty())
    return llvm::Error::success();
  auto machine = describeMachine(context, options.measure.codegen);
  if (!machine)
    return machine.takeError();
  TrialKey key;
  llvm::raw_string_ostream(key.target) << *machine;
  for (const TunedStatement &statement : result.statements) {
    key.kernel = getChoiceKey(statement.name, options.measure);
    std::optional<Winner> winner;
    if (!statement.script.empty())
      winner = {"algorithm", statement.script, statement.seconds,
                statement.original};
    if (llvm::Error error = records->setWinner(key, winner))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Tuner::addTask(const ProgramKernel &kernel) {
  auto task = Task::create(kernel, context, options);
  if (!task)
    return task.takeError();
  llvm::append_range(result.ruleFaults, (*task)->getRuleFaults());
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
    auto others = records->findOfOtherBuilds((*task)->getKey(), kSuggested);
    if (!others)
      return others.takeError();
    for (const Trial &trial : *others)
      (*task)->suggest(trial);
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

bool Tuner::isTargetReached() const {
  double best = 0;
  for (const std::unique_ptr<Task> &task : tasks)
    best += task->getKernel().numCalls * task->getBest();
  return options.target > 0 && best <= options.target;
}

bool Tuner::isGivenUp(const Task &task) const {
  return options.patience > 0 && task.getNumSinceGain() >= options.patience;
}

bool Tuner::mustStop() const {
  return isTargetReached() || numTrials >= options.trials ||
         isOutOfTime(estimateFinals()) || options.measure.codegen.mustStop();
}

//===----------------------------------------------------------------------===//
// The model of costs
//===----------------------------------------------------------------------===//

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
  if (options.search == Search::Model && options.usesShipped && !tasks.empty())
    shipped =
        CostModel::loadShipped(tasks.front()->getTarget().getVectorBits());
  result.isRankedByShipped = !model && shipped;
  if (!model || !records || tasks.empty())
    return llvm::Error::success();
  auto kernels = records->findSamples(tasks.front()->getKey().target);
  if (!kernels)
    return kernels.takeError();
  for (const KernelSamples &kernel : *kernels)
    if (llvm::none_of(tasks, [&](const auto &task) {
          return task->getKey().task == kernel.task;
        }))
      addSamples(kernel.samples, others);
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

std::vector<TaskHistory>
Tuner::getHistories(const std::vector<bool> &isDone) const {
  std::vector<TaskHistory> histories;
  for (auto [task, done] : llvm::zip_equal(tasks, isDone)) {
    histories.push_back(task->getHistory());
    histories.back().isOpen = !done && !isGivenUp(*task);
  }
  return histories;
}

llvm::Error Tuner::search() {
  // A task without space, or of which all was tried.
  std::vector<bool> isDone;
  for (const TunedKernel &kernel : result.kernels)
    isDone.push_back(!kernel.reason.empty());
  while (!mustStop()) {
    std::optional<size_t> next = chooseTask(getHistories(isDone), random);
    if (!next)
      break;
    Task &task = *tasks[*next];
    if (task.needsDrafts()) {
      trainModel();
      task.chooseDrafts(random, model && model->isTrained() ? model.get()
                                                            : shipped.get());
    }
    double begin = getElapsed();
    auto tried = task.tryNext(random);
    if (!tried)
      return tried.takeError();
    const std::optional<Trial> &trial = *tried;
    if (!trial) {
      isDone[*next] = true;
      continue;
    }
    trialSeconds += getElapsed() - begin;
    // An interrupt ends the candidate, too.
    if (options.measure.codegen.mustStop())
      break;
    ++numTrials;
    if (records)
      if (llvm::Error error = records->add(task.getKey(), *trial, options.seed))
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
  for (const TunedStatement &statement : result.statements)
    if (!statement.script.empty())
      script.addChoice(*parseSourceString<ModuleOp>(statement.script, context));
  result.isInterrupted = options.measure.codegen.mustStop();
  if (!result.isInterrupted)
    result.script = script.print();
  return std::move(result);
}

std::optional<Search> tuning::parseSearch(llvm::StringRef spelling) {
#define ESPALIER_SEARCH(name, text)                                            \
  if (spelling == text)                                                        \
    return Search::name;
  ESPALIER_FOR_EACH_SEARCH(ESPALIER_SEARCH)
#undef ESPALIER_SEARCH
  return std::nullopt;
}

/// Chooses before kernels are formed, and lets `options` form them so.
static llvm::Error choose(ModuleOp module, TuneOptions &options,
                          std::vector<TunedStatement> &statements) {
  auto compared = chooseAlgorithms(module, options);
  if (!compared)
    return compared.takeError();
  statements = std::move(*compared);
  StatementScripts scripts;
  for (const TunedStatement &statement : statements)
    if (!statement.script.empty())
      scripts.push_back({statement.name, statement.script});
  if (scripts.empty())
    return llvm::Error::success();
  options.measure.codegen.chooseStatements =
      [scripts, codegen = options.measure.codegen](ModuleOp module) {
        // They were applied before.
        llvm::cantFail(applyChoices(module, scripts, codegen));
      };
  return llvm::Error::success();
}

llvm::Expected<TuneResult> tuning::tuneModule(ModuleOp module,
                                              const TuneOptions &given) {
  Clock::time_point start = Clock::now();
  TuneOptions chosen = given;
  std::vector<TunedStatement> statements;
  if (given.choosesAlgorithms && !given.simulate)
    if (llvm::Error error = choose(module, chosen, statements))
      return std::move(error);
  const TuneOptions &options = chosen;
  auto kernels = collectTasks(module, options);
  if (!kernels)
    return kernels.takeError();
  SearchContext search(module);
  Tuner tuner(search.get(), options, start);
  if (llvm::Error error = tuner.openRecords())
    return error;
  if (llvm::Error error = tuner.keepChoices(std::move(statements)))
    return error;
  for (const ProgramKernel &kernel : *kernels) {
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
