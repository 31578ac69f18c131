//===- Rule.cpp - Substitution rules and their printer --------------------===//

#include "Scalars.h"
#include "espalier/Substitution/RuleTensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallBitVector.h"
#include "llvm/ADT/StringExtras.h"

using namespace espalier::substitution;

//===----------------------------------------------------------------------===//
// Graph
//===----------------------------------------------------------------------===//

NodeId RuleGraph::add(RuleNode node) {
  std::vector<int64_t> key{static_cast<int64_t>(node.kind),
                           static_cast<int64_t>(node.op), node.number};
  for (Param param : node.params) {
    key.push_back(param.first);
    key.push_back(param.second);
  }
  llvm::append_range(key, node.operands);
  auto [entry, isNew] = known.try_emplace(std::move(key), nodes.size());
  if (isNew)
    nodes.push_back(std::move(node));
  return entry->second;
}

NodeId RuleGraph::addTensor(unsigned number) {
  RuleNode node;
  node.number = number;
  return add(std::move(node));
}

NodeId RuleGraph::addScalar(unsigned number) {
  RuleNode node;
  node.kind = RuleNode::Kind::Scalar;
  node.number = number;
  return add(std::move(node));
}

NodeId RuleGraph::addOperator(OpKind op, llvm::ArrayRef<Param> params,
                              llvm::ArrayRef<NodeId> operands) {
  RuleNode node;
  node.kind = RuleNode::Kind::Operator;
  node.op = op;
  node.params.assign(params.begin(), params.end());
  node.operands.assign(operands.begin(), operands.end());
  return add(std::move(node));
}

//===----------------------------------------------------------------------===//
// Checks
//===----------------------------------------------------------------------===//

/// The nodes that `roots` are made of.
static llvm::SmallBitVector getReachable(const RuleGraph &graph,
                                         llvm::ArrayRef<NodeId> roots) {
  llvm::SmallBitVector reachable(graph.size());
  for (NodeId root : roots)
    reachable.set(root);
  for (NodeId id = graph.size(); id-- > 0;)
    if (reachable[id])
      for (NodeId operand : graph[id].operands)
        reachable.set(operand);
  return reachable;
}

std::string espalier::substitution::check(const Rule &rule) {
  if (rule.src.empty())
    return "expects an output, but got none";
  if (rule.src.size() != rule.dst.size())
    return "expects as many 'dst' lines as 'src' lines, but got " +
           llvm::utostr(rule.dst.size()) + " and " +
           llvm::utostr(rule.src.size());
  for (llvm::ArrayRef<NodeId> side : {rule.src, rule.dst})
    for (NodeId root : side)
      if (isScalar(rule.graph, root)) {
        std::string message = "expects a tensor as output, but got ";
        llvm::raw_string_ostream os(message);
        print(rule.graph, root, os);
        return message;
      }
  llvm::SmallBitVector src = getReachable(rule.graph, rule.src);
  llvm::SmallBitVector dst = getReachable(rule.graph, rule.dst);
  for (NodeId id : dst.set_bits())
    if (rule.graph[id].isVariable() && !src[id]) {
      std::string message = "expects 'dst' to use variables of 'src', but got ";
      llvm::raw_string_ostream os(message);
      print(rule.graph, id, os);
      return message;
    }
  return "";
}

//===----------------------------------------------------------------------===//
// Printer
//===----------------------------------------------------------------------===//

static void printParam(ParamKind kind, Param param, llvm::raw_ostream &os) {
  switch (kind) {
  case ParamKind::Pair:
  case ParamKind::Axes:
  case ParamKind::Ranks:
    os << param.first << ',' << param.second;
    return;
  case ParamKind::Padding:
  case ParamKind::Border: {
    if (param.first != kBorder) {
      os << (param.first == kSame ? "same" : "valid");
      return;
    }
    Border border = Border::get(param);
    os << border.top << ',' << border.left << ',' << border.bottom << ','
       << border.right;
    return;
  }
  case ParamKind::Activation:
    os << (param.first == kNoActivation ? "none" : "relu");
    return;
  case ParamKind::Axis:
  case ParamKind::Rank:
  case ParamKind::Part:
  case ParamKind::Offset:
  case ParamKind::Count:
    os << param.first;
    return;
  }
}

void espalier::substitution::print(const RuleGraph &graph, NodeId id,
                                   llvm::raw_ostream &os) {
  const RuleNode &node = graph[id];
  if (node.isVariable()) {
    os << (node.kind == RuleNode::Kind::Tensor ? "?i" : "?s") << node.number;
    return;
  }
  const OperatorInfo &info = node.getInfo();
  os << '(' << info.name;
  for (auto [param, value] : llvm::zip_equal(info.params, node.params)) {
    os << " :" << param.name << ' ';
    printParam(param.kind, value, os);
  }
  for (NodeId operand : node.operands) {
    os << ' ';
    print(graph, operand, os);
  }
  os << ')';
}

void espalier::substitution::print(const Rule &rule, llvm::raw_ostream &os) {
  os << "rule " << rule.name << '\n';
  for (auto [word, side] : {std::pair("src ", llvm::ArrayRef(rule.src)),
                            std::pair("dst ", llvm::ArrayRef(rule.dst))})
    for (NodeId root : side) {
      os << word;
      print(rule.graph, root, os);
      os << '\n';
    }
  if (!rule.where.isEmpty())
    os << "where " << toString(rule.where, listTensors(rule)) << '\n';
  if (rule.arithmetic != Arithmetic::Unstated)
    os << "arithmetic "
       << (rule.arithmetic == Arithmetic::Exact ? "exact" : "reassociates")
       << '\n';
}
