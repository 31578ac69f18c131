//===- Finals.cpp - Which candidate of a kernel wins ----------------------===//

#include "Task.h"
#include "espalier/Measurement/Samples.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// How many candidates are measured again at the end, and how often.
static constexpr size_t kFinalists = 3;
static constexpr unsigned kFinalRounds = 5;
/// In how many rounds one has to be faster than the default.
static constexpr unsigned kMinWins = 4;
/// What branches on sizes is of this rule.
static constexpr llvm::StringLiteral kBranchRule = "sizes";
/// A schedule has to be faster than the default by this, for noise.
static constexpr double kMinGain = 0.98;

unsigned Task::countFinalRuns() const {
  if (population.empty())
    return 0;
  size_t numFinalists = std::min(population.size(), kFinalists);
  return kFinalRounds * (1 + numFinalists + mayBranch());
}

bool Task::mayBranch() const { return rival.size() > 1 && !points.empty(); }

/// A script that runs for each length what was fastest with it; null if that is
/// the same for all, or cannot be one script.
OwningOpRef<ModuleOp> Task::makeBranched() const {
  if (!mayBranch())
    return nullptr;
  std::vector<std::vector<double>> seconds;
  std::vector<size_t> numbers; // In the population.
  for (auto [number, candidate] : llvm::enumerate(population)) {
    std::vector<double> medians = candidate.trial.getMedians();
    if (medians.size() != rival.size())
      continue;
    seconds.push_back(std::move(medians));
    numbers.push_back(number);
  }
  if (seconds.empty())
    return nullptr;
  std::vector<Branch> branches = chooseBranches(points, seconds);
  if (branches.size() < 2)
    return nullptr;
  SmallVector<OwningOpRef<ModuleOp>> scripts;
  for (Branch &branch : branches) {
    const Candidate &candidate = population[numbers[branch.candidate]];
    branch.candidate = scripts.size();
    scripts.push_back(sketches[candidate.sketch].select(candidate.selection));
  }
  ModuleOp alone = module.get();
  return makeBranches(*alone.getOps<poly::KernelOp>().begin(), branches,
                      scripts);
}

/// The fastest, and what branches between candidates, which is tried for that.
llvm::Expected<std::vector<Task::Finalist>> Task::chooseFinalists() {
  std::vector<Finalist> finalists;
  for (size_t i = 0; i < std::min(population.size(), kFinalists); ++i) {
    const Candidate &candidate = population[i];
    finalists.push_back({candidate.trial, {}});
  }
  OwningOpRef<ModuleOp> script = makeBranched();
  if (!script || getMeasure().codegen.mustStop())
    return std::move(finalists);
  llvm::Expected<Trial> trial = runScript(*script, kBranchRule);
  if (!trial)
    return trial.takeError();
  branched = *trial;
  if (trial->status == TrialStatus::Measured)
    finalists.push_back({std::move(*trial), {}});
  return std::move(finalists);
}

llvm::Expected<bool> Task::findWinner(std::optional<Winner> &winner) {
  if (population.empty())
    return false;
  auto finalists = chooseFinalists();
  if (!finalists)
    return finalists.takeError();
  Turn turn = {number, {makeJob("")}};
  for (const Finalist &finalist : *finalists)
    turn.jobs.push_back(makeJob(finalist.trial.script));
  std::vector<double> defaults;
  llvm::Error error = measurer.measure(
      std::vector<Turn>(kFinalRounds, turn),
      [&](size_t, std::vector<Outcome> outcomes) {
        auto wasMeasured = [](const Outcome &outcome) {
          return outcome.status == TrialStatus::Measured;
        };
        const Outcome &first = outcomes.front();
        if (wasMeasured(first))
          defaults.push_back(first.seconds);
        for (auto [finalist, outcome] : llvm::zip_equal(
                 *finalists, llvm::ArrayRef(outcomes).drop_front())) {
          if (!wasMeasured(outcome))
            continue;
          finalist.times.push_back(outcome.seconds);
          finalist.numWins +=
              wasMeasured(first) && first.seconds > outcome.seconds;
        }
        return llvm::Error::success();
      });
  if (error)
    return std::move(error);
  if (getMeasure().codegen.mustStop())
    return false;
  if (defaults.empty())
    return false;
  original = getMedian(std::move(defaults));
  for (Finalist &finalist : *finalists) {
    // One that fails now and then is none; nor is the default's own code, which
    // noise may make the faster.
    if (finalist.times.size() < kFinalRounds || finalist.numWins < kMinWins ||
        (!originalCode.empty() && finalist.trial.code == originalCode))
      continue;
    double seconds = getMedian(std::move(finalist.times));
    if (seconds < kMinGain * original && (!winner || seconds < winner->seconds))
      winner = {finalist.trial.rule, finalist.trial.script, seconds, original};
  }
  return true;
}
