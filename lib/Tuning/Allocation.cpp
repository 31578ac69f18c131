//===- Allocation.cpp - Which kernel the next trial is for ----------------===//

#include "espalier/Tuning/Allocation.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallVector.h"
#include <algorithm>

using namespace espalier;
using namespace espalier::tuning;

/// How much what was gained counts, beside what is hoped for.
static constexpr double kAlpha = 0.2;
/// How many times as long as a task of its kind one is trusted to take.
static constexpr double kBeta = 2;
/// The trials of a round, Ansor's unit of time, and the rounds whose gain
/// counts.
static constexpr double kRoundTrials = 8;
static constexpr size_t kWindowTrials = 3 * 8;
/// After so many rounds more than the others of its kind, a task that is much
/// slower is none of them.
static constexpr double kTrustedRounds = 5;
/// Of a hundred trials, so many are for any task.
static constexpr unsigned kExplorePercent = 5;

/// Rounds of a task, that of the next trial included.
static double countRounds(const TaskHistory &task) {
  return task.bests.size() / kRoundTrials;
}

/// The seconds that the fastest of a task's kind would take for its operations;
/// nothing if that is no hope.
static std::optional<double> guessFromKind(llvm::ArrayRef<TaskHistory> tasks,
                                           size_t task) {
  const TaskHistory &own = tasks[task];
  double rate = 0, rounds = 0;
  for (auto [number, other] : llvm::enumerate(tasks)) {
    if (number == task || other.kind != own.kind || other.kind.empty() ||
        other.bests.empty() || !(other.bests.back() > 0))
      continue;
    rate = std::max(rate, other.flops / other.bests.back());
    rounds = std::max(rounds, countRounds(other));
  }
  double seconds = kBeta * own.flops / rate;
  if (!(seconds > 0 && seconds < own.bests.back()) ||
      countRounds(own) > kTrustedRounds + rounds)
    return std::nullopt;
  return seconds;
}

double tuning::estimateGradient(llvm::ArrayRef<TaskHistory> tasks,
                                size_t task) {
  const TaskHistory &own = tasks[task];
  if (own.bests.empty())
    return 0;
  size_t window = std::min(own.bests.size() - 1, kWindowTrials);
  double now = own.bests.back();
  double gained = window == 0
                      ? 0
                      : (now - own.bests[own.bests.size() - 1 - window]) *
                            kRoundTrials / window;
  double hoped = -now / countRounds(own);
  if (std::optional<double> seconds = guessFromKind(tasks, task))
    hoped = std::min(hoped, *seconds - now);
  return own.slope * (kAlpha * gained + (1 - kAlpha) * hoped);
}

std::optional<size_t> tuning::chooseTask(llvm::ArrayRef<TaskHistory> tasks,
                                         std::mt19937_64 &random) {
  llvm::SmallVector<size_t> open;
  for (auto [number, task] : llvm::enumerate(tasks))
    if (task.isOpen && task.slope > 0)
      open.push_back(number);
  if (open.empty())
    return std::nullopt;
  if (open.size() > 1 && random() % 100 < kExplorePercent)
    return open[random() % open.size()];
  return *llvm::min_element(open, [&](size_t a, size_t b) {
    return estimateGradient(tasks, a) < estimateGradient(tasks, b);
  });
}
