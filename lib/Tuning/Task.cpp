//===- Task.cpp - The search for one kernel -------------------------------===//

#include "Task.h"
#include "Script.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/TransformOps/PlanScript.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Support/ChildProcess.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/Format.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// How many of the fastest candidates have descendants.
static constexpr size_t kParents = 8;
/// Of a hundred candidates, so many are unlike all before; of those that were
/// ranked, so many are some that are not the best.
static constexpr unsigned kRandomPercent = 25, kExplorePercent = 20;
/// How many drafts are made before so many of them are built; of how many the
/// estimate leaves the choice to the model.
static constexpr unsigned kDrafts = 1024, kRanked = 256, kBuilt = 8;
/// Of a hundred drafts, so many are descendants of what was measured.
static constexpr unsigned kDescendantPercent = 60;
/// How often a process may fail that runs the same candidate.
static constexpr unsigned kMaxFailed = 2;
/// How often a candidate that was seen before is replaced by another.
static constexpr unsigned kAttempts = 64;
/// How often a sketch may be refused before it was ever measured.
static constexpr unsigned kMaxRefused = 3;
/// How many candidates are measured again at the end, and how often.
static constexpr size_t kFinalists = 3;
static constexpr unsigned kFinalRounds = 3;
/// A schedule has to be faster than the default by this, for noise.
static constexpr double kMinGain = 0.98;

//===----------------------------------------------------------------------===//
// Outcomes
//===----------------------------------------------------------------------===//

namespace {
/// What a child process says: a status, then a time and what was computed, or a
/// reason.
struct Outcome {
  TrialStatus status = TrialStatus::Failed;
  double seconds = 0;
  std::vector<MeasuredOutput> outputs;
  std::string error;

  static std::string print(TrialStatus status, const Twine &text) {
    return (Twine(static_cast<unsigned>(status)) + "\n" + text).str();
  }
  static std::string print(const MeasuredProgram &measured, bool withOutputs);
  static Outcome parse(StringRef text);
};
} // namespace

std::string Outcome::print(const MeasuredProgram &measured, bool withOutputs) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << llvm::format("%.9e\n", measured.seconds);
  if (withOutputs)
    for (const MeasuredOutput &output : measured.outputs)
      os << output.dtype << ' ' << output.getBytes().size() << '\n'
         << output.getBytes();
  return print(TrialStatus::Measured, text);
}

Outcome Outcome::parse(StringRef text) {
  Outcome outcome;
  auto takeLine = [&] {
    auto [line, rest] = text.split('\n');
    text = rest;
    return line;
  };
  unsigned status = 0;
  if (takeLine().getAsInteger(10, status) ||
      status > static_cast<unsigned>(TrialStatus::Wrong)) {
    outcome.error = "expects a time, but the process told none";
    return outcome;
  }
  outcome.status = static_cast<TrialStatus>(status);
  if (outcome.status != TrialStatus::Measured) {
    outcome.error = text.rtrim().str();
    return outcome;
  }
  if (takeLine().getAsDouble(outcome.seconds) || !(outcome.seconds > 0)) {
    outcome.status = TrialStatus::Failed;
    outcome.error = "expects a time, but the process told none";
    return outcome;
  }
  while (!text.empty()) {
    auto [dtype, size] = takeLine().split(' ');
    MeasuredOutput output;
    size_t bytes = 0;
    if (dtype.getAsInteger(10, output.dtype) || size.getAsInteger(10, bytes))
      break;
    // A copy is aligned.
    output.buffer =
        llvm::MemoryBuffer::getMemBufferCopy(text.take_front(bytes));
    if (!output.buffer) {
      outcome.status = TrialStatus::Failed;
      outcome.error = "expects memory for an output, but got none";
      break;
    }
    text = text.drop_front(bytes);
    outcome.outputs.push_back(std::move(output));
  }
  return outcome;
}

/// Runs `evaluate` in a child process.
static llvm::Expected<Outcome>
runOutcome(llvm::function_ref<std::string()> evaluate,
           const MeasureOptions &options) {
  auto text = runInChild(evaluate, options.timeLimit, options.memoryLimit);
  if (text)
    return Outcome::parse((*text)->getBuffer());
  llvm::Error error = text.takeError();
  if (error.isA<NoChildProcess>())
    return std::move(error);
  Outcome outcome;
  outcome.error = llvm::toString(std::move(error));
  return outcome;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<Task>> Task::create(const ProgramKernel &kernel,
                                                   MLIRContext *context,
                                                   const TuneOptions &options) {
  std::unique_ptr<Task> task(new Task(kernel, options));
  task->module = parseSourceString<ModuleOp>(kernel.module.text, context);
  if (!task->module)
    return llvm::createStringError("kernel '" + kernel.name +
                                   "': expects a kernel that can be parsed");
  std::string target;
  llvm::raw_string_ostream(target)
      << task->module->getOperation()->getAttr(poly::TargetAttr::getAttrName());
  task->key = {computeKernelKey(kernel, options.measure), target,
               getCompilerIdentity()};
  task->sketches = deriveSketches(*task->module);
  task->numRefused.resize(task->sketches.size());
  if (task->hasSpace()) {
    const Sketch &first = task->sketches.front();
    task->originalFeatures = task->describe(*first.select(first.getDefault()));
  }
  return task;
}

/// Applies `script`, if there is one, compiles and runs, all in this process,
/// which is a child.
std::string Task::evaluate(ModuleOp script, ArrayRef<MeasuredOutput> expected,
                           bool returnsOutputs) const {
  ModuleOp payload = module.get();
  std::string reasons;
  ScopedDiagnosticHandler handler(
      payload.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          reasons += diagnostic.str() + "\n";
        return success();
      });
  if (script) {
    if (failed(transform::applyTransformNamedSequence(
            payload, getSequence(script), ModuleOp(),
            transform::TransformOptions())))
      return Outcome::print(TrialStatus::Refused, reasons);
  }
  CodegenOptions codegen = getMeasure().codegen;
  codegen.jobs = 1;
  FailureOr<CompiledProgram> program = compileModule(payload, codegen);
  if (failed(program))
    return Outcome::print(TrialStatus::NotCompiled, reasons);
  auto measured = measureProgram(std::move(*program), kernel.module,
                                 getMeasure(), expected);
  if (measured)
    return Outcome::print(*measured, returnsOutputs);
  TrialStatus status = TrialStatus::Failed;
  std::string error;
  llvm::handleAllErrors(
      measured.takeError(),
      [&](const WrongResult &wrong) {
        status = TrialStatus::Wrong;
        error = wrong.message();
      },
      [&](const llvm::ErrorInfoBase &other) { error = other.message(); });
  return Outcome::print(status, error);
}

llvm::Error Task::measureDefault() {
  if (options.simulate) {
    original = options.simulate("");
    return llvm::Error::success();
  }
  llvm::Expected<Outcome> outcome =
      runOutcome([&] { return evaluate(nullptr, {}, /*returnsOutputs=*/true); },
                 getMeasure());
  if (!outcome)
    return outcome.takeError();
  if (outcome->status != TrialStatus::Measured)
    return llvm::createStringError(outcome->error);
  if (llvm::all_of(outcome->outputs, [](const MeasuredOutput &output) {
        return output.getBytes().empty();
      }))
    return llvm::createStringError("has no results to compare");
  for (const MeasuredOutput &output : outcome->outputs)
    if (!hasNumbers(output))
      return llvm::createStringError(
          "has results that are not numbers, which cannot be compared");
  original = outcome->seconds;
  expected = std::move(outcome->outputs);
  return llvm::Error::success();
}

Features Task::describe(ModuleOp script) const {
  ModuleOp alone = module.get();
  auto only = *alone.getOps<poly::KernelOp>().begin();
  llvm::Expected<std::vector<poly::Plan>> plans = poly::readPlans(script, only);
  if (plans)
    return computeFeatures(only, poly::getTarget(alone), *plans);
  // What does not fit is refused when it is tried.
  llvm::consumeError(plans.takeError());
  return Features();
}

llvm::Expected<Trial> Task::run(const Sketch &sketch,
                                const Selection &selection) const {
  OwningOpRef<ModuleOp> script = sketch.select(selection);
  Trial trial;
  trial.rule = sketch.getRule().str();
  llvm::raw_string_ostream(trial.script) << *script;
  trial.features = describe(*script);
  if (options.simulate) {
    trial.status = TrialStatus::Measured;
    trial.seconds = options.simulate(trial.script);
    return trial;
  }
  llvm::Expected<Outcome> outcome = runOutcome(
      [&] { return evaluate(*script, expected, /*returnsOutputs=*/false); },
      getMeasure());
  if (!outcome)
    return outcome.takeError();
  trial.status = outcome->status;
  trial.seconds = outcome->seconds;
  trial.error = std::move(outcome->error);
  return trial;
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

double Task::getBest() const {
  return population.empty()
             ? original
             : std::min(original, population.front().trial.seconds);
}

double Task::estimateGain() const {
  // What was not tried is expected to save a tenth, and less the longer nothing
  // was found.
  double share =
      numTrials == 0 ? 1 : 0.1 + (1 - getBest() / original) / numTrials;
  return kernel.numCalls * getBest() * share / (1 + numSinceGain);
}

bool Task::isHopeless(unsigned sketch) const {
  return numRefused[sketch] >= kMaxRefused &&
         llvm::none_of(population, [&](const Candidate &candidate) {
           return candidate.sketch == sketch;
         });
}

void Task::add(Candidate candidate) {
  ++numTrials;
  numRefused[candidate.sketch] +=
      candidate.trial.status == TrialStatus::Refused;
  ++numSinceGain;
  // That a process was ended may have had other reasons than the candidate.
  if (candidate.trial.status != TrialStatus::Failed)
    samples.push_back({candidate.trial.features, originalFeatures,
                       candidate.trial.status == TrialStatus::Measured
                           ? 1 / candidate.trial.seconds
                           : 0});
  if (candidate.trial.status != TrialStatus::Measured) {
    ++numFailures;
    return;
  }
  if (candidate.trial.seconds < getBest())
    numSinceGain = 0;
  auto place = llvm::upper_bound(population, candidate,
                                 [](const Candidate &a, const Candidate &b) {
                                   return a.trial.seconds < b.trial.seconds;
                                 });
  population.insert(place, std::move(candidate));
}

void Task::recall(const Trial &trial) {
  // What ended a process now may do so for good.
  if (trial.status == TrialStatus::Failed &&
      ++numFailed[trial.script] < kMaxFailed)
    return;
  // A sketch of the same rule that the script is one of.
  OwningOpRef<ModuleOp> script =
      parseSourceString<ModuleOp>(trial.script, module->getContext());
  if (!script)
    return;
  for (auto [number, sketch] : llvm::enumerate(sketches)) {
    if (sketch.getRule() != trial.rule)
      continue;
    Selection selection = sketch.translate(*script);
    std::string text;
    llvm::raw_string_ostream(text) << *sketch.select(selection);
    if (text != trial.script || !seen.insert(text).second)
      continue;
    Candidate candidate = {static_cast<unsigned>(number), std::move(selection),
                           trial};
    // Those of the file may be of another build.
    candidate.trial.features = describe(*script);
    add(std::move(candidate));
    return;
  }
}

std::vector<Sample> Task::getSamples() const {
  std::vector<Sample> result = samples;
  normalizeScores(result);
  return result;
}

std::pair<unsigned, Selection> Task::proposeAny(Sketch::Random &random) const {
  unsigned sketch = random() % sketches.size();
  // One of which nothing was legal so far is given up after some attempts.
  for (unsigned i = 0; i < sketches.size() && isHopeless(sketch); ++i)
    sketch = (sketch + 1) % sketches.size();
  return {sketch, sketches[sketch].selectAny(random)};
}

std::pair<unsigned, Selection>
Task::proposeDescendant(Sketch::Random &random) const {
  size_t numParents = std::min(population.size(), kParents);
  if (numParents == 0)
    return proposeAny(random);
  // The faster, the more descendants.
  size_t one = random() % numParents, other = random() % numParents;
  const Candidate &first = population[std::min(one, other)];
  const Candidate &second = population[random() % numParents];
  const Sketch &sketch = sketches[first.sketch];
  if (random() % 2 == 0)
    return {first.sketch, sketch.mutate(first.selection, random)};
  // What the other one selects of the choices of the same names.
  Selection others = second.selection;
  if (first.sketch != second.sketch)
    others =
        sketch.translate(*sketches[second.sketch].select(second.selection));
  return {first.sketch,
          sketch.mutate(sketch.cross(first.selection, others, random), random)};
}

std::pair<unsigned, Selection> Task::propose(Sketch::Random &random) {
  // Each sketch is tried as it comes first.
  if (numDefaults < sketches.size()) {
    const Sketch &sketch = sketches[numDefaults];
    return {numDefaults++, sketch.getDefault()};
  }
  if (!drafts.empty()) {
    Draft draft = std::move(drafts.back());
    drafts.pop_back();
    return {draft.sketch, std::move(draft.selection)};
  }
  if (options.search == Search::Random || random() % 100 < kRandomPercent)
    return proposeAny(random);
  return proposeDescendant(random);
}

Task::Draft Task::makeDraft(std::pair<unsigned, Selection> proposed) const {
  OwningOpRef<ModuleOp> script =
      sketches[proposed.first].select(proposed.second);
  Draft draft = {proposed.first, std::move(proposed.second), describe(*script),
                 0};
  draft.score = -draft.features[Feature::Cycles];
  return draft;
}

void Task::chooseDrafts(Sketch::Random &random, CostModel *model) {
  std::set<std::pair<unsigned, Selection>> made;
  std::vector<Draft> all;
  for (unsigned i = 0; i < kDrafts; ++i) {
    auto proposed = random() % 100 < kDescendantPercent
                        ? proposeDescendant(random)
                        : proposeAny(random);
    if (!tried.count(proposed) && made.insert(proposed).second)
      all.push_back(makeDraft(std::move(proposed)));
  }
  auto rank = [](std::vector<Draft> &some) {
    llvm::stable_sort(
        some, [](const Draft &a, const Draft &b) { return a.score > b.score; });
  };
  rank(all);
  if (all.size() > kRanked)
    all.resize(kRanked);
  if (model && model->isTrained() && !all.empty()) {
    llvm::Expected<std::vector<float>> scores =
        model->predict(llvm::map_to_vector(all, [&](const Draft &draft) {
          return Sample{draft.features, originalFeatures};
        }));
    if (scores) {
      for (auto [draft, score] : llvm::zip_equal(all, *scores))
        draft.score = score;
      rank(all);
    } else {
      llvm::consumeError(scores.takeError());
    }
  }
  // Some are tried that nothing speaks for.
  size_t numBest = std::min<size_t>(all.size(), kBuilt);
  for (size_t i = 0; i < numBest; ++i)
    if (random() % 100 < kExplorePercent)
      std::swap(all[i], all[random() % all.size()]);
  all.resize(numBest);
  drafts.assign(std::make_move_iterator(all.rbegin()),
                std::make_move_iterator(all.rend()));
}

llvm::Expected<std::optional<Trial>> Task::tryNext(Sketch::Random &random) {
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    auto [number, selection] = propose(random);
    tried.insert({number, selection});
    OwningOpRef<ModuleOp> script = sketches[number].select(selection);
    std::string text;
    llvm::raw_string_ostream(text) << *script;
    if (!seen.insert(text).second)
      continue;
    llvm::Expected<Trial> trial = run(sketches[number], selection);
    if (!trial)
      return trial.takeError();
    add({number, std::move(selection), *trial});
    return std::move(*trial);
  }
  return std::nullopt;
}

static double median(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

unsigned Task::countFinalRuns() const {
  return population.empty()
             ? 0
             : kFinalRounds * (1 + std::min(population.size(), kFinalists));
}

/// Seconds of a run of the default schedule, 0 if it fails.
llvm::Expected<double> Task::runDefault() const {
  if (options.simulate)
    return original;
  llvm::Expected<Outcome> outcome = runOutcome(
      [&] { return evaluate(nullptr, expected, /*returnsOutputs=*/false); },
      getMeasure());
  if (!outcome)
    return outcome.takeError();
  return outcome->status == TrialStatus::Measured ? outcome->seconds : 0;
}

llvm::Expected<bool> Task::findWinner(std::optional<Winner> &winner) {
  if (population.empty())
    return false;
  size_t numFinalists = std::min(population.size(), kFinalists);
  std::vector<double> defaults;
  std::vector<std::vector<double>> times(numFinalists);
  for (unsigned round = 0; round < kFinalRounds; ++round) {
    if (getMeasure().codegen.mustStop())
      return false;
    llvm::Expected<double> seconds = runDefault();
    if (!seconds)
      return seconds.takeError();
    if (*seconds > 0)
      defaults.push_back(*seconds);
    for (size_t i = 0; i < numFinalists; ++i) {
      const Candidate &candidate = population[i];
      llvm::Expected<Trial> trial =
          run(sketches[candidate.sketch], candidate.selection);
      if (!trial)
        return trial.takeError();
      if (trial->status == TrialStatus::Measured)
        times[i].push_back(trial->seconds);
    }
  }
  if (defaults.empty())
    return false;
  original = median(std::move(defaults));
  for (size_t i = 0; i < numFinalists; ++i) {
    // One that fails now and then is none.
    if (times[i].size() < kFinalRounds)
      continue;
    double seconds = median(std::move(times[i]));
    if (seconds < kMinGain * original && (!winner || seconds < winner->seconds))
      winner = {population[i].trial.rule, population[i].trial.script, seconds,
                original};
  }
  return true;
}
