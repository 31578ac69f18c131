//===- EmitPatterns.cpp - Prints rules as PDL patterns --------------------===//

#include "Names.h"
#include "espalier/Substitution/OperatorText.h"
#include "espalier/Substitution/Patterns/Patterns.h"
#include "espalier/Substitution/Search/GraphOperators.h"
#include "llvm/ADT/EquivalenceClasses.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/SmallSet.h"
#include "llvm/ADT/StringExtras.h"

using namespace espalier::substitution;
using llvm::Twine;

static bool isConstant(const RuleNode &node) {
  return !node.isVariable() && node.getInfo().isConstant();
}

RuleCost espalier::substitution::getCost(const Rule &rule,
                                         const RuleTensors &uses) {
  RuleCost cost;
  llvm::SmallSet<NodeId, 8> dstNodes, srcNodes;
  auto collect = [&](llvm::ArrayRef<NodeId> roots, auto &nodes) {
    auto visit = [&](NodeId id, auto &self) -> void {
      if (!nodes.insert(id).second)
        return;
      for (NodeId operand : rule.graph[id].operands)
        self(operand, self);
    };
    for (NodeId root : roots)
      visit(root, visit);
  };
  collect(rule.src, srcNodes);
  collect(rule.dst, dstNodes);
  auto count = [&](const auto &nodes, const auto &others, unsigned &all,
                   unsigned &kernels) {
    for (NodeId id : nodes) {
      const RuleNode &node = rule.graph[id];
      if (node.isVariable() || isConstant(node) || others.count(id))
        continue;
      ++all;
      kernels += node.getInfo().has(kKernel);
    }
  };
  count(srcNodes, dstNodes, cost.numSrc, cost.numSrcKernels);
  count(dstNodes, srcNodes, cost.numDst, cost.numDstKernels);
  return cost;
}

/// Whether each output of `src` shares a tensor with another, and so on.
static bool isConnected(const Rule &rule) {
  RuleTensors uses = listTensors(rule);
  llvm::EquivalenceClasses<unsigned> classes;
  for (unsigned number = 0; number < uses.numSrc; ++number) {
    classes.insert(number);
    for (unsigned operand : uses.list[number].operands)
      classes.unionSets(number, operand);
  }
  return llvm::all_of(uses.src, [&](unsigned root) {
    return classes.isEquivalent(root, uses.src.front());
  });
}

namespace {
/// Prints one pattern. Names: `%t3` is the value of the tensor with number 3 in
/// `listTensors`, `%op3` its operation.
class PatternPrinter {
public:
  PatternPrinter(const UsableRule &usable, llvm::raw_ostream &os)
      : usable(usable), rule(usable.rule), uses(listTensors(rule)), os(os) {}

  void print() {
    printHead();
    for (unsigned number = 0; number < uses.numSrc; ++number)
      printMatch(number);
    os << "    %rule = pdl.attribute = " << quote(getText()) << '\n';
    printConstraint(names::kFits);
    if (cost.maySimplify())
      printConstraint(names::kSimplifies);
    printRewrite();
    os << "  }\n";
  }

private:
  static std::string quote(llvm::StringRef text) {
    std::string result;
    llvm::raw_string_ostream stream(result);
    stream << '"';
    llvm::printEscapedString(text, stream);
    stream << '"';
    return result;
  }

  std::string getText() const {
    std::string text;
    llvm::raw_string_ostream stream(text);
    espalier::substitution::print(rule, stream);
    return text;
  }

  const RuleNode &getNode(unsigned number) const {
    return rule.graph[uses.list[number].node];
  }

  void printHead() {
    cost = getCost(rule, uses);
    unsigned benefit =
        1 + (cost.numSrc > cost.numDst ? cost.numSrc - cost.numDst : 0);
    os << "  pdl.pattern @" << quote(rule.name) << " : benefit(" << benefit
       << ") attributes {espalier.arithmetic = \""
       << (rule.arithmetic == Arithmetic::Exact ? "exact" : "reassociates")
       << "\", espalier.kernels = array<i64: " << cost.numSrcKernels << ", "
       << cost.numDstKernels
       << ">, espalier.operators = array<i64: " << cost.numSrc << ", "
       << cost.numDst << ">";
    if (cost.maySimplify())
      os << ", espalier.simplifies";
    if (!usable.isProved)
      os << ", espalier.unproved";
    os << "} {\n";
  }

  void printOperands(const RuleTensor &use) {
    if (use.operands.empty())
      return;
    os << '(';
    llvm::interleaveComma(use.operands, os,
                          [&](unsigned operand) { os << "%t" << operand; });
    os << " : ";
    llvm::interleaveComma(use.operands, os,
                          [&](unsigned) { os << "!pdl.value"; });
    os << ')';
  }

  void printMatch(unsigned number) {
    const RuleTensor &use = uses.list[number];
    const RuleNode &node = getNode(number);
    if (node.isVariable()) {
      os << "    %t" << number << " = pdl.operand\n";
      return;
    }
    os << "    %type" << number << " = pdl.type\n    %op" << number
       << " = pdl.operation \"" << getGraphName(node.op) << '"';
    printOperands(use);
    os << " -> (%type" << number << " : !pdl.type)\n    %t" << number
       << " = pdl.result 0 of %op" << number << "\n    %is" << number
       << " = pdl.attribute = " << quote(printOperator(node))
       << "\n    pdl.apply_native_constraint \"" << names::kIs << "\"(%op"
       << number << ", %is" << number << " : !pdl.operation, !pdl.attribute)\n";
  }

  /// The tensors of `src`, and their types.
  void printTensors() {
    for (unsigned number = 0; number < uses.numSrc; ++number)
      os << (getNode(number).isVariable() ? ", %t" : ", %op") << number;
  }
  void printTensorTypes() {
    for (unsigned number = 0; number < uses.numSrc; ++number)
      os << (getNode(number).isVariable() ? ", !pdl.value"
                                          : ", !pdl.operation");
  }

  void printConstraint(llvm::StringRef name) {
    os << "    pdl.apply_native_constraint \"" << name;
    printTensorCall();
  }

  void printTensorCall() {
    os << "\"(%rule";
    printTensors();
    os << " : !pdl.attribute";
    printTensorTypes();
    os << ")\n";
  }

  void printRewrite() {
    os << "    pdl.rewrite";
    if (uses.src.size() == 1)
      os << " %op" << uses.src[0];
    os << " {\n      pdl.apply_native_rewrite \"" << names::kBegin;
    printTensorCall();
    for (unsigned number = uses.numSrc; number < uses.list.size(); ++number)
      printCreation(number);
    for (auto [src, dst] : llvm::zip_equal(uses.src, uses.dst))
      os << "      pdl.replace %op" << src << " with (%t" << dst
         << " : !pdl.value)\n";
    os << "    }\n";
  }

  void printCreation(unsigned number) {
    const RuleTensor &use = uses.list[number];
    const RuleNode &node = getNode(number);
    bool isSized = isConstant(node) || node.getInfo().has(kCut);
    os << "      %create" << number
       << " = pdl.attribute = " << quote(printOperator(node)) << '\n';
    if (isSized)
      os << "      %number" << number << " = pdl.attribute = " << number
         << " : i64\n";
    os << "      %t" << number << " = pdl.apply_native_rewrite \""
       << (isSized ? names::kCreateSized : names::kCreate) << "\"(%create"
       << number;
    if (isSized) {
      os << ", %rule, %number" << number;
      printTensors();
    }
    for (unsigned operand : use.operands)
      os << ", %t" << operand;
    os << " : !pdl.attribute";
    if (isSized) {
      os << ", !pdl.attribute, !pdl.attribute";
      printTensorTypes();
    }
    for (unsigned i = 0; i < use.operands.size(); ++i)
      os << ", !pdl.value";
    os << ") : !pdl.value\n";
  }

  const UsableRule &usable;
  const Rule &rule;
  RuleTensors uses;
  RuleCost cost;
  llvm::raw_ostream &os;
};
} // namespace

std::string espalier::substitution::emitPattern(const UsableRule &rule,
                                                llvm::raw_ostream &os) {
  const Rule &text = rule.rule;
  for (auto [position, root] : llvm::enumerate(text.src)) {
    if (text.graph[root].isVariable())
      return "an output of src is a variable";
    if (llvm::is_contained(llvm::ArrayRef(text.src).take_front(position), root))
      return "src has an output twice";
  }
  if (!isConnected(text))
    return "the outputs of src have nothing in common";
  PatternPrinter(rule, os).print();
  return "";
}

void espalier::substitution::emitPatterns(llvm::ArrayRef<UsableRule> rules,
                                          llvm::raw_ostream &os) {
  os << "module {\n";
  for (const UsableRule &rule : rules) {
    std::string reason = emitPattern(rule, os);
    if (!reason.empty())
      os << "  // " << rule.rule.name << " is for search only: " << reason
         << '\n';
  }
  os << "}\n";
}
