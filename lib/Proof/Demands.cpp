//===- Demands.cpp - Where functions have values --------------------------===//

#include "Goal.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::proof;

Goal espalier::proof::pose(const std::vector<Clause> &given, Demand demand) {
  Goal goal;
  freshen(demand.at, goal.next);
  for (const Clause &clause : given)
    goal.give(clause);
  goal = goal.with(demand.at.conditions);
  goal.sum = std::move(demand.at.args[0]);
  return goal;
}

/// Whether a positive or negative multiple of what fulfils `given` fulfils
/// `needed`.
static bool serves(Demand::Kind needed, Demand::Kind given, bool isPositive) {
  using Kind = Demand::Kind;
  switch (needed) {
  case Kind::NotZero:
    return given == Kind::NotZero || given == Kind::Positive;
  case Kind::NotNegative:
    return isPositive &&
           (given == Kind::NotNegative || given == Kind::Positive);
  case Kind::Positive:
    return isPositive && given == Kind::Positive;
  case Kind::NotEmpty:
    return false;
  }
  llvm_unreachable("every kind is handled above");
}

bool Steps::meet(Goal &goal, Demand::Kind kind, Demand other,
                 const Fraction &factor, const std::vector<Index> &map) {
  unsigned first = goal.next;
  freshen(other.at, goal.next);
  // The map knows nothing of the other demand's own variables.
  for (unsigned number = first; number < goal.next; ++number)
    for (const Index &index : map)
      if (index.mentions("v" + std::to_string(number)))
        return false;
  if (factor == Fraction(0, 1) || map.size() != other.at.bound.size() ||
      !serves(kind, other.kind, factor > Fraction(0, 1)))
    return false;
  for (auto [name, index] : llvm::zip_equal(other.at.bound, map))
    substitute(other.at, name, index);
  Question question;
  for (const Clause &clause : goal.given)
    question.assume(clause);
  question.assume("(not " + question.print(other.at.conditions) + ")");
  if (!solver.isImpossible(question))
    return false;
  goal.sum = add(std::move(goal.sum),
                 scale(std::move(other.at.args[0]), Fraction(-1, 1) * factor));
  return true;
}
