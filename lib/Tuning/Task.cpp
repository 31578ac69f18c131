//===- Task.cpp - The search for one kernel -------------------------------===//

#include "Task.h"
#include "Script.h"
#include "espalier/Dialect/Poly/IR/Target.h"
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
/// Of a hundred candidates, so many are unlike all before.
static constexpr unsigned kRandomPercent = 25;
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
      os << output.dtype << ' ' << output.bytes.size() << '\n' << output.bytes;
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
    output.bytes = text.take_front(bytes).str();
    text = text.drop_front(output.bytes.size());
    outcome.outputs.push_back(std::move(output));
  }
  return outcome;
}

/// Runs `evaluate` in a child process.
static Outcome runOutcome(llvm::function_ref<std::string()> evaluate,
                          const MeasureOptions &options) {
  llvm::Expected<std::string> text =
      runInChild(evaluate, options.timeLimit, options.memoryLimit);
  if (text)
    return Outcome::parse(*text);
  Outcome outcome;
  outcome.error = llvm::toString(text.takeError());
  return outcome;
}

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

llvm::Expected<std::unique_ptr<Task>>
Task::create(const ProgramKernel &kernel, MLIRContext *context,
             const MeasureOptions &options) {
  std::unique_ptr<Task> task(new Task(kernel, options));
  task->module = parseSourceString<ModuleOp>(kernel.module.text, context);
  if (!task->module)
    return llvm::createStringError("kernel '" + kernel.name +
                                   "': expects a kernel that can be parsed");
  std::string target;
  llvm::raw_string_ostream(target)
      << task->module->getOperation()->getAttr(poly::TargetAttr::getAttrName());
  task->key = {computeKernelKey(kernel, options), target,
               getCompilerIdentity()};
  task->sketches = deriveSketches(*task->module);
  task->numRefused.resize(task->sketches.size());
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
  CodegenOptions codegen = options.codegen;
  codegen.jobs = 1;
  FailureOr<CompiledProgram> program = compileModule(payload, codegen);
  if (failed(program))
    return Outcome::print(TrialStatus::NotCompiled, reasons);
  auto measured = measureProgram(std::move(*program), kernel.module.isConstant,
                                 options, expected);
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
  Outcome outcome = runOutcome(
      [&] { return evaluate(nullptr, {}, /*returnsOutputs=*/true); }, options);
  if (outcome.status != TrialStatus::Measured)
    return llvm::createStringError(outcome.error);
  if (outcome.outputs.empty())
    return llvm::createStringError("has no results to compare");
  original = outcome.seconds;
  expected = std::move(outcome.outputs);
  return llvm::Error::success();
}

Trial Task::run(const Sketch &sketch, const Selection &selection) const {
  OwningOpRef<ModuleOp> script = sketch.select(selection);
  Trial trial;
  trial.rule = sketch.getRule().str();
  llvm::raw_string_ostream(trial.script) << *script;
  Outcome outcome = runOutcome(
      [&] { return evaluate(*script, expected, /*returnsOutputs=*/false); },
      options);
  trial.status = outcome.status;
  trial.seconds = outcome.seconds;
  trial.error = std::move(outcome.error);
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
  // That a process was ended may have had other reasons than the candidate.
  if (trial.status == TrialStatus::Failed)
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
    add({static_cast<unsigned>(number), std::move(selection), trial});
    return;
  }
}

std::pair<unsigned, Selection> Task::propose(Sketch::Random &random) {
  // Each sketch is tried as it comes first.
  if (numDefaults < sketches.size()) {
    const Sketch &sketch = sketches[numDefaults];
    return {numDefaults++, sketch.getDefault()};
  }
  size_t numParents = std::min(population.size(), kParents);
  if (numParents == 0 || random() % 100 < kRandomPercent) {
    unsigned sketch = random() % sketches.size();
    // One of which nothing was legal so far is given up after some attempts.
    for (unsigned i = 0; i < sketches.size() && isHopeless(sketch); ++i)
      sketch = (sketch + 1) % sketches.size();
    return {sketch, sketches[sketch].selectAny(random)};
  }
  // The faster, the more descendants.
  const Candidate &first =
      population[std::min(random() % numParents, random() % numParents)];
  const Sketch &sketch = sketches[first.sketch];
  const Candidate &second = population[random() % numParents];
  if (random() % 2 && first.sketch == second.sketch)
    return {first.sketch, sketch.mutate(sketch.cross(first.selection,
                                                     second.selection, random),
                                        random)};
  return {first.sketch, sketch.mutate(first.selection, random)};
}

std::optional<Trial> Task::tryNext(Sketch::Random &random) {
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    auto [number, selection] = propose(random);
    OwningOpRef<ModuleOp> script = sketches[number].select(selection);
    std::string text;
    llvm::raw_string_ostream(text) << *script;
    if (!seen.insert(text).second)
      continue;
    Trial trial = run(sketches[number], selection);
    add({number, std::move(selection), trial});
    return trial;
  }
  return std::nullopt;
}

static double median(std::vector<double> values) {
  auto middle = values.begin() + values.size() / 2;
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

bool Task::findWinner(std::optional<Winner> &winner) {
  if (population.empty())
    return false;
  size_t numFinalists = std::min(population.size(), kFinalists);
  std::vector<double> defaults;
  std::vector<std::vector<double>> times(numFinalists);
  for (unsigned round = 0; round < kFinalRounds; ++round) {
    if (options.codegen.mustStop())
      return false;
    Outcome outcome = runOutcome(
        [&] { return evaluate(nullptr, expected, /*returnsOutputs=*/false); },
        options);
    if (outcome.status == TrialStatus::Measured)
      defaults.push_back(outcome.seconds);
    for (size_t i = 0; i < numFinalists; ++i) {
      const Candidate &candidate = population[i];
      Trial trial = run(sketches[candidate.sketch], candidate.selection);
      if (trial.status == TrialStatus::Measured)
        times[i].push_back(trial.seconds);
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
