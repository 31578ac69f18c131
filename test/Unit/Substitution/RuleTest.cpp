//===- RuleTest.cpp - The text form of rules ------------------------------===//

#include "espalier/Substitution/Rule.h"
#include "gtest/gtest.h"

using namespace espalier::substitution;

namespace {

class RuleTest : public ::testing::Test {
protected:
  std::vector<Rule> parse(llvm::StringRef text) {
    std::vector<Rule> rules;
    errors.clear();
    bool failed =
        mlir::failed(parseRules(text, rules, [&](unsigned line, auto &message) {
          errors += llvm::utostr(line) + ": " + message.str() + "\n";
        }));
    EXPECT_EQ(failed, !errors.empty());
    return rules;
  }

  /// The only fault of a text.
  std::string fault(llvm::StringRef text) {
    parse(text);
    return llvm::StringRef(errors).rtrim().str();
  }
  /// The fault of a rule with this expression on both sides.
  std::string faultIn(llvm::StringRef expr) {
    return fault(("rule r\nsrc " + expr + "\ndst ?i0").str());
  }

  std::string errors;
};

TEST_F(RuleTest, RoundTrips) {
  llvm::StringRef text = R"(rule convs
src (conv2d :stride 1,2 :pad same :act relu ?i0 ?i1)
src (ewadd (smul ?i2 ?s0) (ewmul ?i3 (const_one)))
dst (conv2d :stride 1,2 :pad valid :act none ?i0 (enlarge :kernel 3,5 ?i1))
dst (split :axis 1 :part 0 (concat :axis 1 :ndim 2 (relu ?i2) ?i3))

rule pools
src (poolavg :kernel 3,3 :stride 2,2 :pad same ?i0)
src (poolmax :kernel 3,1 :stride 1,1 :pad valid ?i0)
src (matmul :act none (transpose ?i1) (const_imm))
dst (conv2d :stride 1,1 :pad same :act none ?i0 (const_pool :kernel 3,3))
dst (conv2d :stride 1,1 :pad same :act none ?i0 (const_iconv :kernel 1,1))
dst (transpose ?i1)
)";
  std::vector<Rule> rules = parse(text);
  ASSERT_EQ(errors, "");
  ASSERT_EQ(rules.size(), 2u);
  EXPECT_EQ(rules[1].line, 7u);
  std::string printed;
  llvm::raw_string_ostream os(printed);
  print(rules[0], os);
  os << '\n';
  print(rules[1], os);
  EXPECT_EQ(printed, text);
}

TEST_F(RuleTest, SharesEqualExpressions) {
  std::vector<Rule> rules =
      parse("rule r\nsrc (ewadd (relu ?i0) (relu ?i0))\ndst (relu ?i0)\n");
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].graph.size(), 3u);
  const RuleNode &sum = rules[0].graph[rules[0].src[0]];
  EXPECT_EQ(sum.operands[0], sum.operands[1]);
  EXPECT_EQ(sum.operands[0], rules[0].dst[0]);
}

TEST_F(RuleTest, IgnoresOtherLines) {
  std::vector<Rule> rules = parse("# rule no\nrule r\nguard x\n src ?i0 \r\n"
                                  "expect proved\n\tdst\t?i0\n\n\n\n");
  EXPECT_EQ(errors, "");
  EXPECT_EQ(rules.size(), 1u);
}

TEST_F(RuleTest, ReadsGuards) {
  std::vector<Rule> rules =
      parse("rule r\nwhere dim(?i0, 0) == 2\nsrc ?i0\ndst (relu ?i0)\nwhere "
            "rank(relu#1) == 1\n");
  EXPECT_EQ(errors, "");
  ASSERT_EQ(rules.size(), 1u);
  std::string printed;
  llvm::raw_string_ostream os(printed);
  print(rules[0], os);
  EXPECT_EQ(printed, "rule r\nsrc ?i0\ndst (relu ?i0)\nwhere dim(?i0, 0) == 2 "
                     "and rank(relu#1) == 1\n");
  EXPECT_EQ(fault("rule r\nwhere dim(?i1, 0) == 2\nsrc ?i0\ndst ?i0"),
            "2: rule 'r': expects a variable or an operator of the rule, such "
            "as '?i0', but got '?i1'");
}

TEST_F(RuleTest, KnowsVersions) {
  const std::string rule = "rule r\nsrc ?i0\ndst ?i0\narithmetic exact\n";
  std::vector<Rule> rules = parse("version 1\n\n" + rule + "\nend 1\n");
  EXPECT_EQ(errors, "");
  ASSERT_EQ(rules.size(), 1u);
  EXPECT_EQ(rules[0].arithmetic, Arithmetic::Exact);
  EXPECT_EQ(fault("version 2\n\n" + rule + "\nend 1\n"),
            "1: expects rules of version 1, but got '2'");
  EXPECT_EQ(fault("version 1\n\n" + rule),
            "6: expects 'end N' behind the rules of a file with a version, but "
            "got the end of the file");
  EXPECT_EQ(fault("version 1\n\n" + rule + "\nend 2\n"),
            "8: expects 'end 1' behind that many rules, but got '2'");
  EXPECT_EQ(fault(rule + "\nversion 1\nend 1\n"),
            "6: expects one version, before the rules, but got '1'");
  EXPECT_EQ(fault("version 1\nend 0\n\n" + rule),
            "4: expects no rule behind 'end', but got 'r'");
  EXPECT_EQ(
      fault("rule r\nsrc ?i0\ndst ?i0\narithmetic maybe\n"),
      "4: rule 'r': expects 'exact' or 'reassociates' arithmetic, but got "
      "'maybe'");
}

TEST_F(RuleTest, ReadsParametersInAnyOrder) {
  std::vector<Rule> rules = parse(
      "rule r\nsrc (conv2d :act none :stride 1,1 :pad same ?i0 ?i1)\ndst ?i0");
  EXPECT_EQ(errors, "");
  ASSERT_EQ(rules.size(), 1u);
}

TEST_F(RuleTest, RefusesFaultyBlocks) {
  EXPECT_EQ(fault("src ?i0"),
            "1: expects 'rule NAME' before 'src', but got none");
  EXPECT_EQ(fault("rule r\n\ndst ?i0"),
            "1: rule 'r': expects an output, but got none\n"
            "3: expects 'rule NAME' before 'dst', but got none");
  EXPECT_EQ(fault("rule r\nsrc ?i0\n"),
            "1: rule 'r': expects as many 'dst' lines as 'src' lines, but got "
            "0 and 1");
  EXPECT_EQ(fault("rule r\nsrc ?i0\ndst (relu ?i1)\n"),
            "1: rule 'r': expects 'dst' to use variables of 'src', but got "
            "?i1");
  EXPECT_EQ(fault("rule r\nsrc ?i0\ndst ?s0\n"),
            "1: rule 'r': expects a tensor as output, but got ?s0");
  EXPECT_EQ(fault("rule r\nsrc ?i0\ndst ?i0\n\nrule r\nsrc ?i0\ndst ?i0\n"),
            "5: rule 'r': expects a new name, but line 1 has it too");
  EXPECT_EQ(fault("rule\nsrc ?i0\ndst ?i0\n"),
            "1: rule '': expects a name without spaces or colons, but got ''");
}

TEST_F(RuleTest, RefusesFaultyExpressions) {
  EXPECT_EQ(faultIn(""), "2: rule 'r': expects '(' or a variable, but got the "
                         "end of the line");
  EXPECT_EQ(faultIn("?x0"), "2: rule 'r': expects a variable like ?i0 or ?s0, "
                            "but got '?x0'");
  EXPECT_EQ(faultIn("?i99999999999"),
            "2: rule 'r': expects a variable like ?i0 or ?s0, but got "
            "'?i99999999999'");
  std::string names;
  for (const OperatorInfo &info : getOperators())
    names += (names.empty() ? "" : ", ") + info.name.str();
  EXPECT_EQ(faultIn("(tan ?i0)"),
            "2: rule 'r': expects an operator (" + names + "), but got 'tan'");
  EXPECT_EQ(faultIn("(relu ?i0"), "2: rule 'r': expects ')' behind the 1 "
                                  "operands of 'relu', but got the end of the "
                                  "line");
  EXPECT_EQ(faultIn("(relu ?i0 ?i0)"),
            "2: rule 'r': expects ')' behind the 1 operands of 'relu', but got "
            "'?i0'");
  EXPECT_EQ(faultIn("(ewadd ?i0)"),
            "2: rule 'r': expects 2 operands of 'ewadd', but got 1");
  EXPECT_EQ(faultIn("(relu ?i0) ?i0"),
            "2: rule 'r': expects the end of the line, but got '?i0'");
  EXPECT_EQ(faultIn("(smul ?i0 ?i0)"), "2: rule 'r': expects a scalar as "
                                       "operand 2 of 'smul', but got a tensor");
  EXPECT_EQ(faultIn("(relu ?s0)"), "2: rule 'r': expects a tensor as operand 1 "
                                   "of 'relu', but got a scalar");
}

TEST_F(RuleTest, RefusesFaultyParameters) {
  EXPECT_EQ(faultIn("(matmul ?i0 ?i0)"),
            "2: rule 'r': expects ':act' of 'matmul', but got none");
  EXPECT_EQ(faultIn("(matmul :act tanh ?i0 ?i0)"),
            "2: rule 'r': expects 'none' or 'relu' for ':act', but got 'tanh'");
  EXPECT_EQ(faultIn("(matmul :act relu :act relu ?i0 ?i0)"),
            "2: rule 'r': expects ':act' once, but got it again");
  EXPECT_EQ(faultIn("(relu :act relu ?i0)"),
            "2: rule 'r': expects a parameter of 'relu', but got ':act'");
  EXPECT_EQ(faultIn("(enlarge :kernel 3 ?i0)"),
            "2: rule 'r': expects two numbers 'h,w' from 1 to 1024 for "
            "':kernel', but got '3'");
  EXPECT_EQ(faultIn("(enlarge :kernel 0,3 ?i0)"),
            "2: rule 'r': expects two numbers 'h,w' from 1 to 1024 for "
            "':kernel', but got '0,3'");
  EXPECT_EQ(faultIn("(concat :axis 2 :ndim 2 ?i0 ?i0)"),
            "2: rule 'r': expects ':axis' below ':ndim', but got 2 and 2");
  EXPECT_EQ(faultIn("(split :axis 0 :part 2 ?i0)"),
            "2: rule 'r': expects '0' or '1' for ':part', but got '2'");
  EXPECT_EQ(faultIn("(split :axis 99999999999999999999 :part 1 ?i0)"),
            "2: rule 'r': expects a number below 8 for ':axis', but got "
            "'99999999999999999999'");
}

TEST_F(RuleTest, RefusesDeepNesting) {
  std::string deep;
  for (int i = 0; i < 100000; ++i)
    deep += "(relu ";
  EXPECT_EQ(faultIn(deep), "2: rule 'r': expects at most 100 nested operators, "
                           "but got more");
}

} // namespace
