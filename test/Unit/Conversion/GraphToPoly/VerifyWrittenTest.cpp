//===- VerifyWrittenTest.cpp - Is what is left out noticed? ---------------===//

#include "Emit/KernelEmitter.h"
#include "Normalize.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graphtopoly;

namespace {
class VerifyWrittenTest : public ::testing::Test {
protected:
  VerifyWrittenTest() {
    context
        .loadDialect<graph::GraphDialect, poly::PolyDialect, func::FuncDialect,
                     arith::ArithDialect, memref::MemRefDialect,
                     scf::SCFDialect, tensor::TensorDialect>();
  }

  /// y = concat(x, -x), viewed under another shape.
  DispatchVariant makeVariant() {
    module = parseSourceString<ModuleOp>(R"mlir(
      func.func @main(%x: tensor<4x?xf32>, %n: tensor<?xf32>) -> tensor<?xf32> {
        %c0 = arith.constant 0 : index
        %m = graph.neg %x : (tensor<4x?xf32>) -> tensor<4x?xf32>
        %c = graph.concat %x, %m {axis = 1 : i64}
            : (tensor<4x?xf32>, tensor<4x?xf32>) -> tensor<4x?xf32>
        %s = tensor.dim %n, %c0 : tensor<?xf32>
        %y = graph.reshape %c to [%s] : (tensor<4x?xf32>) -> tensor<?xf32>
        return %y : tensor<?xf32>
      })mlir",
                                         &context);
    auto function = module->lookupSymbol<func::FuncOp>("main");
    FailureOr<StatementList> program = buildStatements(function);
    EXPECT_TRUE(succeeded(program));
    normalize(*program);
    SmallVector<FusionGroup> fusionGroups = formFusionGroups(*program);
    return {std::move(*program), std::move(fusionGroups)};
  }

  /// What is reported; empty if all is well.
  std::string check(const DispatchVariant &variant) {
    std::string text;
    ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diag) {
      text += diag.str();
      return success();
    });
    EXPECT_EQ(failed(verifyWritten(variant)), !text.empty());
    return text;
  }

  /// The statement that joins the two parts.
  Statement &getConcat(DispatchVariant &variant) {
    return variant.program.statements.back();
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(VerifyWrittenTest, PartsThatCoverAResultAreEnough) {
  DispatchVariant variant = makeVariant();
  EXPECT_EQ(getConcat(variant).pieces.size(), 2u);
  EXPECT_EQ(check(variant), "");
}

TEST_F(VerifyWrittenTest, AResultThatNobodyWrites) {
  DispatchVariant variant = makeVariant();
  variant.fusionGroups.clear();
  EXPECT_NE(check(variant).find("expects kernels that write result #0, but "
                                "nobody writes element ("),
            std::string::npos);
}

TEST_F(VerifyWrittenTest, AResultOfWhichAPartIsLeftOut) {
  DispatchVariant variant = makeVariant();
  getConcat(variant).pieces.pop_back();
  EXPECT_NE(check(variant).find("result #0, but nobody writes element ("),
            std::string::npos);
}

TEST_F(VerifyWrittenTest, AResultThatIsComputedInAnotherPlace) {
  DispatchVariant variant = makeVariant();
  Statement &concat = getConcat(variant);
  concat.targetIndices = {getAffineDimExpr(0, &context),
                          getAffineDimExpr(1, &context) + 1};
  EXPECT_EQ(check(variant), "expects kernels that write result #0, but nobody "
                            "writes element (0, 0)");
}

TEST_F(VerifyWrittenTest, AnArrayThatIsReadBeforeItIsWritten) {
  DispatchVariant variant = makeVariant();
  ASSERT_EQ(variant.program.statements.size(), 2u);
  variant.fusionGroups = {{{1}, 0}, {{0}, 0}};
  EXPECT_EQ(check(variant), "expects kernels that write an array before it is "
                            "read, but it is read earlier");
  variant.fusionGroups = {{{1}, 0}};
  EXPECT_NE(check(variant).find("an array before it is read, but nobody writes "
                                "element ("),
            std::string::npos);
}
} // namespace
