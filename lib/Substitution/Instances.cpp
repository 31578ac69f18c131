//===- Instances.cpp - Ranks of the nodes of a rule -----------------------===//

#include "Typing.h"
#include "espalier/Substitution/Uses.h"
#include "llvm/ADT/StringExtras.h"

using namespace espalier::substitution;

namespace {
/// Classes of nodes of equal rank.
class Ranks {
public:
  unsigned add() {
    parents.push_back(parents.size());
    ranks.emplace_back();
    return parents.size() - 1;
  }
  unsigned find(unsigned node) const {
    while (parents[node] != node)
      node = parents[node];
    return node;
  }
  /// Returns false if the ranks differ.
  bool unify(unsigned lhs, unsigned rhs) {
    lhs = find(lhs);
    rhs = find(rhs);
    if (ranks[lhs] && ranks[rhs] && *ranks[lhs] != *ranks[rhs])
      return false;
    if (!ranks[lhs])
      ranks[lhs] = ranks[rhs];
    parents[rhs] = lhs;
    return true;
  }
  bool set(unsigned node, unsigned rank) {
    std::optional<unsigned> &known = ranks[find(node)];
    if (known && *known != rank)
      return false;
    known = rank;
    return true;
  }
  std::optional<unsigned> get(unsigned node) const { return ranks[find(node)]; }

private:
  std::vector<unsigned> parents;
  std::vector<std::optional<unsigned>> ranks;
};

class InstanceBuilder {
public:
  InstanceBuilder(const Rule &rule, std::string &error)
      : rule(rule), error(error) {}

  std::optional<Instances> run(unsigned openRank,
                               llvm::ArrayRef<unsigned> known) {
    Uses uses = listUses(rule);
    result.numSrc = uses.numSrc;
    result.src = uses.src;
    result.dst = uses.dst;
    Ranks srcRanks;
    for (auto [number, use] : llvm::enumerate(uses.list)) {
      if (number == uses.numSrc)
        srcRanks = ranks;
      add(use);
    }
    if (uses.numSrc == uses.list.size())
      srcRanks = ranks;
    if (!error.empty())
      return std::nullopt;
    for (auto [src, dst] : llvm::zip_equal(result.src, result.dst))
      if (!ranks.unify(src, dst)) {
        error = "expects outputs of equal rank, but got " +
                describe(srcRanks, src) + " and " + describe(ranks, dst);
        return std::nullopt;
      }
    for (unsigned number = 0; number < result.list.size(); ++number)
      result.hasOpenRank |= !ranks.get(number);
    for (auto [number, rank] : llvm::enumerate(known))
      if (result.list[number].operands.empty() && !ranks.set(number, rank)) {
        error = "expects another rank for " + result.list[number].name;
        return std::nullopt;
      }
    for (unsigned number = 0; number < result.list.size(); ++number) {
      Instance &instance = result.list[number];
      std::optional<unsigned> rank = ranks.get(number);
      instance.rank = rank.value_or(openRank);
      if (rank && number < result.numSrc && !srcRanks.get(number) &&
          instance.node->isVariable() && result.rankGuard.isEmpty())
        result.rankGuard.add(
            {GuardAtom::Kind::Equal, getRank(number), SizeExpr::get(*rank)});
    }
    return std::move(result);
  }

private:
  static std::string describe(const Ranks &ranks, unsigned number) {
    std::optional<unsigned> rank = ranks.get(number);
    return rank ? llvm::utostr(*rank) : "any";
  }

  SizeExpr getRank(unsigned number) const {
    SizeTerm term;
    term.kind = SizeTerm::Kind::Rank;
    term.use = number;
    term.node = result.list[number].id;
    return SizeExpr::get(term);
  }

  void add(const Use &use) {
    Instance instance;
    instance.id = use.node;
    instance.node = &rule.graph[use.node];
    instance.operands = use.operands;
    instance.isInSrc = use.isInSrc;
    instance.name = use.name;
    requireRanks(instance, ranks.add());
    result.list.push_back(std::move(instance));
  }

  void requireRanks(const Instance &instance, unsigned number) {
    const Node &node = *instance.node;
    if (node.isVariable()) {
      if (node.kind == Node::Kind::Scalar)
        ranks.set(number, 0);
      return;
    }
    bool fits = true;
    for (auto [position, operand] : llvm::enumerate(instance.operands))
      if (auto rank = getRequiredRank(node, position))
        fits &= ranks.set(operand, *rank);
      else
        fits &= ranks.unify(operand, number);
    if (auto rank = getRequiredRank(node, instance.operands.size()))
      fits &= ranks.set(number, *rank);
    if (!fits && error.empty())
      error = "expects operands of fitting ranks for " + instance.name;
  }

  const Rule &rule;
  std::string &error;
  Instances result;
  Ranks ranks;
};
} // namespace

std::optional<Instances>
espalier::substitution::makeInstances(const Rule &rule, unsigned openRank,
                                      std::string &error,
                                      llvm::ArrayRef<unsigned> known) {
  return InstanceBuilder(rule, error).run(openRank, known);
}
