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

/// Sums of the same terms, some of which are of other ones.
class ComparedSumTest : public MeasureKernelTest {
protected:
  /// The terms from `begin` to less than `end`, each of the element `index`.
  struct Part {
    int begin, end;
    const char *index;
  };

  /// A kernel that adds up all parts of `count` numbers, each times `factor`.
  KernelModule makeSum(int count, ArrayRef<Part> parts, float factor = 1) {
    std::string type = "memref<" + std::to_string(count) + "xf32>";
    std::string text = "poly.kernel @kernel(%x: " + type +
                       ", %r: memref<1xf32>) {\n"
                       "  poly.compute @init domain [affine_set<(i) : (i == "
                       "0)>] reads() writes(%r[affine_map<(i) -> (i)>] : "
                       "memref<1xf32>) {\n    %zero = arith.constant 0.0 : "
                       "f32\n    poly.yield %zero : f32\n  }\n";
    for (auto [number, part] : llvm::enumerate(parts))
      text += llvm::formatv(
                  "  poly.compute @s{0} domain [affine_set<(i, k) : (i == 0, k "
                  "- {1} >= 0, {2} - 1 - k >= 0)>] reads(%x[affine_map<(i, k) "
                  "-> ({3})>], %r[affine_map<(i, k) -> (i)>] : {4}, "
                  "memref<1xf32>) writes(%r[affine_map<(i, k) -> (i)>] : "
                  "memref<1xf32>) reduction add {{\n  ^bb0(%a: f32, %s: f32):\n"
                  "    %f = arith.constant {5:f8} : f32\n"
                  "    %v = arith.mulf %a, %f : f32\n"
                  "    %t = arith.addf %s, %v : f32\n"
                  "    poly.yield %t : f32\n  }\n",
                  number, part.begin, part.end, part.index, type, factor)
                  .str();
    return {text + "}\n", {false}};
  }

  /// What becomes of a sum beside the one of each number once: "" if it is
  /// right.
  std::string compare(int count, ArrayRef<Part> parts, float factor = 1) {
    KernelModule right = makeSum(count, {{0, count, "k"}}, factor);
    KernelModule other = makeSum(count, parts, factor);
    DialectRegistry registry = programDialects();
    registerCompilation(registry);
    MLIRContext context(registry, MLIRContext::Threading::DISABLED);
    context.loadAllAvailableDialects();
    auto run = [&](KernelModule &kernel, ArrayRef<MeasuredOutput> expected)
        -> llvm::Expected<MeasuredProgram> {
      auto module = parseSourceString<ModuleOp>(kernel.text, &context);
      if (!module)
        return llvm::createStringError("cannot be parsed");
      kernel.numbers =
          chooseNumbers(*parseSourceString<ModuleOp>(right.text, &context)
                             ->getOps<poly::KernelOp>()
                             .begin());
      FailureOr<CompiledProgram> program = compileModule(*module, {});
      if (failed(program))
        return llvm::createStringError("cannot be compiled");
      return measureProgram(std::move(*program), kernel, options, expected);
    };
    llvm::Expected<MeasuredProgram> expected = run(right, {});
    if (!expected)
      return llvm::toString(expected.takeError());
    llvm::Expected<MeasuredProgram> got = run(other, expected->outputs);
    if (got)
      return "";
    llvm::Error error = got.takeError();
    EXPECT_TRUE(error.isA<WrongResult>());
    return llvm::toString(std::move(error));
  }
};

TEST_F(ComparedSumTest, OrderDoesNotMatterWhereSumsCancel) {
  // Of 99,999 numbers around 0, a sum that is small beside them.
  EXPECT_EQ(compare(99999, {{0, 99999, "99998 - k"}}), "");
  EXPECT_EQ(compare(99999, {{50000, 99999, "k"}, {0, 50000, "k"}}), "");
  EXPECT_EQ(compare(999, {{0, 999, "998 - k"}}, 0.1f), "");
}

TEST_F(ComparedSumTest, FaultsAreFound) {
  StringRef rule =
      "expects an output 0 within 0.00e+00, which is what rounding "
      "explains, but it differs by ";
  for (std::vector<Part> parts : {
           std::vector<Part>{{0, 99998, "k"}}, // One less.
           {{0, 99999, "k"}, {7, 8, "k"}},     // One more.
           {{0, 12345, "k"}, {12345, 12346, "k + 1"}, {12346, 99999, "k"}},
       }) {
    std::string fault = compare(99999, parts);
    EXPECT_TRUE(StringRef(fault).starts_with(rule)) << fault;
  }
  // Where terms are rounded, a term is still more than all roundings.
  EXPECT_NE(compare(999, {{0, 998, "k"}}, 0.1f), "");
  EXPECT_NE(compare(999, {{0, 1, "k"}, {1, 2, "k + 1"}, {2, 999, "k"}}, 0.1f),
            "");
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
