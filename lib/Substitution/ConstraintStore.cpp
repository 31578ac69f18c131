//===- ConstraintStore.cpp - What is known of sizes and indices -----------===//

#include "ConstraintStore.h"
#include "espalier/Polyhedral/Emptiness.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier;
using namespace espalier::substitution;

/// The constraints as rows over `vars`; false if a number does not fit, or a
/// variable is none of these.
static bool toRows(llvm::ArrayRef<Var> vars,
                   llvm::ArrayRef<Constraint> constraints,
                   std::vector<polyhedral::LinearConstraint> &rows) {
  llvm::SmallDenseMap<Var, unsigned, 32> position;
  for (auto [number, var] : llvm::enumerate(vars))
    position[var] = number;
  rows.reserve(constraints.size());
  for (const Constraint &constraint : constraints) {
    if (constraint.expr.isPoisoned())
      return false;
    polyhedral::LinearConstraint row;
    row.coefficients.assign(vars.size(), 0);
    for (auto [var, coefficient] : constraint.expr.getTerms()) {
      auto known = position.find(var);
      if (known == position.end())
        return false;
      row.coefficients[known->second] = coefficient;
    }
    row.constant = constraint.expr.getConstant();
    row.isEquality = constraint.isEquality;
    rows.push_back(std::move(row));
  }
  return true;
}

/// What isl may do for one question, in its own operations times the size of
/// what they work on: some tenths of a second, however large that is.
static constexpr unsigned long kMaxWork = 100'000'000;
static constexpr unsigned long kMaxOperations = 500'000;

static void startQuestion(const Integers &integers, size_t numVars,
                          size_t numConstraints) {
  unsigned long size = (numVars + 1) * (numConstraints + 1);
  integers.isl.restart(std::clamp(kMaxWork / size, 1000ul, kMaxOperations));
}

polyhedral::Set
espalier::substitution::makeSet(const Integers &integers,
                                llvm::ArrayRef<Var> vars,
                                llvm::ArrayRef<Constraint> constraints) {
  std::vector<polyhedral::LinearConstraint> rows;
  if (!toRows(vars, constraints, rows))
    return polyhedral::Set();
  startQuestion(integers, vars.size(), rows.size());
  return polyhedral::Set::get(integers.isl, vars.size(), rows);
}

/// Answers are forgotten beyond this number.
static constexpr size_t kMaxKnown = 100'000;

/// The constraints, with variables numbered as they occur.
static std::vector<int64_t> getKey(llvm::ArrayRef<Constraint> constraints) {
  std::vector<int64_t> key;
  llvm::SmallDenseMap<Var, int64_t, 32> numbers;
  for (const Constraint &constraint : constraints) {
    key.push_back(constraint.isEquality);
    key.push_back(constraint.expr.getConstant());
    key.push_back(constraint.expr.getTerms().size());
    for (auto [var, coefficient] : constraint.expr.getTerms()) {
      key.push_back(numbers.try_emplace(var, numbers.size()).first->second);
      key.push_back(coefficient);
    }
  }
  return key;
}

/// Whether it is certain that no point satisfies the constraints.
static bool isCertainlyEmpty(const Integers &integers,
                             llvm::ArrayRef<Constraint> constraints) {
  llvm::SmallVector<Var> vars = getVars(constraints);
  std::vector<polyhedral::LinearConstraint> rows;
  // Poisoned constraints have no key.
  bool isPoisoned = llvm::any_of(constraints, [](const Constraint &constraint) {
    return constraint.expr.isPoisoned();
  });
  if (isPoisoned)
    return false;
  if (integers.known.size() > kMaxKnown)
    integers.known.clear();
  std::vector<int64_t> key = getKey(constraints);
  auto found = integers.known.find(key);
  if (found == integers.known.end()) {
    std::optional<bool> isEmpty;
    if (toRows(vars, constraints, rows)) {
      startQuestion(integers, vars.size(), rows.size());
      isEmpty = polyhedral::isEmpty(integers.isl, vars.size(), rows);
    }
    // Another time there may be an answer.
    if (!isEmpty)
      return false;
    found = integers.known.emplace(std::move(key), *isEmpty).first;
  }
  return found->second;
}

llvm::SmallVector<Var>
espalier::substitution::getVars(llvm::ArrayRef<Constraint> constraints) {
  llvm::SmallVector<Var> vars;
  for (const Constraint &constraint : constraints)
    for (auto [var, coefficient] : constraint.expr.getTerms())
      vars.push_back(var);
  llvm::sort(vars);
  vars.erase(std::unique(vars.begin(), vars.end()), vars.end());
  return vars;
}

llvm::SmallVector<Constraint, 16>
espalier::substitution::getConnected(llvm::ArrayRef<Constraint> facts,
                                     llvm::ArrayRef<Constraint> query) {
  llvm::SmallVector<Var> reached = getVars(query);
  llvm::SmallVector<Constraint, 16> result(query.begin(), query.end());
  std::vector<bool> used(facts.size());
  for (bool changed = true; changed;) {
    changed = false;
    for (auto [number, fact] : llvm::enumerate(facts)) {
      bool touches =
          fact.expr.getTerms().empty() || fact.expr.any([&](Var var) {
            return llvm::is_contained(reached, var);
          });
      if (used[number] || !touches)
        continue;
      used[number] = changed = true;
      result.push_back(fact);
      for (auto [var, coefficient] : fact.expr.getTerms())
        if (!llvm::is_contained(reached, var))
          reached.push_back(var);
    }
  }
  return result;
}

Linear ConstraintStore::simplify(const Linear &expr) const {
  Linear result = expr;
  for (auto [var, coefficient] : expr.getTerms()) {
    auto known = solved.find(var);
    if (known != solved.end())
      result.substitute(var, known->second);
  }
  return result;
}

void ConstraintStore::add(Constraint constraint) {
  constraint = simplify(constraint);
  std::optional<bool> decided = constraint.normalize();
  if (decided) {
    contradictory |= !*decided;
    return;
  }
  if (llvm::is_contained(rest, constraint))
    return;
  // Isolate the newest variable with a unit coefficient; auxiliary ones first.
  std::optional<std::pair<Var, int64_t>> pivot;
  if (constraint.isEquality && !constraint.expr.isPoisoned())
    for (auto [var, coefficient] : constraint.expr.getTerms())
      if (coefficient == 1 || coefficient == -1)
        pivot = {var, coefficient};
  if (!pivot) {
    rest.push_back(constraint);
    return;
  }
  auto [var, coefficient] = *pivot;
  Linear value =
      (constraint.expr - Linear::var(var, coefficient)) * -coefficient;
  for (auto &entry : solved)
    entry.second.substitute(var, value);
  solved[var] = value;
  Constraints old = std::move(rest);
  rest.clear();
  for (const Constraint &other : old)
    add(other);
}

bool ConstraintStore::isImpossible(llvm::ArrayRef<Constraint> more) const {
  if (contradictory)
    return true;
  Constraints query;
  for (const Constraint &constraint : more) {
    Constraint simple = simplify(constraint);
    std::optional<bool> decided = simple.normalize();
    if (decided && !*decided)
      return true;
    if (!decided)
      query.push_back(simple);
  }
  llvm::SmallVector<Constraint, 16> all;
  if (more.empty())
    all.assign(rest.begin(), rest.end());
  else if (query.empty())
    return false;
  else
    all = getConnected(rest, query);
  return isCertainlyEmpty(*integers, all);
}

bool ConstraintStore::implies(const Constraint &constraint) const {
  Constraint simple = simplify(constraint);
  if (std::optional<bool> decided = simple.normalize())
    return *decided || contradictory;
  if (llvm::is_contained(rest, simple))
    return true;
  return llvm::all_of(negate(simple), [&](const Constraint &opposite) {
    return isImpossible(opposite);
  });
}

Constraints ConstraintStore::getAll() const {
  Constraints all = rest;
  if (contradictory)
    all.push_back({Linear(-1), false});
  for (const auto &[var, value] : solved)
    all.push_back(Constraint::equal(Linear::var(var), value));
  return all;
}
