//===- DefinitionTest.cpp - What is derived from definitions --------------===//

#include "Fixture.h"

using namespace mlir;
using namespace espalier::definition;

namespace {
class DefinitionTest : public DefinitionFixture {
protected:
  Definition parseGood(StringRef text, ArrayRef<RankedTensorType> types) {
    FailureOr<Definition> definition = parse(text, types);
    EXPECT_TRUE(succeeded(definition)) << error;
    return *definition;
  }
};

const char *const kMatmul = "R[i, j] = sum(k) A[i, k] * B[k, j]";

TEST_F(DefinitionTest, ResultTypesHaveWhatIsKnown) {
  SmallVector<RankedTensorType> types{tensor({kDynamic, 3}), tensor({3, 4})};
  EXPECT_EQ(inferResultTypes(parseGood(kMatmul, types), types),
            SmallVector<RankedTensorType>{tensor({kDynamic, 4})});
}

TEST_F(DefinitionTest, ExtentsAreEvaluatedWithParameters) {
  Definition definition;
  Expr extent = parameter(0, &context) * 2 + 1;
  EXPECT_EQ(evaluateExtent(extent, definition, {}), kDynamic);
  EXPECT_EQ(evaluateExtent(extent, definition, {}, {int64_t(3)}), 7);
}

TEST_F(DefinitionTest, NegativeExtentsAreEmpty) {
  Definition definition;
  Expr extent = size(TensorRef::operand(0), 0, &context) - 5;
  IndexVar var = definition.makeVar("i", extent);
  definition.addStep({"R", f32, {var}, cast(f32, constant(1.0)), {}});
  definition.results.push_back(0);
  EXPECT_EQ(inferResultTypes(definition, tensor({2})),
            SmallVector<RankedTensorType>{tensor({0})});
}

TEST_F(DefinitionTest, CostCountsFlopsAndBytes) {
  SmallVector<RankedTensorType> types{tensor({2, 3}), tensor({3, 4})};
  std::optional<Cost> cost = estimateCost(parseGood(kMatmul, types), types);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->flops, 2 * 2 * 3 * 4);
  EXPECT_EQ(cost->bytes, 4 * (2 * 3 + 3 * 4 + 2 * 4));
}

TEST_F(DefinitionTest, IndexArithmeticCostsNothing) {
  SmallVector<RankedTensorType> types{tensor({6}, f16)};
  std::optional<Cost> cost = estimateCost(
      parseGood("R[i] = A[(i + 1) % size(A, 0)] + A[i]", types), types);
  ASSERT_TRUE(cost.has_value());
  EXPECT_EQ(cost->flops, 6);
  EXPECT_EQ(cost->bytes, 24);
}

TEST_F(DefinitionTest, UnknownSizesHaveNoCost) {
  SmallVector<RankedTensorType> types{tensor({kDynamic, 3}), tensor({3, 4})};
  EXPECT_EQ(estimateCost(parseGood(kMatmul, types), types), std::nullopt);
}
} // namespace
