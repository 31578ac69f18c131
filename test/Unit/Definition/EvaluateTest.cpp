//===- EvaluateTest.cpp - Values of scalar functions ----------------------===//

#include "espalier/Definition/Evaluate.h"
#include "Fixture.h"
#include <cmath>
#include <limits>

using namespace mlir;
using namespace espalier::definition;

namespace {
using EvaluateTest = DefinitionFixture;

constexpr IntegerFormat kI8{8, true}, kU8{8, false}, kI64{64, true},
    kU64{64, false}, kBool{1, false};
const double kNaN = std::numeric_limits<double>::quiet_NaN();
const double kInfinity = std::numeric_limits<double>::infinity();
constexpr int64_t kLeast = std::numeric_limits<int64_t>::min();

TEST_F(EvaluateTest, IntegersWrapToTheirWidth) {
  EXPECT_EQ(evaluateInteger(ScalarFn::Add, kI8, 127, 1), -128);
  EXPECT_EQ(evaluateInteger(ScalarFn::Add, kU8, 255, 1), 0);
  EXPECT_EQ(evaluateInteger(ScalarFn::Mul, kI64, kLeast, -1), kLeast);
  EXPECT_EQ(evaluateInteger(ScalarFn::Neg, kI8, -128), -128);
  EXPECT_EQ(evaluateInteger(ScalarFn::Not, kBool, 1), 0);
}

TEST_F(EvaluateTest, DivisionIsTotal) {
  for (ScalarFn fn :
       {ScalarFn::Div, ScalarFn::FloorDiv, ScalarFn::Mod, ScalarFn::Rem})
    EXPECT_EQ(evaluateInteger(fn, kI64, 5, 0), 0);
  EXPECT_EQ(evaluateInteger(ScalarFn::Div, kI64, kLeast, -1), kLeast);
  EXPECT_EQ(evaluateInteger(ScalarFn::Rem, kI64, kLeast, -1), 0);
}

TEST_F(EvaluateTest, DivisionsRoundAsTheirNamesSay) {
  EXPECT_EQ(evaluateInteger(ScalarFn::Div, kI64, -7, 2), -3);
  EXPECT_EQ(evaluateInteger(ScalarFn::FloorDiv, kI64, -7, 2), -4);
  EXPECT_EQ(evaluateInteger(ScalarFn::Mod, kI64, -7, 2), 1);
  EXPECT_EQ(evaluateInteger(ScalarFn::Rem, kI64, -7, 2), -1);
  EXPECT_EQ(evaluateFloat(ScalarFn::Mod, -5.5, 2), 0.5);
  EXPECT_EQ(evaluateFloat(ScalarFn::Rem, -5.5, 2), -1.5);
}

TEST_F(EvaluateTest, UnsignedIntegersCompareUnsigned) {
  EXPECT_EQ(evaluateInteger(ScalarFn::Less, kU64, -1, 1), 0);
  EXPECT_EQ(evaluateInteger(ScalarFn::Less, kI64, -1, 1), 1);
  EXPECT_EQ(evaluateInteger(ScalarFn::Max, kU64, -1, 1), -1);
  EXPECT_EQ(evaluateInteger(ScalarFn::Div, kU64, -1, 2),
            std::numeric_limits<int64_t>::max());
}

TEST_F(EvaluateTest, PowersOfIntegers) {
  EXPECT_EQ(evaluateInteger(ScalarFn::Pow, kI64, 3, 4), 81);
  EXPECT_EQ(evaluateInteger(ScalarFn::Pow, kI64, 0, 0), 1);
  EXPECT_EQ(evaluateInteger(ScalarFn::Pow, kI64, 2, -1), 0);
  EXPECT_EQ(evaluateInteger(ScalarFn::Pow, kI64, -1, -3), -1);
}

TEST_F(EvaluateTest, MaximaPropagateNaN) {
  EXPECT_TRUE(std::isnan(evaluateFloat(ScalarFn::Max, kNaN, 1)));
  EXPECT_TRUE(std::isnan(evaluateFloat(ScalarFn::Min, 1, kNaN)));
  EXPECT_TRUE(std::isnan(evaluateFloat(ScalarFn::Sign, kNaN)));
  EXPECT_FALSE(evaluateFloatPredicate(ScalarFn::Equal, kNaN, kNaN));
  EXPECT_TRUE(evaluateFloatPredicate(ScalarFn::NotEqual, kNaN, kNaN));
}

TEST_F(EvaluateTest, ConversionsToIntegersSaturate) {
  EXPECT_EQ(convertToInteger(1.9, kI8), 1);
  EXPECT_EQ(convertToInteger(-1.9, kI8), -1);
  EXPECT_EQ(convertToInteger(1e9, kI8), 127);
  EXPECT_EQ(convertToInteger(-1e9, kI8), -128);
  EXPECT_EQ(convertToInteger(-1, kU8), 0);
  EXPECT_EQ(convertToInteger(300, kU8), 255);
  EXPECT_EQ(convertToInteger(kNaN, kI8), 0);
  EXPECT_EQ(convertToInteger(kInfinity, kU64), -1);
  EXPECT_EQ(convertToInteger(0.25, kBool), 1);
}

TEST_F(EvaluateTest, RoundingIsToNearestEven) {
  EXPECT_EQ(roundTo(cast<FloatType>(f32), 1 + std::ldexp(1.0, -24)), 1);
  EXPECT_EQ(roundTo(cast<FloatType>(f16), 2049), 2048);
  EXPECT_EQ(roundTo(cast<FloatType>(f16), 1e6), kInfinity);
}

TEST_F(EvaluateTest, NeutralElementsChangeNothing) {
  for (ReduceKind kind : {ReduceKind::Sum, ReduceKind::Product, ReduceKind::Max,
                          ReduceKind::Min}) {
    EXPECT_EQ(evaluateFloat(getCombiner(kind), getNeutralFloat(kind), -3.5),
              -3.5);
    for (IntegerFormat format : {kI8, kU8, kI64, kU64, kBool})
      EXPECT_EQ(evaluateInteger(getCombiner(kind), format,
                                getNeutralInteger(kind, format), 1),
                1);
  }
}
} // namespace
