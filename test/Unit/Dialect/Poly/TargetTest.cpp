//===- TargetTest.cpp - Machines to compile for ---------------------------===//

#include "espalier/Dialect/Poly/IR/Target.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"
#include <gtest/gtest.h>

using namespace espalier::poly;

namespace {

class TargetTest : public ::testing::Test {
protected:
  TargetTest() : builder(&context) { context.loadDialect<PolyDialect>(); }

  mlir::MLIRContext context;
  mlir::Builder builder;
};

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

} // namespace
