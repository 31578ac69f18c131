//===- Allocation.h - Which kernel the next trial is for --------*- C++ -*-===//
//
// The gradient of Ansor (section 6.2 and appendix A) with its parameters, where
// time counts in trials rather than rounds of them.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TUNING_ALLOCATION_H
#define ESPALIER_TUNING_ALLOCATION_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>
#include <random>

namespace espalier::tuning {

/// What is known of a task when the next one is chosen.
struct TaskHistory {
  /// How much what is searched for changes with the seconds of one call.
  double slope = 1;
  /// The seconds of one call: by default, then with the best candidate after
  /// each trial.
  llvm::ArrayRef<double> bests;
  /// Of one call; 0 if they are not known.
  double flops = 0;
  /// Tasks of one kind are expected to be about as fast, by their operations.
  llvm::StringRef kind;
  /// Whether another trial may be made.
  bool isOpen = true;
};

/// What of `tasks[task]` is expected to change with the next round of trials,
/// which is less than 0: as much as in those before, and as much as an optimist
/// hopes for, which is that it falls to nothing over as many trials as were
/// made, or that it becomes half as fast as another of its kind. The latter is
/// given up once it had more trials than these and is not.
double estimateGradient(llvm::ArrayRef<TaskHistory> tasks, size_t task);

/// Returns the task of the steepest gradient, now and then any. Nothing if
/// there is none that is open and matters.
std::optional<size_t> chooseTask(llvm::ArrayRef<TaskHistory> tasks,
                                 std::mt19937_64 &random);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_ALLOCATION_H
