//===- OperatorSemantics.cpp - Definitions of the operators of rules ------===//
//
// What the rows of RuleOperators.def mean. `graph` has most operators, and its
// definitions serve. Its convolution and its pools do not: they take the number
// of groups and the padding as numbers, but a rule leaves both to the sizes of
// the operands. Those three are written here, in the notation of `graph`.
//
//===----------------------------------------------------------------------===//

#include "espalier/Substitution/OperatorSemantics.h"
#include "espalier/Definition/Formulas.h"
#include "espalier/Definition/Notation.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/StringExtras.h"
#include <variant>

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;
using namespace espalier::definition;

//===----------------------------------------------------------------------===//
// Windows
//===----------------------------------------------------------------------===//

namespace {
/// The texts for one dimension of a window that slides over X. SAME pads such
/// that there are ceil(size / stride) windows, half of it, rounded down,
/// before; VALID pads nothing, and a border what it says.
struct Window {
  std::string count;    ///< How many windows there are.
  std::string location; ///< Where a tap lies in X.
  std::string guard;    ///< When it lies inside.

  Window(unsigned dim, int64_t strideNumber, Param padding,
         const std::string &kernel, StringRef position, StringRef tap) {
    std::string size = "size(X, " + llvm::utostr(dim) + ")";
    std::string stride = llvm::itostr(strideNumber);
    std::string start = position.str() + " * " + stride + " + " + tap.str();
    if (padding.first == kValid) {
      count = "(" + size + " - " + kernel + ") // " + stride + " + 1";
      location = start;
      guard = "0 <= " + location;
      return;
    }
    if (padding.first == kBorder) {
      Border border = Border::get(padding);
      int64_t low = dim == 2 ? border.top : border.left;
      int64_t high = dim == 2 ? border.bottom : border.right;
      count = "(" + size + " + " + llvm::itostr(low + high) + " - " + kernel +
              ") // " + stride + " + 1";
      location = start + " - " + llvm::itostr(low);
      guard = "and(0 <= " + location + ", " + location + " < " + size + ")";
      return;
    }
    count = "(" + size + " + " + stride + " - 1) // " + stride;
    location = start + " - max(0, (" + count + " - 1) * " + stride + " + " +
               kernel + " - " + size + ") // 2";
    guard = "and(0 <= " + location + ", " + location + " < " + size + ")";
  }
};
} // namespace

static std::string getConvText(const RuleNode &node) {
  Param stride = node.params[0];
  Param padding = node.params[1];
  Window y(2, stride.first, padding, "size(W, 2)", "y", "i");
  Window x(3, stride.second, padding, "size(W, 3)", "x", "j");
  return "R[n, o, y < " + y.count + ", x < " + x.count +
         "] = act(sum(c, i, j | and(" + y.guard + ", " + x.guard +
         ")) X[n, o // (size(W, 0) // (size(X, 1) // size(W, 1))) * size(W, 1)"
         " + c, " +
         y.location + ", " + x.location + "] * W[o, c, i, j])";
}

static std::string getPoolText(const RuleNode &node, ReduceKind kind) {
  Param kernel = node.params[0], stride = node.params[1];
  Param padding = node.params[2];
  std::string height = llvm::itostr(kernel.first);
  std::string width = llvm::itostr(kernel.second);
  Window y(2, stride.first, padding, height, "y", "i");
  Window x(3, stride.second, padding, width, "x", "j");
  std::string window = "(i < " + height + ", j < " + width + " | and(" +
                       y.guard + ", " + x.guard + ")) X[n, c, " + y.location +
                       ", " + x.location + "]";
  std::string result = "R[n, c, y < " + y.count + ", x < " + x.count + "] = ";
  if (kind == ReduceKind::Max)
    return result + "max" + window;
  return result + "(sum" + window + ") / (" + height + " * " + width + ")";
}

//===----------------------------------------------------------------------===//
// SemanticsBuilder
//===----------------------------------------------------------------------===//

namespace {
class SemanticsBuilder {
public:
  SemanticsBuilder(MLIRContext &context, const RuleNode &node,
                   ArrayRef<unsigned> ranks, std::string &error)
      : node(node), ranks(ranks.drop_back()), resultRank(ranks.back()),
        error(error), builder(&context), type(builder.getF64Type()) {
    context.loadDialect<graph::GraphDialect>();
    builder.setInsertionPointToEnd(&block);
    for (unsigned rank : this->ranks)
      block.addArgument(
          RankedTensorType::get(
              SmallVector<int64_t>(rank, ShapedType::kDynamic), type),
          builder.getUnknownLoc());
  }

  std::unique_ptr<OperatorSemantics> build() {
    if (failed(define()))
      return nullptr;
    return std::move(semantics);
  }

private:
  LogicalResult define() {
    switch (node.op) {
#define RULE_OPERATOR(id, name, operands, params, traits, rank, semantics,     \
                      ...)                                                     \
  case OpKind::id:                                                             \
    return semantics;
#include "espalier/Substitution/RuleOperators.def"
    }
    llvm_unreachable("every operator has a row");
  }

  Value operand(unsigned number) { return block.getArgument(number); }
  Value makeParameter(Parameter parameter) {
    semantics->parameters.push_back(parameter);
    return block.addArgument(builder.getIndexType(), builder.getUnknownLoc());
  }

  /// Takes the definition of an operator of graph.
  template <typename OpTy, typename... Args>
  LogicalResult take(Args &&...args) {
    auto op = OpTy::create(builder, builder.getUnknownLoc(),
                           std::forward<Args>(args)...);
    FailureOr<Definition> definition =
        op.getDefinition([&](const Twine &reason) { error = reason.str(); });
    if (failed(definition))
      return failure();
    semantics->definition = std::move(*definition);
    return success();
  }

  template <typename OpTy>
  LogicalResult takeUnary() {
    return take<OpTy>(operand(0));
  }
  template <typename OpTy>
  LogicalResult takeBinary() {
    return take<OpTy>(operand(0), operand(1));
  }
  template <typename OpTy>
  LogicalResult takeReduction() {
    return take<OpTy>(operand(0), ArrayRef<int64_t>{node.params[0].first});
  }

  LogicalResult takeMatmul() {
    return take<graph::MatmulOp>(operand(0), operand(1),
                                 node.params[0].first == kReluActivation
                                     ? graph::Activation::Relu
                                     : graph::Activation::None);
  }

  LogicalResult takeTranspose(unsigned first, unsigned second) {
    auto axes = llvm::to_vector(llvm::seq<int64_t>(0, ranks[0]));
    std::swap(axes[first], axes[second]);
    return take<graph::TransposeOp>(operand(0), axes);
  }

  LogicalResult takeConcat() {
    return take<graph::ConcatOp>(ValueRange(block.getArguments()),
                                 node.params[0].first);
  }

  template <typename OpTy>
  LogicalResult takeConstant(std::optional<Param> kernel) {
    SmallVector<int64_t> sizes(kernel ? 2 : resultRank, ShapedType::kDynamic);
    SmallVector<Value> dynamic;
    for (unsigned dim = 0; dim < sizes.size(); ++dim)
      dynamic.push_back(makeParameter({Parameter::Kind::Chosen, dim}));
    if (kernel)
      sizes.append({kernel->first, kernel->second});
    return take<OpTy>(RankedTensorType::get(sizes, type), dynamic, sizes, type);
  }

  Value addOperand(ArrayRef<int64_t> shape) {
    return block.addArgument(RankedTensorType::get(shape, type),
                             builder.getUnknownLoc());
  }

  /// Puts expressions in the place of those of the definition.
  void rewrite(llvm::function_ref<Expr(Expr)> replace) {
    Definition &definition = semantics->definition;
    for (Step &step : definition.steps) {
      for (IndexVar &index : step.indices)
        index.extent = transform(index.extent, replace);
      step.value = transform(step.value, replace);
    }
    for (Requirement &requirement : definition.requirements) {
      requirement.value = transform(requirement.value, replace);
      requirement.bound = transform(requirement.bound, replace);
      for (Expr &exception : requirement.exceptions)
        exception = transform(exception, replace);
    }
  }

  /// An element-wise operator, whose second operand repeats a vector along all
  /// axes but one. `graph` has it as a tensor with extents of 1 behind.
  template <typename OpTy>
  LogicalResult takeWithVector() {
    SmallVector<int64_t> shape(ranks[0] - node.params[0].first, 1);
    shape[0] = ShapedType::kDynamic;
    if (failed(take<OpTy>(operand(0), addOperand(shape))))
      return failure();
    rewrite([&](Expr expr) -> Expr {
      bool isElement = expr.getKind() == Expr::Kind::Access &&
                       expr.getTensor() == TensorRef::operand(1);
      if (!isElement || expr.getOperands().size() == 1)
        return Expr();
      return access(expr.getTensor(), expr.getOperands()[0], type);
    });
    return success();
  }

  /// Operand `number` has extents of 1 but along `axis`.
  Value addUnits(unsigned number, unsigned axis) {
    SmallVector<int64_t> shape(ranks[number], 1);
    shape[axis] = ShapedType::kDynamic;
    Expr one = cast(builder.getIndexType(), constant(int64_t(1)));
    for (unsigned dim = 0; dim < shape.size(); ++dim)
      if (dim != axis)
        units.push_back({Requirement::Kind::Equal, size(number, dim), one,
                         "an operand that repeats"});
    return addOperand(shape);
  }
  /// States what `addUnits` asks of operands.
  LogicalResult requireUnits() {
    llvm::append_range(semantics->definition.requirements, units);
    return success();
  }

  /// An element-wise operator with a tensor that repeats along all axes but
  /// one.
  template <typename OpTy>
  LogicalResult takeWithUnits() {
    unsigned axis = node.params[0].first + ranks[1] - ranks[0];
    if (failed(take<OpTy>(operand(0), addUnits(1, axis))))
      return failure();
    return requireUnits();
  }

  LogicalResult defineVector() {
    unsigned axis = node.params[0].first;
    Value extent = makeParameter({Parameter::Kind::Size, axis});
    if (failed(takeReshape(addUnits(0, axis), {ShapedType::kDynamic}, extent)))
      return failure();
    return requireUnits();
  }

  LogicalResult defineUnvector() {
    SmallVector<int64_t> shape(node.params[1].first, 1);
    shape[node.params[0].first] = ShapedType::kDynamic;
    return takeReshape(operand(0), shape,
                       makeParameter({Parameter::Kind::Size, 0}));
  }

  LogicalResult takeReshape(Value value, ArrayRef<int64_t> shape,
                            Value extent) {
    return take<graph::ReshapeOp>(RankedTensorType::get(shape, type), value,
                                  extent, shape);
  }

  /// `graph` has the last operand, a small number, as an attribute. What holds
  /// for a variable holds for any number.
  LogicalResult defineBatchNorm() {
    constexpr double kEpsilon = 0.3125; // No other number of the definition.
    if (failed(take<graph::BatchNormOp>(operand(0), operand(1), operand(2),
                                        operand(3), operand(4),
                                        llvm::APFloat(kEpsilon))))
      return failure();
    unsigned count = 0;
    rewrite([&](Expr expr) -> Expr {
      if (expr.getKind() != Expr::Kind::Constant || expr.getInt() ||
          expr.getFloat() != kEpsilon)
        return Expr();
      ++count;
      return access(TensorRef::operand(5), {}, type);
    });
    semantics->definition.operandNames.push_back("epsilon");
    if (count == 1)
      return success();
    error =
        "expects one epsilon in the definition, but got " + llvm::utostr(count);
    return failure();
  }

  LogicalResult definePad() {
    SmallVector<int64_t> low(ranks[0], 0), high(ranks[0], 0);
    low[node.params[0].first] = node.params[2].first;
    high[node.params[0].first] = node.params[3].first;
    return addZeros(low, high);
  }

  LogicalResult defineBorder() {
    Border border = Border::get(node.params[0]);
    return addZeros({0, 0, border.top, border.left},
                    {0, 0, border.bottom, border.right});
  }

  /// Zeros before and behind.
  LogicalResult addZeros(ArrayRef<int64_t> low, ArrayRef<int64_t> high) {
    if (failed(take<graph::PadOp>(operand(0), addOperand({}), low, high)))
      return failure();
    rewrite([&](Expr expr) -> Expr {
      if (expr.getKind() != Expr::Kind::Access ||
          !(expr.getTensor() == TensorRef::operand(1)))
        return Expr();
      return cast(type, constant(int64_t(0)));
    });
    semantics->definition.operandNames.pop_back();
    return success();
  }

  /// The slice of `count` elements from `begin` along one axis: numbers, or the
  /// parameters that stand for them.
  LogicalResult takeSlice(unsigned axis,
                          std::variant<int64_t, Parameter::Kind> begin,
                          std::variant<int64_t, Parameter::Kind> count) {
    unsigned rank = ranks[0];
    SmallVector<int64_t> starts(rank, 0), steps(rank, 1);
    SmallVector<int64_t> sizes(rank, ShapedType::kDynamic);
    SmallVector<Value> offsets, extents;
    auto set = [&](std::variant<int64_t, Parameter::Kind> value,
                   SmallVectorImpl<int64_t> &numbers, unsigned dim,
                   SmallVectorImpl<Value> &values) {
      if (auto *number = std::get_if<int64_t>(&value)) {
        numbers[dim] = *number;
        return;
      }
      numbers[dim] = ShapedType::kDynamic;
      values.push_back(makeParameter({std::get<Parameter::Kind>(value), dim}));
    };
    set(begin, starts, axis, offsets);
    for (unsigned dim = 0; dim < rank; ++dim)
      set(dim == axis ? count : Parameter::Kind::Size, sizes, dim, extents);
    return take<graph::SliceOp>(RankedTensorType::get(sizes, type), operand(0),
                                offsets, extents, starts, sizes, steps);
  }

  LogicalResult defineSlice() {
    return takeSlice(node.params[0].first, node.params[2].first,
                     node.params[3].first);
  }

  /// A part is the slice before or behind the cut.
  LogicalResult defineSplit() {
    unsigned axis = node.params[0].first;
    if (axis >= ranks[0]) {
      error = "expects an axis below the rank " + llvm::utostr(ranks[0]) +
              ", but got " + llvm::utostr(axis);
      return failure();
    }
    if (node.params[1].first == 0)
      return takeSlice(axis, 0, Parameter::Kind::Cut);
    return takeSlice(axis, Parameter::Kind::Cut, Parameter::Kind::AfterCut);
  }

  Expr size(unsigned tensor, unsigned dim) {
    return definition::size(TensorRef::operand(tensor), dim,
                            builder.getContext());
  }
  void require(Expr value, Expr bound, StringRef rule) {
    semantics->definition.requirements.push_back(
        {Requirement::Kind::Equal, value, bound, rule.str()});
  }

  /// Centred: as much before as behind.
  LogicalResult defineEnlarge() {
    Param kernel = node.params[0];
    if (failed(take<graph::EnlargeOp>(
            operand(0), ArrayRef<int64_t>{kernel.first, kernel.second})))
      return failure();
    for (auto [dim, extent] :
         {std::pair(2u, kernel.first), {3u, kernel.second}}) {
      Expr limit = cast(builder.getIndexType(), constant(extent));
      Expr border = floorDiv(limit - size(0, dim), constant(int64_t(2)));
      require(border * 2 + size(0, dim), limit, "as much before as behind");
    }
    return success();
  }

  /// Groups are equally many channels of X and features of W.
  LogicalResult defineConv() {
    if (failed(parse(getConvText(node), node.params[2].first)))
      return failure();
    Expr groups = floorDiv(size(0, 1), size(1, 1));
    require(groups * size(1, 1), size(0, 1), "groups of channels of X");
    require(floorDiv(size(1, 0), groups) * groups, size(1, 0),
            "groups of features of W");
    return success();
  }

  LogicalResult parse(const std::string &text,
                      int64_t activation = kNoActivation) {
    Instantiation instantiation;
    instantiation.context = builder.getContext();
    for (BlockArgument argument : block.getArguments())
      instantiation.operands.push_back(
          {argument.getArgNumber() == 0 ? "X" : "W",
           cast<RankedTensorType>(argument.getType())});
    instantiation.functions["act"] = [activation](Expr value) {
      return activation == kReluActivation ? relu(value) : value;
    };
    FailureOr<Definition> definition =
        parseDefinition(text, instantiation,
                        [&](const Twine &reason) { error = reason.str(); });
    if (failed(definition))
      return failure();
    semantics->definition = std::move(*definition);
    return success();
  }

  /// Clashes with the expression of the same name otherwise.
  static Expr cast(Type type, Expr value) {
    return definition::cast(type, value);
  }
  template <typename To, typename From>
  static To cast(From from) {
    return mlir::cast<To>(from);
  }

  const RuleNode &node;
  ArrayRef<unsigned> ranks; ///< Of the operands.
  unsigned resultRank;
  std::string &error;
  Block block;
  OpBuilder builder;
  Type type;
  SmallVector<Requirement> units; ///< What must be 1.
  std::unique_ptr<OperatorSemantics> semantics =
      std::make_unique<OperatorSemantics>();
};
} // namespace

/// Any function will do that the verifier knows nothing of.
static void addRounding(Definition &definition) {
  auto round = [](Expr value) { return apply(ScalarFn::Sin, {value}); };
  for (Step &step : definition.steps) {
    step.value = transform(step.value, [&](Expr expr) -> Expr {
      bool isSum = expr.getKind() == Expr::Kind::Reduce &&
                   expr.getReduceKind() == ReduceKind::Sum;
      if (isSum)
        return round(expr);
      if (expr.getKind() != Expr::Kind::Apply ||
          !llvm::isa<FloatType>(expr.getType()))
        return {};
      switch (expr.getFn()) {
      case ScalarFn::Add:
      case ScalarFn::Sub:
      case ScalarFn::Mul:
      case ScalarFn::Div:
        return round(expr);
      // Of these, laws are known that hold for exact values only. What is
      // rounded is not negative either.
      case ScalarFn::Exp:
      case ScalarFn::Sqrt:
        return apply(ScalarFn::Abs, {round(expr)});
      default:
        return {};
      }
    });
  }
}

const OperatorSemantics *SemanticsCache::get(const RuleNode &node,
                                             ArrayRef<unsigned> ranks,
                                             std::string &error) {
  std::vector<int64_t> params;
  for (Param param : node.params)
    params.insert(params.end(), {param.first, param.second});
  auto [entry, isNew] =
      known.try_emplace({node.op, params, {ranks.begin(), ranks.end()}});
  if (isNew || !entry->second) {
    entry->second = SemanticsBuilder(context, node, ranks, error).build();
    if (entry->second && rounds)
      addRounding(entry->second->definition);
  }
  return entry->second.get();
}
