//===- InferTest.cpp - Result types of unverified operations --------------===//
//
// Front ends ask for result types before any verifier has seen the operation,
// so inference checks what it relies on.
//
//===----------------------------------------------------------------------===//

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Diagnostics.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace espalier::graph;

namespace {
class InferTest : public ::testing::Test {
protected:
  InferTest()
      : handler(&context, [&](Diagnostic &diagnostic) {
          error = diagnostic.str();
          return success();
        }) {
    context.loadDialect<GraphDialect>();
  }

  /// Infers the results of `OpTy` on block arguments of the given types; one
  /// line of text.
  template <typename OpTy>
  std::string infer(TypeRange types, ArrayRef<NamedAttribute> attributes = {}) {
    Block block;
    for (Type type : types)
      block.addArgument(type, location);
    OperationState state(location, OpTy::getOperationName());
    auto dictionary = DictionaryAttr::get(&context, attributes);
    typename OpTy::Properties properties;
    if constexpr (!std::is_same_v<typename OpTy::Properties, EmptyProperties>)
      if (failed(OpTy::setPropertiesFromAttr(
              properties, dictionary, [&] { return emitError(location); })))
        return error;
    SmallVector<Type> inferred;
    if (failed(OpTy::inferReturnTypes(&context, location, block.getArguments(),
                                      dictionary, &properties, {}, inferred)))
      return error;
    std::string text;
    llvm::raw_string_ostream os(text);
    llvm::interleaveComma(inferred, os);
    return text;
  }

  NamedAttribute integer(StringRef name, int64_t value) {
    return builder.getNamedAttr(name, builder.getI64IntegerAttr(value));
  }

  MLIRContext context;
  Builder builder{&context};
  Location location = UnknownLoc::get(&context);
  std::string error;
  ScopedDiagnosticHandler handler;
  Type f32 = Float32Type::get(&context);
  Type matrix = RankedTensorType::get({2, 3}, f32);
  Type vector = RankedTensorType::get({3}, f32);
};

TEST_F(InferTest, OperandsGiveTheResult) {
  EXPECT_EQ(infer<AddOp>({matrix, vector}), "tensor<2x3xf32>");
  EXPECT_EQ(infer<SoftmaxOp>({matrix}, {integer("axis", 1)}),
            "tensor<2x3xf32>");
}

TEST_F(InferTest, DefaultsOfAttributesCount) {
  Type square = RankedTensorType::get({3, 3}, f32);
  EXPECT_EQ(infer<MatmulOp>({matrix, square}), "tensor<2x3xf32>");
}

TEST_F(InferTest, OperandsMustBeAsManyAsNeeded) {
  EXPECT_EQ(infer<AddOp>({matrix}),
            "'graph.add' op expects 2 operands, but got 1");
  EXPECT_EQ(infer<ReshapeOp>(
                {}, builder.getNamedAttr("static_sizes",
                                         builder.getDenseI64ArrayAttr({2}))),
            "'graph.reshape' op expects 1 or more operands, but got 0");
}

TEST_F(InferTest, OperandsMustBeRankedTensors) {
  EXPECT_EQ(infer<AddOp>({matrix, UnrankedTensorType::get(f32)}),
            "'graph.add' op expects ranked tensors and indices, but operand #1 "
            "is neither");
}

TEST_F(InferTest, AttributesMustBePresent) {
  EXPECT_EQ(infer<SoftmaxOp>({matrix}),
            "'graph.softmax' op requires attribute 'axis'");
}

TEST_F(InferTest, FaultsOfTheDefinitionAreReported) {
  EXPECT_EQ(infer<SoftmaxOp>({matrix}, {integer("axis", 2)}),
            "'graph.softmax' op expects an axis below the rank 2, but got 2");
}
} // namespace
