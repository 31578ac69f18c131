//===- TargetTest.cpp - Machines to compile for ---------------------------===//

#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/IR/TargetFeatures.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/Parser/Parser.h"
#include <gtest/gtest.h>

using namespace espalier::poly;

namespace {

class TargetTest : public ::testing::Test {
protected:
  TargetTest() : builder(&context) { context.loadDialect<PolyDialect>(); }

  mlir::MLIRContext context;
  mlir::Builder builder;
};

TEST_F(TargetTest, FeaturesDecideTheRegisters) {
  auto describe = [&](llvm::StringRef cpu,
                      std::initializer_list<llvm::StringRef> features) {
    return describeTarget(&context, cpu, [=](llvm::StringRef feature) {
      return llvm::is_contained(features, feature);
    });
  };
  TargetAttr whole = describe("znver5", {"sse2", "avx", "avx512f"});
  EXPECT_EQ(whole.getVectorBits(), 512);
  EXPECT_EQ(whole.getRegisters(), 32);
  TargetAttr part = describe("znver5", {"sse2", "avx"});
  EXPECT_EQ(part.getVectorBits(), 256);
  EXPECT_EQ(part.getRegisters(), 16);
  EXPECT_EQ(part.getL1(), whole.getL1());
  // LLVM knows more processors than we do.
  TargetAttr unknown = describe("bdver4", {"sse2", "avx"});
  EXPECT_EQ(unknown.getCpu(), "bdver4");
  EXPECT_EQ(unknown.getVectorBits(), 256);
  EXPECT_EQ(describe("no-x86", {}).getRegisters(), 32);
}

TEST_F(TargetTest, FeaturesAreUsualOrStated) {
  auto describe = [&](llvm::StringRef cpu, llvm::StringRef features) {
    return TargetAttr::get(&context, cpu, features, 512, 32, 1 << 15, 1 << 20,
                           1 << 25, 8);
  };
  EXPECT_TRUE(hasPairProducts(describe("znver4", ""), 16));
  EXPECT_TRUE(hasPairProducts(describe("znver4", ""), 8));
  EXPECT_FALSE(hasPairProducts(describe("znver4", ""), 32));
  EXPECT_FALSE(hasPairProducts(describe("znver4", "-avx512bf16"), 16));
  // What needs a feature that is missing is missing, too.
  EXPECT_FALSE(hasPairProducts(describe("znver4", "-avx512f"), 8));
  EXPECT_FALSE(hasPairProducts(describe("znver4", "+avx512bf16,-avx512f"), 8));
  EXPECT_FALSE(hasPairProducts(describe("skylake-avx512", ""), 16));
  TargetAttr stated = describe("no-such-processor", "+avx512bf16");
  EXPECT_TRUE(hasPairProducts(stated, 16));
  EXPECT_FALSE(hasPairProducts(stated, 8));
  EXPECT_TRUE(hasPairProducts(describe("znver4", "+no-such-feature"), 16));
}

TEST_F(TargetTest, EveryNameIsKnown) {
  for (llvm::StringRef name : getTargetNames()) {
    TargetAttr target = getNamedTarget(&context, name);
    ASSERT_TRUE(target) << name.str();
    EXPECT_GE(target.getVectorBits(), 128) << name.str();
    EXPECT_LT(target.getL1(), target.getL2()) << name.str();
  }
  EXPECT_FALSE(getNamedTarget(&context, "no-such-processor"));
}

TEST_F(TargetTest, LanesFollowTheElementType) {
  TargetAttr target = getNamedTarget(&context, "znver4");
  EXPECT_EQ(target.getLanes(builder.getF32Type()), 16);
  EXPECT_EQ(target.getLanes(builder.getF64Type()), 8);
  EXPECT_EQ(target.getLanes(builder.getIndexType()), 8);
  EXPECT_EQ(target.getLanes(builder.getBF16Type()), 32);
  EXPECT_EQ(target.getLanes(builder.getI1Type()), 64);
}

TEST_F(TargetTest, HostIsDescribed) {
  TargetAttr target = detectHostTarget(&context);
  EXPECT_FALSE(target.getCpu().empty());
  EXPECT_GE(target.getCores(), 1);
  EXPECT_EQ(target, getNamedTarget(&context, "native"));
}

TEST_F(TargetTest, ModuleSaysItsTarget) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::ModuleOp::create(builder.getUnknownLoc());
  EXPECT_EQ(getTarget(*module), detectHostTarget(&context));
  TargetAttr target = getNamedTarget(&context, "haswell");
  (*module)->setAttr(TargetAttr::getAttrName(), target);
  EXPECT_EQ(getTarget(*module), target);
}

// Schedules are tried on such copies: what is chosen must not depend on the
// machine that compiles.
TEST_F(TargetTest, CopiesOutsideOfAModuleKeepTheTarget) {
  mlir::OwningOpRef<mlir::ModuleOp> module =
      mlir::parseSourceString<mlir::ModuleOp>(
          "poly.kernel @k(%x: memref<4xf32>) {\n"
          "  poly.array : memref<4xf32>\n"
          "}",
          &context);
  ASSERT_TRUE(module);
  auto kernel = *module->getOps<KernelOp>().begin();
  for (llvm::StringRef cpu : {"haswell", "znver4"}) {
    TargetAttr target = getNamedTarget(&context, cpu);
    (*module)->setAttr(TargetAttr::getAttrName(), target);
    EXPECT_EQ(getTarget(*cloneAlone(kernel)), target);
  }
}

} // namespace
