//===- BuildStatementsTest.cpp - From operators to statements -------------===//
//
// Definitions of forms that no operator has yet.
//
//===----------------------------------------------------------------------===//

#include "Emit/KernelEmitter.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/ControlFlow/IR/ControlFlow.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/Verifier.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graphtopoly;

namespace {
/// `test.defined` on A and B, whose definition is its attribute `text`.
struct TestOp : Op<TestOp, OpTrait::OneResult, OpTrait::NOperands<2>::Impl,
                   OpTrait::ZeroRegions, OpTrait::ZeroSuccessors,
                   graph::DefinedOpInterface::Trait> {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestOp)
  using Op::Op;
  static StringRef getOperationName() { return "test.defined"; }
  static ArrayRef<StringRef> getAttributeNames() { return {}; }
  FailureOr<definition::Definition>
  getDefinition(graph::DefinitionError error) {
    return graph::detail::defineFromText(
        getOperation()->getAttrOfType<StringAttr>("text"), {"A", "B"},
        getOperation()->getOperands(), {}, error);
  }
};

struct TestDialect : Dialect {
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(TestDialect)
  static constexpr StringLiteral getDialectNamespace() { return "test"; }
  explicit TestDialect(MLIRContext *context)
      : Dialect(getDialectNamespace(), context, TypeID::get<TestDialect>()) {
    addOperations<TestOp>();
  }
};

class BuildStatementsTest : public ::testing::Test {
protected:
  BuildStatementsTest() {
    context.loadDialect<TestDialect, graph::GraphDialect, poly::PolyDialect,
                        func::FuncDialect, arith::ArithDialect,
                        cf::ControlFlowDialect, memref::MemRefDialect>();
  }

  /// A function that applies the definition to its arguments.
  func::FuncOp makeFunction(StringRef text, Type a, Type b, Type result) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    auto function = func::FuncOp::create(
        builder, loc, "main", builder.getFunctionType({a, b}, result));
    builder.setInsertionPointToEnd(function.addEntryBlock());
    OperationState state(
        loc, "test.defined", function.getArguments(), result,
        builder.getNamedAttr("text", builder.getStringAttr(text)));
    Operation *op = builder.create(state);
    func::ReturnOp::create(builder, loc, op->getResults());
    return function;
  }

  MLIRContext context;
  OwningOpRef<ModuleOp> module;
};

TEST_F(BuildStatementsTest, AnExtentThatIsNotAffineIsASymbol) {
  auto vector =
      RankedTensorType::get({ShapedType::kDynamic}, Float32Type::get(&context));
  func::FuncOp function = makeFunction(
      "R[i] = sum(k < max(size(A, 0), size(B, 0)) | k <= i) A[i] + B[i]",
      vector, vector, vector);
  FailureOr<StatementList> program = buildStatements(function);
  ASSERT_TRUE(succeeded(program));
  // The sum, over i and k, and the map.
  ASSERT_EQ(program->statements.size(), 2u);
  const Statement &sum = program->statements[0];
  ASSERT_EQ(sum.extents.size(), 2u);
  auto symbol = dyn_cast<AffineSymbolExpr>(sum.extents[1]);
  ASSERT_TRUE(symbol);
  const Symbol &source = program->symbols[symbol.getPosition()];
  ASSERT_TRUE(source.expr);
  EXPECT_EQ(source.expr.getFn(), definition::ScalarFn::Max);

  // The value is computed where the kernel is called.
  std::vector<DispatchVariant> variants;
  variants.push_back({*program, formFusionGroups(*program)});
  ASSERT_TRUE(succeeded(emitKernels(variants, nullptr)));
  EXPECT_TRUE(succeeded(verify(*module)));
  auto main = module->lookupSymbol<func::FuncOp>("main");
  unsigned numMaxima = 0;
  main.walk([&](arith::MaxSIOp) { ++numMaxima; });
  EXPECT_EQ(numMaxima, 1u);
}
} // namespace
