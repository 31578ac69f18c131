//===- RuleProver.cpp - Proves rules before they are used -----------------===//

#include "espalier/Substitution/RuleProver.h"
#include "espalier/Substitution/RuleTensors.h"
#include "llvm/ADT/STLExtras.h"
#include <map>

using namespace espalier::substitution;

namespace {
/// Axes of a tensor along which a concatenation leaves the order of each sum as
/// it is, one bit each.
using Axes = unsigned;

/// Whether concatenations may reorder sums.
class SumOrder {
public:
  SumOrder(const RuleGraph &graph, Traces &traces)
      : graph(graph), traces(traces) {}

  bool mayChange(NodeId id) {
    const RuleNode &node = graph[id];
    for (auto [position, operand] : llvm::enumerate(node.operands))
      if (mayChange(operand) ||
          (node.getInfo().isReduction() &&
           joinsOther(operand, getBelow(node, position, ~Axes(0)))))
        return true;
    return false;
  }

private:
  /// Where the axes of the result come from.
  const Trace &getTrace(const RuleNode &node) {
    llvm::SmallVector<unsigned> ranks;
    for (unsigned i = 0; i <= node.operands.size(); ++i)
      ranks.push_back(
          getRequiredRank(node.op, node.params, i).value_or(kMaxRank));
    return traces.get(node, ranks);
  }

  /// The axes of an operand along which those of the result that are `kept`
  /// run; none of a reduction that is summed over.
  Axes getBelow(const RuleNode &node, unsigned position, Axes kept) {
    if (node.has(kJoin) || node.has(kCut))
      return kept;
    Axes below = 0;
    for (auto [dim, sources] : llvm::enumerate(getTrace(node)))
      for (auto [operand, from] : sources)
        if (operand == position)
          below |= (kept >> dim & 1) << from;
    return below;
  }

  /// Whether axes that are not `kept`, over which a sum runs, change places
  /// from an operand to the result.
  bool permutesOther(const RuleNode &node, Axes kept) {
    std::map<unsigned, unsigned> last;
    for (auto [dim, sources] : llvm::enumerate(getTrace(node)))
      for (auto [operand, from] : sources) {
        if (kept >> dim & 1)
          continue;
        auto [place, isFirst] = last.try_emplace(operand, from);
        if (!isFirst && from < place->second)
          return true;
        place->second = from;
      }
    return false;
  }

  /// Whether a concatenation or a part of one, below `id`, lies along another
  /// axis than `kept`, or such axes change places.
  bool joinsOther(NodeId id, Axes kept) {
    const RuleNode &node = graph[id];
    if (node.isVariable())
      return false;
    bool joins = node.has(kJoin) || node.has(kCut);
    if (joins ? !(kept >> node.params[0].first & 1) : permutesOther(node, kept))
      return true;
    return llvm::any_of(llvm::enumerate(node.operands), [&](auto operand) {
      return joinsOther(operand.value(), getBelow(node, operand.index(), kept));
    });
  }

  const RuleGraph &graph;
  Traces &traces;
};
} // namespace

/// An unknown function around each sum makes a question several times larger
/// than that of the rule, and how fast the machine is must not show in a label.
static VerifyOptions getRounding() {
  VerifyOptions options;
  options.rounds = true;
  options.deadline *= 4;
  return options;
}

RuleProver::RuleProver() : rounding(getRounding()) {}

bool RuleProver::isExact(const Rule &rule, const Guard &guard) {
  SumOrder order(rule.graph, traces);
  for (llvm::ArrayRef<NodeId> side : {rule.src, rule.dst})
    for (NodeId root : side)
      if (order.mayChange(root))
        return false;
  Verdict verdict = rounding.verify(rule);
  return verdict.kind == Verdict::Kind::Proved ||
         (verdict.kind == Verdict::Kind::ProvedIf &&
          llvm::all_of(verdict.guard.clauses, [&](const GuardClause &clause) {
            return llvm::is_contained(guard.clauses, clause);
          }));
}

Verdict RuleProver::prove(Rule &rule) {
  Verdict verdict = verifier.verify(rule);
  if (!verdict.isProved())
    return verdict;
  rule.arithmetic = isExact(rule, verdict.guard) ? Arithmetic::Exact
                                                 : Arithmetic::Reassociates;
  Guard guard = verdict.guard;
  guard.add(rule.where);
  rule.where = std::move(guard);
  return verdict;
}
