//===- Match.cpp - Where rules fit ----------------------------------------===//

#include "Match.h"
#include "llvm/ADT/STLExtras.h"
#include <set>

using namespace mlir;
using namespace espalier::substitution;

//===----------------------------------------------------------------------===//
// Recognizer
//===----------------------------------------------------------------------===//

static bool isCommutative(OpKind kind) {
  const OperatorInfo &info = getInfo(kind);
  return info.isCommutative() || info.has(kEitherWay);
}

unsigned Recognizer::getOperator(const RuleNode &node) {
  auto found = llvm::find_if(operators, [&](const RuleNode &other) {
    return other.op == node.op && other.params == node.params;
  });
  unsigned number = found - operators.begin();
  if (number == operators.size())
    operators.push_back(node);
  return number;
}

bool Recognizer::is(const EGraph &graph, ENodeId id, unsigned operation,
                    bool isSwapped) {
  const ENode &node = graph.getNode(id);
  // Numbers of symbols are an e-graph's own.
  const Symbol &symbol = graph.getSymbol(node.symbol);
  std::vector<const void *> key{isSwapped ? this : nullptr,
                                symbol.name.getAsOpaquePointer(),
                                symbol.attributes.getAsOpaquePointer(),
                                graph[node.owner].type.getAsOpaquePointer()};
  for (ClassId operand : node.operands)
    key.push_back(graph[operand].type.getAsOpaquePointer());
  std::vector<int8_t> &row = known[key];
  if (row.size() <= operation)
    row.resize(operators.size(), -1);
  if (row[operation] < 0) {
    std::optional<OperatorInstance> instance = graph.getInstance(id);
    if (instance && isSwapped)
      std::swap(instance->operands[0], instance->operands[1]);
    const RuleNode &wanted = operators[operation];
    row[operation] =
        instance && isOperator(*instance, wanted.op, wanted.params);
  }
  return row[operation] == 1;
}

//===----------------------------------------------------------------------===//
// RulePattern
//===----------------------------------------------------------------------===//

static void collect(const RuleGraph &graph, NodeId id,
                    std::set<NodeId> &nodes) {
  if (!nodes.insert(id).second)
    return;
  for (NodeId operand : graph[id].operands)
    collect(graph, operand, nodes);
}

/// Whether two expressions are alike if each variable of the one is replaced by
/// what is there in the other; only by variables if `isRenaming`.
static bool areAlike(const RuleGraph &graph, NodeId lhs, NodeId rhs,
                     bool isRenaming, std::map<NodeId, NodeId> &replaced) {
  auto [entry, isNew] = replaced.try_emplace(lhs, rhs);
  if (!isNew)
    return entry->second == rhs;
  const RuleNode &first = graph[lhs], &second = graph[rhs];
  if (first.isVariable() && !isRenaming)
    return true;
  if (first.isVariable() || second.isVariable())
    return first.kind == second.kind;
  if (first.op != second.op || first.params != second.params)
    return false;
  for (auto [a, b] : llvm::zip_equal(first.operands, second.operands))
    if (!areAlike(graph, a, b, isRenaming, replaced))
      return false;
  return true;
}

/// Says how a rule joins further outputs; `renaming` makes the second output of
/// the first one.
static std::optional<Joining>
getJoining(const Rule &rule, ArrayRef<std::vector<NodeId>> below,
           const std::map<NodeId, NodeId> &renaming) {
  // Both outputs become parts of one node.
  const RuleNode &first = rule.graph[rule.dst[0]],
                 &second = rule.graph[rule.dst[1]];
  if (!first.getInfo().has(kCut) || !second.getInfo().has(kCut) ||
      first.operands[0] != second.operands[0])
    return std::nullopt;
  std::map<NodeId, NodeId> whole;
  if (!areAlike(rule.graph, rule.src[0], first.operands[0],
                /*isRenaming=*/false, whole))
    return std::nullopt;
  Joining joining;
  for (NodeId id : below[0]) {
    // What is shared is the same in both, and in the whole.
    bool isShared = llvm::is_contained(below[1], id);
    if (isShared && (renaming.at(id) != id || whole.at(id) != id))
      return std::nullopt;
    joining.second.push_back(renaming.at(id));
    joining.whole.push_back(whole.at(id));
  }
  return joining;
}

RulePattern::RulePattern(const ProvedRule &proved, Recognizer &recognizer)
    : rule(&proved.rule), guard(&proved.guard), uses(listTensors(proved.rule)),
      hasOpenRank(substitution::hasOpenRank(proved.rule)) {
  const Rule &rule = proved.rule;
  for (NodeId id = 0; id < rule.graph.size(); ++id)
    operators.push_back(rule.graph[id].isVariable()
                            ? kNone
                            : recognizer.getOperator(rule.graph[id]));
  for (NodeId id = 0; id < rule.graph.size(); ++id)
    if (rule.graph[id].getInfo().has(kCut))
      traces = &recognizer.getTraces();
  for (NodeId output : rule.src) {
    std::set<NodeId> nodes;
    collect(rule.graph, output, nodes);
    below.emplace_back(nodes.begin(), nodes.end());
  }
  std::map<NodeId, NodeId> renaming;
  isSymmetric =
      rule.src.size() == 2 && areAlike(rule.graph, rule.src[0], rule.src[1],
                                       /*isRenaming=*/true, renaming);
  if (isSymmetric)
    joining = getJoining(rule, below, renaming);
}

//===----------------------------------------------------------------------===//
// One output
//===----------------------------------------------------------------------===//

Matcher::Matcher(const EGraph &graph, Recognizer &recognizer,
                 ArrayRef<ClassId> classes, const MatchLimits &limits)
    : graph(graph), recognizer(recognizer), limits(limits) {
  for (ClassId id : classes)
    for (ENodeId node : graph[id].nodes) {
      if (graph.getNode(node).kind != ENode::Kind::Operator)
        continue;
      auto &list = byName[graph.getSymbol(graph.getNode(node).symbol).name];
      if (list.empty() || list.back() != id)
        list.push_back(id);
    }
}

/// Returns false if limits say to stop.
bool Matcher::solve(const RulePattern &pattern, std::vector<Goal> &goals,
                    Binding &binding, std::vector<Binding> &found) {
  if (goals.empty()) {
    found.push_back(binding);
    return found.size() < limits.maxMatches;
  }
  if (++numSteps > limits.maxSteps || ++numRuleSteps > limits.maxRuleSteps)
    return false;
  Goal goal = goals.back();
  goal.id = graph.find(goal.id);
  goals.pop_back();
  bool goesOn = true;
  if (binding[goal.node] != kNone) {
    if (binding[goal.node] == goal.id)
      goesOn = solve(pattern, goals, binding, found);
  } else {
    binding[goal.node] = goal.id;
    if (pattern.rule->graph[goal.node].isVariable()) {
      if (isa_and_nonnull<RankedTensorType>(graph[goal.id].type))
        goesOn = solve(pattern, goals, binding, found);
    } else {
      for (ENodeId id : graph[goal.id].nodes)
        if (goesOn && graph.getNode(id).kind == ENode::Kind::Operator)
          goesOn = solveNode(pattern, goal, id, goals, binding, found);
    }
    binding[goal.node] = kNone;
  }
  goals.push_back(goal);
  return goesOn;
}

bool Matcher::solveNode(const RulePattern &pattern, Goal goal, ENodeId id,
                        std::vector<Goal> &goals, Binding &binding,
                        std::vector<Binding> &found) {
  const RuleNode &wanted = pattern.rule->graph[goal.node];
  const ENode &node = graph.getNode(id);
  if (node.operands.size() != wanted.operands.size() ||
      graph.getSymbol(node.symbol).name != getGraphName(wanted.op))
    return true;
  bool isTwofold =
      isCommutative(wanted.op) && node.operands[0] != node.operands[1];
  for (bool isSwapped : {false, true}) {
    if (isSwapped && !isTwofold)
      break;
    if (!recognizer.is(graph, id, pattern.operators[goal.node], isSwapped))
      continue;
    unsigned count = wanted.operands.size();
    for (unsigned operand = 0; operand < count; ++operand)
      goals.push_back(
          {wanted.operands[operand],
           node.operands[isSwapped ? count - 1 - operand : operand]});
    bool goesOn = solve(pattern, goals, binding, found);
    goals.resize(goals.size() - count);
    if (!goesOn)
      return false;
  }
  return true;
}

std::vector<Binding> Matcher::matchOutput(const RulePattern &pattern,
                                          unsigned output) {
  const Rule &rule = *pattern.rule;
  const RuleNode &root = rule.graph[rule.src[output]];
  std::vector<Binding> found;
  if (root.isVariable())
    return found; // It would match everything.
  auto name = StringAttr::get(graph.getContext(), getGraphName(root.op));
  for (ClassId id : byName.lookup(name)) {
    std::vector<Goal> goals{{rule.src[output], id}};
    Binding binding(rule.graph.size(), kNone);
    numSteps = 0;
    solve(pattern, goals, binding, found);
    if (found.size() >= limits.maxMatches || numRuleSteps > limits.maxRuleSteps)
      break;
  }
  return found;
}

//===----------------------------------------------------------------------===//
// Several outputs
//===----------------------------------------------------------------------===//

/// Whether a class is a slice of another one.
bool Matcher::isPartOf(ClassId part, ClassId whole) const {
  return llvm::any_of(graph[part].nodes, [&](ENodeId id) {
    const ENode &node = graph.getNode(id);
    return node.kind == ENode::Kind::Operator &&
           isSliceName(graph.getSymbol(node.symbol).name) &&
           graph.find(node.operands[0]) == whole;
  });
}

/// Whether neither is a part of the other, nor has a part of it: merging
/// what is merged would never end.
bool Matcher::areIndependent(ClassId lhs, ClassId rhs) const {
  if (lhs == rhs || isPartOf(lhs, rhs) || isPartOf(rhs, lhs))
    return false;
  return llvm::none_of(graph[lhs].users, [&](ENodeId id) {
    const ENode &node = graph.getNode(id);
    return !node.isDead && node.kind == ENode::Kind::Operator &&
           isSliceName(graph.getSymbol(node.symbol).name) &&
           isPartOf(graph.find(node.owner), rhs);
  });
}

std::vector<Binding> Matcher::join(const RulePattern &pattern,
                                   std::vector<Binding> first,
                                   std::vector<Binding> second,
                                   unsigned output) {
  const Rule &rule = *pattern.rule;
  std::vector<NodeId> shared;
  for (NodeId id : pattern.below[output])
    for (unsigned before = 0; before < output; ++before)
      if (llvm::is_contained(pattern.below[before], id)) {
        shared.push_back(id);
        break;
      }
  auto getKey = [&](const Binding &binding) {
    std::vector<ClassId> key;
    for (NodeId id : shared)
      key.push_back(binding[id]);
    return key;
  };
  std::map<std::vector<ClassId>, std::vector<const Binding *>> byKey;
  for (const Binding &binding : second)
    byKey[getKey(binding)].push_back(&binding);
  std::vector<Binding> joined;
  for (const Binding &binding : first)
    for (const Binding *other : byKey[getKey(binding)]) {
      if (++numRuleSteps > limits.maxRuleSteps)
        return joined;
      ClassId self = (*other)[rule.src[output]];
      bool isNew = true;
      for (unsigned before = 0; before < output; ++before)
        isNew &= areIndependent(binding[rule.src[before]], self);
      if (!isNew || (pattern.isSymmetric && binding[rule.src[0]] > self))
        continue;
      joined.push_back(binding);
      for (NodeId id : pattern.below[output])
        joined.back()[id] = (*other)[id];
      if (joined.size() >= limits.maxMatches)
        return joined;
    }
  return joined;
}

std::vector<Binding> Matcher::match(const RulePattern &pattern) {
  numRuleSteps = 0;
  std::vector<Binding> found = matchOutput(pattern, 0);
  for (unsigned output = 1; output < pattern.below.size(); ++output)
    found =
        join(pattern, std::move(found), matchOutput(pattern, output), output);
  return found;
}
