//===- QuasiAffineTest.cpp - Expressions by the values of others ----------===//

#include "espalier/Polyhedral/QuasiAffine.h"
#include "mlir/IR/AffineMap.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace espalier::polyhedral;

namespace {
class QuasiAffineTest : public ::testing::Test {
protected:
  /// `expr` by `values`, after a comparison for small numbers d0 and d1; null
  /// if it cannot be written.
  AffineExpr check(AffineExpr expr, llvm::ArrayRef<AffineExpr> values) {
    AffineExpr result = expressIn(expr, values);
    if (!result)
      return result;
    AffineMap inputs = AffineMap::get(2, 0, values, &context);
    AffineMap map = AffineMap::get(values.size(), 0, result).compose(inputs);
    AffineMap expected = AffineMap::get(2, 0, expr);
    for (int64_t i = -50; i < 100; ++i)
      for (int64_t j : {-7, 0, 5}) {
        auto evaluate = [&](AffineMap map) {
          auto number = [&](int64_t value) {
            return getAffineConstantExpr(value, &context);
          };
          AffineExpr value =
              map.getResult(0).replaceDims({number(i), number(j)});
          return cast<AffineConstantExpr>(value).getValue();
        };
        EXPECT_EQ(evaluate(map), evaluate(expected)) << i << ", " << j;
      }
    return result;
  }

  MLIRContext context;
  AffineExpr i = getAffineDimExpr(0, &context);
  AffineExpr j = getAffineDimExpr(1, &context);
  AffineExpr first = i, second = j; // What stands for the values.
};
} // namespace

TEST_F(QuasiAffineTest, OneValueSays) {
  EXPECT_EQ(check(i, i), first);
  EXPECT_EQ(check(i.floorDiv(48), i.floorDiv(6)), first.floorDiv(8));
  EXPECT_EQ(check((i % 48).floorDiv(6), i.floorDiv(6)), first % 8);
  EXPECT_EQ(check(i % 4, i % 12), first % 4);
  EXPECT_EQ(check((i % 12).floorDiv(4), (i % 24).floorDiv(2)),
            (first % 6).floorDiv(2));
  EXPECT_EQ(check((i + j).floorDiv(4), i + j), first.floorDiv(4));
}

TEST_F(QuasiAffineTest, SeveralValuesSay) {
  EXPECT_EQ(check(i, {i.floorDiv(6), i % 6}), first * 6 + second);
  EXPECT_EQ(check(i % 32, {(i % 32).floorDiv(16), i % 16}),
            first * 16 + second);
  EXPECT_EQ(check(i * 3 + j % 4 + 2, {j, i}), second * 3 + first % 4 + 2);
  EXPECT_TRUE(check(i, {i.floorDiv(8), (i % 8).floorDiv(2), i % 2}));
  EXPECT_TRUE(check((i + j).floorDiv(5), {i, j}));
}

TEST_F(QuasiAffineTest, NothingIsSaid) {
  EXPECT_FALSE(check(i, j));
  EXPECT_FALSE(check(i, i % 6));
  EXPECT_FALSE(check(i, i.floorDiv(6)));
  EXPECT_FALSE(check(i % 6, i % 4));
  EXPECT_FALSE(check(i.floorDiv(4), i.floorDiv(6)));
  EXPECT_FALSE(check(i, {i.floorDiv(6), i % 5}));
  // A digit that is always 0, above others.
  EXPECT_FALSE(check(i % 6, (i % 6).floorDiv(6)));
  EXPECT_FALSE(check(i, {i.floorDiv(6), (i % 6).floorDiv(6)}));
}
