//===- SketchTest.cpp - The space of schedules ----------------------------===//

#include "espalier/Tuning/Sketch.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

/// A product of two matrices, of 256 x 512 and 512 x 384.
constexpr llvm::StringLiteral kProduct = R"mlir(
#ij = affine_set<(i, j) : (i >= 0, 255 - i >= 0, j >= 0, 383 - j >= 0)>
#ijk = affine_set<(i, j, k) : (i >= 0, 255 - i >= 0, j >= 0, 383 - j >= 0,
                               k >= 0, 511 - k >= 0)>
module attributes {poly.target = #poly.target<cpu = "znver5", features = "+avx512f",
    vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  poly.kernel @kernel(%a: memref<256x512xf32>, %b: memref<512x384xf32>,
                      %c: memref<256x384xf32>) {
    poly.compute @init dims ["i", "j"] domain [#ij] reads()
        writes(%c[affine_map<(i, j) -> (i, j)>] : memref<256x384xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc dims ["i", "j", "k"] domain [#ijk]
        reads(%a[affine_map<(i, j, k) -> (i, k)>], %b[affine_map<(i, j, k) -> (k, j)>],
              %c[affine_map<(i, j, k) -> (i, j)>]
              : memref<256x512xf32>, memref<512x384xf32>, memref<256x384xf32>)
        writes(%c[affine_map<(i, j, k) -> (i, j)>] : memref<256x384xf32>)
        reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
  }
})mlir";

class SketchTest : public testing::Test {
protected:
  SketchTest() {
    DialectRegistry registry;
    registry.insert<poly::PolyDialect, arith::ArithDialect,
                    memref::MemRefDialect, transform::TransformDialect>();
    poly::registerTransformExtension(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(kProduct, &context);
    sketches = deriveSketches(*module);
  }

  /// Applies a script to a copy of the kernel. Returns whether it is legal.
  bool apply(ModuleOp script) {
    ScopedDiagnosticHandler quiet(&context,
                                  [](Diagnostic &) { return success(); });
    OwningOpRef<ModuleOp> copy(cast<ModuleOp>(module->clone()));
    auto sequence = script.lookupSymbol<transform::NamedSequenceOp>(
        transform::TransformDialect::kTransformEntryPointSymbolName);
    return succeeded(transform::applyTransformNamedSequence(
        *copy, sequence, ModuleOp(), transform::TransformOptions()));
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  std::vector<Sketch> sketches;
};

TEST_F(SketchTest, TheDefaultScheduleComesFirst) {
  ASSERT_FALSE(sketches.empty());
  EXPECT_EQ(sketches.front().getRule(), "default");
  EXPECT_TRUE(apply(*sketches.front().select(sketches.front().getDefault())));
}

TEST_F(SketchTest, SketchesAreFewAndDiffer) {
  EXPECT_GE(sketches.size(), 4u);
  EXPECT_LT(sketches.size(), 12u);
  llvm::StringSet<> texts;
  for (const Sketch &sketch : sketches) {
    EXPECT_FALSE(sketch.getChoices().empty()) << sketch.getRule().str();
    std::string text;
    llvm::raw_string_ostream(text) << *sketch.select(sketch.getDefault());
    EXPECT_TRUE(texts.insert(text).second) << sketch.getRule().str();
  }
}

/// The results of a tile fit the registers, and blocks have whole tiles, of
/// whatever is selected.
TEST_F(SketchTest, SelectionsKeepTheLimits) {
  Sketch::Random random(7);
  for (const Sketch &sketch : sketches) {
    auto check = [&](const Selection &selection) {
      llvm::StringMap<int64_t> numbers;
      int64_t points = 1;
      for (auto [index, choice] : llvm::enumerate(sketch.getChoices())) {
        auto options = cast<ArrayAttr>(choice.options);
        ASSERT_LT(selection[index], options.size());
        int64_t number = cast<IntegerAttr>(options[selection[index]]).getInt();
        numbers[choice.name] = number;
        if (choice.name.starts_with("tile."))
          points *= number;
      }
      EXPECT_LE(points, 32 * 16) << sketch.getRule().str();
      sketch.select(selection)->walk([&](poly::PlanOp plan) {
        if (!plan.getBlocked() || !numbers.count("block_size"))
          return;
        int64_t tile = numbers.lookup(("tile." + *plan.getBlocked()).str());
        EXPECT_EQ(numbers["block_size"] % std::max<int64_t>(tile, 1), 0)
            << sketch.getRule().str();
      });
    };
    Selection selection = sketch.getDefault();
    for (unsigned i = 0; i < 200; ++i) {
      Selection any = sketch.selectAny(random);
      check(any);
      check(sketch.cross(selection, any, random));
      selection = sketch.mutate(std::move(selection), random);
      check(selection);
    }
  }
}

TEST_F(SketchTest, AScriptTellsItsSelection) {
  Sketch::Random random(11);
  for (const Sketch &sketch : sketches) {
    Selection any = sketch.selectAny(random);
    EXPECT_EQ(sketch.translate(*sketch.select(any)), any);
  }
}

/// What cannot be understood is the default.
TEST_F(SketchTest, AForeignScriptSelectsNothing) {
  OwningOpRef<ModuleOp> other(ModuleOp::create(module->getLoc()));
  for (const Sketch &sketch : sketches)
    EXPECT_EQ(sketch.translate(*other), sketch.getDefault());
}

TEST_F(SketchTest, SomeSelectionsOfEachSketchAreLegal) {
  Sketch::Random random(3);
  unsigned numLegal = 0;
  for (const Sketch &sketch : sketches) {
    unsigned legal = 0;
    for (unsigned i = 0; i < 8; ++i)
      legal += apply(*sketch.select(sketch.selectAny(random)));
    numLegal += legal > 0;
  }
  EXPECT_GE(numLegal, 3u);
}

} // namespace
