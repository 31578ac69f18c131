//===- MeasureKernelTest.cpp - Kernels are measured within limits ---------===//

#include "espalier/Measurement/MeasureKernel.h"
#include "Fixture.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace espalier;

namespace {

class MeasureKernelTest : public testing::Test {
protected:
  /// A kernel that adds `body` to each of `count` elements.
  KernelModule makeKernel(int64_t count) {
    std::string n = std::to_string(count), type = "memref<" + n + "xf32>";
    std::string read = "[affine_map<(i) -> (i)>]";
    return {"poly.kernel @kernel(%x: " + type + ", %y: " + type +
                ") {\n"
                "  poly.compute @s domain [affine_set<(i) : (i >= 0, " +
                n + " - 1 - i >= 0)>] reads(%x" + read + " : " + type +
                ") writes(%y" + read + " : " + type +
                ") {\n  ^bb0(%a: f32):\n    %b = arith.addf %a, %a : f32\n"
                "    poly.yield %b : f32\n  }\n}\n",
            {false}};
  }

  std::string fail(const KernelModule &kernel) {
    auto seconds = measureKernel(kernel, programDialects(), options);
    if (seconds)
      return "took " + std::to_string(*seconds) + " s";
    return llvm::toString(seconds.takeError());
  }

  MeasureOptions options;
};

TEST_F(MeasureKernelTest, LargerKernelTakesLonger) {
  auto small = measureKernel(makeKernel(1000), programDialects(), options);
  ASSERT_TRUE(static_cast<bool>(small)) << llvm::toString(small.takeError());
  auto large = measureKernel(makeKernel(4000000), programDialects(), options);
  ASSERT_TRUE(static_cast<bool>(large)) << llvm::toString(large.takeError());
  EXPECT_GT(*small, 0);
  EXPECT_GT(*large, *small);
}

TEST_F(MeasureKernelTest, SlowKernelIsStopped) {
  options.timeLimit = std::chrono::milliseconds(1);
  EXPECT_EQ(fail(makeKernel(1000)),
            "expects a result within 1 ms, but it takes longer");
}

TEST_F(MeasureKernelTest, LargeKernelIsRefused) {
  options.memoryLimit = 256 << 20;
  std::string reason = fail(makeKernel(int64_t(1) << 30));
  EXPECT_NE(reason.find("expects memory for an array, but got none"),
            std::string::npos)
      << reason;
}

TEST_F(MeasureKernelTest, UnknownSizeIsRefused) {
  KernelModule kernel = {
      "poly.kernel @kernel(%y: memref<?xf32> {poly.shape = "
      "affine_map<()[n] -> (n)>}, %n: index) {\n"
      "  poly.compute @s domain [affine_set<(i)[n] : (i >= 0, n - 1 - i >= "
      "0)>] reads() writes(%y[affine_map<(i)[n] -> (i)>] : memref<?xf32>) {\n"
      "    %b = arith.constant 0.0 : f32\n    poly.yield %b : f32\n  }\n}\n",
      {}};
  std::string reason = fail(kernel);
  EXPECT_NE(reason.find("expects a known shape"), std::string::npos) << reason;
}

TEST_F(MeasureKernelTest, InvalidKernelIsRefused) {
  EXPECT_NE(fail({"poly.kernel @kernel(", {}}).find("expected"),
            std::string::npos);
}

TEST_F(MeasureKernelTest, ConstantsAreAsColdAsInTheNetwork) {
  MLIRContext context(programDialects());
  context.loadAllAvailableDialects();
  // The same one twice, and another one.
  auto module = parseSourceString<ModuleOp>(R"(
    func.func @main() -> (tensor<8xf32>, tensor<8xf32>, tensor<3xi8>) {
      %0 = graph.constant dense<1.0> : tensor<8xf32>
      %1 = graph.constant dense<1.0> : tensor<8xf32>
      %2 = graph.constant dense<2> : tensor<3xi8>
      return %0, %1, %2 : tensor<8xf32>, tensor<8xf32>, tensor<3xi8>
    })",
                                            &context);
  ASSERT_TRUE(module);
  EXPECT_EQ(countConstantBytes(*module), 8u * 4 + 3);

  EXPECT_EQ(roundConstantBytes(0), 0u);
  EXPECT_EQ(roundConstantBytes(256 << 10), 0u);
  EXPECT_EQ(roundConstantBytes(3 << 20), 4u << 20);
  EXPECT_EQ(roundConstantBytes(uint64_t(1) << 40),
            MeasureOptions::kMaxConstantBytes);
}

} // namespace
