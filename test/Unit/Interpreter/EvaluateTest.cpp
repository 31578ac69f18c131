//===- EvaluateTest.cpp - Evaluation of definitions -----------------------===//
//
// Cases that the operators do not reach: blocks of many elements, nested
// reductions, several levels of loops.
//
//===----------------------------------------------------------------------===//

#include "espalier/Definition/Notation.h"
#include "espalier/Interpreter/Interpreter.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::interpreter;

namespace {
class EvaluateTest : public ::testing::Test {
protected:
  /// A tensor whose element at position p is f(p).
  Tensor make(ArrayRef<int64_t> shape, llvm::function_ref<float(int64_t)> f) {
    auto type = RankedTensorType::get(shape, Float32Type::get(&context));
    FailureOr<Tensor> tensor = Tensor::create(type);
    EXPECT_TRUE(succeeded(tensor));
    auto *data = reinterpret_cast<float *>(tensor->getMutableBytes().data());
    for (int64_t position = 0; position < tensor->getNumElements(); ++position)
      data[position] = f(position);
    return *tensor;
  }

  /// Evaluates the text on operands A, B, ..; types may know less than tensors.
  FailureOr<Tensor> run(StringRef text, ArrayRef<Tensor> operands,
                        bool isDynamic = false,
                        Rounding rounding = Rounding::Tensors) {
    Instantiation with;
    with.context = &context;
    for (auto [number, operand] : llvm::enumerate(operands)) {
      SmallVector<int64_t> shape = llvm::to_vector(operand.getShape());
      if (isDynamic)
        llvm::fill(shape, ShapedType::kDynamic);
      with.operands.push_back(
          {std::string(1, static_cast<char>('A' + number)),
           RankedTensorType::get(shape, operand.getElementType())});
    }
    auto onError = [&](const Twine &reason) { error = reason.str(); };
    FailureOr<Definition> definition = parseDefinition(text, with, onError);
    if (failed(definition))
      return failure();
    FailureOr<SmallVector<Tensor>> results =
        evaluate(*definition, operands, {}, onError, rounding);
    if (failed(results))
      return failure();
    return results->front();
  }

  MLIRContext context;
  std::string error;
};

float identity(int64_t position) { return static_cast<float>(position); }

TEST_F(EvaluateTest, ManyElementsTakeSeveralBlocks) {
  Tensor a = make({37, 29}, identity);
  FailureOr<Tensor> result = run("R[j, i] = A[i, j] * 2 + j", {a});
  ASSERT_TRUE(succeeded(result));
  for (int64_t i = 0; i < 37; ++i)
    for (int64_t j = 0; j < 29; ++j)
      ASSERT_EQ(result->getFloat(j * 37 + i), (i * 29 + j) * 2 + j);
}

TEST_F(EvaluateTest, ReductionsNest) {
  Tensor a = make({3, 4, 5}, identity);
  FailureOr<Tensor> result =
      run("R[i] = max(j) (A[i, j, 0] + sum(k | k < j) A[i, j, k])", {a});
  ASSERT_TRUE(succeeded(result));
  for (int64_t i = 0; i < 3; ++i) {
    float expected = 0;
    for (int64_t j = 0; j < 4; ++j) {
      int64_t row = (i * 4 + j) * 5;
      float sum = row;
      for (int64_t k = 0; k < j; ++k)
        sum += row + k;
      expected = std::max(expected, sum);
    }
    EXPECT_EQ(result->getFloat(i), expected);
  }
}

TEST_F(EvaluateTest, SeparateReductionsMayShareANameAndAVariable) {
  Tensor a = make({4}, identity);
  FailureOr<Tensor> result =
      run("R[i] = A[i] + (sum(k) A[k]) * (sum(k) A[k] * A[k])", {a});
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->getFloat(1), 1 + 6 * 14);
}

TEST_F(EvaluateTest, WhatAConditionLeavesOutIsNotRead) {
  Tensor a = make({4}, identity);
  FailureOr<Tensor> result =
      run("R[i < size(A, 0)] = A[i - 1] if i > 0 else A[i + 1000000]", {a});
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->getFloat(0), 0);
  EXPECT_EQ(result->getFloat(3), 2);
}

TEST_F(EvaluateTest, UniformGuardsSkip) {
  Tensor a = make({2, 6}, identity);
  FailureOr<Tensor> result =
      run("R[i] = sum(j, k < 3 | and(j % 2 == 0, k > 0)) A[i, j] * k", {a});
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->getFloat(0), (0 + 2 + 4) * 3);
  EXPECT_EQ(result->getFloat(1), (6 + 8 + 10) * 3);
}

TEST_F(EvaluateTest, SumsAreMoreExactThanTheirTerms) {
  // In f32, adding 1 to 2^24 does nothing.
  Tensor a = make({101}, [](int64_t position) {
    return position == 0 ? 16777216.0f : 1.0f;
  });
  FailureOr<Tensor> result = run("R[] = sum(i) A[i]", {a});
  ASSERT_TRUE(succeeded(result));
  EXPECT_EQ(result->getFloat(0), 16777316.0f);
}

TEST_F(EvaluateTest, ExtentsThatDisagreeAtRunTimeAreRefused) {
  Tensor a = make({3}, identity), b = make({4}, identity);
  EXPECT_TRUE(failed(run("R[i] = A[i] + B[i]", {a, b}, /*isDynamic=*/true)));
  EXPECT_EQ(error,
            "expects extents of i to agree, but got 4 where 3 is needed");
}

TEST_F(EvaluateTest, VariablesMustBelongToTheStep) {
  Type f32 = Float32Type::get(&context);
  Definition definition;
  Expr extent = cast(IndexType::get(&context), constant(int64_t(2)));
  IndexVar bound = definition.makeVar("i", extent);
  IndexVar stray = definition.makeVar("j", extent);
  Expr value = cast(f32, variable(stray.id, &context));
  definition.addStep({"R", f32, {bound}, value, {}});
  definition.results.push_back(0);
  EXPECT_TRUE(failed(evaluate(
      definition, {}, {}, [&](const Twine &reason) { error = reason.str(); })));
  EXPECT_EQ(error, "expects variables of the step, but got another one");
}

TEST_F(EvaluateTest, TensorsTooLargeToCountAreRefused) {
  auto f32 = Float32Type::get(&context);
  int64_t huge = int64_t(1) << 40;
  EXPECT_TRUE(failed(Tensor::create(RankedTensorType::get({huge, huge}, f32))));
  // Nothing is allocated for an extent of 0, but the product must be sound.
  EXPECT_EQ(getDenseBytes(RankedTensorType::get({huge, huge, 0}, f32)),
            std::nullopt);
  EXPECT_EQ(getDenseBytes(RankedTensorType::get({huge, 0}, f32)), 0u);
  EXPECT_EQ(getDenseBytes(RankedTensorType::get({ShapedType::kDynamic}, f32)),
            std::nullopt);
}

TEST_F(EvaluateTest, ResultsTooLargeForMemoryAreRefused) {
  Tensor a = make({3}, identity);
  EXPECT_TRUE(
      failed(run("R[i < 1099511627776, j < 1099511627776] = A[0] * 1", {a})));
  EXPECT_EQ(error, "expects a tensor that fits into memory, but got "
                   "tensor<1099511627776x1099511627776xf32>");
}
TEST_F(EvaluateTest, FunctionsRoundToTheirTypeOnDemand) {
  auto about = [](int64_t) { return 1 + 0x1p-12f; };
  Tensor a = make({3}, about);
  // The square is 1 + 2^-11 + 2^-24, which a float does not hold.
  StringRef text = "R[i] = A[i] * A[i] - 1";
  EXPECT_EQ(run(text, {a})->getFloat(0), 0x1p-11 + 0x1p-24);
  EXPECT_EQ(run(text, {a}, false, Rounding::Functions)->getFloat(0), 0x1p-11);
  // Literals and whole sums round; what is summed does not.
  EXPECT_EQ(run("R[i] = 0.1 - A[i] + A[i]", {a}, false, Rounding::Functions)
                ->getFloat(0),
            0.1f - (1 + 0x1p-12f) + (1 + 0x1p-12f));
  Tensor big = make({3}, [](int64_t p) { return p == 1 ? 1 : 0x1p24f; });
  EXPECT_EQ(
      run("R[] = (sum(i) A[i]) - 16777216", {big}, false, Rounding::Functions)
          ->getFloat(0),
      0x1p24);
}
} // namespace
