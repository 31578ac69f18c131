//===- Task.cpp - The search for one kernel -------------------------------===//

#include "Task.h"
#include "Script.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/TransformOps/PlanScript.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// How many of the fastest candidates have descendants.
static constexpr size_t kParents = 8;
/// Of a hundred candidates, so many are unlike all before; of those that were
/// ranked, so many are some that are not the best.
static constexpr unsigned kRandomPercent = 25, kExplorePercent = 20;
/// How many drafts are made before so many of them are built; of how many the
/// estimate leaves the choice to the model. Half are descendants of these then.
static constexpr unsigned kDrafts = 1024, kRanked = 256, kBuilt = 8;
static constexpr Generations kGenerations = {};
/// Of a hundred drafts, so many are descendants of what was measured.
static constexpr unsigned kDescendantPercent = 60;
/// How often a process may fail that runs the same candidate.
static constexpr unsigned kMaxFailed = 2;
/// How often a candidate that was seen before is replaced by another.
static constexpr unsigned kAttempts = 64;
/// How often a sketch may be refused before it was ever measured.
static constexpr unsigned kMaxRefused = 3;
/// A candidate's process may take so many times as long as that of the fastest
/// one, and so long beside that: compilations differ, and others have work for
/// the machine.
static constexpr double kSlowProcess = 4, kSpareSeconds = 2;

//===----------------------------------------------------------------------===//
// Candidates
//===----------------------------------------------------------------------===//

/// For which sizes a kernel is measured that does not know them.
static std::string describeSizes(poly::KernelOp kernel,
                                 ArrayRef<MeasuredSizes> sizes,
                                 ArrayRef<SizePoint> points) {
  if (llvm::all_of(kernel.getArgumentTypes(), [](Type type) {
        auto shaped = dyn_cast<ShapedType>(type);
        return !shaped || shaped.hasStaticShape();
      }))
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [number, one] : llvm::enumerate(sizes)) {
    os << ' ';
    if (one.named.empty() || points.empty())
      os << one.extent;
    else
      llvm::interleave(points[number].parameters, os, "x");
    os << ':' << one.weight;
  }
  return text;
}

/// Names what kernels have in common that are about as fast: the dimensions of
/// the computation with most of them, and what it does for a point.
static std::string describeKind(poly::KernelOp kernel) {
  std::string kind;
  unsigned most = 0;
  for (poly::ComputeOp compute : kernel.getComputes()) {
    unsigned numDims = compute.getNumDims();
    if (numDims <= most)
      continue;
    most = numDims;
    kind = std::to_string(numDims);
    for (Operation &op : compute.getBody().front())
      kind += (" " + op.getName().getStringRef()).str();
  }
  return kind;
}

llvm::Expected<std::unique_ptr<Task>> Task::create(const ProgramKernel &kernel,
                                                   MLIRContext *context,
                                                   const TuneOptions &options,
                                                   Measurer &measurer) {
  std::unique_ptr<Task> task(new Task(kernel, options, measurer));
  task->module = parseSourceString<ModuleOp>(kernel.module.text, context);
  if (!task->module)
    return llvm::createStringError("kernel '" + kernel.name +
                                   "': expects a kernel that can be parsed");
  std::string target;
  llvm::raw_string_ostream(target)
      << task->module->getOperation()->getAttr(poly::TargetAttr::getAttrName());
  std::string name = computeKernelKey(kernel, options.measure);
  auto only = *task->module->getOps<poly::KernelOp>().begin();
  task->points = findPoints(only, options.measure.sizes, kernel.module.sizes);
  task->key = {name + describeSizes(only, options.measure.sizes, task->points),
               name, target, getCompilerIdentity()};
  task->kind = describeKind(only);
  int64_t most = 1;
  for (const MeasuredSizes &sizes : options.measure.sizes)
    most = std::max(most, sizes.extent);
  for (const llvm::StringMap<int64_t> &sizes : kernel.module.sizes)
    for (const auto &size : sizes)
      most = std::max(most, size.second);
  task->kernel.module.numbers = chooseNumbers(only, most);
  task->number =
      measurer.addKernel(*task->module, task->kernel.module, options.measure);
  task->sketches = deriveSketches(*task->module);
  bool hasDefault = task->hasSpace();
  for (Sketch &sketch : deriveTimeTiles(*task->module))
    task->sketches.push_back(std::move(sketch));
  for (Sketch &sketch :
       derivePartialSums(*task->module, options.measure.threads))
    task->sketches.push_back(std::move(sketch));
  for (const SketchRule &rule : options.rules)
    task->deriveByRule(rule);
  task->numRefused.resize(task->sketches.size());
  if (hasDefault) {
    const Sketch &first = task->sketches.front();
    task->originalFeatures = task->describe(*first.select(first.getDefault()));
  }
  return task;
}

/// Adds the sketches of a rule of the user's, of which nothing is certain.
void Task::deriveByRule(const SketchRule &rule) {
  auto report = [&](llvm::Error error) {
    ruleFaults.push_back("rule '" + rule.name + "', kernel '" + kernel.name +
                         "': " + llvm::toString(std::move(error)));
  };
  std::string original;
  if (hasSpace()) {
    const Sketch &first = sketches.front();
    llvm::raw_string_ostream(original) << *first.select(first.getDefault());
  }
  auto scripts = rule.derive(kernel.module.text, original);
  if (!scripts)
    return report(scripts.takeError());
  for (const std::string &script : *scripts) {
    auto sketch = parseSketch(rule.name, script, *module);
    if (sketch)
      sketches.push_back(std::move(*sketch));
    else
      report(sketch.takeError());
  }
}

Job Task::makeJob(std::string script) const {
  return {std::move(script), /*best=*/{}, getMeasure().timeLimit};
}

llvm::Expected<std::string> Task::measureDefault() {
  llvm::Expected<Outcome> outcome = measurer.measureOne(number, makeJob(""));
  if (!outcome)
    return outcome.takeError();
  if (outcome->status != TrialStatus::Measured)
    return outcome->error;
  original = outcome->seconds;
  bests = {original};
  originalCode = outcome->code;
  Trial first;
  first.times = outcome->times;
  rival = first.getMedians();
  rivalWall = outcome->wall;
  return "";
}

/// The middle one of the extents that stand for what is not known.
static int64_t getUsualExtent(const MeasureOptions &options) {
  SmallVector<int64_t> extents;
  for (const MeasuredSizes &sizes : options.sizes)
    extents.push_back(sizes.extent);
  llvm::sort(extents);
  return extents.empty() ? 1 : extents[extents.size() / 2];
}

Features Task::describe(ModuleOp script) const {
  ModuleOp alone = module.get();
  auto only = *alone.getOps<poly::KernelOp>().begin();
  llvm::Expected<std::vector<poly::Plan>> plans = poly::readPlans(script, only);
  if (plans)
    return computeFeatures(only, poly::getTarget(alone), *plans,
                           getUsualExtent(getMeasure()));
  // What does not fit is refused when it is tried.
  llvm::consumeError(plans.takeError());
  return Features();
}

/// How a candidate is measured: one that is much slower than the fastest takes
/// no longer than that takes to see.
Job Task::limitJob(std::string script) const {
  Job job = makeJob(std::move(script));
  job.best = rival;
  std::chrono::duration<double> limit(kSlowProcess * rivalWall + kSpareSeconds);
  job.timeLimit =
      std::min(job.timeLimit,
               std::chrono::duration_cast<std::chrono::milliseconds>(limit));
  return job;
}

Trial Task::makeTrial(ModuleOp script, StringRef rule) const {
  Trial trial;
  trial.rule = rule.str();
  llvm::raw_string_ostream(trial.script) << script;
  trial.features = describe(script);
  return trial;
}

void tuning::completeTrial(Trial &trial, Outcome outcome) {
  trial.status = outcome.status;
  trial.wall = outcome.wall;
  trial.seconds = outcome.seconds;
  trial.times = std::move(outcome.times);
  trial.error = std::move(outcome.error);
  trial.code = std::move(outcome.code);
}

llvm::Expected<Trial> Task::runScript(ModuleOp script, StringRef rule) const {
  Trial trial = makeTrial(script, rule);
  llvm::Expected<Outcome> outcome =
      measurer.measureOne(number, makeJob(trial.script));
  if (!outcome)
    return outcome.takeError();
  completeTrial(trial, std::move(*outcome));
  return trial;
}

llvm::Expected<Trial> Task::replay(const Trial &trial) const {
  FirstError error(module.get().getContext());
  if (auto script = parseScript(trial.script, module.get().getContext()))
    return runScript(*script, trial.rule);
  Trial refused = trial;
  refused.status = TrialStatus::Refused;
  refused.error = error.getText();
  return refused;
}

//===----------------------------------------------------------------------===//
// Search
//===----------------------------------------------------------------------===//

double Task::getBest() const {
  return population.empty()
             ? original
             : std::min(original, population.front().trial.seconds);
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
  if (candidate.trial.status == TrialStatus::Measured)
    addMeasured(std::move(candidate));
  else
    ++numFailures;
  // In the place of what stood for it, if it was chosen just now.
  bests.resize(std::max<size_t>(bests.size(), numTrials + 1));
  bests[numTrials] = getBest();
}

void Task::addMeasured(Candidate candidate) {
  const Trial &trial = candidate.trial;
  if (trial.seconds < getBest()) {
    numSinceGain = numRecalled = 0;
    // One of a file tells nothing of processes.
    if (trial.wall > 0) {
      rival = trial.getMedians();
      rivalWall = trial.wall;
    }
  }
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
    numRecalled = numSinceGain;
    return;
  }
}

void Task::suggest(const Trial &trial) {
  OwningOpRef<ModuleOp> script =
      parseSourceString<ModuleOp>(trial.script, module->getContext());
  if (!script)
    return;
  for (auto [number, sketch] : llvm::enumerate(sketches))
    if (sketch.getRule() == trial.rule) {
      suggested.push_back(
          {unsigned(number), sketch.translate(*script), trial.script});
      return;
    }
}

std::vector<Sample> Task::getSamples() const {
  std::vector<Sample> result = samples;
  normalizeScores(result);
  return result;
}

Proposal Task::proposeAny(Sketch::Random &random) const {
  unsigned sketch = random() % sketches.size();
  // One of which nothing was legal so far is given up after some attempts.
  for (unsigned i = 0; i < sketches.size() && isHopeless(sketch); ++i)
    sketch = (sketch + 1) % sketches.size();
  return {sketch, sketches[sketch].selectAny(random), /*parent=*/""};
}

Proposal Task::proposeDescendant(Sketch::Random &random) const {
  size_t numParents = std::min(population.size(), kParents);
  if (numParents == 0)
    return proposeAny(random);
  // The faster, the more descendants.
  size_t one = random() % numParents, other = random() % numParents;
  auto get = [&](size_t number) -> Proposal {
    const Candidate &candidate = population[number];
    return {candidate.sketch, candidate.selection, candidate.trial.script};
  };
  Proposal father = get(random() % numParents);
  return breed(get(std::min(one, other)), father, random);
}

/// Mutates a candidate, or its cross with another.
Proposal Task::breed(const Proposal &mother, const Proposal &father,
                     Sketch::Random &random) const {
  const Sketch &sketch = sketches[mother.sketch];
  Selection selection = mother.selection;
  if (random() % 2 != 0) {
    // What the other one selects of the choices of the same names.
    Selection others = father.selection;
    if (mother.sketch != father.sketch)
      others =
          sketch.translate(*sketches[father.sketch].select(father.selection));
    selection = sketch.cross(selection, others, random);
  }
  return {mother.sketch, sketch.mutate(selection, random), mother.parent};
}

Proposal Task::propose(Sketch::Random &random) {
  // Each sketch is tried as it comes first.
  if (numDefaults < sketches.size()) {
    const Sketch &sketch = sketches[numDefaults];
    return {numDefaults++, sketch.getDefault(), /*parent=*/""};
  }
  if (numSuggested < suggested.size())
    return suggested[numSuggested++];
  if (!drafts.empty()) {
    Draft draft = std::move(drafts.back());
    drafts.pop_back();
    return draft;
  }
  if (options.search == Search::Random || random() % 100 < kRandomPercent)
    return proposeAny(random);
  return proposeDescendant(random);
}

Draft Task::makeDraft(Proposal proposed) const {
  OwningOpRef<ModuleOp> script =
      sketches[proposed.sketch].select(proposed.selection);
  Draft draft = {std::move(proposed), describe(*script)};
  // A script without plans is taken for as fast as the default's.
  if (draft.features[Feature::Points] == 0)
    draft.features = originalFeatures;
  draft.score = -draft.features[Feature::Cycles];
  return draft;
}

/// Rates drafts by what `model` predicts.
static void predict(CostModel &model, const Features &original,
                    MutableArrayRef<Draft> drafts) {
  if (drafts.empty())
    return;
  llvm::Expected<std::vector<float>> scores =
      model.predict(llvm::map_to_vector(drafts, [&](const Draft &draft) {
        return Sample{draft.features, original};
      }));
  if (!scores)
    return llvm::consumeError(scores.takeError());
  for (auto [draft, score] : llvm::zip_equal(drafts, *scores))
    draft.score = score;
}

void Task::chooseDrafts(Sketch::Random &random, CostModel *model) {
  std::set<std::pair<unsigned, Selection>> made;
  auto make = [&](Proposal proposed) {
    std::pair<unsigned, Selection> key = {proposed.sketch, proposed.selection};
    return tried.count(key) || !made.insert(key).second
               ? std::nullopt
               : std::optional(makeDraft(std::move(proposed)));
  };
  bool hasModel = model && model->isTrained();
  unsigned numFirst =
      hasModel ? kDrafts - kGenerations.number * kGenerations.children
               : kDrafts;
  std::vector<Draft> all;
  for (unsigned i = 0; i < numFirst; ++i)
    if (std::optional<Draft> draft =
            make(random() % 100 < kDescendantPercent ? proposeDescendant(random)
                                                     : proposeAny(random)))
      all.push_back(std::move(*draft));
  rankDrafts(all);
  if (all.size() > kRanked)
    all.resize(kRanked);
  std::vector<Draft> any = all;
  if (hasModel)
    all = evolve(
        std::move(all), kGenerations,
        [&](const Draft &mother, const Draft &father) {
          return make(breed(mother, father, random));
        },
        [&](MutableArrayRef<Draft> drafts) {
          predict(*model, originalFeatures, drafts);
        },
        random);
  if (all.size() > kBuilt)
    all.resize(kBuilt);
  // Some are tried that nothing speaks for.
  for (Draft &draft : all)
    if (random() % 100 < kExplorePercent)
      draft = any[random() % any.size()];
  drafts.assign(std::make_move_iterator(all.rbegin()),
                std::make_move_iterator(all.rend()));
}

std::optional<Attempt> Task::chooseNext(Sketch::Random &random) {
  for (unsigned attempt = 0; attempt < kAttempts; ++attempt) {
    Proposal proposed = propose(random);
    const Sketch &sketch = sketches[proposed.sketch];
    tried.insert({proposed.sketch, proposed.selection});
    OwningOpRef<ModuleOp> script = sketch.select(proposed.selection);
    std::string text;
    llvm::raw_string_ostream(text) << *script;
    if (!seen.insert(text).second)
      continue;
    Attempt next;
    next.trial = makeTrial(*script, sketch.getRule());
    next.trial.parent = std::move(proposed.parent);
    next.turn = {number, {limitJob(std::move(text))}};
    next.sketch = proposed.sketch;
    next.selection = std::move(proposed.selection);
    bests.push_back(getBest());
    return next;
  }
  return std::nullopt;
}

void Task::take(Attempt attempt) {
  add({attempt.sketch, std::move(attempt.selection), std::move(attempt.trial)});
}
