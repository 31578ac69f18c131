//===- Finals.cpp - Which candidate of a kernel wins ----------------------===//

#include "Outcome.h"
#include "Task.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// How many candidates are measured again at the end, and how often.
static constexpr size_t kFinalists = 3;
static constexpr unsigned kFinalRounds = 5;
/// In how many rounds one has to be faster than the default.
static constexpr unsigned kMinWins = 4;
/// A schedule has to be faster than the default by this, for noise.
static constexpr double kMinGain = 0.98;

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
      [&] {
        return evaluate(nullptr, expected, /*returnsOutputs=*/false,
                        getMeasure());
      },
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
  std::vector<unsigned> numWins(numFinalists);
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
          run(sketches[candidate.sketch], candidate.selection, getMeasure());
      if (!trial)
        return trial.takeError();
      if (trial->status != TrialStatus::Measured)
        continue;
      times[i].push_back(trial->seconds);
      numWins[i] += *seconds > trial->seconds;
    }
  }
  if (defaults.empty())
    return false;
  original = median(std::move(defaults));
  for (size_t i = 0; i < numFinalists; ++i) {
    // One that fails now and then is none; nor is the default's own code, which
    // noise may make the faster.
    if (times[i].size() < kFinalRounds || numWins[i] < kMinWins ||
        (!originalCode.empty() && population[i].trial.code == originalCode))
      continue;
    double seconds = median(std::move(times[i]));
    if (seconds < kMinGain * original && (!winner || seconds < winner->seconds))
      winner = {population[i].trial.rule, population[i].trial.script, seconds,
                original};
  }
  return true;
}
