//===- Objective.h - What a search of several models is for -----*- C++ -*-===//

#ifndef ESPALIER_TUNING_OBJECTIVE_H
#define ESPALIER_TUNING_OBJECTIVE_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include <optional>

namespace espalier::tuning {

/// X(enumerator, spelling): what becomes small, of the seconds of models
/// (Ansor, table 2; a kernel is given up early with any of them).
#define ESPALIER_FOR_EACH_OBJECTIVE(X)                                         \
  X(Sum, "sum")         /* The sum, by weights. */                             \
  X(Target, "target")   /* The same, of models that take longer than asked. */ \
  X(Geomean, "geomean") /* The geometric mean, by weights: that of speedups    \
                           becomes large. */

enum class Objective {
#define ESPALIER_OBJECTIVE(name, spelling) name,
  ESPALIER_FOR_EACH_OBJECTIVE(ESPALIER_OBJECTIVE)
#undef ESPALIER_OBJECTIVE
};

/// Nothing if there is no such objective.
std::optional<Objective> parseObjective(llvm::StringRef spelling);
llvm::StringRef getSpelling(Objective objective);

/// What an objective depends on of one model.
struct ModelTime {
  double seconds = 0;
  double weight = 1;
  /// The seconds that are good enough; 0 for none.
  double target = 0;
};

/// Returns how much the objective changes with the seconds of one model, up to
/// a factor that is the same for all.
double computeSlope(Objective objective, const ModelTime &time);

/// Returns the seconds of all: their geometric mean if that is the objective,
/// else the sum, by weights.
double combineSeconds(Objective objective, llvm::ArrayRef<ModelTime> times);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_OBJECTIVE_H
