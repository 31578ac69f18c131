//===- Merge.cpp - Many like operators become one -------------------------===//

#include "Merge.h"
#include "Apply.h"

using namespace mlir;
using namespace espalier::substitution;

/// The match of both outputs.
static Binding join(const RulePattern &pattern, const Binding &first,
                    const Binding &second) {
  Binding both = first;
  for (auto [from, to] :
       llvm::zip_equal(pattern.below[0], pattern.joining->second))
    both[to] = second[from];
  return both;
}

/// The match of the first output that the whole is, of which both became parts.
static Binding getWhole(const RulePattern &pattern, const Binding &both) {
  Binding whole(both.size(), kNone);
  for (auto [to, from] :
       llvm::zip_equal(pattern.below[0], pattern.joining->whole))
    whole[to] = both[from];
  return whole;
}

static bool isPart(const EGraph &graph, ClassId id) {
  return llvm::any_of(graph[id].nodes, [&](ENodeId member) {
    const ENode &node = graph.getNode(member);
    return node.kind == ENode::Kind::Operator &&
           isSliceName(graph.getSymbol(node.symbol).name);
  });
}

/// For each class how many of `members` it needs, at most, one after the other.
static std::vector<unsigned> getLevels(const EGraph &graph,
                                       ArrayRef<ENodeId> order,
                                       const llvm::DenseSet<ClassId> &members) {
  std::vector<unsigned> levels(graph.getNumClassIds(), 0);
  for (ENodeId id : order) {
    const ENode &node = graph.getNode(id);
    ClassId owner = graph.find(node.owner);
    for (ClassId operand : node.operands) {
      operand = graph.find(operand);
      levels[owner] =
          std::max(levels[owner], levels[operand] + members.contains(operand));
    }
  }
  return levels;
}

/// Puts a match with the first group that the rule can join it to.
static void addToGroups(const EGraph &graph, const RulePattern &pattern,
                        Binding &match, std::vector<Group> &groups,
                        Assumptions *assumptions) {
  for (Group &group : groups)
    if (planApplication(graph, pattern, join(pattern, group.front(), match),
                        assumptions)) {
      group.push_back(std::move(match));
      return;
    }
  groups.push_back({std::move(match)});
}

std::vector<Group> espalier::substitution::findGroups(
    const EGraph &graph, Matcher &matcher, const RulePattern &pattern,
    ArrayRef<ENodeId> order, Assumptions *assumptions) {
  std::vector<unsigned> position(graph.getNumClassIds(), kNone);
  for (auto [index, id] : llvm::enumerate(order))
    position[graph.find(graph.getNode(id).owner)] = index;
  NodeId output = pattern.rule->src[0];
  std::vector<Binding> matches = matcher.matchOutput(pattern, 0);
  llvm::erase_if(matches, [&](const Binding &match) {
    return position[match[output]] == kNone || isPart(graph, match[output]) ||
           graph[match[output]].isConstant;
  });
  llvm::stable_sort(matches, [&](const Binding &lhs, const Binding &rhs) {
    return position[lhs[output]] < position[rhs[output]];
  });
  std::map<std::vector<ClassId>, std::vector<Binding *>> byShared;
  for (Binding &match : matches) {
    std::vector<ClassId> key;
    for (auto [first, second] :
         llvm::zip_equal(pattern.below[0], pattern.joining->second))
      if (first == second)
        key.push_back(match[first]);
    byShared[key].push_back(&match);
  }

  std::vector<Group> result;
  for (auto &[key, alike] : byShared) {
    llvm::DenseSet<ClassId> members;
    llvm::erase_if(alike, [&](Binding *match) {
      return !members.insert((*match)[output]).second;
    });
    if (alike.size() < 2)
      continue;
    std::vector<unsigned> levels = getLevels(graph, order, members);
    // What is on one level does not need each other.
    std::map<unsigned, std::vector<Group>> byLevel;
    for (Binding *match : alike)
      addToGroups(graph, pattern, *match, byLevel[levels[(*match)[output]]],
                  assumptions);
    for (auto &[level, groups] : byLevel)
      for (Group &group : groups)
        if (group.size() > 1)
          result.push_back(std::move(group));
  }
  return result;
}

unsigned
espalier::substitution::joinGroup(const RulePattern &pattern, Group group,
                                  function_ref<bool(Binding &)> apply) {
  unsigned numApplied = 0;
  // Neighbours first: so sizes are few, and each is in few of them.
  for (bool goesOn = true; goesOn && group.size() > 1;) {
    goesOn = false;
    Group next;
    for (unsigned i = 0; i < group.size(); i += 2) {
      if (i + 1 == group.size()) {
        next.push_back(std::move(group[i]));
        break;
      }
      Binding both = join(pattern, group[i], group[i + 1]);
      if (apply(both)) {
        next.push_back(getWhole(pattern, both));
        goesOn = true;
        ++numApplied;
        continue;
      }
      next.push_back(std::move(group[i]));
      next.push_back(std::move(group[i + 1]));
    }
    group = std::move(next);
  }
  return numApplied;
}
