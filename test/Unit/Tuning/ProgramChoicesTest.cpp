//===- ProgramChoicesTest.cpp - Choices that made-up times decide ---------===//

#include "espalier/Tuning/ProgramChoices.h"
#include "SmallModel.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

/// A convolution, relu and pooling, which are one kernel by default, beside one
/// that packs the weights.
constexpr llvm::StringLiteral kPooled = R"(
module attributes {poly.target = #poly.target<cpu = "znver5", features = "+avx512f", vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%x: tensor<2x3x10x12xf32>, %w: tensor<16x3x3x3xf32>) -> tensor<2x16x4x5xf32> {
    %0 = graph.conv %x, %w {strides = array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x3x10x12xf32>, tensor<16x3x3x3xf32>) -> tensor<2x16x8x10xf32>
    %1 = graph.relu %0 : (tensor<2x16x8x10xf32>) -> tensor<2x16x8x10xf32>
    %2 = graph.max_pool %1 {kernel = array<i64: 2, 2>, strides = array<i64: 2, 2>, pads_low = array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations = array<i64: 1, 1>} : (tensor<2x16x8x10xf32>) -> tensor<2x16x4x5xf32>
    return %2 : tensor<2x16x4x5xf32>
  }
})";

bool isBoth(const ProgramKernel &kernel) {
  StringRef text = kernel.module.text;
  return text.contains("reduction add") && text.contains("reduction max");
}

class ProgramChoicesTest : public testing::Test {
protected:
  ProgramChoicesTest() {
    loadDialects(context);
    module = parseSourceString<ModuleOp>(kPooled, &context);
  }

  std::vector<TunedStatement> compare(const KernelTimer &timer) {
    return llvm::cantFail(compareChoices(*module, options, timer));
  }
  /// The kernels of the program with what was chosen.
  std::vector<ProgramKernel> apply(ArrayRef<TunedStatement> found) {
    StatementScripts scripts;
    for (const TunedStatement &statement : found)
      if (!statement.script.empty())
        scripts.push_back({statement.name, statement.script});
    OwningOpRef<ModuleOp> copy = (*module).clone();
    const PipelineOptions &pipeline = options.measure.codegen.pipeline;
    EXPECT_TRUE(succeeded(compileToStage(*copy, Stage::Statements, pipeline)));
    llvm::cantFail(applyChoices(*copy, scripts, options.measure.codegen));
    EXPECT_TRUE(succeeded(compileToStage(*copy, Stage::Poly, pipeline)));
    return collectKernels(*copy);
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  TuneOptions options;
};

TEST_F(ProgramChoicesTest, WhatIsFasterApartIsSplit) {
  std::vector<TunedStatement> found = compare(
      [](const ProgramKernel &kernel) { return isBoth(kernel) ? 9.0 : 1.0; });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].command, "fusion");
  EXPECT_EQ(found[0].option, "separate");
  EXPECT_TRUE(StringRef(found[0].name).starts_with("relu_"));
  EXPECT_EQ(found[0].original, 10);
  EXPECT_EQ(found[0].seconds, 3);
  std::vector<ProgramKernel> kernels = apply(found);
  EXPECT_EQ(kernels.size(), 3u);
  EXPECT_TRUE(llvm::none_of(kernels, isBoth));
}

TEST_F(ProgramChoicesTest, WhatIsFasterTogetherStays) {
  std::vector<TunedStatement> found = compare(
      [](const ProgramKernel &kernel) { return isBoth(kernel) ? 1.9 : 1.0; });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].original, 2.9);
  EXPECT_EQ(found[0].seconds, 3);
  EXPECT_EQ(found[0].script, "");
  std::vector<ProgramKernel> kernels = apply(found);
  EXPECT_EQ(kernels.size(), 2u);
  EXPECT_TRUE(llvm::any_of(kernels, isBoth));
}

TEST_F(ProgramChoicesTest, ADifferenceWithinNoiseChangesNothing) {
  std::vector<TunedStatement> found = compare(
      [](const ProgramKernel &kernel) { return isBoth(kernel) ? 2.04 : 1.0; });
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].script, "");
}

TEST_F(ProgramChoicesTest, WhatCannotBeMeasuredIsNotCompared) {
  EXPECT_TRUE(
      compare([](const ProgramKernel &) { return std::nullopt; }).empty());
}

TEST_F(ProgramChoicesTest, KeysNameWhatWasChosenAndHowItWasMeasured) {
  MeasureOptions &measure = options.measure;
  measure.threads = 2;
  measure.constantBytes = 4096;
  TunedStatement split, winograd;
  split.name = winograd.name = "conv_1";
  split.command = "fusion";
  winograd.command = "algorithm";
  std::string first = getChoiceKey(split, measure);
  // Records of before there were others have these.
  std::string second = getChoiceKey(winograd, measure);
  EXPECT_EQ(first, "fusion conv_1 2 4096");
  EXPECT_EQ(second, "statement conv_1 2 4096");
  for (const std::string &key : {first, second})
    EXPECT_EQ(parseChoiceKey(key, measure), "conv_1");
  EXPECT_EQ(parseChoiceKey("conv_1 2 4096", measure), std::nullopt);
  // Who wants plain sums still splits kernels.
  measure.codegen.pipeline.winograd = false;
  EXPECT_EQ(parseChoiceKey(first, measure), "conv_1");
  EXPECT_EQ(parseChoiceKey(second, measure), std::nullopt);
  measure.threads = 1;
  EXPECT_EQ(parseChoiceKey(first, measure), std::nullopt);
}

} // namespace
