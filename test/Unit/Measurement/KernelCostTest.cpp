//===- KernelCostTest.cpp - Costs are of kernels after fusion -------------===//

#include "espalier/Measurement/KernelCost.h"
#include "Fixture.h"
#include "TemporaryFolder.h"
#include "gtest/gtest.h"
#include <fstream>

using namespace mlir;
using namespace espalier;

namespace {

class KernelCostTest : public testing::Test {
protected:
  KernelCostTest() : context(programDialects()) {
    context.loadAllAvailableDialects();
  }

  OwningOpRef<ModuleOp> parse(const std::string &text) {
    return parseSourceString<ModuleOp>(text, &context);
  }

  KernelCost makeCost() {
    return KernelCost(&context, options,
                      [&](const std::string &text) { warning += text; });
  }

  MLIRContext context;
  KernelCostOptions options;
  TemporaryFolder folder;
  std::string warning;
};

TEST_F(KernelCostTest, GroupOfOperatorsIsOneKernel) {
  auto module = parse(layer(16));
  auto kernels = formKernels(*module, {});
  ASSERT_TRUE(succeeded(kernels));
  ASSERT_EQ(kernels->size(), 1u);
  const ProgramKernel &kernel = kernels->front();
  EXPECT_EQ(kernel.numCalls, 1u);
  EXPECT_EQ(kernel.module.isConstant, (std::vector<bool>{false, true}));
  // A product and a sum for each of 64, and the maximum.
  EXPECT_EQ(kernel.work.flops, 16 * 32 * (2 * 64 + 1));
  EXPECT_EQ(kernel.work.bytes, 4 * (16 * 64 + 64 * 32 + 16 * 32));
}

TEST_F(KernelCostTest, MoreWorkIsEstimatedToCostMore) {
  KernelCost cost = makeCost();
  auto small = parse(layer(16)), large = parse(layer(1600));
  auto first = cost.getProgramSeconds(*small);
  auto second = cost.getProgramSeconds(*large);
  ASSERT_TRUE(succeeded(first) && succeeded(second));
  EXPECT_GT(*second, 10 * *first);
  EXPECT_EQ(cost.getCounts().numEstimated, 2u);
  EXPECT_EQ(cost.getCounts().numMeasured, 0u);
}

TEST_F(KernelCostTest, MeasuredKernelsAreFoundAgain) {
  options.table = folder.get("new/kernels.sqlite");
  options.budget = 60;
  auto module = parse(layer(16));
  KernelCost first = makeCost();
  auto measured = first.getProgramSeconds(*module);
  ASSERT_TRUE(succeeded(measured));
  EXPECT_EQ(first.getCounts().numMeasured, 1u);
  EXPECT_GT(first.getCounts().secondsMeasuring, 0);

  options.budget = 0;
  KernelCost second = makeCost();
  auto found = second.getProgramSeconds(*module);
  ASSERT_TRUE(succeeded(found));
  EXPECT_EQ(second.getCounts().numFound, 1u);
  EXPECT_EQ(*found, *measured);
  EXPECT_EQ(warning, "");
}

TEST_F(KernelCostTest, BudgetEndsMeasuring) {
  options.budget = 1e-3;
  KernelCost cost = makeCost();
  auto seconds = cost.getProgramSeconds(*parse(layer(16)));
  ASSERT_TRUE(succeeded(seconds));
  EXPECT_GT(*seconds, 0);
  EXPECT_EQ(cost.getCounts().numEstimated, 1u);
}

TEST_F(KernelCostTest, DamagedTableIsAWarning) {
  options.table = folder.get("kernels.sqlite");
  std::ofstream(options.table) << std::string(4096, 'x');
  KernelCost cost = makeCost();
  EXPECT_NE(warning.find("file is not a database; goes on without it"),
            std::string::npos)
      << warning;
  EXPECT_TRUE(succeeded(cost.getProgramSeconds(*parse(layer(16)))));
}

TEST_F(KernelCostTest, RepeatedKernelIsCountedForEachCall) {
  std::string product = " : (tensor<16x64xf32>, tensor<64x64xf32>) -> "
                        "tensor<16x64xf32>\n";
  auto module = parse("func.func @main(%x: tensor<16x64xf32>) -> "
                      "tensor<16x64xf32> {\n" +
                      weight("w", 64, 64, 1e-3f) + weight("v", 64, 64, 2e-3f) +
                      "  %a = graph.matmul %x, %w" + product +
                      "  %b = graph.matmul %a, %v" + product +
                      "  %c = graph.matmul %b, %w" + product +
                      "  return %c : tensor<16x64xf32>\n}\n");
  auto kernels = formKernels(*module, {});
  ASSERT_TRUE(succeeded(kernels));
  ASSERT_EQ(kernels->size(), 1u);
  EXPECT_EQ(kernels->front().numCalls, 3u);
}

/// Kernels whose integers are no index are measured on other ones than zeros.
TEST_F(KernelCostTest, IntegersAreAnythingWhereNoneIsAnIndex) {
  auto takesAny = [&](StringRef body) {
    auto module = parseSourceString<ModuleOp>(
        ("func.func @main(%x: tensor<8xi64>, %y: tensor<8xi64>) -> "
         "tensor<8xi64> {\n  %r = " +
         body +
         " : (tensor<8xi64>, tensor<8xi64>) -> tensor<8xi64>\n"
         "  return %r : tensor<8xi64>\n}\n")
            .str(),
        &context);
    auto kernels = formKernels(*module, {});
    EXPECT_TRUE(succeeded(kernels));
    return kernels->front().module.takesAnyInteger;
  };
  EXPECT_TRUE(takesAny("graph.add %x, %y"));
  EXPECT_FALSE(takesAny("graph.gather %x, %y {axis = 0 : i64}"));
}

} // namespace
