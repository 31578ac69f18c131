//===- RuleTensors.cpp - The tensors that a rule's graphs make ------------===//

#include "espalier/Substitution/RuleTensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace espalier::substitution;

namespace {
class UseLister {
public:
  explicit UseLister(const Rule &rule) : rule(rule) {}

  RuleTensors run() {
    for (NodeId root : rule.src)
      result.src.push_back(add(root, /*isInSrc=*/true));
    result.numSrc = result.list.size();
    for (NodeId root : rule.dst)
      result.dst.push_back(add(root, /*isInSrc=*/false));
    return std::move(result);
  }

private:
  unsigned add(NodeId id, bool isInSrc) {
    const RuleNode &node = rule.graph[id];
    bool isConstant = !node.isVariable() && node.getInfo().isConstant();
    auto known = numbers.find(id);
    if (known != numbers.end() && !isConstant)
      return known->second;
    RuleTensor use;
    use.node = id;
    use.isInSrc = isInSrc;
    for (NodeId operand : node.operands)
      use.operands.push_back(add(operand, isInSrc));
    if (node.isVariable()) {
      llvm::raw_string_ostream os(use.name);
      print(rule.graph, id, os);
    } else {
      std::string name = node.getInfo().name.str();
      use.name = name + "#" + llvm::utostr(++counts[name]);
    }
    unsigned number = result.list.size();
    result.list.push_back(std::move(use));
    numbers[id] = number;
    return number;
  }

  const Rule &rule;
  RuleTensors result;
  std::map<NodeId, unsigned> numbers;
  std::map<std::string, unsigned> counts;
};
} // namespace

RuleTensors espalier::substitution::listTensors(const Rule &rule) {
  return UseLister(rule).run();
}

std::optional<unsigned> RuleTensors::lookup(llvm::StringRef name) const {
  auto found = llvm::find_if(
      list, [&](const RuleTensor &use) { return use.name == name; });
  if (found == list.end())
    return std::nullopt;
  return found - list.begin();
}
