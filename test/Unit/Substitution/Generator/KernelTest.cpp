//===- KernelTest.cpp - Values in the field against definitions -----------===//
//
// Evaluates the definition of an operator of `graph` element by element in the
// field, by recursion over its expressions, and compares with what the kernel
// of the operator that has this meaning in rules gives, or, where there is
// none, its own definition.
//
//===----------------------------------------------------------------------===//

#include "Derived.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Substitution/Generator/Kernels.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::substitution;
using namespace espalier::substitution::generator;

namespace {
struct Operand {
  Shape shape;
  std::vector<uint32_t> data;
};

/// Evaluates a definition at one of the points. A value is an integer, or the
/// number of an element of the field where the type is a floating-point one.
class FieldEvaluator {
public:
  FieldEvaluator(const Definition &definition, ArrayRef<Operand> operands,
                 unsigned lane)
      : definition(definition), operands(operands), lane(lane) {}

  int64_t get(const Step &step, ArrayRef<int64_t> indices) {
    auto saved = environment;
    for (auto [var, index] : llvm::zip_equal(step.indices, indices))
      environment[var.id] = index;
    int64_t value = evaluate(step.value);
    environment = saved;
    return value;
  }
  int64_t getExtent(const IndexVar &var) { return evaluate(var.extent); }

private:
  static bool isElement(Expr expr) {
    return expr.getType() && isa<FloatType>(expr.getType());
  }

  int64_t evaluate(Expr expr) {
    ArrayRef<Expr> args = expr.getOperands();
    switch (expr.getKind()) {
    case Expr::Kind::Constant: {
      int64_t value = expr.getInt() ? *expr.getInt()
                                    : static_cast<int64_t>(expr.getFloat());
      return isElement(expr) ? fromInteger(value) : value;
    }
    case Expr::Kind::Variable:
      return environment.lookup(expr.getVariable());
    case Expr::Kind::Size:
      return operands[expr.getTensor().number].shape.dims[expr.getNumber()];
    case Expr::Kind::Access:
      return access(expr);
    case Expr::Kind::Apply:
      return apply(expr, llvm::any_of(args, isElement));
    case Expr::Kind::Select:
      return evaluate(args[0]) ? evaluate(args[1]) : evaluate(args[2]);
    case Expr::Kind::Cast: {
      int64_t value = evaluate(args[0]);
      return isElement(expr) && !isElement(args[0]) ? fromInteger(value)
                                                    : value;
    }
    case Expr::Kind::Reduce: {
      EXPECT_TRUE(isElement(expr));
      bool isMax = expr.getReduceKind() == ReduceKind::Max;
      EXPECT_TRUE(isMax || expr.getReduceKind() == ReduceKind::Sum);
      int64_t result = isMax ? getLeast() : 0;
      reduce(expr, expr.getReduceVars(), result);
      return result;
    }
    case Expr::Kind::Parameter:
      break;
    }
    ADD_FAILURE() << "unexpected expression";
    return 0;
  }

  int64_t apply(Expr expr, bool isOnElements) {
    SmallVector<int64_t, 2> values;
    for (Expr operand : expr.getOperands()) {
      // A literal takes the type of the other operand.
      int64_t value = evaluate(operand);
      values.push_back(isOnElements && !isElement(operand) ? fromInteger(value)
                                                           : value);
    }
    int64_t lhs = values.front(), rhs = values.back();
    if (!isOnElements)
      return evaluateInteger(expr.getFn(), lhs, rhs);
    switch (expr.getFn()) {
    case ScalarFn::Add:
      return generator::add(lhs, rhs);
    case ScalarFn::Sub:
      return generator::add(lhs, kPrime - rhs);
    case ScalarFn::Mul:
      return multiply(lhs, rhs);
    case ScalarFn::Div:
      return multiply(lhs, invert(rhs));
    case ScalarFn::Max:
      return maximum(lhs, rhs);
    case ScalarFn::Min:
      return maximum(lhs, rhs) == lhs ? rhs : lhs;
    case ScalarFn::Neg:
      return subtract(0, lhs);
    case ScalarFn::Abs:
      return maximum(lhs, subtract(0, lhs));
    case ScalarFn::Exp:
      return applyExp(lhs);
    case ScalarFn::Tanh:
      return applyTanh(lhs);
    default:
      ADD_FAILURE() << "unexpected function of elements";
      return 0;
    }
  }

  static int64_t evaluateInteger(ScalarFn fn, int64_t lhs, int64_t rhs) {
    switch (fn) {
    case ScalarFn::Add:
      return lhs + rhs;
    case ScalarFn::Sub:
      return lhs - rhs;
    case ScalarFn::Mul:
      return lhs * rhs;
    case ScalarFn::FloorDiv:
      return llvm::divideFloorSigned(lhs, rhs);
    case ScalarFn::Mod:
      return lhs - llvm::divideFloorSigned(lhs, rhs) * rhs;
    case ScalarFn::Max:
      return std::max(lhs, rhs);
    case ScalarFn::Min:
      return std::min(lhs, rhs);
    case ScalarFn::And:
      return lhs & rhs;
    case ScalarFn::Equal:
      return lhs == rhs;
    case ScalarFn::Less:
      return lhs < rhs;
    case ScalarFn::LessEqual:
      return lhs <= rhs;
    case ScalarFn::Greater:
      return lhs > rhs;
    case ScalarFn::GreaterEqual:
      return lhs >= rhs;
    default:
      ADD_FAILURE() << "unexpected function of indices";
      return 0;
    }
  }

  int64_t access(Expr expr) {
    SmallVector<int64_t> indices;
    for (Expr index : expr.getOperands())
      indices.push_back(evaluate(index));
    TensorRef tensor = expr.getTensor();
    if (!tensor.isOperand())
      return get(definition.steps[tensor.number], indices);
    const Operand &operand = operands[tensor.number];
    int64_t position = 0;
    for (unsigned i = 0; i < indices.size(); ++i) {
      EXPECT_TRUE(indices[i] >= 0 && indices[i] < operand.shape.dims[i]);
      position = position * operand.shape.dims[i] + indices[i];
    }
    return operand.data[position * kLanes + lane];
  }

  void reduce(Expr expr, ArrayRef<IndexVar> vars, int64_t &result) {
    if (vars.empty()) {
      if (Expr guard = expr.getGuard())
        if (!evaluate(guard))
          return;
      int64_t value = evaluate(expr.getOperands()[0]);
      result = expr.getReduceKind() == ReduceKind::Max
                   ? maximum(result, value)
                   : generator::add(result, value);
      return;
    }
    int64_t extent = evaluate(vars.front().extent);
    for (int64_t index = 0; index < extent; ++index) {
      environment[vars.front().id] = index;
      reduce(expr, vars.drop_front(), result);
    }
  }

  const Definition &definition;
  ArrayRef<Operand> operands;
  unsigned lane;
  llvm::DenseMap<VarId, int64_t> environment;
};

/// An operator of rules, the shapes of its operands (of the result, for a
/// constant), and the operation of `graph` that means the same at these sizes.
struct KernelCase {
  OpKind kind;
  std::vector<Param> params;
  std::vector<std::vector<uint8_t>> shapes;
  const char *semantics;
};

class KernelTest : public ::testing::TestWithParam<KernelCase> {
protected:
  KernelTest() {
    context.loadDialect<func::FuncDialect, graph::GraphDialect>();
  }

  static Shape getShape(ArrayRef<uint8_t> dims) {
    Shape shape;
    for (uint8_t dim : dims)
      shape.dims[shape.rank++] = dim;
    return shape;
  }
  static std::string getType(ArrayRef<uint8_t> dims) {
    std::string type = "tensor<";
    for (uint8_t dim : dims)
      type += std::to_string(dim) + "x";
    return type + "f64>";
  }

  FailureOr<Definition> getMeaning(const KernelCase &test) {
    std::string text = "func.func @f(";
    bool isConstant = getInfo(test.kind).isConstant();
    for (size_t i = 0; i < test.shapes.size() && !isConstant; ++i)
      text += std::string(i ? ", " : "") + "%" + char('a' + i) + ": " +
              getType(test.shapes[i]);
    text += ") { %r = " + std::string(test.semantics) + "\n return }";
    module = parseSourceString<ModuleOp>(text, &context);
    if (!module)
      return failure();
    FailureOr<Definition> result = failure();
    module->walk([&](graph::DefinedOpInterface op) {
      result = op.getDefinition(
          [](const Twine &reason) { ADD_FAILURE() << reason.str(); });
    });
    return result;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_P(KernelTest, AgreesWithTheDefinition) {
  const KernelCase &test = GetParam();
  FailureOr<Definition> definition = getMeaning(test);
  ASSERT_TRUE(succeeded(definition));
  std::optional<generator::ConcreteOperator> operation =
      getOperation(test.kind, test.params);
  ASSERT_TRUE(operation);
  EXPECT_TRUE(llvm::equal(operation->getParams(), test.params));
  DerivedOperators derived;
  // Elements of all sizes, so that sums and products wrap around too.
  Random random(5);
  std::vector<Operand> operands;
  std::vector<generator::TensorType> types(test.shapes.size());
  for (size_t i = 0; i < test.shapes.size(); ++i) {
    Shape shape = getShape(test.shapes[i]);
    if (getInfo(test.kind).isConstant()) {
      operation->constantShape = shape;
      break;
    }
    types[i].shape = shape;
    operands.push_back({shape, {}});
    for (unsigned j = 0; j < shape.getNumElements() * kLanes; ++j)
      operands[i].data.push_back(random.below(kPrime));
  }
  operation->derived = derived.get(*operation);
  // What rules leave out: extents of 1 behind a vector, the value of a border.
  if (test.kind == OpKind::BAdd || test.kind == OpKind::BMul)
    types[1].shape = getShape(test.shapes[1][0]);
  if (test.kind == OpKind::Pad)
    operands[1].data.assign(kLanes, 0);
  if (test.kind == OpKind::Split) {
    types[0].boundaries[operation->axis].count = 1;
    types[0].boundaries[operation->axis].at[0] = 2;
  }
  std::vector<const generator::TensorType *> pointers;
  std::vector<TensorView> views;
  for (size_t i = 0; i < operands.size(); ++i) {
    pointers.push_back(&types[i]);
    views.push_back({&types[i], operands[i].data.data()});
  }
  std::optional<generator::TensorType> type =
      inferType(*operation, pointers.data());
  ASSERT_TRUE(type);
  std::vector<uint32_t> result(type->shape.getNumElements() * kLanes);
  generator::evaluate(*operation, views.data(), *type, result.data());

  const Step &step = definition->steps[definition->results[0]];
  for (unsigned lane = 0; lane < kLanes; ++lane) {
    FieldEvaluator evaluator(*definition, operands, lane);
    ASSERT_EQ(step.indices.size(), type->shape.rank);
    for (unsigned i = 0; i < type->shape.rank; ++i)
      ASSERT_EQ(evaluator.getExtent(step.indices[i]), type->shape.dims[i]);
    SmallVector<int64_t> indices(type->shape.rank);
    for (unsigned element = 0; element < type->shape.getNumElements();
         ++element) {
      unsigned rest = element;
      for (unsigned dim = type->shape.rank; dim-- > 0;) {
        indices[dim] = rest % type->shape.dims[dim];
        rest /= type->shape.dims[dim];
      }
      ASSERT_EQ(result[element * kLanes + lane], evaluator.get(step, indices))
          << "element " << element;
    }
  }
}

// Rules are matched with operands in either order where the table says so.
TEST(OperatorTableTest, CommutativeOperatorsAre) {
  Random random(6);
  DerivedOperators derived;
  unsigned count = 0;
  for (const OperatorInfo &info : getOperators()) {
    if (!info.isCommutative())
      continue;
    ++count;
    ASSERT_TRUE(info.numOperands == 2 && info.has(kElementwise))
        << info.name.str();
    generator::ConcreteOperator operation = *getOperation(info.kind, {});
    operation.derived = derived.get(operation);
    generator::TensorType type;
    type.shape.rank = 2;
    type.shape.dims = {3, 5};
    std::vector<uint32_t> lhs(15 * kLanes), rhs(lhs), results[2] = {lhs, lhs};
    for (std::vector<uint32_t> *values : {&lhs, &rhs})
      std::generate(values->begin(), values->end(),
                    [&] { return random.below(kPrime); });
    TensorView views[] = {{&type, lhs.data()}, {&type, rhs.data()}};
    generator::evaluate(operation, views, type, results[0].data());
    std::swap(views[0], views[1]);
    generator::evaluate(operation, views, type, results[1].data());
    EXPECT_EQ(results[0], results[1]) << info.name.str();
  }
  EXPECT_GE(count, 4u);
}

INSTANTIATE_TEST_SUITE_P(
    Operators, KernelTest,
    ::testing::Values(
        KernelCase{OpKind::Matmul,
                   {{kNoActivation}},
                   {{2, 3}, {3, 4}},
                   "graph.matmul %a, %b : (tensor<2x3xf64>, tensor<3x4xf64>) "
                   "-> tensor<2x4xf64>"},
        KernelCase{OpKind::Matmul,
                   {{kReluActivation}},
                   {{3, 2}, {2, 5}},
                   "graph.matmul %a, %b {activation = "
                   "#graph.activation<relu>} : (tensor<3x2xf64>, "
                   "tensor<2x5xf64>) -> tensor<3x5xf64>"},
        KernelCase{OpKind::EwAdd,
                   {},
                   {{2, 3}, {2, 3}},
                   "graph.add %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> "
                   "tensor<2x3xf64>"},
        KernelCase{OpKind::EwMul,
                   {},
                   {{2, 3}, {2, 3}},
                   "graph.mul %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> "
                   "tensor<2x3xf64>"},
        KernelCase{OpKind::SMul,
                   {},
                   {{2, 3}, {}},
                   "graph.mul %a, %b : (tensor<2x3xf64>, tensor<f64>) -> "
                   "tensor<2x3xf64>"},
        KernelCase{OpKind::EwSub,
                   {},
                   {{2, 3}, {2, 3}},
                   "graph.sub %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> "
                   "tensor<2x3xf64>"},
        KernelCase{OpKind::EwMax,
                   {},
                   {{2, 3}, {2, 3}},
                   "graph.max %a, %b : (tensor<2x3xf64>, tensor<2x3xf64>) -> "
                   "tensor<2x3xf64>"},
        KernelCase{
            OpKind::EwMin,
            {},
            {{2, 3, 4}, {2, 3, 4}},
            "graph.min %a, %b : (tensor<2x3x4xf64>, tensor<2x3x4xf64>) -> "
            "tensor<2x3x4xf64>"},
        KernelCase{OpKind::Exp,
                   {},
                   {{2, 3}},
                   "graph.exp %a : (tensor<2x3xf64>) -> tensor<2x3xf64>"},
        KernelCase{OpKind::SMax,
                   {},
                   {{2, 3}, {}},
                   "graph.max %a, %b : (tensor<2x3xf64>, tensor<f64>) -> "
                   "tensor<2x3xf64>"},
        KernelCase{OpKind::Abs,
                   {},
                   {{2, 3}},
                   "graph.abs %a : (tensor<2x3xf64>) -> tensor<2x3xf64>"},
        KernelCase{OpKind::Tanh,
                   {},
                   {{2, 3}},
                   "graph.tanh %a : (tensor<2x3xf64>) -> tensor<2x3xf64>"},
        KernelCase{OpKind::Sigmoid,
                   {},
                   {{2, 3}},
                   "graph.sigmoid %a : (tensor<2x3xf64>) -> tensor<2x3xf64>"},
        KernelCase{OpKind::Bmm,
                   {{kNoActivation}, {3, 3}},
                   {{2, 3, 4}, {2, 4, 5}},
                   "graph.matmul %a, %b : (tensor<2x3x4xf64>, "
                   "tensor<2x4x5xf64>) -> tensor<2x3x5xf64>"},
        KernelCase{
            OpKind::Bmm,
            {{kReluActivation}, {3, 2}},
            {{2, 3, 4}, {4, 5}},
            "graph.matmul %a, %b {activation = #graph.activation<relu>} : "
            "(tensor<2x3x4xf64>, tensor<4x5xf64>) -> tensor<2x3x5xf64>"},
        KernelCase{OpKind::Bmm,
                   {{kNoActivation}, {3, 4}},
                   {{2, 3, 4}, {3, 2, 4, 5}},
                   "graph.matmul %a, %b : (tensor<2x3x4xf64>, "
                   "tensor<3x2x4x5xf64>) -> tensor<3x2x3x5xf64>"},
        KernelCase{OpKind::Swap,
                   {{0, 2}, {3}},
                   {{2, 3, 4}},
                   "graph.transpose %a {permutation = array<i64: 2, 1, 0>} : "
                   "(tensor<2x3x4xf64>) -> tensor<4x3x2xf64>"},
        KernelCase{OpKind::Swap,
                   {{1, 2}, {4}},
                   {{2, 3, 4, 5}},
                   "graph.transpose %a {permutation = array<i64: 0, 2, 1, 3>} "
                   ": (tensor<2x3x4x5xf64>) -> tensor<2x4x3x5xf64>"},
        KernelCase{OpKind::ReduceSum,
                   {{1}, {3}},
                   {{2, 3, 4}},
                   "graph.reduce_sum %a {axes = array<i64: 1>} : "
                   "(tensor<2x3x4xf64>) -> tensor<2x4xf64>"},
        KernelCase{OpKind::ReduceMax,
                   {{0}, {2}},
                   {{3, 4}},
                   "graph.reduce_max %a {axes = array<i64: 0>} : "
                   "(tensor<3x4xf64>) -> tensor<4xf64>"},
        KernelCase{OpKind::Slice,
                   {{1}, {3}, {1}, {2}},
                   {{2, 4, 3}},
                   "graph.slice %a [0, 1, 0] [2, 2, 3] {steps = array<i64: 1, "
                   "1, 1>} : (tensor<2x4x3xf64>) -> tensor<2x2x3xf64>"},
        KernelCase{OpKind::Pad,
                   {{1}, {3}, {1}, {2}},
                   {{2, 4, 3}, {}},
                   "graph.pad %a, %b {low = array<i64: 0, 1, 0>, high = "
                   "array<i64: 0, 2, 0>} : (tensor<2x4x3xf64>, tensor<f64>) -> "
                   "tensor<2x7x3xf64>"},
        KernelCase{OpKind::BAdd,
                   {{1}, {2}},
                   {{2, 3}, {3}},
                   "graph.add %a, %b : (tensor<2x3xf64>, tensor<3xf64>) -> "
                   "tensor<2x3xf64>"},
        KernelCase{OpKind::BMul,
                   {{1}, {3}},
                   {{2, 3, 4}, {3, 1}},
                   "graph.mul %a, %b : (tensor<2x3x4xf64>, tensor<3x1xf64>) -> "
                   "tensor<2x3x4xf64>"},
        KernelCase{OpKind::Relu,
                   {},
                   {{5, 3}},
                   "graph.relu %a : (tensor<5x3xf64>) -> tensor<5x3xf64>"},
        KernelCase{OpKind::Transpose,
                   {},
                   {{5, 3}},
                   "graph.transpose %a {permutation = array<i64: 1, 0>} : "
                   "(tensor<5x3xf64>) -> tensor<3x5xf64>"},
        KernelCase{OpKind::Concat,
                   {{1}, {3}},
                   {{2, 3, 2}, {2, 1, 2}},
                   "graph.concat %a, %b {axis = 1 : i64} : (tensor<2x3x2xf64>, "
                   "tensor<2x1x2xf64>) -> tensor<2x4x2xf64>"},
        KernelCase{OpKind::Concat,
                   {{0}, {2}},
                   {{2, 3}, {4, 3}},
                   "graph.concat %a, %b {axis = 0 : i64} : (tensor<2x3xf64>, "
                   "tensor<4x3xf64>) -> tensor<6x3xf64>"},
        KernelCase{OpKind::Split,
                   {{1}, {0}},
                   {{3, 5, 2}},
                   "graph.slice %a [0, 0, 0] [3, 2, 2] {steps = array<i64: 1, "
                   "1, 1>} : (tensor<3x5x2xf64>) -> tensor<3x2x2xf64>"},
        KernelCase{OpKind::Split,
                   {{1}, {1}},
                   {{3, 5, 2}},
                   "graph.slice %a [0, 2, 0] [3, 3, 2] {steps = array<i64: 1, "
                   "1, 1>} : (tensor<3x5x2xf64>) -> tensor<3x3x2xf64>"},
        KernelCase{OpKind::Enlarge,
                   {{3, 5}},
                   {{2, 2, 1, 3}},
                   "graph.enlarge %a {kernel = array<i64: 3, 5>} : "
                   "(tensor<2x2x1x3xf64>) -> tensor<2x2x3x5xf64>"}));

// Paddings are those of SAME, worked out by hand.
INSTANTIATE_TEST_SUITE_P(
    Windows, KernelTest,
    ::testing::Values(
        KernelCase{OpKind::Conv2d,
                   {{1, 1}, {kSame}, {kNoActivation}},
                   {{2, 4, 5, 3}, {4, 4, 3, 3}},
                   "graph.conv %a, %b {strides = array<i64: 1, 1>, pads_low = "
                   "array<i64: 1, 1>, pads_high = array<i64: 1, 1>, dilations "
                   "= array<i64: 1, 1>} : (tensor<2x4x5x3xf64>, "
                   "tensor<4x4x3x3xf64>) -> tensor<2x4x5x3xf64>"},
        KernelCase{OpKind::Conv2d,
                   {{2, 2}, {kSame}, {kReluActivation}},
                   {{1, 4, 5, 4}, {6, 2, 3, 3}},
                   "graph.conv %a, %b {strides = array<i64: 2, 2>, pads_low = "
                   "array<i64: 1, 0>, pads_high = array<i64: 1, 1>, dilations "
                   "= array<i64: 1, 1>, groups = 2 : i64, activation = "
                   "#graph.activation<relu>} : (tensor<1x4x5x4xf64>, "
                   "tensor<6x2x3x3xf64>) -> tensor<1x6x3x2xf64>"},
        KernelCase{OpKind::Conv2d,
                   {{1, 2}, {kValid}, {kNoActivation}},
                   {{1, 3, 4, 5}, {3, 1, 2, 3}},
                   "graph.conv %a, %b {strides = array<i64: 1, 2>, pads_low = "
                   "array<i64: 0, 0>, pads_high = array<i64: 0, 0>, dilations "
                   "= array<i64: 1, 1>, groups = 3 : i64} : "
                   "(tensor<1x3x4x5xf64>, tensor<3x1x2x3xf64>) -> "
                   "tensor<1x3x3x2xf64>"},
        KernelCase{OpKind::Conv2d,
                   {{1, 1}, {kSame}, {kNoActivation}},
                   {{1, 2, 3, 4}, {1, 2, 2, 4}},
                   "graph.conv %a, %b {strides = array<i64: 1, 1>, pads_low = "
                   "array<i64: 0, 1>, pads_high = array<i64: 1, 2>, dilations "
                   "= array<i64: 1, 1>} : (tensor<1x2x3x4xf64>, "
                   "tensor<1x2x2x4xf64>) -> tensor<1x1x3x4xf64>"},
        KernelCase{OpKind::PoolMax,
                   {{3, 3}, {1, 1}, {kSame}},
                   {{1, 2, 3, 4}},
                   "graph.max_pool %a {kernel = array<i64: 3, 3>, strides = "
                   "array<i64: 1, 1>, pads_low = array<i64: 1, 1>, pads_high = "
                   "array<i64: 1, 1>, dilations = array<i64: 1, 1>} : "
                   "(tensor<1x2x3x4xf64>) -> tensor<1x2x3x4xf64>"},
        KernelCase{OpKind::PoolMax,
                   {{2, 3}, {2, 1}, {kValid}},
                   {{1, 2, 5, 4}},
                   "graph.max_pool %a {kernel = array<i64: 2, 3>, strides = "
                   "array<i64: 2, 1>, pads_low = array<i64: 0, 0>, pads_high = "
                   "array<i64: 0, 0>, dilations = array<i64: 1, 1>} : "
                   "(tensor<1x2x5x4xf64>) -> tensor<1x2x2x2xf64>"},
        KernelCase{OpKind::PoolAvg,
                   {{3, 3}, {2, 2}, {kSame}},
                   {{2, 1, 5, 4}},
                   "graph.avg_pool %a {kernel = array<i64: 3, 3>, strides = "
                   "array<i64: 2, 2>, pads_low = array<i64: 1, 0>, pads_high = "
                   "array<i64: 1, 1>, dilations = array<i64: 1, 1>, "
                   "count_include_pad = true} : (tensor<2x1x5x4xf64>) -> "
                   "tensor<2x1x3x2xf64>"},
        KernelCase{OpKind::PoolAvg,
                   {{2, 2}, {1, 1}, {kValid}},
                   {{1, 2, 3, 3}},
                   "graph.avg_pool %a {kernel = array<i64: 2, 2>, strides = "
                   "array<i64: 1, 1>, pads_low = array<i64: 0, 0>, pads_high = "
                   "array<i64: 0, 0>, dilations = array<i64: 1, 1>, "
                   "count_include_pad = true} : (tensor<1x2x3x3xf64>) -> "
                   "tensor<1x2x2x2xf64>"}));

INSTANTIATE_TEST_SUITE_P(
    Constants, KernelTest,
    ::testing::Values(
        KernelCase{OpKind::ConstIConv,
                   {{3, 2}},
                   {{6, 3, 3, 2}},
                   "graph.const_iconv [6, 3, 3, 2] {element_type = f64} : "
                   "tensor<6x3x3x2xf64>"},
        KernelCase{OpKind::ConstPool,
                   {{3, 3}},
                   {{4, 1, 3, 3}},
                   "graph.const_pool [4, 1, 3, 3] {element_type = f64} : "
                   "tensor<4x1x3x3xf64>"},
        KernelCase{OpKind::ConstPool,
                   {{2, 3}},
                   {{4, 2, 2, 3}},
                   "graph.const_pool [4, 2, 2, 3] {element_type = f64} : "
                   "tensor<4x2x2x3xf64>"},
        KernelCase{OpKind::ConstImm,
                   {},
                   {{3, 5}},
                   "graph.const_imm [3, 5] {element_type = f64} : "
                   "tensor<3x5xf64>"},
        KernelCase{OpKind::ConstOne,
                   {},
                   {{2, 3}},
                   "graph.const_one [2, 3] {element_type = f64} : "
                   "tensor<2x3xf64>"}));
} // namespace
