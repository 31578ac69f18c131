//===- FuzzTest.cpp - Random graphs, optimized, compute the same ----------===//
//
// Makes random functions of the operators that rules speak of, optimizes them
// with costs drawn by lot, so that any form may win, and compares on the
// reference interpreter. Weights and inputs are small integers.
//
//===----------------------------------------------------------------------===//

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Interpreter/Interpreter.h"
#include "espalier/Substitution/Library.h"
#include "espalier/Substitution/Search/Search.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/IR/Verifier.h"
#include "llvm/ADT/Hashing.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;
using espalier::interpreter::Tensor;

namespace {

using Random = std::mt19937;

/// Any price, but always the same for the same thing.
class LotteryCostModel : public CostModel {
public:
  explicit LotteryCostModel(uint64_t seed) : seed(seed) {}

  double getSeconds(const OperatorInstance &instance) override {
    llvm::hash_code hash = llvm::hash_value(instance.name);
    for (RankedTensorType type : instance.operands)
      hash = llvm::hash_combine(hash, type.getRank(), type.getNumElements());
    uint64_t mixed = (uint64_t(hash) ^ seed) * 0x9e3779b97f4a7c15ULL;
    return 1e-6 * (1 + (mixed >> 40) % 1000);
  }

private:
  uint64_t seed;
};

/// Makes a function `main` of random operators.
class Generator {
public:
  Generator(MLIRContext &context, unsigned seed, bool isDynamic)
      : builder(&context), random(seed), isDynamic(isDynamic) {}

  /// Another function comes first: what is remembered of it must not matter.
  OwningOpRef<ModuleOp> make() {
    OwningOpRef<ModuleOp> module = ModuleOp::create(builder.getUnknownLoc());
    addFunction(*module, "other");
    values.clear();
    addFunction(*module, "main");
    return module;
  }

private:
  void addFunction(ModuleOp module, StringRef name) {
    Location loc = builder.getUnknownLoc();
    SmallVector<Type> arguments{type({3, 4}), type({4, 3}), type({2, 4, 5, 5}),
                                type({2, 3, 4})};
    if (isDynamic)
      arguments[2] = type({ShapedType::kDynamic, 4, 5, 5});
    builder.setInsertionPointToEnd(module.getBody());
    auto function = func::FuncOp::create(
        builder, loc, name, builder.getFunctionType(arguments, {}));
    builder.setInsertionPointToEnd(function.addEntryBlock());
    llvm::append_range(values, function.getArguments());
    unsigned numArguments = values.size();
    for (unsigned tries = 0; tries < 600 && values.size() < 28; ++tries)
      addOperator();
    SmallVector<Value> results;
    for (Value value : llvm::drop_begin(values, numArguments))
      if (value.use_empty() || pick(8) == 0)
        results.push_back(value);
    func::ReturnOp::create(builder, loc, results);
    function.setType(
        builder.getFunctionType(arguments, ValueRange(results).getTypes()));
  }

  unsigned pick(unsigned count) { return random() % count; }
  RankedTensorType type(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF64Type());
  }

  Value makeWeight(ArrayRef<int64_t> shape) {
    SmallVector<double> numbers;
    for (int64_t count = 0; count < ShapedType::getNumElements(shape); ++count)
      numbers.push_back(int(pick(5)) - 2);
    return graph::ConstantOp::create(
        builder, builder.getUnknownLoc(),
        DenseElementsAttr::get(type(shape), ArrayRef(numbers)));
  }

  Param drawParam(ParamKind kind, int64_t rank) {
    switch (kind) {
    case ParamKind::Pair: {
      int64_t extent = 1 + pick(3);
      return {extent, extent};
    }
    case ParamKind::Padding:
      if (unsigned choice = pick(3))
        return {choice - 1};
      [[fallthrough]];
    case ParamKind::Border:
      return Border{pick(2), pick(2), pick(2), pick(2)}.getParam();
    case ParamKind::Activation:
    case ParamKind::Part:
      return {pick(2)};
    case ParamKind::Axis:
      return {pick(rank)};
    case ParamKind::Rank:
      return {rank};
    case ParamKind::Axes:
      return {pick(rank), pick(rank)};
    case ParamKind::Ranks:
      return {rank, pick(2) ? rank : 2};
    case ParamKind::Offset:
      return {pick(2)};
    case ParamKind::Count:
      return {1 + pick(2)};
    }
    llvm_unreachable("every kind is handled above");
  }

  Value drawOperand(OpKind kind, unsigned number, Value first) {
    auto shape = cast<RankedTensorType>(first.getType()).getShape();
    if (number == 0)
      return first;
    if (getInfo(kind).isScalarOperand(number))
      return makeWeight({});
    if (kind == OpKind::UAdd || kind == OpKind::UMul) {
      SmallVector<int64_t> units(1 + pick(shape.size()), 1);
      units[pick(units.size())] = 2 + pick(4);
      return makeWeight(units);
    }
    if (pick(3) == 0)
      return values[pick(values.size())];
    if (kind == OpKind::Conv2d && shape.size() == 4) {
      int64_t groups = pick(3) == 0 ? 2 : 1;
      return makeWeight({2, std::max<int64_t>(1, shape[1] / groups),
                         1 + 2 * pick(2), 1 + 2 * pick(2)});
    }
    if (kind == OpKind::Matmul || kind == OpKind::Bmm)
      return makeWeight({shape.back(), 3});
    if (kind == OpKind::BAdd || kind == OpKind::BMul)
      return makeWeight(
          {shape[pick(shape.size())] > 0 ? shape[pick(shape.size())] : 2});
    SmallVector<Value> alike;
    for (Value value : values)
      if (value.getType() == first.getType())
        alike.push_back(value);
    return alike[pick(alike.size())];
  }

  /// The operator that a structural identity is about.
  void addBatchNorm() {
    Value first = values[pick(values.size())];
    auto type = cast<RankedTensorType>(first.getType());
    if (type.getRank() < 2 || type.isDynamicDim(1))
      return;
    SmallVector<Value> vectors;
    for (unsigned number = 0; number < 4; ++number)
      vectors.push_back(makeWeight({type.getDimSize(1)}));
    Value variance = graph::MulOp::create(builder, builder.getUnknownLoc(),
                                          vectors[3], vectors[3]);
    values.push_back(graph::BatchNormOp::create(
        builder, builder.getUnknownLoc(), type, first, vectors[0], vectors[1],
        vectors[2], variance, builder.getF64FloatAttr(1.0)));
  }

  void addOperator() {
    if (pick(20) == 0)
      return addBatchNorm();
    // What most rules are about comes more often than other operators.
    static const OpKind common[] = {
        OpKind::Conv2d, OpKind::Matmul,    OpKind::Matmul, OpKind::EwAdd,
        OpKind::EwAdd,  OpKind::Relu,      OpKind::Concat, OpKind::Split,
        OpKind::BAdd,   OpKind::Transpose, OpKind::EwMul,  OpKind::SMul,
        OpKind::Conv2d, OpKind::Bmm};
    ArrayRef<OperatorInfo> operators = getOperators();
    const OperatorInfo &info = pick(4) == 0
                                   ? operators[pick(operators.size())]
                                   : getInfo(common[pick(std::size(common))]);
    // Nothing that grows, or has no value.
    if (info.isConstant() || info.kind == OpKind::Exp ||
        info.kind == OpKind::EwDiv || info.kind == OpKind::Sqrt)
      return;
    Value first = values[pick(pick(2) ? 4 : values.size())];
    int64_t rank = cast<RankedTensorType>(first.getType()).getRank();
    if (rank == 0 || (rank == 1 && info.kind == OpKind::Bmm))
      return;
    SmallVector<Param> params;
    for (const ParamInfo &param : info.params)
      params.push_back(drawParam(param.kind, rank));
    // The maximum of nothing is no number.
    if (info.kind == OpKind::PoolMax && params[2].first == kBorder &&
        params[0].first == 1)
      return;
    SmallVector<Value> operands;
    SmallVector<RankedTensorType> types;
    unsigned count = info.numOperands;
    if (info.takes(count + 2))
      count += pick(3);
    for (unsigned number = 0; number < count; ++number) {
      Value operand = drawOperand(info.kind, number, first);
      if (llvm::is_contained(
              cast<RankedTensorType>(operand.getType())
                  .getShape()
                  .drop_front(
                      cast<RankedTensorType>(operand.getType()).getRank() > 0),
              ShapedType::kDynamic))
        return;
      operands.push_back(operand);
      types.push_back(cast<RankedTensorType>(operand.getType()));
    }
    Choices choices;
    choices.cut = 1 + pick(3);
    auto instance =
        makeOperator(info.kind, params, types, choices, builder.getContext());
    if (!instance || (instance->result.hasStaticShape() &&
                      instance->result.getNumElements() > 2000))
      return;
    values.push_back(
        createOperation(builder, builder.getUnknownLoc(), *instance, operands));
  }

  OpBuilder builder;
  Random random;
  bool isDynamic;
  SmallVector<Value> values;
};

class SearchFuzz : public testing::Test {
protected:
  SearchFuzz() : handler(&context, [](Diagnostic &) { return success(); }) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect,
                        tensor::TensorDialect, graph::GraphDialect>();
  }

  static RuleSet &getRules() {
    static RuleSet rules = [] {
      RuleSet result;
      auto fail = [](const Twine &message) { ADD_FAILURE() << message.str(); };
      auto ignore = [](const Twine &) {};
      (void)result.addFile(TASO_PROPERTIES, fail, ignore);
      (void)result.addFile(MODEL_RULES, fail, fail);
      result.addProved(loadLibrary());
      result.addProved(loadNetworkRules());
      return result;
    }();
    return rules;
  }

  SmallVector<Tensor> makeInputs(func::FuncOp function, unsigned seed,
                                 int64_t unknown) {
    Random random(seed);
    SmallVector<Tensor> inputs;
    for (Type type : function.getArgumentTypes()) {
      auto tensorType = cast<RankedTensorType>(type);
      SmallVector<int64_t> shape(tensorType.getShape());
      for (int64_t &extent : shape)
        if (ShapedType::isDynamic(extent))
          extent = unknown;
      Tensor input = *Tensor::create(
          RankedTensorType::get(shape, tensorType.getElementType()));
      auto *data = reinterpret_cast<double *>(input.getMutableBytes().data());
      for (int64_t i = 0; i < input.getNumElements(); ++i)
        data[i] = int(random() % 7) - 3;
      inputs.push_back(input);
    }
    return inputs;
  }

  /// Optimizes a random function; returns how many substitutions were used.
  unsigned run(unsigned seed, SearchOptions options) {
    OwningOpRef<ModuleOp> module =
        Generator(context, seed, seed % 4 == 0).make();
    EXPECT_TRUE(succeeded(verify(*module)));
    auto function = cast<func::FuncOp>(module->getBody()->back());
    // Nothing is proved of extents of 0, but they must not go wrong either.
    static constexpr int64_t kUnknown[] = {3, 1, 0};
    SmallVector<Tensor> inputs =
        makeInputs(function, seed, kUnknown[seed / 4 % 3]);
    FailureOr<SmallVector<Tensor>> before =
        interpreter::interpret(*module, inputs);
    if (failed(before))
      return 0; // Extents that are unknown do not fit.
    std::string original;
    llvm::raw_string_ostream(original) << *module;
    LotteryCostModel model(seed);
    IRRewriter rewriter(&context);
    RuleSet rules = getRules();
    if (seed % 3 == 0)
      rules.addWindowRules(*module);
    SearchResult result =
        optimizeGraphs(*module, rules, model, options, rewriter);
    std::string optimized;
    llvm::raw_string_ostream(optimized) << *module;
    EXPECT_TRUE(succeeded(verify(*module))) << original << optimized;
    FailureOr<SmallVector<Tensor>> after =
        interpreter::interpret(*module, inputs);
    EXPECT_TRUE(succeeded(after)) << original << optimized;
    if (failed(after))
      return 0;
    for (auto [lhs, rhs] : llvm::zip_equal(*before, *after)) {
      EXPECT_EQ(lhs.getType(), rhs.getType()) << "seed " << seed;
      for (int64_t i = 0; i < lhs.getNumElements(); ++i) {
        double scale = 1 + std::abs(lhs.getFloat(i));
        EXPECT_NEAR(lhs.getFloat(i), rhs.getFloat(i), 1e-9 * scale)
            << "seed " << seed << "\n"
            << original << optimized;
        if (testing::Test::HasFailure())
          return 0;
      }
    }
    return result.substitutions.size();
  }

  MLIRContext context;
  ScopedDiagnosticHandler handler;
};

TEST_F(SearchFuzz, GraphsFromAnEGraphComputeTheSame) {
  SearchOptions options;
  options.maxNodes = 1500;
  options.maxIterations = 3;
  unsigned numSubstitutions = 0;
  for (unsigned seed = 1; seed <= NUM_SEEDS && !HasFailure(); ++seed)
    numSubstitutions += run(seed, options);
  EXPECT_GT(numSubstitutions, NUM_SEEDS / 4);
}

TEST_F(SearchFuzz, GraphsOfTheSolverComputeTheSame) {
  SearchOptions options;
  options.maxNodes = 300;
  options.maxIterations = 2;
  options.extraction = SearchOptions::Extraction::Ilp;
  for (unsigned seed = 1001; seed <= 1000 + NUM_SEEDS / 4 && !HasFailure();
       ++seed)
    run(seed, options);
}

TEST_F(SearchFuzz, GraphsFromBacktrackingComputeTheSame) {
  SearchOptions options;
  options.search = SearchOptions::Search::Backtracking;
  options.maxGraphs = 20;
  options.maxNodes = 3000;
  unsigned numSubstitutions = 0;
  for (unsigned seed = 2001; seed <= 2000 + NUM_SEEDS / 2 && !HasFailure();
       ++seed)
    numSubstitutions += run(seed, options);
  EXPECT_GT(numSubstitutions, NUM_SEEDS / 8);
}

} // namespace
