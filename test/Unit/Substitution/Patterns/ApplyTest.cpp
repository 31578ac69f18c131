//===- ApplyTest.cpp - Patterns of rules, on graphs -----------------------===//
//
// Makes a function of the `src` of each rule of the library, at sizes drawn by
// lot, applies the rule's pattern to it, and runs both on the reference
// interpreter. The patterns' own checks decide which sizes are right.
//
//===----------------------------------------------------------------------===//

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Interpreter/Interpreter.h"
#include "espalier/Substitution/Library.h"
#include "espalier/Substitution/Patterns/Patterns.h"
#include "espalier/Substitution/Search/GraphOperators.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/PDL/IR/PDL.h"
#include "mlir/Dialect/PDL/IR/PDLOps.h"
#include "mlir/Dialect/PDLInterp/IR/PDLInterp.h"
#include "mlir/IR/Verifier.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Rewrite/FrozenRewritePatternSet.h"
#include "mlir/Transforms/GreedyPatternRewriteDriver.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;
using espalier::interpreter::Tensor;

namespace {

/// Sizes that fit one rule are looked for so often.
constexpr unsigned kMaxTries = 3000;

class ApplyTest : public ::testing::Test {
protected:
  ApplyTest() {
    context.loadDialect<func::FuncDialect, graph::GraphDialect, pdl::PDLDialect,
                        pdl_interp::PDLInterpDialect>();
  }

  int64_t pick(int64_t least, int64_t most) {
    return least + static_cast<int64_t>(random() % (most - least + 1));
  }

  /// Few extents, so that equal ones are frequent.
  RankedTensorType drawType(unsigned rank) {
    SmallVector<int64_t> shape;
    static constexpr int64_t kExtents[] = {1, 2, 3, 4};
    for (unsigned dim = 0; dim < rank; ++dim)
      shape.push_back(kExtents[pick(0, rank == 4 && dim > 1 ? 2 : 3)]);
    // Images are larger than kernels.
    if (rank == 4 && pick(0, 1))
      shape[2] = shape[3] = 5;
    else if (rank == 4 && pick(0, 1))
      shape[2] = shape[3] = 3;
    return RankedTensorType::get(shape, Float64Type::get(&context));
  }

  /// A function of `src`, at sizes drawn by lot; null if they do not fit.
  OwningOpRef<ModuleOp> draw(const Rule &rule, const RuleTensors &uses) {
    OpBuilder builder(&context);
    Location loc = builder.getUnknownLoc();
    OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
    builder.setInsertionPointToEnd(module->getBody());
    auto function = func::FuncOp::create(builder, loc, "main",
                                         builder.getFunctionType({}, {}));
    Block *block = function.addEntryBlock();
    builder.setInsertionPointToEnd(block);
    SmallVector<Value> values;
    unsigned rank = pick(1, 4);
    for (unsigned number = 0; number < uses.numSrc; ++number) {
      const RuleTensor &use = uses.list[number];
      const RuleNode &node = rule.graph[use.node];
      if (node.isVariable()) {
        bool isScalar = node.kind == RuleNode::Kind::Scalar;
        values.push_back(
            block->addArgument(drawType(isScalar ? 0 : rank), loc));
        // Often of the type of one before.
        if (!isScalar && pick(0, 1))
          values.back().setType(block->getArgument(0).getType());
        continue;
      }
      SmallVector<RankedTensorType> types;
      SmallVector<Value> operands;
      for (unsigned operand : use.operands) {
        operands.push_back(values[operand]);
        types.push_back(cast<RankedTensorType>(values[operand].getType()));
      }
      Choices choices;
      choices.type = drawType(rank);
      choices.cut = pick(1, 3);
      if (node.is(OpKind::Split))
        choices.cut = findCut(operands[0], node.params[0].first);
      auto instance =
          makeOperator(node.op, node.params, types, choices, &context);
      if (!instance)
        return nullptr;
      values.push_back(createOperation(builder, loc, *instance, operands));
    }
    SmallVector<Value> results;
    for (unsigned output : uses.src)
      results.push_back(values[output]);
    func::ReturnOp::create(builder, loc, results);
    function.setType(builder.getFunctionType(block->getArgumentTypes(),
                                             ValueRange(results).getTypes()));
    ScopedDiagnosticHandler quiet(&context,
                                  [](Diagnostic &) { return success(); });
    if (failed(verify(*module)))
      return nullptr;
    return module;
  }

  /// Where a concatenation below a value ends its first operand.
  int64_t findCut(Value value, unsigned axis) {
    for (Operation *op = value.getDefiningOp(); op;
         op = op->getOperand(0).getDefiningOp())
      if (isa<graph::ConcatOp>(op) || op->getNumOperands() == 0)
        return op->getNumOperands() == 0
                   ? 1
                   : cast<RankedTensorType>(op->getOperand(0).getType())
                         .getDimSize(axis);
    return pick(1, 3);
  }

  /// Applies the pattern of a rule once; false if it does not fit.
  bool apply(const FrozenRewritePatternSet &patterns, ModuleOp module) {
    numApplied = 0;
    GreedyRewriteConfig config;
    config.setMaxNumRewrites(1);
    config.enableFolding(false);
    (void)applyPatternsGreedily(module, patterns, config);
    return numApplied != 0;
  }

  FrozenRewritePatternSet makePatterns(const Rule &rule) {
    std::string text;
    llvm::raw_string_ostream os(text);
    emitPattern({rule, true}, os);
    OwningOpRef<ModuleOp> module = parseSourceString<ModuleOp>(text, &context);
    EXPECT_TRUE(module) << text;
    // Whether it pays is not the question.
    module->walk([](pdl::ApplyNativeConstraintOp constraint) {
      if (constraint.getName() == "espalier_simplifies")
        constraint.erase();
    });
    PDLPatternModule patterns(std::move(module));
    registerPatternFunctions(patterns,
                             [&](const Rule &, Operation *) { ++numApplied; });
    return FrozenRewritePatternSet(RewritePatternSet(std::move(patterns)));
  }

  SmallVector<Tensor> drawInputs(ModuleOp module) {
    SmallVector<Tensor> inputs;
    auto function = *module.getOps<func::FuncOp>().begin();
    for (Type type : function.getArgumentTypes()) {
      auto tensor = Tensor::create(cast<RankedTensorType>(type));
      EXPECT_TRUE(succeeded(tensor));
      auto *elements =
          reinterpret_cast<double *>(tensor->getMutableBytes().data());
      for (int64_t i = 0; i < tensor->getNumElements(); ++i)
        elements[i] = static_cast<double>(pick(-3, 3));
      inputs.push_back(*tensor);
    }
    return inputs;
  }

  /// Whether two functions compute the same of inputs drawn by lot.
  bool areEqual(ModuleOp before, ModuleOp after) {
    SmallVector<Tensor> inputs = drawInputs(before);
    auto expected = interpreter::interpret(before, inputs);
    auto got = interpreter::interpret(after, inputs);
    if (failed(expected) || failed(got))
      return false;
    for (auto [lhs, rhs] : llvm::zip_equal(*expected, *got)) {
      if (lhs.getShape() != rhs.getShape())
        return false;
      for (int64_t i = 0; i < lhs.getNumElements(); ++i)
        if (!(std::abs(lhs.getFloat(i) - rhs.getFloat(i)) <=
              1e-9 * (1 + std::abs(lhs.getFloat(i)))))
          return false;
    }
    return true;
  }

  /// Applies a rule to a graph drawn by lot, and tells whether the result is
  /// equal; nothing if it fits none.
  std::optional<bool> test(const Rule &rule) {
    RuleTensors uses = listTensors(rule);
    FrozenRewritePatternSet patterns = makePatterns(rule);
    for (unsigned tries = 0; tries < kMaxTries; ++tries) {
      OwningOpRef<ModuleOp> before = draw(rule, uses);
      if (!before)
        continue;
      OwningOpRef<ModuleOp> after = before->clone();
      if (apply(patterns, *after))
        return succeeded(verify(*after)) && areEqual(*before, *after);
    }
    return std::nullopt;
  }

  MLIRContext context;
  std::mt19937_64 random{1};
  unsigned numApplied = 0;
};

TEST_F(ApplyTest, GraphsComputeTheSame) {
  unsigned numRules = 0, numTested = 0;
  std::string missing;
  for (const Rule &rule : loadLibrary()) {
    std::optional<bool> isEqual = test(rule);
    EXPECT_NE(isEqual, false) << rule.name;
    ++numRules;
    numTested += isEqual.has_value();
    if (!isEqual)
      missing += " " + rule.name;
  }
  // Some sizes are hardly ever drawn.
  EXPECT_GE(numTested * 10, numRules * 9) << missing;
  RecordProperty("tested", static_cast<int>(numTested));
}

TEST_F(ApplyTest, DifferencesAreSeen) {
  std::vector<Rule> rules;
  ASSERT_TRUE(succeeded(parseRules(
      "rule first\nsrc (relu (ewadd ?i0 ?i1))\ndst (ewadd ?i0 ?i1)\n\n"
      "rule second\nsrc (matmul :act none ?i0 (ewadd ?i1 ?i2))\n"
      "dst (matmul :act none ?i0 (ewadd ?i1 ?i1))\n",
      rules, [](unsigned, const Twine &text) { FAIL() << text.str(); })));
  for (const Rule &rule : rules)
    EXPECT_EQ(test(rule), false) << rule.name;
}

} // namespace
