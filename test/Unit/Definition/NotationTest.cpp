//===- NotationTest.cpp - The index notation ------------------------------===//

#include "Fixture.h"
#include "espalier/Definition/Formulas.h"

using namespace mlir;
using namespace espalier::definition;

namespace {
using NotationTest = DefinitionFixture;

//===----------------------------------------------------------------------===//
// What is understood
//===----------------------------------------------------------------------===//

TEST_F(NotationTest, PacksStandForAnyNumberOfDimensions) {
  const char *text = "R[b.., i, j] = sum(k) A[b.., i, k] * B[b.., k, j]";
  EXPECT_EQ(show(text, {tensor({2, 3}), tensor({3, 4})}),
            "R[i, j] = sum(k) A[i, k] * B[k, j]\n");
  EXPECT_EQ(show(text, {tensor({5, 2, 3}), tensor({5, 3, 4})}),
            "R[b0, i, j] = sum(k) A[b0, i, k] * B[b0, k, j]\n");
}

TEST_F(NotationTest, ShorterPacksAlignAtTheRight) {
  EXPECT_EQ(show("R[b..] = A[b..] + B[b..]", {tensor({2, 3}), tensor({3})}),
            "R[b0, b1] = A[b0, b1] + B[b1]\n");
}

TEST_F(NotationTest, StaticExtentsOfOneRepeat) {
  EXPECT_EQ(show("R[b..] = A[b..] + B[b..]", {tensor({2, 1}), tensor({1, 3})}),
            "R[b0, b1] = A[b0, 0] + B[0, b1]\n");
  // All are 1, so nothing repeats.
  EXPECT_EQ(show("R[b..] = A[b..] + B[b..]", {tensor({1}), tensor({1})}),
            "R[b0] = A[b0] + B[b0]\n");
}

TEST_F(NotationTest, StaticExtentsGiveTheRangeBeforeUnknownOnes) {
  FailureOr<Definition> definition =
      parse("R[i] = A[i] + B[i]", {tensor({kDynamic}), tensor({4})});
  ASSERT_TRUE(succeeded(definition));
  EXPECT_EQ(inferResultTypes(*definition, {tensor({kDynamic}), tensor({4})}),
            SmallVector<RankedTensorType>{tensor({4})});
  // That they are equal is checked at run time.
  EXPECT_EQ(definition->requirements.size(), 1u);
}

TEST_F(NotationTest, KnownExtentsNeedNoCheckAtRunTime) {
  FailureOr<Definition> definition =
      parse("R[i] = A[i] * A[i]", {tensor({kDynamic})});
  ASSERT_TRUE(succeeded(definition));
  EXPECT_TRUE(definition->requirements.empty());
}

TEST_F(NotationTest, AttributesAreNumbersAndFunctions) {
  instantiation.numbers["alpha"] = 0.5;
  instantiation.functions["act"] = relu;
  EXPECT_EQ(show("R[b..] = act(alpha * A[b..])", {tensor({2})}),
            "R[b0] = max(0.5 * A[b0], 0)\n");
}

TEST_F(NotationTest, MaxOfNewNamesIsAReduction) {
  instantiation.numbers["alpha"] = int64_t(3);
  EXPECT_EQ(show("R[i] = max(k) A[i, k]", {tensor({2, 3})}),
            "R[i] = max(k) A[i, k]\n");
  EXPECT_EQ(show("R[i] = max(alpha, A[i])", {tensor({2})}),
            "R[i] = max(3, A[i])\n");
}

TEST_F(NotationTest, MeansDivideByTheNumberOfPoints) {
  EXPECT_EQ(show("R[i] = mean(k..) A[i, k..]", {tensor({2, 3, 4})}),
            "R[i] = (sum(k0, k1) A[i, k0, k1]) / (size(A, 1) * size(A, 2))\n");
}

TEST_F(NotationTest, GuardsRestrictReductions) {
  EXPECT_EQ(show("R[i] = sum(k < 3 | i + k < size(A, 0)) A[i + k] * B[i]",
                 {tensor({5}), tensor({5})}),
            "R[i] = sum(k | i + k < size(A, 0)) A[i + k] * B[i]\n");
}

TEST_F(NotationTest, StepsAreTensorsOfTheirOwn) {
  EXPECT_EQ(
      show("M[i] = max(k) A[i, k]; R[i, k] = A[i, k] - M[i]", {tensor({2, 3})}),
      "M[i] = max(k) A[i, k]\nR[i, k] = A[i, k] - M[i]\n");
}

TEST_F(NotationTest, PrecedenceIsThatOfArithmetic) {
  EXPECT_EQ(show("R[i] = -A[i] * 2 + A[i] / (1 - A[i])", {tensor({2})}),
            "R[i] = -A[i] * 2 + A[i] / (1 - A[i])\n");
  EXPECT_EQ(show("R[i] = A[i] if A[i] >= 0 else 0 if A[i] < -1 else 1",
                 {tensor({2})}),
            "R[i] = A[i] if A[i] >= 0 else 0 if A[i] < -1 else 1\n");
}

TEST_F(NotationTest, NumbersMayHaveFractionsAndExponents) {
  EXPECT_EQ(
      show("R[i] = A[i] * 1.5e-3 + 2e2 + 99999999999999999999", {tensor({2})}),
      "R[i] = A[i] * 0.0015 + 200 + 1e+20\n");
}

TEST_F(NotationTest, ConditionsOnAttributesFold) {
  instantiation.numbers["mode"] = int64_t(1);
  EXPECT_EQ(show("R[i] = A[i] if mode == 0 else -A[i]", {tensor({2})}),
            "R[i] = -A[i]\n");
}

TEST_F(NotationTest, SumsOfShortFloatsAreLongUntilTheResult) {
  FailureOr<Definition> definition = parse(
      "S[i] = sum(k) A[i, k]; R[i] = S[i] + A[i, 0]", {tensor({2, 3}, f16)});
  ASSERT_TRUE(succeeded(definition));
  EXPECT_EQ(definition->steps[0].elementType, f32);
  EXPECT_EQ(definition->steps[1].elementType, f16);
  EXPECT_EQ(definition->results, SmallVector<unsigned>{1});
}

TEST_F(NotationTest, SeveralEquationsComputeShortFloatsAsLongOnes) {
  FailureOr<Definition> definition =
      parse("F[i] = A[i] * A[i]; R[i] = F[i] + A[i]", {tensor({2}, f16)});
  ASSERT_TRUE(succeeded(definition));
  EXPECT_EQ(definition->steps[0].value.getType(), f32);
  EXPECT_EQ(definition->steps[0].value.getKind(), Expr::Kind::Apply);
  EXPECT_EQ(definition->steps[1].elementType, f16);
}

TEST_F(NotationTest, OneEquationRoundsShortFloatsOnce) {
  FailureOr<Definition> definition = parse(
      "R[i] = A[i] if A[i] > 0 else 0.3 * (exp(A[i]) - 1)", {tensor({2}, f16)});
  ASSERT_TRUE(succeeded(definition));
  Expr value = definition->steps[0].value;
  ASSERT_EQ(value.getKind(), Expr::Kind::Cast);
  EXPECT_EQ(value.getType(), f16);
  value = value.getOperands()[0];
  ASSERT_EQ(value.getKind(), Expr::Kind::Select);
  EXPECT_EQ(value.getType(), f32);
  // What rounds nothing needs no other type.
  EXPECT_EQ(value.getOperands()[0].getOperands()[0].getType(), f16);
}

TEST_F(NotationTest, MaximaOfShortFloatsAreThoseOfLongOnes) {
  FailureOr<Definition> definition =
      parse("M[i < 1] = max(k) A[k]; R[i < 1] = M[i]", {tensor({2}, f16)});
  ASSERT_TRUE(succeeded(definition));
  EXPECT_EQ(definition->steps[0].elementType, f32);
  EXPECT_EQ(definition->steps[1].elementType, f16);
}

TEST_F(NotationTest, ShortFloatsThatAreMovedStayShort) {
  for (StringRef text : {"R[i] = A[i]", "R[i] = max(A[i], 0)",
                         "R[i] = A[i] if i < size(A, 0) - 1 else -A[i - 1]"}) {
    FailureOr<Definition> definition = parse(text, {tensor({2}, f16)});
    ASSERT_TRUE(succeeded(definition)) << text.str();
    walk(definition->steps[0].value,
         [&](Expr part) { EXPECT_NE(part.getType(), f32) << text.str(); });
  }
}

TEST_F(NotationTest, ComparisonsAreBoolean) {
  FailureOr<Definition> definition =
      parse("R[i] = A[i] < 0", {tensor({2}, i32)});
  ASSERT_TRUE(succeeded(definition));
  EXPECT_TRUE(definition->steps[0].elementType.isInteger(1));
}

TEST_F(NotationTest, TheResultTypeMayBeGiven) {
  instantiation.resultElementType = i32;
  FailureOr<Definition> definition = parse("R[i] = A[i]", {tensor({2})});
  ASSERT_TRUE(succeeded(definition));
  EXPECT_EQ(definition->steps[0].elementType, i32);
}

//===----------------------------------------------------------------------===//
// What is refused
//===----------------------------------------------------------------------===//

TEST_F(NotationTest, ShapesThatDisagreeAreRefused) {
  EXPECT_EQ(show("R[i] = A[i] + B[i]", {tensor({3}), tensor({4})}),
            "error: expects extents of i to agree, but dimension 0 of A is 3 "
            "and dimension 0 of B is 4");
  // Only packs broadcast.
  EXPECT_EQ(show("R[i] = A[i] + B[i]", {tensor({3}), tensor({1})}),
            "error: expects extents of i to agree, but dimension 0 of A is 3 "
            "and dimension 0 of B is 1");
  EXPECT_EQ(show("R[i] = A[i]", {tensor({3, 4})}),
            "error: expects A to have rank 1, but got rank 2");
  EXPECT_EQ(show("R[b.., i, j] = A[b.., i, j]", {tensor({3})}),
            "error: expects A to have rank 2 or more, but got rank 1");
}

TEST_F(NotationTest, TypesThatDisagreeAreRefused) {
  EXPECT_EQ(show("R[i] = A[i] + B[i]", {tensor({3}), tensor({3}, i32)}),
            "error: expects operands of one element type, but 'A[i]' is f32 "
            "and 'B[i]' is i32");
  EXPECT_EQ(
      show("R[i] = exp(A[i])", {tensor({3}, i32)}),
      "error: expects floating-point numbers in 'exp(A[i])', but got i32");
  EXPECT_EQ(show("R[i] = and(A[i], A[i])", {tensor({3})}),
            "error: expects integers in 'and(A[i], A[i])', but got f32");
  EXPECT_EQ(show("R[i] = A[i] + 0.5", {tensor({3}, i32)}),
            "error: expects an integer to go with i32, but got '0.5'");
  EXPECT_EQ(show("R[i] = A[i] if A[i] else 0", {tensor({3}, i32)}),
            "error: expects 'A[i]' to be a condition");
  EXPECT_EQ(show("R[i] = i + size(A, 0) if A[i] > 0 else i", {tensor({3})}),
            "error: expects 'i + size(A, 0) if A[i] > 0 else i' to have an "
            "element type of its own");
}

TEST_F(NotationTest, NamesMustBeKnown) {
  auto a = tensor({3});
  EXPECT_EQ(show("R[i] = C[i] + A[i]", {a}),
            "error: expects the name of a tensor, but got 'C'");
  EXPECT_EQ(show("R[i] = A[i] + beta", {a}),
            "error: expects the name of an index or attribute, but got 'beta'");
  EXPECT_EQ(show("R[i] = foo(A[i])", {a}),
            "error: expects the name of a function of 1 argument, but got "
            "'foo'");
  EXPECT_EQ(show("R[i] = exp(A[i], A[i])", {a}),
            "error: expects the name of a function of 2 arguments, but got "
            "'exp'");
  EXPECT_EQ(show("R[i] = A[0]", {a}),
            "error: expects index 'i' to stand alone in some access, which "
            "gives its range");
  EXPECT_EQ(show("R[i] = sum(k < A[0]) A[i]", {a}),
            "error: expects an extent for 'k', but got 'A[0]'");
  EXPECT_EQ(show("R[i] = sum(k < i) A[i]", {a}),
            "error: expects an extent for 'k', but got 'i'");
  EXPECT_EQ(show("R[i] = A[i] + size(A)", {a}),
            "error: expects a tensor and a dimension in 'size(A)'");
  EXPECT_EQ(show("R[i] = A[i] + size(A, 1)", {a}),
            "error: expects a dimension of A in 'size(A, 1)'");
}

TEST_F(NotationTest, PacksAreOnlyIndices) {
  EXPECT_EQ(show("R[b..] = A[b..] + b", {tensor({3, 4})}),
            "error: expects a pack only as an index, but got 'b'");
  EXPECT_EQ(show("R[b..] = A[b..] + b..", {tensor({3, 4})}),
            "error: expects a pack only as an index, but got 'b..'");
  EXPECT_EQ(show("R[a.., b..] = A[a.., b..]", {tensor({3, 4})}),
            "error: expects at most one pack in 'A[a.., b..]'");
  EXPECT_EQ(show("R[i] = A[i] + B[c..]", {tensor({3}), tensor({3})}),
            "error: expects the name of an index, but got 'c..'");
}

TEST_F(NotationTest, SyntaxErrorsSayWhatIsMissing) {
  auto a = tensor({3});
  auto expected = [](StringRef what, StringRef got) {
    return ("error: expects " + what + " in a definition, but got " + got)
        .str();
  };
  EXPECT_EQ(show("", {a}), expected("an equation", "its end"));
  EXPECT_EQ(show("1 = A[i]", {a}), expected("a name", "'1'"));
  EXPECT_EQ(show("R[1] = A[i]", {a}), expected("an index", "'1'"));
  EXPECT_EQ(show("R[i A[i]", {a}), expected("','", "'A'"));
  EXPECT_EQ(show("R[i] A[i]", {a}), expected("'='", "'A'"));
  EXPECT_EQ(show("R[i] = A[i] A", {a}), expected("';'", "'A'"));
  EXPECT_EQ(show("R[i] = A[i", {a}), expected("','", "its end"));
  EXPECT_EQ(show("R[i] = A[i] +", {a}), expected("an expression", "its end"));
  EXPECT_EQ(show("R[i] = A[i] if 1", {a}), expected("'else'", "its end"));
  EXPECT_EQ(show("R[i] = sum(i) A[i]", {a}), expected("a new index", "'i'"));
  EXPECT_EQ(show("R[i] = A[i] + 1e-", {a}), expected("';'", "'e'"));
}
} // namespace
