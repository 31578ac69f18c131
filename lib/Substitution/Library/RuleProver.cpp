//===- RuleProver.cpp - Proves rules before they are used -----------------===//

#include "espalier/Substitution/RuleProver.h"
#include "espalier/Substitution/Uses.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::substitution;

namespace {
/// Axes of a tensor along which a concatenation leaves the order of each sum as
/// it is, one bit each.
using Axes = unsigned;

/// The axes of an operand of a reduction that are not summed over.
Axes getKeptAxes(const Node &node, unsigned operand) {
  if (node.is(OpKind::PoolAvg))
    return 0b11;
  if (node.is(OpKind::Conv2d))
    return 0b1; // The batch, or the features.
  if (node.is(OpKind::ReduceSum))
    return ~(1u << node.params[0].first);
  if (node.is(OpKind::Matmul))
    return operand == 0 ? 0b01 : 0b10;
  return 0; // Those of `bmm` may be of several ranks.
}

/// Whether a concatenation or a part of one, below `id`, lies along another
/// axis than `kept`, or axes change places, over two of which may be summed.
bool joinsOther(const Graph &graph, NodeId id, Axes kept) {
  const Node &node = graph[id];
  if (node.isVariable())
    return false;
  bool isOther = (node.is(OpKind::Concat) || node.getInfo().has(kCut)) &&
                 !(kept >> node.params[0].first & 1);
  if (isOther || node.is(OpKind::Swap))
    return true;
  Axes below = kept;
  if (node.is(OpKind::Transpose))
    below = (kept & 1) << 1 | (kept >> 1 & 1);
  // The operands of a broadcast have other axes, and what an inner sum keeps,
  // an outer one may add up.
  if (node.getInfo().isReduction() || node.is(OpKind::BAdd) ||
      node.is(OpKind::BMul))
    below = 0;
  return llvm::any_of(node.operands, [&](NodeId operand) {
    return joinsOther(graph, operand, below);
  });
}

bool mayReorderSums(const Graph &graph, NodeId id) {
  const Node &node = graph[id];
  for (auto [position, operand] : llvm::enumerate(node.operands)) {
    bool reorders = !node.isVariable() && node.getInfo().isReduction() &&
                    joinsOther(graph, operand, getKeptAxes(node, position));
    if (reorders || mayReorderSums(graph, operand))
      return true;
  }
  return false;
}
} // namespace

static VerifyOptions getRounding() {
  VerifyOptions options;
  options.rounds = true;
  return options;
}

RuleProver::RuleProver() : rounding(getRounding()) {}

bool RuleProver::isExact(const Rule &rule, const Guard &guard) {
  for (llvm::ArrayRef<NodeId> side : {rule.src, rule.dst})
    for (NodeId root : side)
      if (mayReorderSums(rule.graph, root))
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
