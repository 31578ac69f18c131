//===- ExprTest.cpp - Scalar expressions ----------------------------------===//

#include "Fixture.h"

using namespace mlir;
using namespace espalier::definition;

namespace {
class ExprTest : public DefinitionFixture {
protected:
  Expr number(int64_t value) { return cast(index, constant(value)); }
  Expr i = variable(0, &context);
  Expr n = size(TensorRef::operand(0), 0, &context);

  std::string show(Expr expr) {
    std::string text;
    llvm::raw_string_ostream os(text);
    print(
        expr, os, [](TensorRef) { return std::string("A"); },
        [](VarId id) { return std::string(1, static_cast<char>('i' + id)); });
    return text;
  }

  /// d0 for the variable, s0 for the size, nothing else.
  std::string showAffine(Expr expr) {
    std::optional<AffineExpr> affine =
        toAffine(expr, &context, [&](Expr leaf) -> AffineExpr {
          if (leaf.getKind() == Expr::Kind::Variable)
            return getAffineDimExpr(leaf.getVariable(), &context);
          if (leaf.getKind() == Expr::Kind::Size)
            return getAffineSymbolExpr(0, &context);
          return {};
        });
    if (!affine)
      return "not affine";
    std::string text;
    llvm::raw_string_ostream(text) << *affine;
    return text;
  }
};

TEST_F(ExprTest, IndexArithmeticOnConstantsFolds) {
  EXPECT_EQ(show(number(7) * 3 + 1), "22");
  EXPECT_EQ(show(floorDiv(number(-7), number(2))), "-4");
  EXPECT_EQ(show(mod(number(-7), number(2))), "1");
  EXPECT_EQ(show(i * 1 + 0), "i");
  EXPECT_EQ(show(i * 0), "0");
  EXPECT_EQ(show(mod(i, number(1))), "0");
  EXPECT_EQ(show(floorDiv(i, number(1))), "i");
  EXPECT_EQ(show(i + 3 - 5), "i - 2");
  EXPECT_EQ(show(i - 3 - 5 + 9), "i + 1");
  EXPECT_EQ(show(i - 3 + 3), "i");
}

TEST_F(ExprTest, ArithmeticOnRealsDoesNotFold) {
  Expr element = access(TensorRef::operand(0), {i}, f32);
  EXPECT_EQ(show(element * 1), "A[i] * 1");
  EXPECT_EQ(show(element + 0), "A[i] + 0");
}

TEST_F(ExprTest, LiteralsTakeTheTypeOfTheOtherOperand) {
  Expr element = access(TensorRef::operand(0), {i}, f32);
  Expr sum = constant(int64_t(2)) + element;
  EXPECT_EQ(sum.getType(), f32);
  EXPECT_EQ(sum.getOperands()[0].getType(), f32);
  // An index that meets an element is converted to its type.
  Expr scaled = element * i;
  EXPECT_EQ(scaled.getOperands()[1].getKind(), Expr::Kind::Cast);
  EXPECT_EQ(scaled.getOperands()[1].getType(), f32);
}

TEST_F(ExprTest, GuardsKnownToHoldVanish) {
  EXPECT_EQ(show(conjoin({}, inBounds(i, n))), "and(i >= 0, i < size(A, 0))");
  EXPECT_EQ(show(inBounds(number(2), n)), "2 < size(A, 0)");
  EXPECT_EQ(show(select(apply(ScalarFn::Less, {number(1), number(2)}), i, n)),
            "i");
}

TEST_F(ExprTest, PrintingKeepsTheStructure) {
  Expr element = access(TensorRef::operand(0), {i}, f32);
  EXPECT_EQ(show((element - element) - element), "A[i] - A[i] - A[i]");
  EXPECT_EQ(show(element - (element - element)), "A[i] - (A[i] - A[i])");
  EXPECT_EQ(show(element * (element + element)), "A[i] * (A[i] + A[i])");
  IndexVar k{1, "k", n};
  Expr sum = reduce(ReduceKind::Sum, k, {}, element);
  EXPECT_EQ(show(sum + sum), "sum(j) A[i] + (sum(j) A[i])");
}

TEST_F(ExprTest, AffineFormsUseFloorDivisionAndModulo) {
  EXPECT_EQ(showAffine(i * 2 + n - 1), "d0 * 2 + s0 - 1");
  EXPECT_EQ(showAffine(floorDiv(i, number(4))), "d0 floordiv 4");
  EXPECT_EQ(showAffine(mod(i, number(4))), "d0 mod 4");
  EXPECT_EQ(showAffine(i * n), "d0 * s0");
}

TEST_F(ExprTest, OtherFunctionsAreNotAffine) {
  EXPECT_EQ(showAffine(i * i), "not affine");
  EXPECT_EQ(showAffine(floorDiv(i, number(0))), "not affine");
  EXPECT_EQ(showAffine(mod(i, number(-2))), "not affine");
  EXPECT_EQ(showAffine(apply(ScalarFn::Max, {i, n})), "not affine");
  Expr element = access(TensorRef::operand(0), {i}, f32);
  EXPECT_EQ(showAffine(cast(index, element)), "not affine");
}

TEST_F(ExprTest, WhatIsNotAffineIsOfferedAsALeaf) {
  Expr clamped = apply(ScalarFn::Max, {i, n});
  std::optional<AffineExpr> affine =
      toAffine(clamped + 1, &context, [&](Expr leaf) -> AffineExpr {
        bool isMax = leaf.getKind() == Expr::Kind::Apply;
        return isMax ? getAffineSymbolExpr(0, &context) : AffineExpr();
      });
  ASSERT_TRUE(affine.has_value());
  EXPECT_EQ(*affine, getAffineSymbolExpr(0, &context) + 1);
}

TEST_F(ExprTest, TransformRebuildsWhatChanges) {
  IndexVar k{1, "k", n};
  Expr element = access(TensorRef::operand(0), {variable(1, &context)}, f32);
  Expr sum = reduce(ReduceKind::Sum, k, inBounds(i, n), element);
  Expr replaced = transform(sum, [&](Expr part) {
    return part.getKind() == Expr::Kind::Size ? number(5) : Expr();
  });
  EXPECT_EQ(replaced.getReduceVars()[0].extent.getInt(), 5);
  EXPECT_EQ(show(replaced.getGuard()), "and(i >= 0, i < 5)");
  // What stays is shared.
  EXPECT_EQ(replaced.getOperands()[0].getNode(), element.getNode());
  EXPECT_EQ(transform(sum, [](Expr) { return Expr(); }).getNode(),
            sum.getNode());
}

TEST_F(ExprTest, TransformReplacesEachNodeOnce) {
  Expr j = variable(1, &context);
  auto swap = [&](Expr part) -> Expr {
    if (part.getKind() == Expr::Kind::Size)
      return number(3);
    if (part.getKind() != Expr::Kind::Variable)
      return {};
    return part.getVariable() == 0 ? j : i;
  };
  EXPECT_EQ(show(transform(i * 8 + j, swap)), "j * 8 + i");
  // Folding gives an operand, or an operand's operand, that is a replacement.
  EXPECT_EQ(show(transform(i + (n - 3), swap)), "j");
  EXPECT_EQ(show(transform((i + n) - 3, swap)), "j");
  // A replacement may contain what it replaces.
  EXPECT_EQ(show(transform(i * 2,
                           [&](Expr part) {
                             return part.getKind() == Expr::Kind::Variable
                                        ? part + 1
                                        : Expr();
                           })),
            "(i + 1) * 2");
}

TEST_F(ExprTest, TransformKeepsSharing) {
  Expr element = access(TensorRef::operand(0), {i}, f32);
  unsigned numCalls = 0;
  Expr replaced = transform(element * element, [&](Expr part) -> Expr {
    ++numCalls;
    return part.getKind() == Expr::Kind::Variable ? number(2) : Expr();
  });
  EXPECT_EQ(numCalls, 3u);
  EXPECT_EQ(show(replaced), "A[2] * A[2]");
  EXPECT_EQ(replaced.getOperands()[0].getNode(),
            replaced.getOperands()[1].getNode());
}

TEST_F(ExprTest, WalkVisitsExtentsAndGuards) {
  IndexVar k{1, "k", n};
  Expr element = access(TensorRef::operand(0), {i}, f32);
  unsigned numSizes = 0;
  walk(reduce(ReduceKind::Sum, k, inBounds(i, n), element),
       [&](Expr expr) { numSizes += expr.getKind() == Expr::Kind::Size; });
  EXPECT_EQ(numSizes, 2u);
}

TEST_F(ExprTest, EveryFunctionIsFoundByItsName) {
#define SCALAR_FN(id, name, arity, result)                                     \
  EXPECT_EQ(lookupScalarFn(name), ScalarFn::id);                               \
  EXPECT_EQ(getArity(ScalarFn::id), arity##u);
#include "espalier/Definition/ScalarFunctions.def"
  EXPECT_EQ(lookupScalarFn("foo"), std::nullopt);
}
} // namespace
