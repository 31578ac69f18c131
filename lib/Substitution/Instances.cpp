//===- Instances.cpp - Ranks of the nodes of a rule -----------------------===//

#include "Typing.h"
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

  std::optional<Instances> run(unsigned openRank) {
    for (NodeId root : rule.src)
      result.src.push_back(add(root));
    result.numSrc = result.list.size();
    Ranks srcRanks = ranks;
    for (NodeId root : rule.dst)
      result.dst.push_back(add(root));
    if (!error.empty())
      return std::nullopt;
    for (auto [src, dst] : llvm::zip_equal(result.src, result.dst))
      if (!ranks.unify(src, dst)) {
        error = "expects outputs of equal rank, but got " +
                describe(srcRanks, src) + " and " + describe(ranks, dst);
        return std::nullopt;
      }
    for (unsigned number = 0; number < result.list.size(); ++number) {
      Instance &instance = result.list[number];
      std::optional<unsigned> rank = ranks.get(number);
      result.hasOpenRank |= !rank;
      instance.rank = rank.value_or(openRank);
      if (rank && number < result.numSrc && !srcRanks.get(number) &&
          instance.node->isVariable() && result.rankGuard.empty())
        result.rankGuard =
            "rank(" + instance.name + ") == " + llvm::utostr(*rank);
    }
    return std::move(result);
  }

private:
  static std::string describe(const Ranks &ranks, unsigned number) {
    std::optional<unsigned> rank = ranks.get(number);
    return rank ? llvm::utostr(*rank) : "any";
  }

  unsigned add(NodeId id) {
    const Node &node = rule.graph[id];
    bool isConstant = !node.isVariable() && node.getInfo().isConstant();
    auto known = numbers.find(id);
    if (known != numbers.end() && !isConstant)
      return known->second;
    Instance instance;
    instance.id = id;
    instance.node = &node;
    instance.isInSrc = result.numSrc == 0;
    for (NodeId operand : node.operands)
      instance.operands.push_back(add(operand));
    unsigned number = ranks.add();
    if (node.isVariable()) {
      llvm::raw_string_ostream os(instance.name);
      print(rule.graph, id, os);
    } else {
      std::string name = node.getInfo().name.str();
      instance.name = name + "#" + llvm::utostr(++counts[name]);
    }
    requireRanks(instance, number);
    result.list.push_back(std::move(instance));
    numbers[id] = number;
    return number;
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
  std::map<NodeId, unsigned> numbers;
  std::map<std::string, unsigned> counts;
};
} // namespace

std::optional<Instances>
espalier::substitution::makeInstances(const Rule &rule, unsigned openRank,
                                      std::string &error) {
  return InstanceBuilder(rule, error).run(openRank);
}
