//===- Prune.cpp - From classes of graphs to rules ------------------------===//

#include "Prune.h"
#include "Generalize.h"
#include "Implication.h"
#include "llvm/ADT/IntEqClasses.h"
#include "llvm/ADT/STLExtras.h"
#include <unordered_set>

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

/// The pair with the larger side on the left; nothing if either side has
/// variables that the other lacks.
static std::optional<TermPair> orient(const Terms &terms, const Side &lhs,
                                      const Side &rhs) {
  bool isForward = lhs.numOperators >= rhs.numOperators;
  TermPair pair = isForward ? TermPair{lhs.outputs, rhs.outputs}
                            : TermPair{rhs.outputs, lhs.outputs};
  if (!hasVariablesOf(terms, pair))
    std::swap(pair.lhs, pair.rhs);
  if (!hasVariablesOf(terms, pair))
    return std::nullopt;
  return pair;
}

//===----------------------------------------------------------------------===//
// Distinct rules
//===----------------------------------------------------------------------===//

/// Whether the sides have an operator in common that reads inputs alone, or
/// whose results are the same outputs but for one operand.
static bool haveCommonPart(const Terms &terms, const TermPair &pair) {
  std::vector<TermId> lhs = terms.getPostOrder(pair.lhs);
  std::vector<TermId> rhs = terms.getPostOrder(pair.rhs);
  for (TermId term : lhs)
    if (!terms[term].isVariable() && llvm::is_contained(rhs, term))
      return true;
  for (auto [left, right] : llvm::zip_equal(pair.lhs, pair.rhs)) {
    const Term &l = terms[left], &r = terms[right];
    if (l.isVariable() || l.operation != r.operation)
      continue;
    unsigned numDifferent = 0;
    for (unsigned i = 0; i < l.numOperands; ++i)
      numDifferent += l.operands[i] != r.operands[i];
    if (numDifferent <= 1)
      return true;
  }
  return false;
}

Outcome generator::findDistinctRules(Terms &terms,
                                     llvm::ArrayRef<Class> classes,
                                     const Limits &limits,
                                     std::vector<FoundRule> &rules,
                                     PruneCounts &counts) {
  Retester retester(terms);
  std::unordered_set<std::string> seen;
  for (const Class &sides : classes) {
    if (limits.isOver())
      return Outcome::OutOfTime;
    const Side *first = &*llvm::find_if(
        sides, [](const Side &side) { return side.isCanonical; });
    for (const Side &side : sides) {
      if (&side == first)
        continue;
      std::optional<TermPair> pair = orient(terms, side, *first);
      if (!pair || !seen.insert(getCanonicalText(terms, *pair)).second)
        continue;
      ++counts.renamed;
      if (haveCommonPart(terms, *pair))
        continue;
      ++counts.unshared;
      ++counts.tested;
      if (std::optional<Condition> condition = retester.test(*pair))
        rules.push_back({*pair, *condition});
      else
        ++counts.failed;
    }
  }
  return Outcome::Done;
}

//===----------------------------------------------------------------------===//
// Independent rules
//===----------------------------------------------------------------------===//

namespace {
/// Connects the graphs of all classes, level by level.
class Connector {
public:
  Connector(Terms &terms, llvm::ArrayRef<Class> classes, const Limits &limits,
            PruneCounts &counts)
      : terms(terms), classes(classes), limits(limits), counts(counts),
        retester(terms), always(terms), conditionally(terms) {
    for (const Class &sides : classes)
      connected.emplace_back(sides.size());
  }

  /// Makes the rules that operators commute, which are enumerated with operands
  /// in one order.
  void addCommutativity() {
    const OperatorTable &table = terms.getTable();
    for (const OperatorTemplate &op : table.operators) {
      if (!op.isCommutative())
        continue;
      TermId lhs = terms.getVariableLike(table.leaves.front(), 0);
      TermId rhs = terms.getVariableLike(table.leaves.front(), 1);
      TermPair pair{{terms.get(op.operation, {lhs, rhs})},
                    {terms.get(op.operation, {rhs, lhs})}};
      ++counts.tested;
      if (retester.holds(pair, {}))
        rules.push_back({pair, {}});
      else
        ++counts.failed;
    }
  }

  /// Handles the pairs of graphs of these numbers of operators. Those of many
  /// variables come first: others may be instances of them.
  void run(unsigned larger, unsigned smaller) {
    forEachPair(larger, smaller, [&](const Side &lhs, const Side &rhs) {
      return always.implies({lhs.outputs, rhs.outputs});
    });
    for (unsigned numVariables = 2 * kMaxDepth + 1; numVariables-- > 0;)
      forEachPair(larger, smaller, [&](const Side &lhs, const Side &rhs) {
        return std::max(lhs.numVariables, rhs.numVariables) == numVariables &&
               (always.implies({lhs.outputs, rhs.outputs}) ||
                tryRule(lhs, rhs));
      });
  }

  std::vector<FoundRule> rules;
  bool isOver = false;

private:
  /// Connects the pairs that are not yet and for which `decide` is true.
  template <typename Decide>
  void forEachPair(unsigned larger, unsigned smaller, Decide decide) {
    for (auto [sides, classOf] : llvm::zip_equal(classes, connected)) {
      isOver = isOver || limits.isOver();
      for (unsigned j = 0; j < sides.size() && !isOver; ++j) {
        if (sides[j].numOperators != larger)
          continue;
        for (unsigned i = 0; i < j; ++i)
          if (sides[i].numOperators == smaller &&
              classOf.findLeader(i) != classOf.findLeader(j) &&
              decide(sides[i], sides[j]))
            connect(sides, i, j, classOf);
      }
    }
  }

  void connect(const Class &sides, unsigned i, unsigned j,
               llvm::IntEqClasses &classOf) {
    classOf.join(i, j);
    if (sides[i].outputs.size() != 1)
      return;
    always.connect(sides[i].outputs[0], sides[j].outputs[0]);
    conditionally.connect(sides[i].outputs[0], sides[j].outputs[0]);
  }

  /// Makes a rule of the pair; false if it is none.
  bool tryRule(const Side &lhs, const Side &rhs) {
    if (!lhs.isCanonical && !rhs.isCanonical)
      return false;
    std::optional<TermPair> pair = orient(terms, lhs, rhs);
    if (!pair || !seen.insert(getCanonicalText(terms, *pair)).second)
      return false;
    ++counts.tested;
    std::optional<Condition> condition = retester.test(*pair);
    if (!condition) {
      ++counts.failed;
      return false;
    }
    bool isAlways = condition->isNone();
    if (!isAlways && conditionally.implies(*pair))
      return false;
    Generalizer generalizer(terms, retester);
    TermPair general = generalizer.generalize(*pair, *condition);
    if (seen.insert(getCanonicalText(terms, general)).second ||
        general.lhs == pair->lhs)
      rules.push_back({general, *condition});
    conditionally.add(general);
    if (isAlways)
      always.add(general);
    return isAlways;
  }

  Terms &terms;
  llvm::ArrayRef<Class> classes;
  const Limits &limits;
  PruneCounts &counts;
  Retester retester;
  /// By rules without condition, and by all.
  Implication always, conditionally;
  std::vector<llvm::IntEqClasses> connected;
  std::unordered_set<std::string> seen;
};
} // namespace

Outcome generator::findIndependentRules(Terms &terms,
                                        llvm::ArrayRef<Class> classes,
                                        unsigned depth, const Limits &limits,
                                        std::vector<FoundRule> &rules,
                                        PruneCounts &counts) {
  Connector connector(terms, classes, limits, counts);
  connector.addCommutativity();
  for (unsigned larger = 0; larger <= depth; ++larger)
    for (unsigned smaller = 0; smaller <= larger; ++smaller)
      connector.run(larger, smaller);
  rules = std::move(connector.rules);
  return connector.isOver ? Outcome::OutOfTime : Outcome::Done;
}
