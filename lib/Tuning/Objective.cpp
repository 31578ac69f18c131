//===- Objective.cpp - What a search of several models is for -------------===//

#include "espalier/Tuning/Objective.h"
#include "llvm/Support/ErrorHandling.h"
#include <cmath>

using namespace espalier;
using namespace espalier::tuning;

std::optional<Objective> tuning::parseObjective(llvm::StringRef spelling) {
#define ESPALIER_OBJECTIVE(name, text)                                         \
  if (spelling == text)                                                        \
    return Objective::name;
  ESPALIER_FOR_EACH_OBJECTIVE(ESPALIER_OBJECTIVE)
#undef ESPALIER_OBJECTIVE
  return std::nullopt;
}

llvm::StringRef tuning::getSpelling(Objective objective) {
  static constexpr llvm::StringLiteral kSpellings[] = {
#define ESPALIER_OBJECTIVE(name, text) text,
      ESPALIER_FOR_EACH_OBJECTIVE(ESPALIER_OBJECTIVE)
#undef ESPALIER_OBJECTIVE
  };
  return kSpellings[static_cast<unsigned>(objective)];
}

double tuning::computeSlope(Objective objective, const ModelTime &time) {
  switch (objective) {
  case Objective::Sum:
    return time.weight;
  case Objective::Target:
    return time.seconds > time.target ? time.weight : 0;
  case Objective::Geomean:
    return time.seconds > 0 ? time.weight / time.seconds : 0;
  }
  llvm_unreachable("all objectives are listed");
}

double tuning::combineSeconds(Objective objective,
                              llvm::ArrayRef<ModelTime> times) {
  double sum = 0, logarithms = 0, weights = 0;
  for (const ModelTime &time : times) {
    sum += time.weight * time.seconds;
    // A model without kernels takes no time, whatever is found.
    if (!(time.seconds > 0))
      continue;
    logarithms += time.weight * std::log(time.seconds);
    weights += time.weight;
  }
  if (objective == Objective::Geomean && weights > 0)
    return std::exp(logarithms / weights);
  return sum;
}
