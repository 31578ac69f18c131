//===- Derived.cpp - Operators by their definitions -----------------------===//

#include "Derived.h"
#include <algorithm>
#include <cmath>

using namespace espalier;
using namespace espalier::substitution;
using namespace espalier::substitution::generator;
using namespace espalier::definition;

//===----------------------------------------------------------------------===//
// Types
//===----------------------------------------------------------------------===//

/// Whether an index is made of extents.
static bool isIndex(const Expr &index) {
  bool result = true;
  walk(index, [&](Expr part) {
    result &= part.getKind() == Expr::Kind::Constant ||
              part.getKind() == Expr::Kind::Variable ||
              part.getKind() == Expr::Kind::Size ||
              part.getKind() == Expr::Kind::Parameter ||
              part.getKind() == Expr::Kind::Cast ||
              part.getKind() == Expr::Kind::Apply;
  });
  return result;
}

/// Whether all indices and conditions are, and reductions are sums and maxima.
static bool isSupported(const Definition &definition) {
  bool result = definition.results.size() == 1;
  for (const Requirement &requirement : definition.requirements)
    result &= isIndex(requirement.value) && isIndex(requirement.bound);
  for (const Step &step : definition.steps) {
    result &= !step.recurrence;
    for (const IndexVar &index : step.indices)
      result &= isIndex(index.extent);
    walk(step.value, [&](Expr expr) {
      if (expr.getKind() == Expr::Kind::Access)
        result &= llvm::all_of(expr.getOperands(), isIndex);
      else if (expr.getKind() == Expr::Kind::Select)
        result &= isIndex(expr.getOperands()[0]);
      else if (expr.getKind() == Expr::Kind::Reduce)
        result &= (expr.getReduceKind() == ReduceKind::Sum ||
                   expr.getReduceKind() == ReduceKind::Max) &&
                  (!expr.getGuard() || isIndex(expr.getGuard()));
    });
  }
  return result;
}

DerivedOperator::DerivedOperator(const ConcreteOperator &operation,
                                 SemanticsCache &cache)
    : numOperands(operation.getNumOperands()) {
  RuleNode node;
  node.kind = RuleNode::Kind::Operator;
  node.op = operation.kind;
  node.params = operation.getParams();
  bool isOpen = false;
  for (unsigned i = 0; i < numOperands; ++i) {
    required[i] = getRequiredRank(node.op, node.params, i);
    isOpen |= !required[i];
  }
  auto result = getRequiredRank(node.op, node.params, numOperands);
  if (!result && numOperands == 0)
    result = operation.constantShape.rank;
  for (unsigned open = 0; open <= (isOpen ? kRank : 0); ++open) {
    AtRank &at = byRank[open];
    for (unsigned i = 0; i < numOperands; ++i)
      at.ranks.push_back(required[i].value_or(open));
    llvm::SmallVector<unsigned> ranks(at.ranks.begin(), at.ranks.end());
    ranks.push_back(result.value_or(open));
    std::string error;
    const OperatorSemantics *semantics = cache.get(node, ranks, error);
    if (!semantics)
      continue;
    if (!isSupported(semantics->definition))
      continue;
    at.trace = getTrace(semantics->definition);
    at.semantics = semantics;
  }
}

const DerivedOperator::AtRank *
DerivedOperator::get(llvm::ArrayRef<unsigned> ranks) const {
  unsigned open = 0;
  for (unsigned i = 0; i < numOperands; ++i)
    if (!required[i])
      open = ranks[i];
  const AtRank &at = byRank[open];
  return at.semantics && ranks == llvm::ArrayRef(at.ranks) ? &at : nullptr;
}

/// Of extents and parameters on operands of these types; a cut must be there.
static int64_t getSize(const Expr &expr, const ConcreteOperator &operation,
                       const OperatorSemantics &semantics,
                       llvm::ArrayRef<const TensorType *> operands) {
  if (expr.getKind() == Expr::Kind::Size)
    return operands[expr.getTensor().number]->shape.dims[expr.getNumber()];
  Parameter parameter = semantics.parameters[expr.getNumber()];
  if (parameter.kind == Parameter::Kind::Chosen)
    return operation.constantShape.dims[parameter.dim];
  int64_t size = operands[0]->shape.dims[parameter.dim];
  if (parameter.kind == Parameter::Kind::Size)
    return size;
  int64_t cut = operands[0]->boundaries[parameter.dim].getLast();
  return parameter.kind == Parameter::Kind::Cut ? cut : size - cut;
}

/// What all that a dimension runs along have in common.
static Boundaries
getCommon(llvm::ArrayRef<std::pair<unsigned, unsigned>> sources,
          llvm::ArrayRef<const TensorType *> operands) {
  Boundaries common;
  for (auto [operand, dim] : sources) {
    const Boundaries &other = operands[operand]->boundaries[dim];
    if (operand == sources.front().first)
      common = other;
    else if (!(common == other))
      common = {};
  }
  return common;
}

/// Those of a concatenation, whose last one is where the operands meet; nothing
/// if they are too many.
static std::optional<Boundaries> join(const Boundaries &lhs,
                                      const Boundaries &rhs, uint8_t size) {
  Boundaries joined = lhs;
  if (lhs.count + rhs.count >= static_cast<int>(joined.at.size()))
    return std::nullopt;
  for (unsigned i = 0; i < rhs.count; ++i)
    joined.at[joined.count++] = rhs.at[i] + size;
  joined.at[joined.count++] = size;
  return joined;
}

/// Those before the last one stay in part 0, and those behind it in part 1.
static Boundaries cut(const Boundaries &all, unsigned part) {
  Boundaries kept;
  uint8_t last = all.getLast(), offset = part == 0 ? 0 : last;
  for (unsigned i = 0; i + 1 < all.count; ++i)
    if ((all.at[i] < last) == (part == 0) && all.at[i] != last)
      kept.at[kept.count++] = all.at[i] - offset;
  return kept;
}

std::optional<TensorType>
DerivedOperator::inferType(const ConcreteOperator &operation,
                           const TensorType *const *types) const {
  llvm::ArrayRef operands(types, numOperands);
  std::array<unsigned, 2> ranks{};
  for (unsigned i = 0; i < numOperands; ++i)
    ranks[i] = operands[i]->shape.rank;
  const AtRank *at = get(llvm::ArrayRef(ranks).take_front(numOperands));
  const OperatorInfo &info = getInfo(operation.kind);
  if (!at ||
      (info.has(kCut) && operands[0]->boundaries[operation.axis].count == 0))
    return std::nullopt;
  auto get = [&](const Expr &expr) {
    return evaluateIndex(expr, [&](const Expr &leaf) {
      return getSize(leaf, operation, *at->semantics, operands);
    });
  };
  for (const Requirement &requirement : at->semantics->definition.requirements)
    if (!holds(requirement.kind, get(requirement.value),
               get(requirement.bound)))
      return std::nullopt;
  TensorType type;
  for (const IndexVar &index : at->getResult().indices) {
    int64_t extent = get(index.extent);
    if (extent < 1 || extent > 255)
      return std::nullopt;
    unsigned dim = type.shape.rank++;
    type.shape.dims[dim] = extent;
    type.boundaries[dim] = getCommon(at->trace[dim], operands);
  }
  Boundaries &along = type.boundaries[operation.axis];
  if (info.has(kJoin)) {
    auto joined = join(operands[0]->boundaries[operation.axis],
                       operands[1]->boundaries[operation.axis],
                       operands[0]->shape.dims[operation.axis]);
    if (!joined)
      return std::nullopt;
    along = *joined;
  }
  if (info.has(kCut))
    along = cut(operands[0]->boundaries[operation.axis], operation.part);
  return type;
}

//===----------------------------------------------------------------------===//
// Values
//===----------------------------------------------------------------------===//

namespace {
using Values = std::vector<uint32_t>;

/// Evaluates expressions at all points of a box at once.
class FieldEvaluator {
public:
  FieldEvaluator(const ConcreteOperator &operation,
                 const OperatorSemantics &semantics, const TensorView *views)
      : operation(operation), semantics(semantics), views(views) {
    for (unsigned i = 0; i < operation.getNumOperands(); ++i)
      types[i] = views[i].type;
  }

  void evaluate(const Step &step, uint32_t *result) {
    std::vector<Dim> outer = std::exchange(box, {});
    for (const IndexVar &index : step.indices)
      box.push_back({index.id, getIndex(index.extent), 0});
    Values values = evaluate(step.value);
    std::copy(values.begin(), values.end(), result);
    box = std::move(outer);
  }

private:
  struct Dim {
    VarId variable;
    int64_t extent, value;
  };

  static bool isElement(const Expr &expr) {
    return expr.getType() && llvm::isa<mlir::FloatType>(expr.getType());
  }

  int64_t getIndex(const Expr &expr) const {
    return evaluateIndex(expr, [&](const Expr &leaf) {
      if (leaf.getKind() != Expr::Kind::Variable)
        return getSize(leaf, operation, semantics, types);
      for (const Dim &dim : box)
        if (dim.variable == leaf.getVariable())
          return dim.value;
      llvm_unreachable("expects a variable of the box");
    });
  }

  size_t getNumPoints() const {
    size_t count = 1;
    for (const Dim &dim : box)
      count *= dim.extent;
    return count;
  }

  /// Calls `visit` with the number of each point, the last variable first.
  template <typename Fn>
  void forEachPoint(Fn visit) {
    size_t count = getNumPoints();
    for (Dim &dim : box)
      dim.value = 0;
    for (size_t point = 0; point < count; ++point) {
      visit(point);
      for (size_t k = box.size(); k-- > 0 && ++box[k].value == box[k].extent;)
        box[k].value = 0;
    }
  }

  Values fill(uint32_t value) const {
    return Values(getNumPoints() * kLanes, value);
  }

  Values evaluate(const Expr &expr) {
    switch (expr.getKind()) {
    case Expr::Kind::Constant:
      return fill(getElement(expr));
    case Expr::Kind::Cast:
      return isElement(expr.getOperands()[0]) ||
                     expr.getOperands()[0].getKind() == Expr::Kind::Constant
                 ? evaluate(expr.getOperands()[0])
                 : evaluateNumber(expr.getOperands()[0]);
    case Expr::Kind::Access:
      return readElements(expr);
    case Expr::Kind::Apply:
      return apply(expr);
    case Expr::Kind::Select:
      return select(expr);
    case Expr::Kind::Reduce:
      return reduce(expr);
    case Expr::Kind::Variable:
    case Expr::Kind::Size:
    case Expr::Kind::Parameter:
      return evaluateNumber(expr);
    }
    llvm_unreachable("every kind is handled above");
  }

  /// The fraction that a number is.
  static uint32_t getElement(const Expr &expr) {
    double value = expr.getInt() ? double(*expr.getInt()) : expr.getFloat();
    uint32_t unit = 1;
    for (; value != std::floor(value); value *= 2)
      unit = multiply(unit, invert(2));
    return multiply(fromInteger(static_cast<int64_t>(value)), unit);
  }

  Values evaluateNumber(const Expr &expr) {
    Values values = fill(0);
    forEachPoint([&](size_t point) {
      std::fill_n(&values[point * kLanes], kLanes, fromInteger(getIndex(expr)));
    });
    return values;
  }

  /// What lies outside is 0: whoever reads there does not use it.
  Values readElements(const Expr &expr) {
    TensorRef tensor = expr.getTensor();
    llvm::SmallVector<int64_t, 4> extents;
    Values step;
    const uint32_t *data = nullptr;
    if (tensor.isOperand()) {
      const Shape &shape = types[tensor.number]->shape;
      extents.assign(shape.dims.begin(), shape.dims.begin() + shape.rank);
      data = views[tensor.number].data;
    } else {
      const Step &other = semantics.definition.steps[tensor.number];
      size_t count = kLanes;
      for (const IndexVar &index : other.indices) {
        extents.push_back(getIndex(index.extent));
        count *= extents.back();
      }
      step.resize(count);
      evaluate(other, step.data());
      data = step.data();
    }
    if (isWhole(expr, extents))
      return Values(data, data + getNumPoints() * kLanes);
    Values values = fill(0);
    std::optional<Strides> strides = getStrides(expr, extents);
    forEachPoint([&](size_t point) {
      int64_t position = 0;
      if (strides) {
        position = strides->start;
        for (auto [dim, stride] : llvm::zip_equal(box, strides->strides))
          position += dim.value * stride;
      } else {
        for (auto [index, extent] :
             llvm::zip_equal(expr.getOperands(), extents)) {
          int64_t value = getIndex(index);
          if (value < 0 || value >= extent)
            return;
          position = position * extent + value;
        }
      }
      std::copy_n(data + position * kLanes, kLanes, &values[point * kLanes]);
    });
    return values;
  }

  struct Strides {
    int64_t start = 0;
    llvm::SmallVector<int64_t, 6> strides;
  };

  /// How positions depend on the point, if each index is a variable or a
  /// number, and lies inside.
  std::optional<Strides> getStrides(const Expr &access,
                                    llvm::ArrayRef<int64_t> extents) const {
    Strides result;
    result.strides.assign(box.size(), 0);
    int64_t stride = 1;
    for (size_t dim = extents.size(); dim-- > 0; stride *= extents[dim]) {
      const Expr &index = access.getOperands()[dim];
      if (index.getKind() != Expr::Kind::Variable)
        return std::nullopt;
      for (auto [number, bound] : llvm::enumerate(box))
        if (bound.variable == index.getVariable()) {
          if (bound.extent > extents[dim])
            return std::nullopt;
          result.strides[number] += stride;
        }
    }
    return result;
  }

  /// Whether the points are the elements, in their order.
  bool isWhole(const Expr &access, llvm::ArrayRef<int64_t> extents) const {
    return extents.size() == box.size() &&
           llvm::all_of(llvm::enumerate(box), [&](auto entry) {
             const Expr &index = access.getOperands()[entry.index()];
             return index.getKind() == Expr::Kind::Variable &&
                    index.getVariable() == entry.value().variable &&
                    entry.value().extent == extents[entry.index()];
           });
  }

  template <typename Fn>
  static void map(Values &lhs, const Values &rhs, Fn fn) {
    for (size_t i = 0; i < lhs.size(); ++i)
      lhs[i] = fn(lhs[i], rhs[i]);
  }

  Values apply(const Expr &expr) {
    llvm::ArrayRef<Expr> args = expr.getOperands();
    Values lhs = evaluate(args.front());
    Values rhs = args.size() == 1 ? Values() : evaluate(args.back());
    if (args.size() == 1)
      for (uint32_t &value : lhs)
        value = applyTo(expr.getFn(), value);
    else
      combine(expr.getFn(), lhs, rhs);
    return lhs;
  }

  /// What the field does not know is any function.
  static uint32_t applyTo(ScalarFn fn, uint32_t value) {
    switch (fn) {
    case ScalarFn::Neg:
      return subtract(0, value);
    case ScalarFn::Abs:
      return getOrder(value) < 0 ? subtract(0, value) : value;
    case ScalarFn::Exp:
      return applyExp(value);
    case ScalarFn::Tanh:
      return applyTanh(value);
    default:
      return applyAny(static_cast<unsigned>(fn), value, 0);
    }
  }

  static uint32_t applyAny(unsigned fn, uint32_t lhs, uint32_t rhs) {
    return fromInteger(mix(mix(lhs + 1) + rhs + mix(fn)) % kBound);
  }

  static void combine(ScalarFn fn, Values &lhs, const Values &rhs) {
    switch (fn) {
    case ScalarFn::Add:
      return map(lhs, rhs, generator::add);
    case ScalarFn::Sub:
      return map(lhs, rhs, subtract);
    case ScalarFn::Mul:
      return map(lhs, rhs, multiply);
    case ScalarFn::Div:
      return map(lhs, rhs,
                 [](uint32_t x, uint32_t y) { return multiply(x, invert(y)); });
    case ScalarFn::Max:
      return map(lhs, rhs, maximum);
    case ScalarFn::Min:
      return map(lhs, rhs, [](uint32_t x, uint32_t y) {
        return maximum(x, y) == x ? y : x;
      });
    default:
      return map(lhs, rhs, [fn](uint32_t x, uint32_t y) {
        return applyAny(static_cast<unsigned>(fn), x, y);
      });
    }
  }

  /// A condition on indices decides.
  Values select(const Expr &expr) {
    llvm::ArrayRef<Expr> args = expr.getOperands();
    Values result = evaluate(args[1]), other = evaluate(args[2]);
    forEachPoint([&](size_t point) {
      if (!getIndex(args[0]))
        std::copy_n(&other[point * kLanes], kLanes, &result[point * kLanes]);
    });
    return result;
  }

  Values reduce(const Expr &expr) {
    bool isMax = expr.getReduceKind() == ReduceKind::Max;
    static const uint32_t least = getLeast();
    Values result = fill(isMax ? least : 0);
    size_t numOuter = box.size(), numPoints = getNumPoints();
    for (const IndexVar &variable : expr.getReduceVars())
      box.push_back({variable.id, getIndex(variable.extent), 0});
    size_t numInner = numPoints == 0 ? 0 : getNumPoints() / numPoints;
    Values body = evaluate(expr.getOperands()[0]);
    Expr guard = expr.getGuard();
    forEachPoint([&](size_t point) {
      if (guard && !getIndex(guard))
        return;
      uint32_t *into = &result[point / numInner * kLanes];
      const uint32_t *from = &body[point * kLanes];
      for (unsigned lane = 0; lane < kLanes; ++lane)
        into[lane] = isMax ? maximum(into[lane], from[lane])
                           : generator::add(into[lane], from[lane]);
    });
    box.resize(numOuter);
    return result;
  }

  const ConcreteOperator &operation;
  const OperatorSemantics &semantics;
  const TensorView *views;
  std::array<const TensorType *, 2> types{};
  std::vector<Dim> box;
};
} // namespace

void DerivedOperator::evaluate(const ConcreteOperator &operation,
                               const TensorView *operands,
                               uint32_t *result) const {
  std::array<unsigned, 2> ranks{};
  for (unsigned i = 0; i < numOperands; ++i)
    ranks[i] = operands[i].type->shape.rank;
  const AtRank *at = get(llvm::ArrayRef(ranks).take_front(numOperands));
  FieldEvaluator(operation, *at->semantics, operands)
      .evaluate(at->getResult(), result);
}
