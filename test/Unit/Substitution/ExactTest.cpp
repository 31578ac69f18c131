//===- ExactTest.cpp - Values without rounding ----------------------------===//

#include "Exact.h"
#include "gtest/gtest.h"

using namespace espalier::substitution;
using espalier::definition::ScalarFn;

namespace {

using Kind = ExactValue::Kind;

ExactValue number(int64_t numerator, int64_t denominator = 1) {
  return ExactValue::get(Rational::get(numerator, denominator));
}
ExactValue get(Kind kind) { return ExactValue::get(kind); }

std::string apply(ScalarFn fn, const ExactValue &lhs,
                  const ExactValue &rhs = {}) {
  std::string text;
  llvm::raw_string_ostream(text) << evaluateExactly(fn, lhs, rhs);
  return text;
}

TEST(ExactTest, FractionsAreExact) {
  ExactValue third = evaluateExactly(ScalarFn::Div, number(1), number(3));
  ExactValue one = evaluateExactly(ScalarFn::Mul, third, number(3));
  EXPECT_EQ(apply(ScalarFn::Div, number(1),
                  evaluateExactly(ScalarFn::Sub, one, number(1))),
            "undefined");
  EXPECT_EQ(apply(ScalarFn::Sqrt, number(9, 4)), "1.5");
}

TEST(ExactTest, InfinitiesHaveLimits) {
  ExactValue below = get(Kind::MinusInfinity);
  EXPECT_EQ(apply(ScalarFn::Max, below, number(0)), "0");
  EXPECT_EQ(apply(ScalarFn::Add, below, number(7)), "-inf");
  EXPECT_EQ(apply(ScalarFn::Mul, below, number(-1)), "inf");
  EXPECT_EQ(apply(ScalarFn::Exp, below), "0");
  EXPECT_EQ(apply(ScalarFn::Tanh, below), "-1");
  EXPECT_EQ(apply(ScalarFn::Div, number(1), below), "0");
}

TEST(ExactTest, PolesAreUndefined) {
  ExactValue below = get(Kind::MinusInfinity);
  EXPECT_EQ(apply(ScalarFn::Sub, below, below), "undefined");
  EXPECT_EQ(apply(ScalarFn::Mul, below, number(0)), "undefined");
  EXPECT_EQ(apply(ScalarFn::Div, number(1), number(0)), "undefined");
  EXPECT_EQ(apply(ScalarFn::Sqrt, number(-1)), "undefined");
  EXPECT_EQ(apply(ScalarFn::Sqrt, below), "undefined");
  EXPECT_EQ(apply(ScalarFn::Mul, get(Kind::Undefined), number(0)), "undefined");
}

// What may be two things is not told apart.
TEST(ExactTest, WhatIsRoundedIsAnInterval) {
  ExactValue root = evaluateExactly(ScalarFn::Sqrt, number(2), {});
  ExactValue square = evaluateExactly(ScalarFn::Mul, root, root);
  EXPECT_FALSE(square.differs(number(2)));
  EXPECT_TRUE(square.differs(number(2'000'001, 1'000'000)));
  ExactValue zero = evaluateExactly(ScalarFn::Sub, square, number(2));
  EXPECT_EQ(apply(ScalarFn::Div, number(1), zero), "not known");
  EXPECT_EQ(apply(ScalarFn::Exp, number(1000)), "not known");
  EXPECT_FALSE(get(Kind::Unsure).differs(number(1)));
  EXPECT_TRUE(get(Kind::Undefined).differs(number(1)));
}

} // namespace
