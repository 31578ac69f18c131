//===- Instances.cpp - Ranks of the nodes of a rule -----------------------===//

#include "Typing.h"
#include "espalier/Substitution/RuleTensors.h"
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

  std::optional<Instances> run(llvm::ArrayRef<unsigned> open,
                               llvm::ArrayRef<unsigned> known) {
    RuleTensors uses = listTensors(rule);
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
    llvm::SmallVector<unsigned> openClasses;
    for (unsigned number = 0; number < result.list.size(); ++number)
      if (!ranks.get(number) &&
          !llvm::is_contained(openClasses, ranks.find(number))) {
        openClasses.push_back(ranks.find(number));
        result.openRanks.push_back(number);
      }
    for (auto [number, rank] : llvm::enumerate(known))
      if (result.list[number].operands.empty() && !ranks.set(number, rank)) {
        error = "expects another rank for " + result.list[number].name;
        return std::nullopt;
      }
    for (auto [number, use] : llvm::enumerate(result.openRanks))
      if (!ranks.get(use))
        ranks.set(use, number < open.size() ? open[number] : 1);
    for (unsigned number = 0; number < result.list.size(); ++number)
      result.list[number].rank = *ranks.get(number);
    addRankGuard(srcRanks, openClasses);
    return std::move(result);
  }

private:
  static std::string describe(const Ranks &ranks, unsigned number) {
    std::optional<unsigned> rank = ranks.get(number);
    return rank ? llvm::utostr(*rank) : "any";
  }

  /// What `dst` asks of ranks that `src` leaves open: a number, or that two are
  /// equal.
  void addRankGuard(const Ranks &srcRanks,
                    llvm::ArrayRef<unsigned> openClasses) {
    llvm::SmallDenseMap<unsigned, unsigned> first; // Use, by open rank.
    llvm::SmallVector<unsigned> known;             // Classes in src.
    auto addEqual = [&](unsigned use, SizeExpr rank) {
      result.rankGuard.add(
          {GuardAtom::Kind::Equal, getRankOf(result, use), std::move(rank)});
    };
    for (unsigned use = 0; use < result.numSrc; ++use) {
      unsigned srcClass = srcRanks.find(use);
      if (srcRanks.get(use) || !result.list[use].node->isVariable() ||
          llvm::is_contained(known, srcClass))
        continue;
      known.push_back(srcClass);
      if (!llvm::is_contained(openClasses, ranks.find(use))) {
        addEqual(use, SizeExpr::get(result.list[use].rank));
        continue;
      }
      auto [entry, isNew] = first.try_emplace(ranks.find(use), use);
      if (!isNew)
        addEqual(use, getRankOf(result, entry->second));
    }
  }

  void add(const RuleTensor &use) {
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
    const RuleNode &node = *instance.node;
    if (node.isVariable()) {
      if (node.kind == RuleNode::Kind::Scalar)
        ranks.set(number, 0);
      return;
    }
    bool fits = true;
    for (auto [position, operand] : llvm::enumerate(instance.operands))
      if (auto rank = getRequiredRank(node.op, node.params, position))
        fits &= ranks.set(operand, *rank);
      else
        fits &= ranks.unify(operand, number);
    if (auto rank =
            getRequiredRank(node.op, node.params, instance.operands.size()))
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

SizeExpr espalier::substitution::getRankOf(const Instances &instances,
                                           unsigned use) {
  SizeTerm term;
  term.kind = SizeTerm::Kind::Rank;
  term.use = use;
  term.node = instances.list[use].id;
  return SizeExpr::get(term);
}

std::optional<Instances>
espalier::substitution::makeInstances(const Rule &rule, std::string &error,
                                      llvm::ArrayRef<unsigned> open,
                                      llvm::ArrayRef<unsigned> known) {
  return InstanceBuilder(rule, error).run(open, known);
}
