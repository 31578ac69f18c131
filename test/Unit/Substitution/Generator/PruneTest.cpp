//===- PruneTest.cpp - Tests, implications and generalizations ------------===//

#include "Derived.h"
#include "Generalize.h"
#include "Implication.h"
#include "gtest/gtest.h"

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

namespace {
class PruneTest : public ::testing::Test {
protected:
  /// Parses `src` and `dst` lines over the inputs of the table `taso`: ?i0 to
  /// ?i2 are matrices, ?i3 to ?i5 square ones, ?i6 to ?i8 images, ?i9 to ?i11
  /// weights.
  TermPair parse(const std::string &text) {
    std::vector<Rule> rules;
    EXPECT_TRUE(succeeded(parseRules("rule test\n" + text, rules,
                                     [](unsigned, const llvm::Twine &message) {
                                       ADD_FAILURE() << message.str();
                                     })));
    TermPair pair;
    for (NodeId node : rules.front().src)
      pair.lhs.push_back(convert(rules.front().graph, node));
    for (NodeId node : rules.front().dst)
      pair.rhs.push_back(convert(rules.front().graph, node));
    return pair;
  }

  TermId convert(const RuleGraph &graph, NodeId id) {
    const RuleNode &node = graph[id];
    if (node.kind == RuleNode::Kind::Scalar)
      return terms.getVariable(table.leaves.size() - 1);
    if (node.isVariable())
      return terms.getVariable(node.number);
    TermList operands;
    for (NodeId operand : node.operands)
      operands.push_back(convert(graph, operand));
    ConcreteOperator operation = *getOperation(node.op, node.params);
    for (const OperatorTemplate &op : table.operators)
      if (op.operation.kind == node.op)
        operation.constantShape = op.operation.constantShape;
    operation.derived = table.derived->get(operation);
    return terms.get(operation, operands);
  }

  std::string print(const TermPair &pair) {
    std::string text;
    llvm::raw_string_ostream os(text);
    espalier::substitution::print(makeRule(terms, pair, "test"), os);
    return text;
  }

  OperatorTable table = *getOperatorTable("taso");
  Terms terms{table};
  Retester retester{terms};
};

TEST_F(PruneTest, TrueRulesPassAtAllSizes) {
  for (const char *text :
       {"src (transpose (transpose ?i0))\ndst ?i0\n",
        "src (ewadd ?i6 (relu ?i6))\ndst (ewadd (relu ?i6) ?i6)\n",
        "src (relu (ewadd ?i0 (relu ?i0)))\n"
        "dst (ewadd (relu ?i0) (relu ?i0))\n",
        "src (conv2d :stride 2,2 :pad same :act none (ewadd ?i6 ?i7) ?i9)\n"
        "dst (ewadd (conv2d :stride 2,2 :pad same :act none ?i6 ?i9) "
        "(conv2d :stride 2,2 :pad same :act none ?i7 ?i9))\n"}) {
    std::optional<Condition> condition = retester.test(parse(text));
    ASSERT_TRUE(condition) << text;
    EXPECT_TRUE(condition->isNone()) << text;
  }
}

TEST_F(PruneTest, CoincidencesFail) {
  for (const char *text :
       {// Of shapes.
        "src (transpose ?i3)\ndst ?i3\n",
        // Of sizes: five taps see all of a small image.
        "src (poolmax :kernel 3,3 :stride 1,1 :pad same (poolmax :kernel 3,3 "
        ":stride 1,1 :pad same (poolmax :kernel 3,3 :stride 1,1 :pad same "
        "?i9)))\n"
        "dst (poolmax :kernel 3,3 :stride 1,1 :pad same (poolmax :kernel 3,3 "
        ":stride 1,1 :pad same ?i9))\n",
        // Of the field: 1/9 is not negative.
        "src (ewadd ?i9 (relu (const_pool :kernel 3,3)))\ndst ?i9\n",
        // Of an attribute that is lost.
        "src (matmul :act relu ?i0 ?i3)\ndst (matmul :act none ?i0 ?i3)\n"})
    EXPECT_FALSE(retester.test(parse(text))) << text;
}

TEST_F(PruneTest, ConcatenatedFeaturesNeedOneGroup) {
  std::optional<Condition> condition = retester.test(
      parse("src (conv2d :stride 1,1 :pad same :act none ?i6 (concat :axis 0 "
            ":ndim 4 ?i9 ?i10))\n"
            "dst (concat :axis 1 :ndim 4 (conv2d :stride 1,1 :pad same :act "
            "none ?i6 ?i9) (conv2d :stride 1,1 :pad same :act none ?i6 "
            "?i10))\n"));
  ASSERT_TRUE(condition);
  EXPECT_EQ(getText(*condition), "groups == 1");
}

TEST_F(PruneTest, RulesImplyInstancesInContexts) {
  Implication implication(terms);
  implication.add(parse("src (relu (matmul :act none ?i0 ?i3))\n"
                        "dst (matmul :act relu ?i0 ?i3)\n"));
  implication.add(parse("src (transpose (transpose ?i0))\ndst ?i0\n"));
  // Inside a context, with terms for variables, in either direction.
  EXPECT_TRUE(implication.implies(
      parse("src (transpose (relu (matmul :act none ?i1 (transpose ?i3))))\n"
            "dst (transpose (matmul :act relu ?i1 (transpose ?i3)))\n")));
  EXPECT_TRUE(implication.implies(parse(
      "src (matmul :act relu ?i1 ?i4)\n"
      "dst (relu (matmul :act none (transpose (transpose ?i1)) ?i4))\n")));
  // For each output.
  EXPECT_TRUE(
      implication.implies(parse("src (relu (matmul :act none ?i0 ?i3))\n"
                                "src (transpose (transpose ?i0))\n"
                                "dst (matmul :act relu ?i0 ?i3)\ndst ?i0\n")));
  // Commutative operators need no rule.
  EXPECT_TRUE(
      implication.implies(parse("src (ewadd ?i0 ?i1)\ndst (ewadd ?i1 ?i0)\n")));
  EXPECT_FALSE(implication.implies(parse(
      "src (matmul :act none ?i3 ?i4)\ndst (matmul :act none ?i4 ?i3)\n")));
  EXPECT_FALSE(
      implication.implies(parse("src (relu (relu ?i0))\ndst (relu ?i0)\n")));
}

TEST_F(PruneTest, RulesOfSeveralOutputsImplyTheirInstances) {
  Implication implication(terms);
  implication.add(parse(
      "src (split :axis 1 :part 0 (matmul :act none ?i0 (concat :axis 1 "
      ":ndim 2 ?i3 ?i4)))\n"
      "src (split :axis 1 :part 1 (matmul :act none ?i0 (concat :axis 1 "
      ":ndim 2 ?i3 ?i4)))\n"
      "dst (matmul :act none ?i0 ?i3)\ndst (matmul :act none ?i0 ?i4)\n"));
  // Whatever the order of outputs, and below other operators.
  EXPECT_TRUE(implication.implies(
      parse("src (relu (split :axis 1 :part 1 (matmul :act none ?i1 (concat "
            ":axis 1 :ndim 2 ?i3 ?i5))))\n"
            "src (split :axis 1 :part 0 (matmul :act none ?i1 (concat :axis 1 "
            ":ndim 2 ?i3 ?i5)))\n"
            "dst (relu (matmul :act none ?i1 ?i5))\n"
            "dst (matmul :act none ?i1 ?i3)\n")));
  // Not with the parts exchanged.
  EXPECT_FALSE(implication.implies(parse(
      "src (split :axis 1 :part 1 (matmul :act none ?i0 (concat :axis 1 "
      ":ndim 2 ?i3 ?i4)))\n"
      "src (split :axis 1 :part 0 (matmul :act none ?i0 (concat :axis 1 "
      ":ndim 2 ?i3 ?i4)))\n"
      "dst (matmul :act none ?i0 ?i3)\ndst (matmul :act none ?i0 ?i4)\n")));
}

TEST_F(PruneTest, GeneralRulesHaveAsManyVariablesAsTheyCan) {
  Generalizer generalizer(terms, retester);
  EXPECT_EQ(print(generalizer.generalize(
                parse("src (ewadd (concat :axis 0 :ndim 2 ?i0 ?i1) (concat "
                      ":axis 0 :ndim 2 ?i1 ?i2))\n"
                      "dst (concat :axis 0 :ndim 2 (ewadd ?i0 ?i1) (ewadd ?i1 "
                      "?i2))\n"),
                {})),
            "rule test\n"
            "src (ewadd (concat :axis 0 :ndim 2 ?i0 ?i1) (concat :axis 0 "
            ":ndim 2 ?i2 ?i3))\n"
            "dst (concat :axis 0 :ndim 2 (ewadd ?i0 ?i2) (ewadd ?i1 ?i3))\n");
  // A common subterm becomes a variable, but where the rule needs it.
  EXPECT_EQ(print(generalizer.generalize(
                parse("src (transpose (transpose (relu ?i0)))\n"
                      "dst (relu ?i0)\n"),
                {})),
            "rule test\nsrc (transpose (transpose ?i0))\ndst ?i0\n");
  TermPair idempotent = parse("src (relu (relu ?i0))\ndst (relu ?i0)\n");
  EXPECT_EQ(print(generalizer.generalize(idempotent, {})), print(idempotent));
}

TEST_F(PruneTest, CanonicalTextIgnoresNamesAndOrder) {
  auto getText = [&](const char *text) {
    return getCanonicalText(terms, parse(text));
  };
  std::string text = getText("src (ewadd ?i0 (relu ?i1))\ndst (relu ?i1)\n");
  EXPECT_EQ(text, getText("src (ewadd (relu ?i0) ?i2)\ndst (relu ?i0)\n"));
  EXPECT_NE(text, getText("src (ewadd ?i0 (relu ?i0))\ndst (relu ?i0)\n"));
  EXPECT_NE(text, getText("src (ewadd ?i0 (relu ?i1))\ndst (relu ?i0)\n"));
}
} // namespace
