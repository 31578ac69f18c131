//===- NaiveTest.cpp - The interpreter against plain recursion ------------===//
//
// Evaluates definitions by recursion over their expressions, one element at a
// time, and compares with what the compiled form gives.
//
//===----------------------------------------------------------------------===//

#include "espalier/Definition/Evaluate.h"
#include "espalier/Definition/Notation.h"
#include "espalier/Interpreter/Interpreter.h"
#include "mlir/IR/MLIRContext.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::interpreter;

namespace {
using Environment = llvm::DenseMap<VarId, int64_t>;

/// Evaluates definitions over i64 tensors; indices and elements are the same.
class Naive {
public:
  Naive(const Definition &definition, ArrayRef<Tensor> operands)
      : definition(definition), operands(operands) {}

  /// Element of a step at the given indices.
  int64_t get(const Step &step, ArrayRef<int64_t> indices) const {
    Environment environment;
    for (auto [var, index] : llvm::zip_equal(step.indices, indices))
      environment[var.id] = index;
    return evaluate(step.value, environment);
  }

private:
  int64_t evaluate(Expr expr, Environment &environment) const {
    auto get = [&](Expr operand) { return evaluate(operand, environment); };
    ArrayRef<Expr> args = expr.getOperands();
    switch (expr.getKind()) {
    case Expr::Kind::Constant:
      return *expr.getInt();
    case Expr::Kind::Variable:
      return environment.lookup(expr.getVariable());
    case Expr::Kind::Size:
      return operands[expr.getTensor().number].getShape()[expr.getNumber()];
    case Expr::Kind::Access:
      return access(expr, environment);
    case Expr::Kind::Apply:
      return evaluateInteger(expr.getFn(), {}, get(args.front()),
                             get(args.back()));
    case Expr::Kind::Select:
      return get(args[0]) ? get(args[1]) : get(args[2]);
    case Expr::Kind::Cast:
      return get(args[0]);
    case Expr::Kind::Reduce: {
      int64_t result = getNeutralInteger(expr.getReduceKind(), {});
      reduce(expr, expr.getReduceVars(), environment, result);
      return result;
    }
    case Expr::Kind::Parameter:
      break;
    }
    ADD_FAILURE() << "unexpected expression";
    return 0;
  }

  int64_t access(Expr expr, Environment &environment) const {
    SmallVector<int64_t> indices;
    for (Expr index : expr.getOperands())
      indices.push_back(evaluate(index, environment));
    TensorRef tensor = expr.getTensor();
    if (!tensor.isOperand())
      return get(definition.steps[tensor.number], indices);
    const Tensor &operand = operands[tensor.number];
    int64_t position = 0;
    for (auto [index, extent] : llvm::zip_equal(indices, operand.getShape())) {
      EXPECT_TRUE(index >= 0 && index < extent);
      position = position * extent + index;
    }
    return operand.getInteger(position);
  }

  void reduce(Expr expr, ArrayRef<IndexVar> vars, Environment &environment,
              int64_t &result) const {
    if (vars.empty()) {
      if (Expr guard = expr.getGuard())
        if (!evaluate(guard, environment))
          return;
      result = evaluateInteger(getCombiner(expr.getReduceKind()), {}, result,
                               evaluate(expr.getOperands()[0], environment));
      return;
    }
    int64_t extent = evaluate(vars.front().extent, environment);
    for (int64_t index = 0; index < extent; ++index) {
      environment[vars.front().id] = index;
      reduce(expr, vars.drop_front(), environment, result);
    }
  }

  const Definition &definition;
  ArrayRef<Tensor> operands;
};

class NaiveTest : public ::testing::TestWithParam<const char *> {};

TEST_P(NaiveTest, AgreesWithTheInterpreter) {
  MLIRContext context;
  Type i64 = IntegerType::get(&context, 64);
  std::mt19937 random(7);
  // Extents 1, a prime, 0, and more elements than one block has.
  for (auto [rows, columns] :
       {std::pair(5, 7), std::pair(1, 3), std::pair(0, 4), std::pair(31, 23)}) {
    Instantiation with;
    with.context = &context;
    SmallVector<Tensor> operands;
    for (StringRef name : {"A", "B"}) {
      auto type = RankedTensorType::get({rows, columns}, i64);
      FailureOr<Tensor> tensor = Tensor::create(type);
      ASSERT_TRUE(succeeded(tensor));
      auto *data =
          reinterpret_cast<int64_t *>(tensor->getMutableBytes().data());
      for (int64_t element = 0; element < rows * columns; ++element)
        data[element] = static_cast<int64_t>(random() % 21) - 10;
      with.operands.push_back({name.str(), type});
      operands.push_back(*tensor);
    }
    auto onError = [](const Twine &reason) { ADD_FAILURE() << reason.str(); };
    FailureOr<Definition> definition =
        parseDefinition(GetParam(), with, onError);
    ASSERT_TRUE(succeeded(definition));
    FailureOr<SmallVector<Tensor>> results =
        evaluate(*definition, operands, {}, onError);
    ASSERT_TRUE(succeeded(results));

    Naive naive(*definition, operands);
    const Tensor &result = results->front();
    SmallVector<int64_t> indices(result.getShape().size());
    for (int64_t element = 0; element < result.getNumElements(); ++element) {
      int64_t rest = element;
      for (unsigned dim = indices.size(); dim-- > 0;) {
        indices[dim] = rest % result.getShape()[dim];
        rest /= result.getShape()[dim];
      }
      ASSERT_EQ(result.getInteger(element),
                naive.get(definition->steps[definition->results[0]], indices))
          << "element " << element << " of " << rows << " x " << columns;
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    Texts, NaiveTest,
    ::testing::Values(
        "R[i, j] = A[i, j] * 3 - B[i, j]", "R[j, i] = A[i, j] + j * 100 - i",
        "R[i] = sum(j) A[i, j] * B[i, j]",
        "R[j] = max(i | A[i, j] > 0) A[i, j]",
        "R[] = min(i, j) (A[i, j] + B[i, j])",
        "R[i, k] = sum(j) A[i, j] * B[k, j]",
        "R[i, j] = sum(k < 3, l < 3 | and(and(i + k >= 1, i + k <= size(A, "
        "0)), "
        "and(j + l >= 1, j + l <= size(A, 1)))) A[i + k - 1, j + l - 1] * "
        "(k * 3 + l) + A[i, j] * 0",
        "R[i, j] = A[i, size(A, 1) - 1 - j] + A[i, j]",
        "R[i, j] = (A[i, j] if A[i, j] > B[i, j] else -B[i, j]) % 7",
        "R[i, j] = A[i, (j * 2 + i) % size(A, 1)] // 3 + A[i, j]",
        "M[i] = max(j) A[i, j]; R[i, j] = A[i, j] - M[i]",
        "S[i, j] = A[i, j] * A[i, j]; R[i] = sum(j) (S[i, j] + "
        "(sum(k | k < j) S[i, k]))",
        "R[i] = sum(j) (max(k) (A[i, j] + B[i, k])) * (min(l) A[i, l])",
        "R[i, j] = sum(k | k <= j) (A[i, k] if k % 2 == 0 else B[i, j])"));
} // namespace
