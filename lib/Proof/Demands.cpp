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

std::optional<Sum> Steps::getAt(Goal &goal, Demand demand,
                                const std::vector<Index> &map) {
  unsigned first = goal.next;
  freshen(demand.at, goal.next);
  // The map knows nothing of the demand's own variables, nor of new ones.
  bool isKnown = true;
  for (const Index &index : map)
    index.walk([&](const Part &part) {
      unsigned number;
      llvm::StringRef name = part.text;
      isKnown &= !name.consume_front("v") || name.getAsInteger(10, number) ||
                 number < first;
    });
  if (!isKnown)
    return std::nullopt;
  if (map.size() != demand.at.bound.size())
    return std::nullopt;
  for (auto [name, index] : llvm::zip_equal(demand.at.bound, map))
    substitute(demand.at, name, index);
  return implyAll(goal.given, {}, demand.at.conditions)
             ? std::optional(std::move(demand.at.args[0]))
             : std::nullopt;
}

bool Steps::meet(Goal &goal, Demand::Kind kind, const Demand &other,
                 const Fraction &factor, const std::vector<Index> &map) {
  if (factor == Fraction(0, 1) ||
      !serves(kind, other.kind, factor > Fraction(0, 1)))
    return false;
  auto value = getAt(goal, other, map);
  if (!value)
    return false;
  goal.sum = add(std::move(goal.sum),
                 scale(std::move(*value), Fraction(-1, 1) * factor));
  return true;
}

bool Steps::use(Goal &goal, const Demand &demand,
                const std::vector<Index> &map) {
  using Kind = Demand::Kind;
  auto value = getAt(goal, demand, map);
  if (!value || demand.kind == Kind::NotEmpty)
    return false;
  if (demand.kind != Kind::NotZero)
    goal.facts.push_back({*value, false});
  if (demand.kind == Kind::NotNegative)
    return true;
  // x / x is 1.
  Sum divisor = *value;
  freshen(divisor, goal.next);
  Sum quotient = multiply(*value, makeAtom(makeFunction("div", divisor)));
  goal.facts.push_back({add(quotient, makeConstant(Fraction(-1, 1))), true});
  return true;
}
