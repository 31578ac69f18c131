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
#include "mlir/Dialect/SCF/IR/SCF.h"
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

/// Rules that hold for images of equal sizes: windows may be as many without.
constexpr llvm::StringLiteral kConditional = R"(
rule sum-of-images
src (ewadd (conv2d :stride 2,2 :pad valid :act none ?i0 ?i2) (conv2d :stride 2,2 :pad valid :act none ?i1 ?i2))
dst (conv2d :stride 2,2 :pad valid :act none (ewadd ?i0 ?i1) ?i2)

rule sum-of-wide-images
src (ewadd (conv2d :stride 3,2 :pad valid :act none ?i0 ?i2) (conv2d :stride 3,2 :pad valid :act none ?i1 ?i2))
dst (conv2d :stride 3,2 :pad valid :act none (ewadd ?i0 ?i1) ?i2)

rule sum-of-averages
src (ewadd (poolavg :kernel 2,2 :stride 2,2 :pad valid ?i0) (poolavg :kernel 2,2 :stride 2,2 :pad valid ?i1))
dst (poolavg :kernel 2,2 :stride 2,2 :pad valid (ewadd ?i0 ?i1))
)";

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

/// Which extents of arguments are unknown.
enum class Unknown { None, Batch, Images };

using Types = SmallVector<RankedTensorType>;

/// Types without unknown extents, each of which is one of the choices.
Types drawTypes(TypeRange types, unsigned seed, ArrayRef<int64_t> choices) {
  Random random(seed);
  Types result;
  for (Type type : types) {
    auto tensor = cast<RankedTensorType>(type);
    SmallVector<int64_t> shape(tensor.getShape());
    for (int64_t &extent : shape)
      if (ShapedType::isDynamic(extent))
        extent = choices[random() % choices.size()];
    result.push_back(RankedTensorType::get(shape, tensor.getElementType()));
  }
  return result;
}

/// The sizes at which a function of images is run. Windows with steps can be as
/// many on images of either size.
Types drawImages(TypeRange types, unsigned seed, unsigned sample) {
  int64_t size = seed % 2 ? 6 : 7;
  int64_t choices[] = {size, size + 1};
  return drawTypes(types, seed + sample,
                   sample < 2 ? ArrayRef(choices[sample]) : choices);
}
constexpr unsigned kNumSamples = 6;

/// Makes a function `main` of random operators.
class Generator {
public:
  Generator(MLIRContext &context, unsigned seed, Unknown unknown)
      : builder(&context), random(seed), seed(seed), unknown(unknown) {}

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
    constexpr int64_t dynamic = ShapedType::kDynamic;
    if (unknown == Unknown::Batch)
      arguments[2] = type({dynamic, 4, 5, 5});
    if (unknown == Unknown::Images)
      arguments = {type({1, 4, dynamic, dynamic}), type({1, 4, dynamic, 5}),
                   type({1, 4, dynamic, dynamic}), type({dynamic, 4})};
    builder.setInsertionPointToEnd(module.getBody());
    auto function = func::FuncOp::create(
        builder, loc, name, builder.getFunctionType(arguments, {}));
    builder.setInsertionPointToEnd(function.addEntryBlock());
    known.clear();
    for (unsigned sample = 0; sample < kNumSamples; ++sample)
      for (auto [argument, type] : llvm::zip_equal(
               function.getArguments(), drawImages(arguments, seed, sample)))
        known[argument].push_back(type);
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
    bool isProduct = kind == OpKind::Matmul || kind == OpKind::Bmm;
    if (isProduct && !ShapedType::isDynamic(shape.back()))
      return makeWeight({shape.back(), 3});
    if (kind == OpKind::BAdd || kind == OpKind::BMul) {
      int64_t extent = shape[pick(shape.size())];
      return makeWeight({extent > 0 ? extent : 2});
    }
    SmallVector<Value> alike;
    for (Value value : values)
      if (value.getType() == first.getType())
        alike.push_back(value);
    return alike[pick(alike.size())];
  }

  /// Whether the extents that are unknown may be: the first one, and those
  /// along which windows slide.
  bool isSupported(RankedTensorType type) const {
    for (int64_t dim = 1; dim < type.getRank(); ++dim)
      if (type.isDynamicDim(dim) && (unknown != Unknown::Images || dim == 1))
        return false;
    return true;
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
    auto types = known.find(first);
    if (types != known.end()) {
      Types same = types->second;
      known[values.back()] = std::move(same);
    }
  }

  /// The sum of what windows make of two images, which may be of one size.
  void addTwins() {
    Value first = values[pick(values.size())];
    auto type = cast<RankedTensorType>(first.getType());
    Value second = drawOperand(OpKind::EwAdd, 1, first);
    if (type.getRank() != 4 || type.getDimSize(1) != 4 ||
        second.getType() != type)
      return;
    OpKind kind = pick(3) ? OpKind::Conv2d : OpKind::PoolAvg;
    SmallVector<Param> params{{2, 2}, {2, 2}, {kValid}};
    SmallVector<Value> weight;
    if (kind == OpKind::Conv2d) {
      params = {{2 + pick(2), 2}, {kValid}, {kNoActivation}};
      weight.push_back(makeWeight({4, 4, 3, 3}));
    }
    SmallVector<Value> results;
    for (Value image : {first, second}) {
      SmallVector<Value> operands{image};
      llvm::append_range(operands, weight);
      results.push_back(apply(kind, params, operands));
      if (!results.back())
        return;
    }
    if (Value sum = apply(OpKind::EwAdd, {}, results))
      values.push_back(sum);
  }

  /// Null if the operands do not fit.
  Value apply(OpKind kind, ArrayRef<Param> params, ArrayRef<Value> operands) {
    auto types = llvm::map_to_vector(operands, [](Value value) {
      return cast<RankedTensorType>(value.getType());
    });
    Choices choices;
    choices.cut = 1 + pick(3);
    auto make = [&](ArrayRef<RankedTensorType> types) {
      return makeOperator(kind, params, types, choices, builder.getContext());
    };
    auto instance = make(types);
    if (!instance || (instance->result.hasStaticShape() &&
                      instance->result.getNumElements() > 2000))
      return {};
    Types results;
    for (unsigned sample = 0; sample < kNumSamples; ++sample) {
      auto sized = make(getTypes(operands, sample));
      if (unknown == Unknown::Images && !sized)
        return {};
      results.push_back(sized ? sized->result : instance->result);
    }
    Value value =
        createOperation(builder, builder.getUnknownLoc(), *instance, operands);
    known[value] = std::move(results);
    return value;
  }

  Types getTypes(ArrayRef<Value> operands, unsigned sample) const {
    Types types;
    for (Value operand : operands) {
      auto found = known.find(operand);
      types.push_back(found == known.end()
                          ? cast<RankedTensorType>(operand.getType())
                          : found->second[sample]);
    }
    return types;
  }

  void addOperator() {
    if (pick(20) == 0)
      return addBatchNorm();
    if (unknown == Unknown::Images && pick(4) == 0)
      return addTwins();
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
    unsigned count = info.numOperands;
    if (info.takes(count + 2))
      count += pick(3);
    for (unsigned number = 0; number < count; ++number) {
      Value operand = drawOperand(info.kind, number, first);
      if (!isSupported(cast<RankedTensorType>(operand.getType())))
        return;
      operands.push_back(operand);
    }
    if (Value value = apply(info.kind, params, operands))
      values.push_back(value);
  }

  OpBuilder builder;
  Random random;
  unsigned seed;
  Unknown unknown;
  SmallVector<Value> values;
  /// The types of values that depend on arguments, in each sample.
  DenseMap<Value, Types> known;
};

class SearchFuzz : public testing::Test {
protected:
  SearchFuzz() : handler(&context, [](Diagnostic &) { return success(); }) {
    context.loadDialect<arith::ArithDialect, func::FuncDialect, scf::SCFDialect,
                        tensor::TensorDialect, graph::GraphDialect>();
  }

  static RuleSet &getRules() {
    static RuleSet rules = [] {
      RuleSet result;
      auto fail = [](const Twine &message) { ADD_FAILURE() << message.str(); };
      auto ignore = [](const Twine &) {};
      (void)result.addFile(TASO_PROPERTIES, fail, ignore);
      (void)result.addFile(MODEL_RULES, fail, fail);
      (void)result.add(kConditional, fail, fail);
      result.addProved(loadLibrary());
      result.addProved(loadNetworkRules());
      return result;
    }();
    return rules;
  }

  SmallVector<Tensor> makeInputs(ArrayRef<RankedTensorType> types,
                                 unsigned seed) {
    Random random(seed);
    SmallVector<Tensor> inputs;
    for (RankedTensorType type : types) {
      Tensor input = *Tensor::create(type);
      auto *data = reinterpret_cast<double *>(input.getMutableBytes().data());
      for (int64_t i = 0; i < input.getNumElements(); ++i)
        data[i] = int(random() % 7) - 3;
      inputs.push_back(input);
    }
    return inputs;
  }

  /// Optimizes a random function; returns how many substitutions were used.
  unsigned run(unsigned seed, SearchOptions options) {
    // Nothing is proved of extents of 0, but they must not go wrong either.
    static constexpr int64_t kUnknown[] = {3, 1, 0};
    OwningOpRef<ModuleOp> module =
        Generator(context, seed, seed % 4 == 0 ? Unknown::Batch : Unknown::None)
            .make();
    auto function = cast<func::FuncOp>(module->getBody()->back());
    Types types =
        drawTypes(function.getArgumentTypes(), seed, kUnknown[seed / 4 % 3]);
    return run(*module, {makeInputs(types, seed)}, seed, options)
        .substitutions.size();
  }

  /// Optimizes a random function of images of unknown sizes. Returns how many
  /// conditions are checked.
  unsigned runImages(unsigned seed, const SearchOptions &options) {
    OwningOpRef<ModuleOp> module =
        Generator(context, seed, Unknown::Images).make();
    auto function = cast<func::FuncOp>(module->getBody()->back());
    std::vector<SmallVector<Tensor>> samples;
    for (unsigned sample = 0; sample < kNumSamples; ++sample)
      samples.push_back(makeInputs(
          drawImages(function.getArgumentTypes(), seed, sample), seed));
    return run(*module, samples, seed, options).checks.size();
  }

  /// Optimizes a function, and compares the results for all inputs that it has
  /// a meaning for.
  SearchResult run(ModuleOp module, ArrayRef<SmallVector<Tensor>> samples,
                   unsigned seed, const SearchOptions &options) {
    EXPECT_TRUE(succeeded(verify(module)));
    std::vector<std::pair<SmallVector<Tensor>, SmallVector<Tensor>>> expected;
    for (const SmallVector<Tensor> &inputs : samples) {
      auto results = interpreter::interpret(module, inputs);
      if (succeeded(results)) // Extents that are unknown may not fit.
        expected.push_back({inputs, std::move(*results)});
    }
    if (expected.empty())
      return {};
    std::string original;
    llvm::raw_string_ostream(original) << module;
    LotteryCostModel model(seed);
    IRRewriter rewriter(&context);
    RuleSet rules = getRules();
    if (seed % 3 == 0)
      rules.addWindowRules(module);
    SearchResult result =
        optimizeGraphs(module, rules, model, options, rewriter);
    std::string optimized;
    llvm::raw_string_ostream(optimized) << module;
    EXPECT_TRUE(succeeded(verify(module))) << original << optimized;
    for (auto &[inputs, before] : expected) {
      auto after = interpreter::interpret(module, inputs);
      EXPECT_TRUE(succeeded(after)) << original << optimized;
      if (failed(after))
        return {};
      for (auto [lhs, rhs] : llvm::zip_equal(before, *after))
        compare(lhs, rhs, original + optimized, seed);
      if (testing::Test::HasFailure())
        return {};
    }
    return result;
  }

  static void compare(const Tensor &lhs, const Tensor &rhs,
                      const std::string &text, unsigned seed) {
    EXPECT_EQ(lhs.getType(), rhs.getType()) << "seed " << seed;
    for (int64_t i = 0; i < lhs.getNumElements(); ++i) {
      double scale = 1 + std::abs(lhs.getFloat(i));
      EXPECT_NEAR(lhs.getFloat(i), rhs.getFloat(i), 1e-9 * scale)
          << "seed " << seed << "\n"
          << text;
      if (testing::Test::HasFailure())
        return;
    }
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

TEST_F(SearchFuzz, VersionsOfUnknownSizesComputeTheSame) {
  SearchOptions options;
  options.maxNodes = 1500;
  options.maxIterations = 3;
  unsigned numChecked = 0;
  for (unsigned seed = 3001; seed <= 3000 + NUM_SEEDS / 2 && !HasFailure();
       ++seed)
    numChecked += runImages(seed, options) > 0;
  EXPECT_GT(numChecked, NUM_SEEDS / 8);
  options.search = SearchOptions::Search::Backtracking;
  options.maxGraphs = 20;
  for (unsigned seed = 4001; seed <= 4000 + NUM_SEEDS / 6 && !HasFailure();
       ++seed)
    runImages(seed, options);
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
