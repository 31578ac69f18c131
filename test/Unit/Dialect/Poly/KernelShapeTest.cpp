//===- KernelShapeTest.cpp - What the default schedule looks at -----------===//

#include "KernelShape.h"
#include "espalier/Dialect/Poly/Transforms/Plan.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace mlir;
using namespace espalier::poly;

namespace {
class KernelShapeTest : public ::testing::Test {
protected:
  KernelShapeTest() { context.loadDialect<PolyDialect, arith::ArithDialect>(); }

  /// The computations of a kernel given as text.
  std::vector<ComputeShape> parse(StringRef text) {
    module = parseSourceString<ModuleOp>(text, &context);
    std::vector<ComputeShape> shapes;
    if (!module) {
      ADD_FAILURE() << "the kernel does not parse";
      return shapes;
    }
    module->walk([&](ComputeOp op) { shapes.push_back(getShape(op)); });
    return shapes;
  }

  /// A statement on A, of which `map` is the access, to which it adds 1.
  std::optional<int64_t> getStrideOf(StringRef map, StringRef type,
                                     unsigned dim) {
    std::vector<ComputeShape> shapes = parse(
        ("poly.kernel @k(%A: " + type +
         ", %R: memref<64x64xf32>) {\n"
         "  poly.compute @s domain [affine_set<(d0, d1) : (d0 >= 0, 63 - d0 >= "
         "0, d1 >= 0, 63 - d1 >= 0)>]\n"
         "      reads(%A[affine_map<(d0, d1) -> (" +
         map + ")>] : " + type +
         ") writes(%R[affine_map<(d0, d1) -> (d0, d1)>] : memref<64x64xf32>) "
         "{\n"
         "  ^bb0(%a: f32):\n"
         "    poly.yield %a : f32\n"
         "  }\n"
         "}")
            .str());
    if (shapes.empty())
      return std::nullopt;
    return getStride(shapes.front().reads.front(), dim, /*lanes=*/16);
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(KernelShapeTest, ExtentsComeFromTheDomain) {
  std::vector<ComputeShape> shapes = parse(R"mlir(
    poly.kernel @k(%A: memref<?x8xf32>, %N: index) {
      poly.compute @s domain [affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, 7 - j >= 0)>]
          reads() writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x8xf32>) {
        %z = arith.constant 0.0 : f32
        poly.yield %z : f32
      }
      poly.compute @t domain [affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, 7 - j >= 0, i - j >= 0)>]
          reads() writes(%A[affine_map<(i, j)[N] -> (i, j)>] : memref<?x8xf32>) {
        %z = arith.constant 1.0 : f32
        poly.yield %z : f32
      }
    }
  )mlir");
  ASSERT_EQ(shapes.size(), 2u);
  EXPECT_EQ(shapes[0].extents[0], getAffineSymbolExpr(0, &context));
  EXPECT_EQ(shapes[0].getExtent(0), std::nullopt);
  EXPECT_EQ(shapes[0].getExtent(1), 8);
  EXPECT_EQ(ArrayRef(shapes[0].restricted), ArrayRef({false, false}));
  // A triangle: no tile of it is known to be whole.
  EXPECT_EQ(shapes[1].getExtent(1), 8);
  EXPECT_EQ(ArrayRef(shapes[1].restricted), ArrayRef({true, true}));
}

TEST_F(KernelShapeTest, OwnLanesAreNoSharedDimension) {
  std::vector<ComputeShape> shapes = parse(R"mlir(
    poly.kernel @k(%A: memref<4x8xf32>) {
      poly.compute @s domain [affine_set<(i, j) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0)>]
          reads() writes(%A[affine_map<(i, j) -> (i, j)>] : memref<4x8xf32>) {
        %x = arith.constant 1.0 : f32
        poly.yield %x : f32
      }
    })mlir");
  ASSERT_EQ(shapes.size(), 1u);
  Plan plan;
  plan.computations = {"s"};
  plan.numShared = 1;
  plan.loops = {0};
  plan.tile = {1};
  plan.own.resize(1);
  plan.own[0].order = {1};
  plan.own[0].lanes = 0;
  EXPECT_EQ(llvm::toString(applyPlan(shapes[0].op, plan)),
            "expects one of the other dimensions of @s, but got \"d0\"");
}

TEST_F(KernelShapeTest, StridesOfRowMajorArrays) {
  EXPECT_EQ(getStrideOf("d0, d1", "memref<64x64xf32>", 1), 1);
  EXPECT_EQ(getStrideOf("d0, d1", "memref<64x64xf32>", 0), 64);
  EXPECT_EQ(getStrideOf("d0", "memref<64xf32>", 1), 0);
  EXPECT_EQ(getStrideOf("d1 * 2 + 1", "memref<200xf32>", 1), 2);
  EXPECT_EQ(getStrideOf("d0 + d1", "memref<200xf32>", 1), 1);
  EXPECT_EQ(getStrideOf("63 - d1", "memref<64xf32>", 1), -1);
  EXPECT_EQ(getStrideOf("d1, d0", "memref<64x?xf32>", 1), kUnknownStride);
}

TEST_F(KernelShapeTest, PanelsOfWholeVectorsAreContiguous) {
  EXPECT_EQ(
      getStrideOf("d1 floordiv 32, d0, d1 mod 32", "memref<2x64x32xf32>", 1),
      1);
  // A vector would reach into the next panel.
  EXPECT_EQ(
      getStrideOf("d1 floordiv 24, d0, d1 mod 24", "memref<3x64x24xf32>", 1),
      std::nullopt);
}

TEST_F(KernelShapeTest, LanesWithinOneVectorAreContiguous) {
  // The first channel of a group of four.
  EXPECT_EQ(getStrideOf("d0, (d1 floordiv 4) * 4", "memref<64x64xf32>", 1), 1);
  // Groups that a vector cuts.
  EXPECT_EQ(getStrideOf("d0, (d1 floordiv 3) * 3", "memref<64x64xf32>", 1),
            std::nullopt);
}

constexpr StringLiteral kBox =
    "affine_set<(d0, d1) : (d0 - 1 >= 0, 8 - d0 >= 0, d1 >= 0, 7 - d1 >= 0)>";

/// A computation on two dimensions that copies one array.
static std::string copy(StringRef name, StringRef from, StringRef fromMap,
                        StringRef to, StringRef toMap) {
  return ("poly.compute @" + name + " domain [" + kBox + "] reads(" + from +
          "[affine_map<(d0, d1) -> (" + fromMap +
          ")>] : memref<9x9xf32>) writes(" + to + "[affine_map<(d0, d1) -> (" +
          toMap +
          ")>] : memref<9x9xf32>) {\n^bb0(%v: f32):\n  poly.yield %v : "
          "f32\n}\n")
      .str();
}

static std::string kernel(const Twine &body) {
  return ("poly.kernel @k(%A: memref<9x9xf32>, %B: memref<9x9xf32>, "
          "%C: memref<9x9xf32>, %D: memref<9x9xf32>) {\n" +
          body + "}")
      .str();
}

constexpr int64_t kCacheBytes = 1 << 20;

TEST_F(KernelShapeTest, ComputationsShareTheLoopsAlongWhichValuesFlow) {
  std::vector<ComputeShape> shapes =
      parse(kernel(copy("s", "%A", "d0, d1", "%B", "d0, d1") +
                   copy("t", "%B", "d0, d1", "%C", "d0, d1")));
  SmallVector<Component> components = findComponents(shapes, kCacheBytes);
  ASSERT_EQ(components.size(), 1u);
  EXPECT_EQ(components[0].sharedDims, 2u);
  EXPECT_EQ(ArrayRef(components[0].sequential), ArrayRef({false, false}));

  // Rows agree; within a row, the reader goes the other way.
  shapes = parse(kernel(copy("s", "%A", "d0, d1", "%B", "d0, d1") +
                        copy("t", "%B", "d0, 7 - d1", "%C", "d0, d1")));
  components = findComponents(shapes, kCacheBytes);
  ASSERT_EQ(components.size(), 1u);
  EXPECT_EQ(components[0].sharedDims, 1u);
}

TEST_F(KernelShapeTest, ComputationsWithoutSharedArraysAreApart) {
  std::vector<ComputeShape> shapes =
      parse(kernel(copy("s", "%A", "d0, d1", "%B", "d0, d1") +
                   copy("t", "%C", "d0, d1", "%D", "d0, d1")));
  SmallVector<Component> components = findComponents(shapes, kCacheBytes);
  ASSERT_EQ(components.size(), 2u);
  EXPECT_EQ(components[1].computes, SmallVector<unsigned>{1});
}

TEST_F(KernelShapeTest, LoopsThatCarryValuesRunInOrder) {
  std::vector<ComputeShape> shapes =
      parse(kernel(copy("s", "%B", "d0 - 1, d1", "%B", "d0, d1")));
  SmallVector<Component> components = findComponents(shapes, kCacheBytes);
  ASSERT_EQ(components.size(), 1u);
  EXPECT_TRUE(components[0].sequential[0]);
  EXPECT_FALSE(components[0].sequential[1]);
}
} // namespace
