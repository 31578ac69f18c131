//===- RoundingTest.cpp - How much results may differ ---------------------===//

#include "espalier/Measurement/Rounding.h"
#include "Fixture.h"
#include "espalier/Measurement/MeasureKernel.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace espalier;

namespace {

class RoundingTest : public testing::Test {
protected:
  RoundingTest() : context(programDialects()) {
    context.loadAllAvailableDialects();
  }

  /// A kernel that adds up what `body` makes %v of for `terms` pairs %a and %b
  /// of numbers of a type.
  static std::string sum(const std::string &terms, llvm::StringRef body,
                         llvm::StringRef type = "f32") {
    return llvm::formatv(R"(
      poly.kernel @kernel(%x: memref<{0}x{2}>, %y: memref<{0}x{2}>, %r: memref<1x{2}>) {{
        poly.compute @init domain [affine_set<(i) : (i == 0)>] reads()
            writes(%r[affine_map<(i) -> (i)>] : memref<1x{2}>) {{
          %zero = arith.constant 0.0 : {2}
          poly.yield %zero : {2}
        }
        poly.compute @add domain [affine_set<(i, k) : (i == 0, k >= 0, {0} - 1 - k >= 0)>]
            reads(%x[affine_map<(i, k) -> (k)>], %y[affine_map<(i, k) -> (k)>],
                  %r[affine_map<(i, k) -> (i)>] : memref<{0}x{2}>, memref<{0}x{2}>, memref<1x{2}>)
            writes(%r[affine_map<(i, k) -> (i)>] : memref<1x{2}>) reduction add {{
        ^bb0(%a: {2}, %b: {2}, %s: {2}):
          {1}
          %t = arith.addf %s, %v : {2}
          poly.yield %t : {2}
        }
      })",
                         terms, body, type)
        .str();
  }

  /// A kernel that makes %v of each pair of numbers.
  static std::string each(llvm::StringRef body) {
    return llvm::formatv(R"(
      poly.kernel @kernel(%x: memref<9xf32>, %y: memref<9xf32>, %r: memref<9xf32>) {{
        poly.compute @s domain [affine_set<(i) : (i >= 0, 8 - i >= 0)>]
            reads(%x[affine_map<(i) -> (i)>], %y[affine_map<(i) -> (i)>]
                  : memref<9xf32>, memref<9xf32>)
            writes(%r[affine_map<(i) -> (i)>] : memref<9xf32>) {{
        ^bb0(%a: f32, %b: f32):
          {0}
          poly.yield %v : f32
        }
      })",
                         body)
        .str();
  }

  KernelNumbers choose(const std::string &text, int64_t extent = 1) {
    auto module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module);
    if (!module)
      return {};
    return chooseNumbers(*module->getOps<poly::KernelOp>().begin(), extent);
  }

  /// The difference that the only result may have; -1 where none is known.
  double getDifference(const KernelNumbers &numbers) {
    EXPECT_EQ(numbers.differences.size(), 1u);
    return numbers.differences.empty() ? -1
                                       : numbers.differences[0].value_or(-1);
  }

  MLIRContext context;
};

constexpr llvm::StringLiteral kProduct = "%v = arith.mulf %a, %b : f32";

TEST_F(RoundingTest, SumsOfWholeNumbersAreExact) {
  // A float has 24 digits, of which one is for what was there before.
  for (auto [terms, magnitude] :
       {std::pair("512", 8), {"262143", 8}, {"262144", 4}, {"16777215", 1}}) {
    KernelNumbers numbers = choose(sum(terms, kProduct));
    EXPECT_EQ(numbers.magnitude, magnitude) << terms;
    EXPECT_EQ(getDifference(numbers), 0) << terms;
  }
}

TEST_F(RoundingTest, LongerSumsAreRounded) {
  KernelNumbers numbers = choose(sum("20000000", kProduct));
  EXPECT_EQ(getDifference(numbers), -1) << "of more terms than roundings allow";
  // Where products are rounded: n times 1 + n units in the last place, and some
  // for the number of operations of a term, of either result.
  numbers = choose(sum("1000", "%c = arith.constant 0.1 : f32\n"
                               "%p = arith.mulf %a, %c : f32\n"
                               "%v = arith.mulf %p, %b : f32"));
  double difference = getDifference(numbers);
  double bound = 1000 * 0.1 * numbers.magnitude * numbers.magnitude;
  EXPECT_GT(difference, 2 * 1000 * bound * 0x1p-24);
  EXPECT_LT(difference, 2 * 6000 * bound * 0x1p-24);
}

TEST_F(RoundingTest, HalvesAreAsGoodAsWholeNumbers) {
  EXPECT_EQ(getDifference(choose(sum("512", "%c = arith.constant 0.25 : f32\n"
                                            "%p = arith.mulf %a, %c : f32\n"
                                            "%h = arith.constant 4.0 : f32\n"
                                            "%q = arith.divf %b, %h : f32\n"
                                            "%v = arith.subf %p, %q : f32"))),
            0);
}

TEST_F(RoundingTest, ShortFloatsHaveFewerDigits) {
  KernelNumbers numbers =
      choose(sum("511", "%v = arith.mulf %a, %b : f16", "f16"));
  EXPECT_EQ(numbers.magnitude, 2);
  EXPECT_EQ(getDifference(numbers), 0);
}

TEST_F(RoundingTest, MaximaAndSelectionsAreExact) {
  EXPECT_EQ(getDifference(choose(each("%z = arith.constant 0.0 : f32\n"
                                      "%c = arith.cmpf olt, %a, %b : f32\n"
                                      "%s = arith.select %c, %a, %b : f32\n"
                                      "%v = arith.maximumf %s, %z : f32"))),
            0);
}

TEST_F(RoundingTest, WhatIsRoundedMayDecideNothing) {
  EXPECT_EQ(getDifference(choose(each("%k = arith.constant 0.1 : f32\n"
                                      "%p = arith.mulf %a, %k : f32\n"
                                      "%q = arith.mulf %p, %k : f32\n"
                                      "%c = arith.cmpf olt, %q, %b : f32\n"
                                      "%v = arith.select %c, %a, %b : f32"))),
            -1);
}

TEST_F(RoundingTest, NothingIsKnownOfFunctions) {
  KernelNumbers numbers = choose(each("%p = arith.mulf %a, %b : f32\n"
                                      "%v = math.exp %p : f32"));
  EXPECT_EQ(getDifference(numbers), -1);
  EXPECT_EQ(numbers.magnitude, 0) << "exp(64) is no number to compare";
}

TEST_F(RoundingTest, IntegersWithoutSignAreLarge) {
  auto convert = [&](llvm::StringRef type, llvm::StringRef op) {
    return getDifference(choose(llvm::formatv(
                                    R"(
      poly.kernel @kernel(%x: memref<9x{0}>, %r: memref<9xf32>) {{
        poly.compute @s domain [affine_set<(i) : (i >= 0, 8 - i >= 0)>]
            reads(%x[affine_map<(i) -> (i)>] : memref<9x{0}>)
            writes(%r[affine_map<(i) -> (i)>] : memref<9xf32>) {{
        ^bb0(%a: {0}):
          %k = arith.constant -8 : {0}
          %b = arith.muli %a, %k : {0}
          %v = arith.{1} %b : {0} to f32
          poly.yield %v : f32
        }
      })",
                                    type, op)
                                    .str()));
  };
  EXPECT_EQ(convert("i16", "uitofp"), 0);
  EXPECT_GT(convert("i32", "uitofp"), 0);
  EXPECT_EQ(convert("i32", "sitofp"), 0);
}

/// A step that reads what others of the same computation wrote.
TEST_F(RoundingTest, NothingIsKnownOfRecurrences) {
  EXPECT_EQ(getDifference(choose(R"(
    poly.kernel @kernel(%x: memref<9xf32>) {
      poly.compute @s domain [affine_set<(i) : (i - 1 >= 0, 8 - i >= 0)>]
          reads(%x[affine_map<(i) -> (i - 1)>] : memref<9xf32>)
          writes(%x[affine_map<(i) -> (i)>] : memref<9xf32>) {
      ^bb0(%a: f32):
        %v = arith.addf %a, %a : f32
        poly.yield %v : f32
      }
    })")),
            -1);
}

TEST_F(RoundingTest, UnknownExtentsAreThoseThatAreMeasured) {
  std::string kernel = R"(
    poly.kernel @kernel(%x: memref<?xf32> {poly.shape = affine_map<()[n] -> (n)>},
                        %r: memref<1xf32>, %n: index) {
      poly.compute @add domain [affine_set<(i, k)[n] : (i == 0, k >= 0, n - 1 - k >= 0)>]
          reads(%x[affine_map<(i, k)[n] -> (k)>], %r[affine_map<(i, k)[n] -> (i)>]
                : memref<?xf32>, memref<1xf32>)
          writes(%r[affine_map<(i, k)[n] -> (i)>] : memref<1xf32>) reduction add {
      ^bb0(%a: f32, %s: f32):
        %t = arith.addf %s, %a : f32
        poly.yield %t : f32
      }
    })";
  EXPECT_EQ(choose(kernel, 100).magnitude, 8);
  EXPECT_EQ(choose(kernel, 8000000).magnitude, 2);
}

} // namespace
