//===- Implication.cpp - What rules imply ---------------------------------===//

#include "Implication.h"
#include "llvm/ADT/STLExtras.h"
#include <algorithm>

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

namespace {
/// Finds terms for the variables of a rule.
class Matcher {
public:
  /// `pattern` must become `target`, and `next` must hold too.
  struct Goal {
    TermId pattern, target;
    const Goal *next;
  };

  /// `accept` decides on a solution; without it, the first one is taken.
  explicit Matcher(const Terms &terms,
                   llvm::function_ref<bool(const Matcher &)> accept = nullptr)
      : terms(terms), accept(accept) {}

  /// The instance of a side of a rule; nothing if it has unbound variables.
  std::optional<TermId> instantiate(Terms &all, TermId pattern) const {
    if (terms[pattern].isVariable()) {
      for (auto [variable, term] : bindings)
        if (variable == pattern)
          return term;
      return std::nullopt;
    }
    TermList operands;
    for (TermId operand : llvm::to_vector(terms.getOperands(pattern))) {
      std::optional<TermId> instance = instantiate(all, operand);
      if (!instance)
        return std::nullopt;
      operands.push_back(*instance);
    }
    return all.rebuild(pattern, operands);
  }

  bool solve(const Goal *goal) {
    if (!goal)
      return !accept || accept(*this);
    // A copy: accepting a solution may make terms.
    const Term pattern = terms[goal->pattern];
    if (pattern.isVariable())
      return bind(goal);
    const Term target = terms[goal->target];
    if (pattern.operation != target.operation)
      return false;
    if (pattern.numOperands == 0)
      return solve(goal->next);
    if (pattern.numOperands == 1) {
      Goal operand{pattern.operands[0], target.operands[0], goal->next};
      return solve(&operand);
    }
    if (solveOperands(goal, 0))
      return true;
    return terms.isCommutative(goal->pattern) && solveOperands(goal, 1);
  }

private:
  bool solveOperands(const Goal *goal, unsigned first) {
    const Term pattern = terms[goal->pattern], target = terms[goal->target];
    Goal second{pattern.operands[1], target.operands[1 - first], goal->next};
    Goal both{pattern.operands[0], target.operands[first], &second};
    return solve(&both);
  }

  bool bind(const Goal *goal) {
    for (auto [variable, term] : bindings)
      if (variable == goal->pattern)
        return term == goal->target && solve(goal->next);
    if (terms.isScalar(goal->pattern) != terms.isScalar(goal->target))
      return false;
    bindings.emplace_back(goal->pattern, goal->target);
    if (solve(goal->next))
      return true;
    bindings.pop_back();
    return false;
  }

  const Terms &terms;
  llvm::function_ref<bool(const Matcher &)> accept;
  llvm::SmallVector<std::pair<TermId, TermId>, 8> bindings;
};
} // namespace

bool Implication::isInstance(const TermPair &rule,
                             llvm::ArrayRef<Equation> equations) const {
  std::array<Matcher::Goal, 4 * kMaxDepth> goals;
  if (2 * equations.size() > goals.size())
    return false;
  const Matcher::Goal *next = nullptr;
  for (size_t i = 0; i < equations.size(); ++i) {
    goals[2 * i] = {rule.lhs[i], equations[i].first, next};
    goals[2 * i + 1] = {rule.rhs[i], equations[i].second, &goals[2 * i]};
    next = &goals[2 * i + 1];
  }
  return Matcher(terms).solve(next);
}

uint64_t Implication::getKey(TermId lhs, TermId rhs) const {
  return uint64_t(terms[lhs].operation) << 16 | terms[rhs].operation;
}

void Implication::addSmall(TermId lhs, TermId rhs) {
  for (auto [from, to] : {std::pair(lhs, rhs), {rhs, lhs}}) {
    small[getKey(from, to)].push_back({{from}, {to}});
    if (!terms[from].isVariable())
      rewrites[terms[from].operation].push_back({from, to});
  }
  normalForms.clear();
}

void Implication::add(const TermPair &rule) {
  if (rule.lhs.size() == 1)
    return addSmall(rule.lhs[0], rule.rhs[0]);
  large.push_back(rule);
  large.push_back({rule.rhs, rule.lhs});
  // What gives back an input does so for each output alone.
  for (auto [lhs, rhs] : llvm::zip_equal(rule.lhs, rule.rhs))
    if (terms[rhs].isVariable())
      addSmall(lhs, rhs);
}

//===----------------------------------------------------------------------===//
// Normal forms
//===----------------------------------------------------------------------===//

bool Implication::isSmaller(TermId lhs, TermId rhs) {
  auto get = [&](auto &self, TermId term) -> const std::vector<uint32_t> & {
    auto [entry, isNew] = prefixForms.try_emplace(term);
    if (!isNew)
      return entry->second;
    std::vector<uint32_t> form{terms[term].operation};
    if (terms[term].isVariable())
      form[0] += terms[term].operands[0];
    for (TermId operand : terms.getOperands(term))
      llvm::append_range(form, self(self, operand));
    return prefixForms[term] = std::move(form);
  };
  const std::vector<uint32_t> left = get(get, lhs);
  const std::vector<uint32_t> &right = get(get, rhs);
  return left.size() != right.size() ? left.size() < right.size()
                                     : left < right;
}

/// Puts the operands of commutative operators in order.
TermId Implication::sortOperands(TermId term) {
  TermList operands;
  for (TermId operand : llvm::to_vector(terms.getOperands(term)))
    operands.push_back(sortOperands(operand));
  if (operands.size() == 2 && terms.isCommutative(term) &&
      isSmaller(operands[1], operands[0]))
    std::swap(operands[0], operands[1]);
  return terms.rebuild(term, operands);
}

/// One step at the top, or the term itself.
TermId Implication::rewrite(TermId term) {
  if (terms[term].isVariable())
    return term;
  TermId sorted = sortOperands(term);
  if (sorted != term)
    return sorted;
  auto found = rewrites.find(terms[term].operation);
  if (found == rewrites.end())
    return term;
  for (auto [from, to] : found->second) {
    TermId result = term;
    auto accept = [&, to = to](const Matcher &matcher) {
      std::optional<TermId> instance = matcher.instantiate(terms, to);
      if (!instance)
        return false;
      result = sortOperands(*instance);
      return isSmaller(result, term);
    };
    Matcher matcher(terms, accept);
    Matcher::Goal goal{from, term, nullptr};
    if (matcher.solve(&goal))
      return result;
  }
  return term;
}

TermId Implication::normalize(TermId term) {
  if (auto found = normalForms.find(term); found != normalForms.end())
    return found->second;
  TermId current = term;
  while (true) {
    TermList operands;
    for (TermId operand : llvm::to_vector(terms.getOperands(current)))
      operands.push_back(normalize(operand));
    current = terms.rebuild(current, operands);
    TermId next = rewrite(current);
    if (next == current)
      break;
    current = next;
  }
  return normalForms[term] = current;
}

//===----------------------------------------------------------------------===//
// Instances in contexts
//===----------------------------------------------------------------------===//

bool Implication::isInstanceOfRule(TermId lhs, TermId rhs) const {
  Equation equation(lhs, rhs);
  uint64_t left = uint64_t(terms[lhs].operation) << 16;
  uint64_t right = terms[rhs].operation;
  uint64_t any = Term::kVariable;
  std::array<uint64_t, 3> keys = {left | right, left | any, any << 16 | right};
  for (unsigned i = 0; i < 3; ++i) {
    if (std::find(keys.begin(), keys.begin() + i, keys[i]) != keys.begin() + i)
      continue;
    auto found = small.find(keys[i]);
    if (found != small.end() &&
        llvm::any_of(found->second, [&](const TermPair &rule) {
          return isInstance(rule, equation);
        }))
      return true;
  }
  return false;
}

TermId Implication::getLeader(TermId term) {
  for (auto found = leaders.find(term); found != leaders.end();
       found = leaders.find(term))
    term = found->second;
  return term;
}

void Implication::connect(TermId lhs, TermId rhs) {
  lhs = getLeader(lhs);
  rhs = getLeader(rhs);
  if (lhs != rhs)
    leaders[std::max(lhs, rhs)] = std::min(lhs, rhs);
}

/// Connections are known for one way to name the inputs.
bool Implication::isConnected(TermId lhs, TermId rhs) {
  if (getLeader(lhs) == getLeader(rhs))
    return true;
  for (TermId first : {lhs, rhs}) {
    Renaming renaming(terms,
                      first == lhs ? TermList{lhs, rhs} : TermList{rhs, lhs});
    if (getLeader(renaming.apply(lhs)) == getLeader(renaming.apply(rhs)))
      return true;
  }
  return false;
}

bool Implication::isEqual(TermId lhs, TermId rhs) {
  if (lhs == rhs || knownEqual.count({lhs, rhs}))
    return true;
  bool result = isInstanceOfRule(lhs, rhs) || isConnected(lhs, rhs);
  const Term left = terms[lhs], right = terms[rhs];
  if (!result && left.operation == right.operation && !left.isVariable()) {
    result = true;
    for (unsigned i = 0; i < left.numOperands && result; ++i)
      result = isEqual(left.operands[i], right.operands[i]);
    if (!result && left.numOperands == 2 && terms.isCommutative(lhs))
      result = isEqual(left.operands[0], right.operands[1]) &&
               isEqual(left.operands[1], right.operands[0]);
  }
  if (result)
    knownEqual.insert({lhs, rhs});
  return result;
}

/// Adds the innermost subterms in which the sides differ.
void Implication::addDifferences(TermId lhs, TermId rhs,
                                 Equations &differences) {
  if (isEqual(lhs, rhs))
    return;
  const Term left = terms[lhs], right = terms[rhs];
  if (left.operation == right.operation && !left.isVariable()) {
    for (unsigned i = 0; i < left.numOperands; ++i)
      addDifferences(left.operands[i], right.operands[i], differences);
    return;
  }
  if (!llvm::is_contained(differences, Equation(lhs, rhs)))
    differences.push_back({lhs, rhs});
}

bool Implication::isInstanceOfLargeRule(const Equations &equations) const {
  Equations order = equations;
  llvm::sort(order);
  do {
    for (const TermPair &rule : large)
      if (rule.lhs.size() == order.size() && isInstance(rule, order))
        return true;
  } while (std::next_permutation(order.begin(), order.end()));
  return false;
}

bool Implication::implies(const TermPair &pair) {
  TermPair normal;
  for (auto [lhs, rhs] : llvm::zip_equal(pair.lhs, pair.rhs)) {
    normal.lhs.push_back(normalize(lhs));
    normal.rhs.push_back(normalize(rhs));
  }
  return normal.lhs == normal.rhs || followsFromOneStep(pair) ||
         followsFromOneStep(normal);
}

bool Implication::followsFromOneStep(const TermPair &pair) {
  Equations outer, inner;
  for (auto [lhs, rhs] : llvm::zip_equal(pair.lhs, pair.rhs)) {
    if (isEqual(lhs, rhs))
      continue;
    outer.push_back({lhs, rhs});
    addDifferences(lhs, rhs, inner);
  }
  if (outer.empty())
    return true;
  return (outer.size() > 1 && isInstanceOfLargeRule(outer)) ||
         (inner.size() > 1 && inner != outer && isInstanceOfLargeRule(inner));
}
