//===- ReductionTest.cpp - Neutral elements of all reductions -------------===//

#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace espalier::poly;

namespace {

class ReductionTest : public ::testing::Test {
protected:
  ReductionTest() : builder(&context) {
    context.loadDialect<arith::ArithDialect, PolyDialect>();
    module = ModuleOp::create(builder.getUnknownLoc());
    builder.setInsertionPointToEnd(module->getBody());
  }

  /// What `combiner` makes of two constants, as MLIR folds it.
  Attribute combine(StringRef combiner, TypedAttr lhs, TypedAttr rhs) {
    Location loc = builder.getUnknownLoc();
    Value x = arith::ConstantOp::create(builder, loc, lhs);
    Value y = arith::ConstantOp::create(builder, loc, rhs);
    OperationState state(loc, combiner, {x, y}, lhs.getType());
    SmallVector<OpFoldResult> results;
    Operation *op = builder.create(state);
    if (failed(op->fold({lhs, rhs}, results)) || results.empty())
      return {};
    if (auto value = dyn_cast<Value>(results.front()))
      return value == x ? Attribute(lhs) : Attribute(rhs);
    return cast<Attribute>(results.front());
  }

  SmallVector<TypedAttr> getValues(FloatType type) {
    const llvm::fltSemantics &semantics = type.getFloatSemantics();
    SmallVector<TypedAttr> values;
    for (bool isNegative : {false, true})
      for (const APFloat &value : {APFloat::getZero(semantics, isNegative),
                                   APFloat::getOne(semantics, isNegative),
                                   APFloat::getInf(semantics, isNegative),
                                   APFloat::getLargest(semantics, isNegative),
                                   APFloat::getSmallest(semantics, isNegative),
                                   APFloat::getNaN(semantics, isNegative)})
        values.push_back(FloatAttr::get(type, value));
    return values;
  }

  SmallVector<TypedAttr> getValues(Type type, unsigned width) {
    SmallVector<TypedAttr> values;
    for (const APInt &value :
         {APInt::getZero(width), APInt(width, 1), APInt::getAllOnes(width),
          APInt::getSignedMinValue(width), APInt::getSignedMaxValue(width)})
      values.push_back(IntegerAttr::get(type, value));
    return values;
  }

  void check(StringRef combiner, ArrayRef<TypedAttr> values) {
    TypedAttr neutral = getNeutral(combiner, values.front().getType());
    ASSERT_TRUE(neutral) << combiner.str();
    for (TypedAttr value : values)
      for (bool swap : {false, true}) {
        Attribute result =
            combine(combiner, swap ? value : neutral, swap ? neutral : value);
        auto real = dyn_cast<FloatAttr>(value);
        if (real && real.getValue().isNaN()) {
          auto same = dyn_cast_or_null<FloatAttr>(result);
          EXPECT_TRUE(same && same.getValue().isNaN()) << combiner.str();
          continue;
        }
        std::string text;
        llvm::raw_string_ostream(text) << combiner << " of " << neutral
                                       << " and " << value << " is " << result;
        EXPECT_EQ(result, value) << text;
      }
  }

  MLIRContext context;
  OpBuilder builder;
  OwningOpRef<ModuleOp> module;
};

TEST_F(ReductionTest, NeutralElementsChangeNothing) {
  for (StringRef combiner : getCombiners()) {
    if (combiner.ends_with("f"))
      for (FloatType type :
           {FloatType(builder.getF16Type()), FloatType(builder.getBF16Type()),
            FloatType(builder.getF32Type()), FloatType(builder.getF64Type())})
        check(combiner, getValues(type));
    else
      for (unsigned width : {1, 8, 16, 32, 64})
        check(combiner, getValues(builder.getIntegerType(width), width));
  }
}

TEST_F(ReductionTest, IndicesHaveNeutralElements) {
  for (StringRef combiner : getCombiners())
    if (!combiner.ends_with("f"))
      check(combiner, getValues(builder.getIndexType(),
                                IndexType::kInternalStorageBitWidth));
}

TEST_F(ReductionTest, OthersHaveNone) {
  EXPECT_FALSE(getNeutral("arith.subf", builder.getF32Type()));
}

} // namespace
