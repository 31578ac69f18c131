//===- GraphOperatorsTest.cpp - Rules' operators in the dialect -----------===//

#include "espalier/Substitution/Search/GraphOperators.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Substitution/Search/CostModel.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/TypeUtilities.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

namespace {

constexpr int64_t kAny = ShapedType::kDynamic;

class GraphOperators : public testing::Test {
protected:
  GraphOperators() : builder(&context) {
    context.loadDialect<graph::GraphDialect>();
    builder.setInsertionPointToEnd(&block);
  }

  RankedTensorType type(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  }

  /// Makes an operator, and checks that `graph` agrees about it.
  std::optional<OperatorInstance> make(OpKind kind, ArrayRef<Param> params,
                                       ArrayRef<RankedTensorType> operands,
                                       const Choices &choices = {}) {
    auto instance = makeOperator(kind, params, operands, choices, &context);
    if (!instance)
      return std::nullopt;
    SmallVector<Value> values;
    for (RankedTensorType operand : operands)
      values.push_back(block.addArgument(operand, builder.getUnknownLoc()));
    Value value =
        createOperation(builder, builder.getUnknownLoc(), *instance, values);
    Operation *op = value.getDefiningOp();
    EXPECT_TRUE(succeeded(verify(op)));
    auto interface = cast<InferTypeOpInterface>(op);
    SmallVector<Type> inferred;
    EXPECT_TRUE(succeeded(interface.inferReturnTypes(
        &context, op->getLoc(), op->getOperands(),
        op->getDiscardableAttrDictionary(), op->getPropertiesStorage(),
        op->getRegions(), inferred)));
    // The dialect may know less of extents that must agree.
    EXPECT_TRUE(
        succeeded(verifyCompatibleShape(inferred.front(), instance->result)));
    // It is recognized again.
    std::optional<OperatorInstance> again = getInstance(op);
    EXPECT_TRUE(again);
    if (!again)
      return std::nullopt;
    EXPECT_EQ(again->attributes, instance->attributes);
    EXPECT_TRUE(isOperator(*again, kind, params));
    return instance;
  }

  MLIRContext context;
  Block block;
  OpBuilder builder;
};

TEST_F(GraphOperators, PaddingOfSameFollowsFromTheExtents) {
  RankedTensorType kernel = type({8, 3, 3, 3});
  Param one{1, 1}, two{2, 2}, same{kSame}, none{kNoActivation};
  auto conv =
      make(OpKind::Conv2d, {two, same, none}, {type({1, 6, 8, 7}), kernel});
  ASSERT_TRUE(conv);
  EXPECT_EQ(conv->attributes.getAs<DenseI64ArrayAttr>("pads_low").asArrayRef(),
            ArrayRef<int64_t>({0, 1}));
  EXPECT_EQ(conv->attributes.getAs<DenseI64ArrayAttr>("pads_high").asArrayRef(),
            ArrayRef<int64_t>({1, 1}));
  EXPECT_EQ(conv->attributes.getAs<IntegerAttr>("groups").getInt(), 2);
  EXPECT_FALSE(isOperator(*conv, OpKind::Conv2d, {two, Param{kValid}, none}));
  EXPECT_FALSE(
      isOperator(*conv, OpKind::Conv2d, {two, same, Param{kReluActivation}}));
  // Unknown extents are padded alike at stride 1 only.
  EXPECT_TRUE(make(OpKind::Conv2d, {one, same, none},
                   {type({kAny, 3, kAny, kAny}), kernel}));
  EXPECT_FALSE(make(OpKind::Conv2d, {two, same, none},
                    {type({kAny, 3, kAny, kAny}), kernel}));
  EXPECT_TRUE(make(OpKind::Conv2d, {two, Param{kValid}, none},
                   {type({kAny, 3, kAny, kAny}), kernel}));
}

TEST_F(GraphOperators, GroupsAreAQuotientOfChannels) {
  Param params[] = {{1, 1}, {kSame}, {kNoActivation}};
  EXPECT_TRUE(
      make(OpKind::Conv2d, params, {type({1, 8, 4, 4}), type({8, 1, 1, 1})}));
  // Features that do not divide among the groups, channels that are unknown.
  EXPECT_FALSE(
      make(OpKind::Conv2d, params, {type({1, 8, 4, 4}), type({6, 2, 1, 1})}));
  EXPECT_FALSE(make(OpKind::Conv2d, params,
                    {type({1, kAny, 4, 4}), type({8, 2, 1, 1})}));
}

TEST_F(GraphOperators, ElementwiseOperatorsDoNotBroadcast) {
  EXPECT_TRUE(make(OpKind::EwAdd, {}, {type({2, kAny}), type({2, kAny})}));
  EXPECT_TRUE(make(OpKind::EwMul, {}, {type({2, kAny}), type({2, 3})}));
  EXPECT_FALSE(make(OpKind::EwAdd, {}, {type({2, kAny}), type({2, 1})}));
  EXPECT_FALSE(make(OpKind::EwAdd, {}, {type({2, 3}), type({3})}));
  EXPECT_TRUE(make(OpKind::SMul, {}, {type({2, kAny}), type({})}));
  EXPECT_TRUE(make(OpKind::SMul, {}, {type({2, 3}), type({1, 1})}));
  EXPECT_FALSE(make(OpKind::SMul, {}, {type({2}), type({1, 1})}));
  EXPECT_FALSE(make(OpKind::SMul, {}, {type({2}), type({kAny})}));
}

TEST_F(GraphOperators, SplitsAreSlices) {
  Param first[] = {{1}, {0}}, second[] = {{1}, {1}};
  Choices choices;
  choices.cut = 2;
  auto slice = make(OpKind::Split, second, {type({kAny, 5})}, choices);
  ASSERT_TRUE(slice);
  EXPECT_EQ(slice->result, type({kAny, 3}));
  EXPECT_EQ(getCut(*slice, second), 2);
  EXPECT_FALSE(getCut(*slice, first));
  EXPECT_TRUE(make(OpKind::Split, first, {type({4, kAny})}, choices));
  EXPECT_FALSE(make(OpKind::Split, second, {type({4, kAny})}, choices));
  choices.cut = 5;
  EXPECT_FALSE(make(OpKind::Split, first, {type({4, 5})}, choices));
}

TEST_F(GraphOperators, OthersAgreeWithTheDialect) {
  Param none[] = {{kNoActivation}}, relu[] = {{kReluActivation}};
  EXPECT_TRUE(make(OpKind::Matmul, relu, {type({kAny, 4}), type({4, 6})}));
  EXPECT_FALSE(make(OpKind::Matmul, none, {type({2, 4}), type({5, 6})}));
  EXPECT_TRUE(make(OpKind::Relu, {}, {type({})}));
  EXPECT_TRUE(make(OpKind::Transpose, {}, {type({2, kAny})}));
  EXPECT_FALSE(make(OpKind::Transpose, {}, {type({2, 3, 4})}));
  Param axis[] = {{1}, {2}};
  EXPECT_TRUE(make(OpKind::Concat, axis, {type({kAny, 3}), type({2, kAny})}));
  EXPECT_FALSE(make(OpKind::Concat, axis, {type({3, 3}), type({2, 3})}));
  Param pool[] = {{3, 2}, {2, 1}, {kSame}};
  EXPECT_TRUE(make(OpKind::PoolMax, pool, {type({kAny, 3, 7, 6})}));
  EXPECT_TRUE(make(OpKind::PoolAvg, pool, {type({kAny, 3, 7, 6})}));
  Param kernel[] = {{3, 5}};
  EXPECT_TRUE(make(OpKind::Enlarge, kernel, {type({2, 3, 1, 1})}));
  EXPECT_FALSE(make(OpKind::Enlarge, kernel, {type({2, 3, 2, 1})}));
  Choices choices;
  choices.type = type({2, 3, 3, 5});
  EXPECT_TRUE(make(OpKind::ConstPool, kernel, {}, choices));
  EXPECT_TRUE(make(OpKind::ConstIConv, kernel, {}, choices));
  EXPECT_TRUE(make(OpKind::ConstOne, {}, {}, choices));
  EXPECT_FALSE(make(OpKind::ConstImm, {}, {}, choices));
}

TEST_F(GraphOperators, IntegersAreNotNumbers) {
  auto integers = RankedTensorType::get({2, 2}, builder.getI32Type());
  EXPECT_FALSE(make(OpKind::EwAdd, {}, {integers, integers}));
}

TEST_F(GraphOperators, CountingKnowsWhatFuses) {
  AnalyticCostModel model;
  auto conv = make(OpKind::Conv2d, {{1, 1}, {kSame}, {kNoActivation}},
                   {type({1, 8, 16, 16}), type({8, 8, 3, 3})});
  auto relu = make(OpKind::Relu, {}, {type({1, 8, 16, 16})});
  ASSERT_TRUE(conv && relu);
  EXPECT_LT(model.getSeconds(*relu) * 10, model.getSeconds(*conv));
  auto large = make(OpKind::Conv2d, {{1, 1}, {kSame}, {kNoActivation}},
                    {type({1, 8, 16, 16}), type({16, 8, 3, 3})});
  EXPECT_LT(model.getSeconds(*large), 2 * model.getSeconds(*conv));
}

} // namespace
