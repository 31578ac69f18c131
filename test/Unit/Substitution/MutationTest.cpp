//===- MutationTest.cpp - Proofs of changed rules -------------------------===//
//
// Changes each parameter and each order of operands of rules that are proved,
// one at a time, on one side. What is still proved must agree with the
// reference interpreter at random shapes.
//
//===----------------------------------------------------------------------===//

#include "espalier/Substitution/Verify.h"
#include "llvm/Support/MemoryBuffer.h"
#include "gtest/gtest.h"

using namespace espalier::substitution;

namespace {

/// Other values of a parameter.
std::vector<Param> getOthers(ParamKind kind, Param value) {
  switch (kind) {
  case ParamKind::Pair:
    return {{value.first + 1, value.second}, {value.first, value.second + 2}};
  case ParamKind::Padding:
  case ParamKind::Border: {
    if (value.first != kBorder)
      return {{1 - value.first, 0}, Border{0, 0, 1, 0}.getParam()};
    std::vector<Param> others;
    for (int64_t Border::*side :
         {&Border::top, &Border::left, &Border::bottom, &Border::right}) {
      Border other = Border::get(value);
      ++(other.*side);
      others.push_back(other.getParam());
    }
    return others;
  }
  case ParamKind::Activation:
  case ParamKind::Part:
    return {{1 - value.first, 0}};
  case ParamKind::Axis:
    return {{value.first == 0 ? 1 : value.first - 1, 0}};
  case ParamKind::Axes:
    return {{value.first, value.second == 0 ? 1 : value.second - 1}};
  case ParamKind::Offset:
  case ParamKind::Count:
    return {{value.first + 1, 0}};
  case ParamKind::Ranks:
    return {{value.first, value.first == value.second ? 2 : value.first}};
  case ParamKind::Rank:
    return {};
  }
  llvm_unreachable("every kind is handled above");
}

/// Rebuilds the graph of `rule` with `node` of one side replaced.
Rule replace(const Rule &rule, bool inSrc, NodeId node, const RuleNode &by) {
  Rule result;
  result.name = rule.name;
  auto copy = [&](auto &self, NodeId id, bool changes) -> NodeId {
    const RuleNode &old = changes && id == node ? by : rule.graph[id];
    if (old.isVariable())
      return old.kind == RuleNode::Kind::Tensor
                 ? result.graph.addTensor(old.number)
                 : result.graph.addScalar(old.number);
    llvm::SmallVector<NodeId> operands;
    for (NodeId operand : old.operands)
      operands.push_back(self(self, operand, changes));
    return result.graph.addOperator(old.op, old.params, operands);
  };
  for (NodeId root : rule.src)
    result.src.push_back(copy(copy, root, inSrc));
  for (NodeId root : rule.dst)
    result.dst.push_back(copy(copy, root, !inSrc));
  return result;
}

std::vector<Rule> getMutants(const Rule &rule) {
  std::vector<Rule> mutants;
  auto isIn = [&](auto &self, NodeId root, NodeId node) -> bool {
    return root == node ||
           llvm::any_of(rule.graph[root].operands, [&](NodeId operand) {
             return self(self, operand, node);
           });
  };
  for (bool inSrc : {true, false})
    for (NodeId id = 0; id < rule.graph.size(); ++id) {
      const RuleNode &node = rule.graph[id];
      bool occurs = llvm::any_of(inSrc ? rule.src : rule.dst, [&](NodeId root) {
        return isIn(isIn, root, id);
      });
      if (node.isVariable() || !occurs)
        continue;
      for (auto [number, info] : llvm::enumerate(node.getInfo().params))
        for (Param other : getOthers(info.kind, node.params[number])) {
          RuleNode changed = node;
          changed.params[number] = other;
          if (!checkParams(node.op, changed.params).empty())
            continue;
          mutants.push_back(replace(rule, inSrc, id, changed));
        }
      for (unsigned first = 0; first + 1 < node.operands.size(); ++first) {
        if (node.getInfo().isScalarOperand(first + 1))
          continue;
        RuleNode changed = node;
        std::swap(changed.operands[first], changed.operands[first + 1]);
        mutants.push_back(replace(rule, inSrc, id, changed));
      }
    }
  return mutants;
}

class MutationTest : public ::testing::TestWithParam<unsigned> {
protected:
  static constexpr unsigned kNumShards = 4;

  static std::vector<Rule> readRules() {
    std::vector<Rule> rules;
    for (const char *name : {"taso-properties", "operator-properties"}) {
      auto file = llvm::MemoryBuffer::getFile(llvm::Twine(RULES_FOLDER) + "/" +
                                              name + ".rules");
      EXPECT_TRUE(file && succeeded(parseRules((*file)->getBuffer(), rules,
                                               [](unsigned, auto &) {})));
    }
    return rules;
  }
};

TEST_P(MutationTest, NoChangedRuleIsProvedFalsely) {
  VerifyOptions options;
  options.numRechecks = 20;
  Verifier verifier(options);
  unsigned counts[4] = {}, numOpen = 0, number = 0;
  for (const Rule &rule : readRules()) {
    // Ranks and kernels beyond the first say little that is new.
    llvm::StringRef name = rule.name;
    if (name.contains("-of-4") || name.contains("-1-1-") ||
        number++ % kNumShards != GetParam())
      continue;
    for (const Rule &mutant : getMutants(rule)) {
      Verdict verdict = verifier.verify(mutant);
      ++counts[static_cast<unsigned>(verdict.kind)];
      std::string text;
      llvm::raw_string_ostream os(text);
      print(mutant, os);
      os << verdict;
      EXPECT_EQ(verdict.contradiction, "") << text;
      if (verdict.kind == Verdict::Kind::Unknown && !verdict.isIllTyped)
        ++numOpen;
    }
  }
  RecordProperty("proved", counts[0] + counts[1]);
  RecordProperty("refuted", counts[2]);
  EXPECT_LT(numOpen, 5u);
  // Some changes do not matter, such as the order of a sum; most do.
  EXPECT_GT(counts[2], counts[0] + counts[1]);
}

INSTANTIATE_TEST_SUITE_P(Shards, MutationTest, ::testing::Range(0u, 4u));

} // namespace
