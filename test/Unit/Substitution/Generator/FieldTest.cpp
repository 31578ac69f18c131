//===- FieldTest.cpp - Arithmetic of the field ----------------------------===//

#include "espalier/Substitution/Generator/Field.h"
#include "gtest/gtest.h"

using namespace espalier::substitution::generator;

namespace {
constexpr uint32_t kEdges[] = {
    0, 1, 2, kPrime / 2, kPrime / 2 + 1, kPrime - 2, kPrime - 1};

TEST(FieldTest, SumsAndProductsAreThoseOfIntegers) {
  Random random(3);
  for (unsigned i = 0; i < 1000; ++i) {
    uint32_t a = i < 49 ? kEdges[i / 7] : random.below(kPrime);
    uint32_t b = i < 49 ? kEdges[i % 7] : random.below(kPrime);
    EXPECT_EQ(add(a, b), (uint64_t(a) + b) % kPrime);
    EXPECT_EQ(multiply(a, b), uint64_t(a) * b % kPrime);
  }
}

TEST(FieldTest, ReducesEveryNumber) {
  const uint64_t values[] = {0,
                             ~uint64_t(0),
                             ~uint64_t(0) - 1,
                             uint64_t(1) << 63,
                             (uint64_t(1) << 62) - 1,
                             uint64_t(kPrime) * kPrime,
                             kPrime};
  for (uint64_t value : values)
    EXPECT_EQ(reduce(value), value % kPrime);
}

TEST(FieldTest, InverseTimesElementIsOne) {
  for (uint32_t element : {1u, 2u, 9u, kPrime - 1, 123456789u})
    EXPECT_EQ(multiply(element, invert(element)), 1u);
}

TEST(FieldTest, OrderIsThatOfSmallIntegers) {
  for (int64_t a = -3; a <= 3; ++a)
    for (int64_t b = -3; b <= 3; ++b) {
      EXPECT_EQ(toInteger(fromInteger(a)), a);
      EXPECT_EQ(maximum(fromInteger(a), fromInteger(b)),
                fromInteger(std::max(a, b)));
    }
  // Fractions keep their order.
  uint32_t ninth = invert(9), half = invert(2);
  EXPECT_EQ(relu(ninth), ninth);
  EXPECT_EQ(relu(multiply(ninth, ninth)), multiply(ninth, ninth));
  EXPECT_EQ(relu(multiply(ninth, fromInteger(-1))), 0u);
  EXPECT_EQ(maximum(ninth, half), half);
  EXPECT_EQ(maximum(ninth, 0), ninth);
  for (uint32_t element : kEdges)
    EXPECT_EQ(maximum(getLeast(), element), element);
  EXPECT_EQ(relu(fromInteger(-5)), 0u);
  EXPECT_EQ(relu(fromInteger(5)), 5u);
}

TEST(FieldTest, InputsStayWithinTheBound) {
  Random random(1), same(1);
  bool hasNegative = false;
  for (unsigned i = 0; i < 1000; ++i) {
    int32_t value = toInteger(random.input());
    EXPECT_LE(std::abs(value), kBound);
    EXPECT_EQ(value, toInteger(same.input()));
    hasNegative |= value < 0;
  }
  EXPECT_TRUE(hasNegative);
}
} // namespace
