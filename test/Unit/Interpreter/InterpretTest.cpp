//===- InterpretTest.cpp - Running functions ------------------------------===//

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Interpreter/Interpreter.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlowOps.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <cmath>

using namespace mlir;
using namespace espalier::interpreter;

namespace {
class InterpretTest : public ::testing::Test {
protected:
  InterpretTest()
      : handler(&context, [&](Diagnostic &diagnostic) {
          error = diagnostic.str();
          return success();
        }) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, scf::SCFDialect,
                        tensor::TensorDialect, espalier::graph::GraphDialect>();
  }

  Tensor make(ArrayRef<int64_t> shape, ArrayRef<float> values) {
    auto type = RankedTensorType::get(shape, Float32Type::get(&context));
    FailureOr<Tensor> tensor = Tensor::create(type);
    EXPECT_TRUE(succeeded(tensor));
    llvm::copy(values,
               reinterpret_cast<float *>(tensor->getMutableBytes().data()));
    return *tensor;
  }

  FailureOr<SmallVector<Tensor>> run(StringRef body,
                                     ArrayRef<Tensor> inputs = {}) {
    module = parseSourceString<ModuleOp>(body, &context);
    EXPECT_TRUE(module) << error;
    return interpret(*module, inputs);
  }

  MLIRContext context;
  std::string error;
  ScopedDiagnosticHandler handler;
  OwningOpRef<ModuleOp> module;
};

TEST_F(InterpretTest, TensorsAreFiniteIfAllElementsAre) {
  EXPECT_TRUE(make({3}, {1, -0.0f, 3e38f}).isFinite());
  EXPECT_TRUE(make({0}, {}).isFinite());
  EXPECT_FALSE(make({3}, {1, 2, HUGE_VALF}).isFinite());
  EXPECT_FALSE(make({2}, {std::nanf(""), 1}).isFinite());
  auto halves = RankedTensorType::get({2}, Float16Type::get(&context));
  FailureOr<Tensor> half = Tensor::create(halves);
  ASSERT_TRUE(succeeded(half));
  auto *bits = reinterpret_cast<uint16_t *>(half->getMutableBytes().data());
  bits[0] = 0x7bff; // 65504
  bits[1] = 0x3c00; // 1
  EXPECT_TRUE(half->isFinite());
  bits[1] = 0xfc00; // Minus infinity.
  EXPECT_FALSE(half->isFinite());
  auto integers = RankedTensorType::get({1}, IntegerType::get(&context, 64));
  FailureOr<Tensor> integer = Tensor::create(integers);
  ASSERT_TRUE(succeeded(integer));
  integer->getMutableBytes().back() = char(0x7f);
  EXPECT_TRUE(integer->isFinite());
}

TEST_F(InterpretTest, SizesChooseBetweenVersions) {
  StringRef text = R"(
    func.func @main(%x: tensor<?xf32>) -> (tensor<?xf32>, tensor<?xf32>) {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %holds = arith.cmpi sge, %n, %c2 : index
      %y = graph.add %x, %x : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      %r:2 = scf.if %holds -> (tensor<?xf32>, index) {
        %0 = graph.add %y, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
        scf.yield %0, %n : tensor<?xf32>, index
      } else {
        %0 = tensor.cast %y : tensor<?xf32> to tensor<1xf32>
        %1 = tensor.cast %0 : tensor<1xf32> to tensor<?xf32>
        %m = arith.muli %n, %n : index
        scf.yield %1, %m : tensor<?xf32>, index
      }
      %s = graph.expand %y to [%r#1] : (tensor<?xf32>) -> tensor<?xf32>
      return %r#0, %s : tensor<?xf32>, tensor<?xf32>
    })";
  auto first = run(text, {make({2}, {1, 3})});
  ASSERT_TRUE(succeeded(first)) << error;
  EXPECT_EQ((*first)[0].getFloat(1), 12);
  EXPECT_EQ((*first)[1].getFloat(1), 6);
  auto second = run(text, {make({1}, {3})});
  ASSERT_TRUE(succeeded(second)) << error;
  EXPECT_EQ((*second)[0].getFloat(0), 6);
}

TEST_F(InterpretTest, CastsAreChecked) {
  auto results = run(R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<2xf32> {
      %r = tensor.cast %x : tensor<?xf32> to tensor<2xf32>
      return %r : tensor<2xf32>
    })",
                     {make({3}, {1, 2, 3})});
  EXPECT_TRUE(failed(results));
  EXPECT_EQ(
      error,
      "'tensor.cast' op expects a tensor of type 'tensor<2xf32>', but got "
      "'tensor<3xf32>'");
}

TEST_F(InterpretTest, SizesAreComputedAtRunTime) {
  auto results = run(R"(
    func.func @main(%x: tensor<?x2xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %c2 = arith.constant 2 : index
      %n = tensor.dim %x, %c0 : tensor<?x2xf32>
      %m = arith.muli %n, %c2 : index
      %r = graph.reshape %x to [%m] : (tensor<?x2xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    })",
                     {make({3, 2}, {1, 2, 3, 4, 5, 6})});
  ASSERT_TRUE(succeeded(results)) << error;
  EXPECT_EQ(results->front().getShape(), ArrayRef<int64_t>{6});
  EXPECT_EQ(results->front().getFloat(5), 6);
}

TEST_F(InterpretTest, InputsMayBeResults) {
  auto results = run(R"(
    func.func @main(%x: tensor<2xf32>) -> (tensor<2xf32>, tensor<2xf32>) {
      %r = graph.add %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>
      return %x, %r : tensor<2xf32>, tensor<2xf32>
    })",
                     {make({2}, {1, 2})});
  ASSERT_TRUE(succeeded(results)) << error;
  EXPECT_EQ((*results)[0].getFloat(1), 2);
  EXPECT_EQ((*results)[1].getFloat(1), 4);
}

TEST_F(InterpretTest, InputsMustFitTheArguments) {
  const char *identity = R"(
    func.func @main(%x: tensor<2x?xf32>) -> tensor<2x?xf32> {
      return %x : tensor<2x?xf32>
    })";
  EXPECT_TRUE(failed(run(identity, {})));
  EXPECT_EQ(error, "expects 1 inputs, but got 0");
  EXPECT_TRUE(failed(run(identity, {make({3, 1}, {1, 2, 3})})));
  EXPECT_EQ(error, "expects input #0 of type 'tensor<2x?xf32>', but got "
                   "'tensor<3x1xf32>'");
  EXPECT_TRUE(succeeded(run(identity, {make({2, 1}, {1, 2})})));
}

TEST_F(InterpretTest, ExtentsAreCheckedAtRunTime) {
  EXPECT_TRUE(failed(run(R"(
    func.func @main(%x: tensor<?xf32>, %y: tensor<?xf32>) -> tensor<?xf32> {
      %r = graph.add %x, %y : (tensor<?xf32>, tensor<?xf32>) -> tensor<?xf32>
      return %r : tensor<?xf32>
    })",
                         {make({2}, {1, 2}), make({3}, {1, 2, 3})})));
  EXPECT_EQ(error, "'graph.add' op expects extents of b0 to agree, but got 3 "
                   "where 2 is needed");
}

TEST_F(InterpretTest, ExtentsOfOneNameAreEqual) {
  EXPECT_TRUE(failed(run(R"(
    func.func @main(%x: tensor<?xf32> {espalier.dims = ["n"]}, %y: tensor<?xf32> {espalier.dims = ["n"]}) -> tensor<?xf32> {
      return %y : tensor<?xf32>
    })",
                         {make({2}, {1, 2}), make({3}, {1, 2, 3})})));
  EXPECT_EQ(error, "expects input #1 with n = 2 in dimension 0 as in input #0, "
                   "but got 3");
}

TEST_F(InterpretTest, NegativeExtentsAreRefused) {
  EXPECT_TRUE(failed(run(R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {
      %c0 = arith.constant 0 : index
      %c5 = arith.constant 5 : index
      %n = tensor.dim %x, %c0 : tensor<?xf32>
      %m = arith.subi %n, %c5 : index
      %r = graph.iota [%m] {axis = 0 : i64, element_type = f32} : tensor<?xf32>
      return %r : tensor<?xf32>
    })",
                         {make({3}, {1, 2, 3})})));
  EXPECT_EQ(error, "'graph.iota' op expects a result without negative extents, "
                   "but got -2 where 0 is the least");
}

TEST_F(InterpretTest, PromisedExtentsAreChecked) {
  EXPECT_TRUE(failed(run(R"(
    func.func @main(%x: tensor<?xf32>) -> tensor<4xf32> {
      %r = graph.neg %x : (tensor<?xf32>) -> tensor<4xf32>
      return %r : tensor<4xf32>
    })",
                         {make({2}, {1, 2})})));
  EXPECT_EQ(error, "'graph.neg' op expects a result of type 'tensor<4xf32>', "
                   "but got 'tensor<2xf32>'");
}

TEST_F(InterpretTest, OtherOperationsAreRefused) {
  EXPECT_TRUE(failed(run(R"(
    func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {
      %r = arith.negf %x : tensor<2xf32>
      return %r : tensor<2xf32>
    })",
                         {make({2}, {1, 2})})));
  EXPECT_EQ(error, "'arith.negf' op expects an operation that the interpreter "
                   "knows: graph operators, tensor.dim, tensor.cast, scf.if, "
                   "arithmetic on indices");
}

TEST_F(InterpretTest, ThereMustBeAFunctionMain) {
  EXPECT_TRUE(failed(run("func.func private @main()")));
  EXPECT_EQ(error, "expects a function 'main' with a body");
}

TEST_F(InterpretTest, ResultsMustBeTensors) {
  EXPECT_TRUE(failed(run(R"(
    func.func @main() -> index {
      %c0 = arith.constant 0 : index
      return %c0 : index
    })")));
  EXPECT_EQ(error, "expects results that are tensors, but got 'index'");
}

TEST_F(InterpretTest, DimensionsMustExist) {
  EXPECT_TRUE(failed(run(R"(
    func.func @main(%x: tensor<2xf32>) -> tensor<?xf32> {
      %c1 = arith.constant 1 : index
      %n = tensor.dim %x, %c1 : tensor<2xf32>
      %r = graph.const_one [%n] {element_type = f32} : tensor<?xf32>
      return %r : tensor<?xf32>
    })",
                         {make({2}, {1, 2})})));
  EXPECT_EQ(error,
            "'tensor.dim' op expects a dimension below the rank, but got 1");
}

TEST_F(InterpretTest, FunctionsHaveOneBlock) {
  context.loadDialect<cf::ControlFlowDialect>();
  EXPECT_TRUE(failed(run(R"(
    func.func @main() {
      cf.br ^bb1
    ^bb1:
      return
    })")));
  EXPECT_EQ(error, "expects a function with one block, but got 2");
}

TEST_F(InterpretTest, ResourcesMustBePresent) {
  EXPECT_TRUE(failed(run(R"(
    func.func @main() -> tensor<2xf32> {
      %r = graph.constant dense_resource<absent> : tensor<2xf32>
      return %r : tensor<2xf32>
    })")));
  EXPECT_EQ(error, "'graph.constant' op expects a value that is present, but "
                   "got 'tensor<2xf32>' without bytes");
}
} // namespace
