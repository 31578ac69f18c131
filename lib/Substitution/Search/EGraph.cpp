//===- EGraph.cpp - Equal expressions in little room ----------------------===//

#include "EGraph.h"
#include "espalier/Substitution/Search/CostModel.h"
#include "llvm/ADT/Hashing.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace espalier::substitution;

Type espalier::substitution::meetTypes(Type lhs, Type rhs) {
  if (lhs == rhs)
    return lhs;
  auto first = dyn_cast_or_null<RankedTensorType>(lhs);
  auto second = dyn_cast_or_null<RankedTensorType>(rhs);
  if (!first || !second || first.getRank() != second.getRank() ||
      first.getElementType() != second.getElementType() ||
      first.getEncoding() != second.getEncoding())
    return {};
  SmallVector<int64_t> shape;
  for (auto [a, b] : llvm::zip_equal(first.getShape(), second.getShape())) {
    if (a != b && !ShapedType::isDynamic(a) && !ShapedType::isDynamic(b))
      return {};
    shape.push_back(ShapedType::isDynamic(a) ? b : a);
  }
  return RankedTensorType::get(shape, first.getElementType(),
                               first.getEncoding());
}

unsigned EGraph::getSymbol(StringRef name, DictionaryAttr attributes) {
  auto attr = StringAttr::get(context, name);
  auto [entry, isNew] =
      knownSymbols.try_emplace({attr, attributes}, symbols.size());
  if (isNew) {
    Symbol symbol;
    symbol.name = attr;
    symbol.attributes = attributes;
    OperationName operation(name, context);
    symbol.isCommutative = operation.hasTrait<OpTrait::IsCommutative>();
    symbols.push_back(symbol);
  }
  return entry->second;
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

size_t EGraph::Hash::operator()(const ENode &node) const {
  return llvm::hash_combine(
      static_cast<unsigned>(node.kind), node.symbol, node.number, node.entity,
      llvm::hash_combine_range(node.operands.begin(), node.operands.end()));
}

bool EGraph::Equal::operator()(const ENode &lhs, const ENode &rhs) const {
  return lhs.kind == rhs.kind && lhs.symbol == rhs.symbol &&
         lhs.number == rhs.number && lhs.entity == rhs.entity &&
         lhs.operands == rhs.operands;
}

ClassId EGraph::find(ClassId id) const {
  while (parents[id] != id) {
    // What stands for another class for a while must not be forgotten.
    if (numRedirected == 0)
      parents[id] = parents[parents[id]];
    id = parents[id];
  }
  return id;
}

void EGraph::canonicalize(ENode &node) const {
  for (ClassId &operand : node.operands)
    operand = find(operand);
  if (node.kind == ENode::Kind::Operator && symbols[node.symbol].isCommutative)
    llvm::sort(node.operands);
}

bool EGraph::isConstant(const ENode &node) const {
  if (node.kind != ENode::Kind::Operator)
    return node.isInvariant;
  bool needsOthers = llvm::any_of(node.operands, [&](ClassId operand) {
    return !classes[find(operand)].isConstant;
  });
  if (needsOthers || node.operands.empty())
    return !needsOthers;
  std::optional<OperatorInstance> instance = getInstance(node);
  return instance && isComputedAhead(*instance);
}

ClassId EGraph::lookup(ENode node) const {
  canonicalize(node);
  auto entry = known.find(node);
  return entry == known.end() ? kNone : find(nodes[entry->second].owner);
}

ClassId EGraph::add(ENode node, Type type) {
  canonicalize(node);
  auto [entry, isNew] = known.try_emplace(node, nodes.size());
  if (!isNew)
    return find(nodes[entry->second].owner);
  ENodeId id = nodes.size();
  node.owner = classes.size();
  for (ClassId operand : node.operands)
    classes[operand].users.push_back(id);
  EClass self;
  self.nodes.push_back(id);
  self.type = type;
  classes.push_back(std::move(self));
  parents.push_back(node.owner);
  classes.back().isConstant = isConstant(node);
  nodes.push_back(std::move(node));
  return nodes[id].owner;
}

//===----------------------------------------------------------------------===//
// Unions
//===----------------------------------------------------------------------===//

bool EGraph::unite(ClassId lhs, ClassId rhs) {
  lhs = find(lhs);
  rhs = find(rhs);
  if (lhs == rhs)
    return false;
  Type type = meetTypes(classes[lhs].type, classes[rhs].type);
  if (!type)
    return false;
  if (classes[lhs].users.size() < classes[rhs].users.size())
    std::swap(lhs, rhs);
  EClass &into = classes[lhs], &from = classes[rhs];
  bool changes = type != into.type || type != from.type ||
                 into.isConstant != from.isConstant;
  parents[rhs] = lhs;
  llvm::append_range(into.nodes, from.nodes);
  llvm::append_range(into.users, from.users);
  into.type = type;
  into.isConstant |= from.isConstant;
  from = EClass();
  dirty.push_back(lhs);
  if (changes)
    refine(lhs);
  return true;
}

/// What depends on constants alone passes that on.
void EGraph::refine(ClassId id) {
  SmallVector<ClassId> worklist{id};
  while (!worklist.empty()) {
    const EClass &changed = classes[find(worklist.pop_back_val())];
    if (!changed.isConstant)
      continue;
    for (ENodeId user : changed.users) {
      EClass &owner = classes[find(nodes[user].owner)];
      if (owner.isConstant || !isConstant(nodes[user]))
        continue;
      owner.isConstant = true;
      worklist.push_back(nodes[user].owner);
    }
  }
}

/// Enters a node again, whose operands may have been united with others.
void EGraph::rehash(ENodeId id) {
  ENode &node = nodes[id];
  if (node.isDead)
    return;
  auto entry = known.find(node);
  if (entry != known.end() && entry->second == id)
    known.erase(entry);
  canonicalize(node);
  auto [other, isNew] = known.try_emplace(node, id);
  if (isNew)
    return;
  // The same as another one: its class has that one already.
  node.isDead = true;
  ClassId owner = find(node.owner);
  llvm::erase(classes[owner].nodes, id);
  unite(owner, nodes[other->second].owner);
}

void EGraph::rebuild() {
  while (!dirty.empty()) {
    std::vector<ClassId> todo;
    std::swap(todo, dirty);
    for (ClassId &id : todo)
      id = find(id);
    llvm::sort(todo);
    todo.erase(llvm::unique(todo), todo.end());
    for (ClassId id : todo) {
      if (!isCanonical(id))
        continue; // It is dirty under another name.
      llvm::sort(classes[id].users);
      classes[id].users.erase(llvm::unique(classes[id].users),
                              classes[id].users.end());
      std::vector<ENodeId> users = classes[id].users;
      for (ENodeId user : users)
        rehash(user);
    }
  }
}

void EGraph::keepOnly(ENodeId id) {
  std::vector<ENodeId> &members = classes[find(nodes[id].owner)].nodes;
  for (ENodeId other : members)
    nodes[other].isDead = other != id;
  members = {id};
}

std::optional<OperatorInstance> EGraph::getInstance(const ENode &node) const {
  if (node.kind != ENode::Kind::Operator)
    return std::nullopt;
  OperatorInstance instance;
  instance.name = symbols[node.symbol].name;
  instance.attributes = symbols[node.symbol].attributes;
  for (ClassId operand : node.operands) {
    auto type = dyn_cast_or_null<RankedTensorType>((*this)[operand].type);
    if (!type)
      return std::nullopt;
    instance.operands.push_back(type);
  }
  instance.result =
      dyn_cast_or_null<RankedTensorType>((*this)[node.owner].type);
  if (!instance.result)
    return std::nullopt;
  return instance;
}
