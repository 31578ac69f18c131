//===- Tuner.cpp - Searches for faster schedules --------------------------===//

#include "espalier/Tuning/Tuner.h"
#include "ScriptCollector.h"
#include "Search.h"
#include "Task.h"
#include "espalier/Tuning/ProgramChoices.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/Format.h"
#include <cmath>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// With fewer candidates, a model knows nothing.
static constexpr size_t kMinSamples = 16;

/// What of other builds is tried before anything new.
static constexpr unsigned kSuggested = 8;

using Clock = std::chrono::steady_clock;

namespace {
/// A model that is searched for.
struct Network {
  const ModelToTune &given;
  /// With its choices; tasks refer to them.
  TuneOptions options;
  TunedModel result;
  /// By kernel of the result, the number of its task.
  std::vector<size_t> tasks;
};

/// One search over all kernels of some programs.
class Tuner {
public:
  /// The time that is given counts from \p start.
  Tuner(MLIRContext *context, const TuneOptions &options,
        Clock::time_point start)
      : context(context), options(options), random(options.seed), start(start) {
  }

  /// Asks who measures.
  llvm::Error findMeasurer();

  llvm::Error openRecords();
  /// Chooses what kernels a model becomes, and adds its kernels to the tasks.
  llvm::Error addNetwork(const ModelToTune &given, unsigned numModels);
  /// Loads the model of costs and what is known of other kernels, after all
  /// tasks are there.
  llvm::Error prepareModel();
  llvm::Error search();
  llvm::Expected<TuneResult> finish();

private:
  /// A task, and why it is none.
  struct Entry {
    std::unique_ptr<Task> task;
    std::string reason;
    bool isDone = false; ///< There is a reason, or all was tried.
    std::optional<Winner> winner;
  };
  /// A candidate of a task, until that takes it.
  struct Chosen {
    size_t task = 0;
    Attempt attempt;
    bool isMeasured = false;
  };

  llvm::Error keepChoices(const Network &network);
  llvm::Error addKernel(Network &network, const ProgramKernel &kernel);
  llvm::Error addTask(const ProgramKernel &kernel, const TuneOptions &options);
  llvm::Error recall(Task &task);
  bool isOutOfTime(double reserved) const;
  bool isTargetReached() const;
  bool isGivenUp(const Task &task) const;
  /// The seconds of all calls of kernels, at best or by default.
  ModelTime getTime(const Network &network, bool atBest) const;
  double combineTimes(bool atBest) const;
  std::vector<TaskHistory> getHistories() const;
  bool mustStop() const;
  /// Seconds that the comparison of the best candidates will take.
  double estimateFinals() const;
  void loadModel();
  void trainModel();
  double getElapsed() const {
    return std::chrono::duration<double>(Clock::now() - start).count();
  }
  void report() const;
  std::vector<Chosen> chooseBatch();
  llvm::Error measure(std::vector<Chosen> &batch);
  llvm::Error decide(Entry &entry);
  TunedModel finish(Network &network) const;

  MLIRContext *context;
  const TuneOptions &options;
  Sketch::Random random;
  Clock::time_point start;
  std::unique_ptr<Measurer> measurer;
  std::unique_ptr<TuningRecords> records;
  std::vector<std::unique_ptr<Network>> networks;
  std::vector<Entry> tasks;
  llvm::StringMap<size_t> taskOf; ///< By the keys of kernels.
  TuneResult result;
  unsigned numTrials = 0;
  double trialSeconds = 0; ///< Of all trials.
  std::unique_ptr<CostModel> model;
  /// Until that one is trained, and where it is not.
  std::unique_ptr<CostModel> shipped;
  std::vector<Sample> others; ///< Candidates of kernels that are no tasks.
};
} // namespace

//===----------------------------------------------------------------------===//
// Searching
//===----------------------------------------------------------------------===//

llvm::Error Tuner::findMeasurer() {
  if (!options.messenger) {
    measurer = makeLocalMeasurer(options);
    return llvm::Error::success();
  }
  auto made = makeRankMeasurer(options, context);
  if (!made)
    return made.takeError();
  measurer = std::move(*made);
  return llvm::Error::success();
}

llvm::Error Tuner::openRecords() {
  if (options.records.empty())
    return llvm::Error::success();
  auto opened = TuningRecords::open(options.records);
  if (!opened)
    return opened.takeError();
  records = std::move(*opened);
  return llvm::Error::success();
}

/// Chooses before kernels are formed, and lets `options` form them so.
static llvm::Error choose(ModuleOp module, TuneOptions &options,
                          std::vector<TunedStatement> &statements) {
  auto compared = chooseStatements(module, options);
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

llvm::Error Tuner::keepChoices(const Network &network) {
  if (!records || network.result.statements.empty())
    return llvm::Error::success();
  auto machine = describeMachine(context, options.measure.codegen);
  if (!machine)
    return machine.takeError();
  TrialKey key;
  llvm::raw_string_ostream(key.target) << *machine;
  for (const TunedStatement &statement : network.result.statements) {
    key.kernel = getChoiceKey(statement, network.options.measure);
    std::optional<Winner> winner;
    if (!statement.script.empty())
      winner = {statement.command, statement.script, statement.seconds,
                statement.original};
    if (llvm::Error error = records->setWinner(key, winner))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Tuner::addNetwork(const ModelToTune &given, unsigned numModels) {
  networks.push_back(
      std::make_unique<Network>(Network{given, options, TunedModel(), {}}));
  Network &network = *networks.back();
  network.options.measure.constantBytes =
      roundConstantBytes(countConstantBytes(given.module));
  // Choices of all share the time.
  network.options.seconds /= numModels;
  if (options.choosesAlgorithms && !options.simulate)
    if (llvm::Error error =
            choose(given.module, network.options, network.result.statements))
      return error;
  if (llvm::Error error = keepChoices(network))
    return error;
  auto kernels = collectTasks(given.module, network.options);
  if (!kernels)
    return kernels.takeError();
  for (const ProgramKernel &kernel : *kernels) {
    if (options.measure.codegen.mustStop())
      break;
    if (llvm::Error error = addKernel(network, kernel))
      return error;
  }
  return llvm::Error::success();
}

llvm::Error Tuner::addKernel(Network &network, const ProgramKernel &kernel) {
  auto [place, isNew] = taskOf.try_emplace(
      computeKernelKey(kernel, network.options.measure), tasks.size());
  if (isNew)
    if (llvm::Error error = addTask(kernel, network.options))
      return error;
  TunedKernel tuned;
  tuned.name = kernel.name;
  tuned.numCalls = kernel.numCalls;
  network.result.kernels.push_back(std::move(tuned));
  network.tasks.push_back(place->second);
  return llvm::Error::success();
}

llvm::Error Tuner::addTask(const ProgramKernel &kernel,
                           const TuneOptions &options) {
  auto task = Task::create(kernel, context, options, *measurer);
  if (!task)
    return task.takeError();
  llvm::append_range(result.ruleFaults, (*task)->getRuleFaults());
  auto findReason = [&]() -> llvm::Expected<std::string> {
    if (!(*task)->hasSpace())
      return "runs in program order";
    if (isOutOfTime(0))
      return "expects more time: it ended before the default schedule could be "
             "measured";
    return (*task)->measureDefault();
  };
  llvm::Expected<std::string> reason = findReason();
  if (!reason)
    return reason.takeError();
  bool isDone = !reason->empty();
  tasks.push_back({std::move(*task), std::move(*reason), isDone, {}});
  return isDone ? llvm::Error::success() : recall(*tasks.back().task);
}

/// Reads what is known of a task.
llvm::Error Tuner::recall(Task &task) {
  if (!records)
    return llvm::Error::success();
  auto trials = records->find(task.getKey());
  if (!trials)
    return trials.takeError();
  for (const Trial &trial : *trials)
    task.recall(trial);
  auto others = records->findOfOtherBuilds(task.getKey(), kSuggested);
  if (!others)
    return others.takeError();
  for (const Trial &trial : *others)
    task.suggest(trial);
  return llvm::Error::success();
}

bool Tuner::isOutOfTime(double reserved) const {
  return options.seconds > 0 &&
         getElapsed() + std::min(reserved, options.seconds / 2) >=
             options.seconds;
}

double Tuner::estimateFinals() const {
  unsigned numRuns = 0;
  for (const Entry &entry : tasks)
    numRuns += entry.task->countFinalRuns();
  return numRuns * trialSeconds / std::max(numTrials, 1u);
}

ModelTime Tuner::getTime(const Network &network, bool atBest) const {
  ModelTime time = {0, network.given.weight, network.given.target};
  for (auto [kernel, number] :
       llvm::zip_equal(network.result.kernels, network.tasks)) {
    const Task &task = *tasks[number].task;
    time.seconds +=
        kernel.numCalls * (atBest ? task.getBest() : task.getOriginal());
  }
  return time;
}

double Tuner::combineTimes(bool atBest) const {
  return combineSeconds(options.objective,
                        llvm::map_to_vector(networks, [&](const auto &network) {
                          return getTime(*network, atBest);
                        }));
}

bool Tuner::isTargetReached() const {
  return llvm::all_of(networks, [&](const auto &network) {
    ModelTime time = getTime(*network, /*atBest=*/true);
    return time.target > 0 && time.seconds <= time.target;
  });
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
        CostModel::loadShipped(tasks.front().task->getTarget().getVectorBits());
  result.isRankedByShipped = !model && shipped;
  if (!model || !records || tasks.empty())
    return llvm::Error::success();
  auto kernels = records->findSamples(tasks.front().task->getKey().target);
  if (!kernels)
    return kernels.takeError();
  for (const KernelSamples &kernel : *kernels)
    if (llvm::none_of(tasks, [&](const Entry &entry) {
          return entry.task->getKey().task == kernel.task;
        }))
      addSamples(kernel.samples, others);
  return llvm::Error::success();
}

void Tuner::trainModel() {
  if (!model)
    return;
  std::vector<Sample> samples = others;
  for (const Entry &entry : tasks)
    addSamples(entry.task->getSamples(), samples);
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
  for (const Entry &entry : tasks)
    progress.failures += entry.task->getNumFailures();
  progress.original = combineTimes(/*atBest=*/false);
  progress.best = combineTimes(/*atBest=*/true);
  options.progress(progress);
}

std::vector<TaskHistory> Tuner::getHistories() const {
  std::vector<double> slopes(tasks.size());
  for (const std::unique_ptr<Network> &network : networks) {
    double slope = computeSlope(options.objective, getTime(*network, true));
    for (auto [kernel, number] :
         llvm::zip_equal(network->result.kernels, network->tasks))
      slopes[number] += kernel.numCalls * slope;
  }
  std::vector<TaskHistory> histories;
  for (auto [entry, slope] : llvm::zip_equal(tasks, slopes)) {
    histories.push_back(entry.task->getHistory(slope));
    histories.back().isOpen = !entry.isDone && !isGivenUp(*entry.task);
  }
  return histories;
}

/// The next candidates of whichever tasks, so many as are measured at once.
std::vector<Tuner::Chosen> Tuner::chooseBatch() {
  std::vector<Chosen> batch;
  unsigned most = std::min(measurer->getBatch(), options.trials - numTrials);
  while (batch.size() < most) {
    std::optional<size_t> next = chooseTask(getHistories(), random);
    if (!next)
      break;
    Task &task = *tasks[*next].task;
    if (task.needsDrafts()) {
      trainModel();
      task.chooseDrafts(random, model && model->isTrained() ? model.get()
                                                            : shipped.get());
    }
    if (std::optional<Attempt> attempt = task.chooseNext(random))
      batch.push_back({*next, std::move(*attempt)});
    else
      tasks[*next].isDone = true;
  }
  return batch;
}

/// Each is recorded as soon as it is measured; tasks take them in the order in
/// which they were chosen, so that nothing else depends on who measures.
llvm::Error Tuner::measure(std::vector<Chosen> &batch) {
  size_t numTaken = 0;
  auto done = [&](size_t number, std::vector<Outcome> outcomes) -> llvm::Error {
    Chosen &chosen = batch[number];
    Trial &trial = chosen.attempt.trial;
    completeTrial(trial, std::move(outcomes.front()));
    chosen.isMeasured = true;
    if (records)
      if (llvm::Error error = records->add(tasks[chosen.task].task->getKey(),
                                           trial, options.seed))
        return error;
    while (numTaken < batch.size() && batch[numTaken].isMeasured) {
      Chosen &next = batch[numTaken++];
      tasks[next.task].task->take(std::move(next.attempt));
      ++numTrials;
      report();
    }
    return llvm::Error::success();
  };
  return measurer->measure(
      llvm::map_to_vector(
          batch, [](const Chosen &chosen) { return chosen.attempt.turn; }),
      done);
}

llvm::Error Tuner::search() {
  while (!mustStop()) {
    std::vector<Chosen> batch = chooseBatch();
    if (batch.empty())
      break;
    double begin = getElapsed();
    if (llvm::Error error = measure(batch))
      return error;
    trialSeconds += getElapsed() - begin;
  }
  return llvm::Error::success();
}

/// Measures the best candidates of a task again, and records what won.
llvm::Error Tuner::decide(Entry &entry) {
  if (!entry.reason.empty() || options.measure.codegen.mustStop())
    return llvm::Error::success();
  llvm::Expected<bool> isDecided = entry.task->findWinner(entry.winner);
  if (!isDecided)
    return isDecided.takeError();
  if (!records || !*isDecided || options.measure.codegen.mustStop())
    return llvm::Error::success();
  if (const std::optional<Trial> &trial = entry.task->getBranched())
    if (llvm::Error error =
            records->add(entry.task->getKey(), *trial, options.seed))
      return error;
  return records->setWinner(entry.task->getKey(), entry.winner);
}

TunedModel Tuner::finish(Network &network) const {
  TunedModel &model = network.result;
  ScriptCollector script(context);
  for (auto [tuned, number] : llvm::zip_equal(model.kernels, network.tasks)) {
    const Entry &entry = tasks[number];
    tuned.original = tuned.best = entry.task->getOriginal();
    tuned.trials = entry.task->getNumTrials();
    tuned.failures = entry.task->getNumFailures();
    tuned.reason = entry.reason;
    if (!entry.winner)
      continue;
    tuned.best = entry.winner->seconds;
    tuned.rule = entry.winner->rule;
    script.add(*parseSourceString<ModuleOp>(entry.winner->script, context),
               tuned.name);
  }
  for (const TunedStatement &statement : model.statements)
    if (!statement.script.empty())
      script.addChoice(*parseSourceString<ModuleOp>(statement.script, context));
  if (!options.measure.codegen.mustStop())
    model.script = script.print();
  return std::move(model);
}

llvm::Expected<TuneResult> Tuner::finish() {
  for (Entry &entry : tasks)
    if (llvm::Error error = decide(entry))
      return std::move(error);
  for (const std::unique_ptr<Network> &network : networks)
    result.models.push_back(finish(*network));
  result.rankFaults = measurer->getFaults();
  result.isInterrupted = options.measure.codegen.mustStop();
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

static llvm::Error checkModels(ArrayRef<ModelToTune> models,
                               Objective objective) {
  if (models.empty())
    return llvm::createStringError("expects a model to tune, but got none");
  for (auto [number, model] : llvm::enumerate(models)) {
    auto refuse = [number = number](const Twine &rule, double got) {
      std::string text;
      llvm::raw_string_ostream(text)
          << "model " << number + 1 << ": expects " << rule << ", but got "
          << llvm::format("%g", got);
      return llvm::createStringError(text);
    };
    if (!(model.weight > 0) || !std::isfinite(model.weight))
      return refuse("a weight above 0", model.weight);
    if (!(model.target >= 0) || !std::isfinite(model.target))
      return refuse("a target of 0 or more seconds", model.target);
    if ((objective == Objective::Target) != (model.target > 0))
      return refuse(objective == Objective::Target
                        ? Twine("a target above 0 for objective 'target'")
                        : "no target for objective '" + getSpelling(objective) +
                              "'",
                    model.target);
  }
  return llvm::Error::success();
}

/// Sizes have the names that those of the models have, all of them or none.
static llvm::Error checkSizes(ArrayRef<ModelToTune> models,
                              ArrayRef<MeasuredSizes> all) {
  std::set<std::string> names;
  for (const ModelToTune &model : models)
    names.merge(getSizeNames(model.module));
  auto refuse = [&](size_t number, const Twine &got) {
    std::string text;
    llvm::raw_string_ostream os(text);
    os << "sizes " << number + 1 << ": expects numbers for ";
    llvm::interleaveComma(names, os,
                          [&](StringRef name) { os << '\'' << name << '\''; });
    os << (names.empty() ? "nothing, since all sizes are known" : "")
       << ", but got " << got;
    return llvm::createStringError(text);
  };
  for (auto [number, sizes] : llvm::enumerate(all)) {
    if (sizes.named.empty())
      continue;
    for (const auto &[name, size] : sizes.named)
      if (!names.count(name))
        return refuse(number, "one for '" + name + "'");
    for (const std::string &name : names)
      if (!sizes.named.count(name))
        return refuse(number, "none for '" + name + "'");
  }
  return llvm::Error::success();
}

llvm::Expected<TuneResult> tuning::tuneModels(ArrayRef<ModelToTune> models,
                                              const TuneOptions &options) {
  Clock::time_point start = Clock::now();
  if (llvm::Error error = checkModels(models, options.objective))
    return std::move(error);
  if (llvm::Error error = checkSizes(models, options.measure.sizes))
    return std::move(error);
  SearchContext search(models.front().module);
  Tuner tuner(search.get(), options, start);
  if (llvm::Error error = tuner.openRecords())
    return error;
  if (llvm::Error error = tuner.findMeasurer())
    return error;
  for (auto [number, model] : llvm::enumerate(models))
    if (llvm::Error error = tuner.addNetwork(model, models.size())) {
      if (models.size() == 1)
        return error;
      return llvm::createStringError("model " + Twine(number + 1) + ": " +
                                     llvm::toString(std::move(error)));
    }
  if (llvm::Error error = tuner.prepareModel())
    return error;
  if (llvm::Error error = tuner.search())
    return error;
  return tuner.finish();
}
