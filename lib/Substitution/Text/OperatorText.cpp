//===- OperatorText.cpp - Operators without their operands ----------------===//

#include "espalier/Substitution/OperatorText.h"

using namespace espalier::substitution;

/// Variables that an operator takes, in the text form.
static std::string getOperands(const OperatorInfo &info) {
  std::string text;
  for (unsigned operand = 0; operand < info.numOperands; ++operand)
    text += (info.isScalarOperand(operand) ? " ?s" : " ?i") +
            std::to_string(operand);
  return text;
}

std::string espalier::substitution::printOperator(const RuleNode &node) {
  RuleGraph graph;
  const OperatorInfo &info = node.getInfo();
  llvm::SmallVector<NodeId> operands;
  for (unsigned operand = 0; operand < info.numOperands; ++operand)
    operands.push_back(info.isScalarOperand(operand)
                           ? graph.addScalar(operand)
                           : graph.addTensor(operand));
  std::string text;
  llvm::raw_string_ostream os(text);
  print(graph, graph.addOperator(node.op, node.params, operands), os);
  // "(relu ?i0)"
  return text.substr(1, text.size() - 2 - getOperands(info).size());
}

std::optional<OperatorText>
espalier::substitution::parseOperator(llvm::StringRef text,
                                      std::string &complaint) {
  text = text.trim();
  std::optional<OpKind> kind = lookupOperator(text.split(' ').first);
  if (!kind || text.find_first_of("()?\n\r") != llvm::StringRef::npos) {
    complaint = "expects an operator of rules with its parameters, but got '" +
                text.str() + "'";
    return std::nullopt;
  }
  std::string expr = "(" + text.str() + getOperands(getInfo(*kind)) + ")";
  // An output must be a tensor, and variables of dst must be in src.
  std::vector<Rule> rules;
  bool isFaulty =
      failed(parseRules("rule operator\nsrc " + expr + "\ndst " + expr + "\n",
                        rules, [&](unsigned, const llvm::Twine &message) {
                          complaint = message.str();
                        }));
  if (isFaulty)
    return std::nullopt;
  const RuleNode &node = rules[0].graph[rules[0].src[0]];
  return OperatorText{node.op, node.params};
}
