//===- ConstantData.cpp - Data that the compiler knows --------------------===//

#include "ConstantData.h"
#include "espalier/Dialect/Poly/IR/GivenLimits.h"
#include "espalier/Polyhedral/Ast.h"
#include "espalier/Polyhedral/Program.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/DenseSet.h"
#include "llvm/Support/MathExtras.h"
#include <optional>

using namespace mlir;
using namespace espalier;

namespace {
/// Integers in row-major order.
struct ConstantData {
  SmallVector<int64_t, 0> values;
  ArrayRef<int64_t> shape;
};
} // namespace

static ElementsAttr findConstant(Value array) {
  auto read = array.getDefiningOp<memref::GetGlobalOp>();
  if (!read)
    return {};
  auto global = SymbolTable::lookupNearestSymbolFrom<memref::GlobalOp>(
      read, read.getNameAttr());
  auto values =
      global ? dyn_cast_if_present<ElementsAttr>(global.getConstantInitValue())
             : ElementsAttr();
  if (!values || !values.getElementType().isInteger() ||
      values.getElementType().isInteger(1) ||
      values.getElementType().getIntOrFloatBitWidth() > 64)
    return {};
  if (isa<DenseIntElementsAttr>(values))
    return values;
  if (!isa<DenseI32ResourceElementsAttr, DenseI64ResourceElementsAttr>(values))
    return {};
  // A resource that does not hold the elements is no constant of anything.
  AsmResourceBlob *blob =
      cast<DenseResourceElementsAttr>(values).getRawHandle().getBlob();
  uint64_t size = values.getElementType().getIntOrFloatBitWidth() / 8;
  bool isWhole = blob && blob->getData().size() % size == 0 &&
                 blob->getData().size() / size ==
                     static_cast<uint64_t>(values.getNumElements());
  return isWhole ? values : ElementsAttr();
}

bool polytoloops::isConstantData(Value array) {
  return bool(findConstant(array));
}

static ConstantData getData(Value array) {
  ConstantData data;
  ElementsAttr values = findConstant(array);
  data.shape = cast<MemRefType>(array.getType()).getShape();
  auto addAll = [&](auto resource) {
    if (auto numbers = resource.tryGetAsArrayRef())
      data.values.append(numbers->begin(), numbers->end());
  };
  if (auto wide = dyn_cast<DenseI64ResourceElementsAttr>(values))
    addAll(wide);
  else if (auto narrow = dyn_cast<DenseI32ResourceElementsAttr>(values))
    addAll(narrow);
  else
    for (const APInt &value : values.getValues<APInt>())
      data.values.push_back(value.getSExtValue());
  return data;
}

static std::optional<int64_t> getSize(Value size) {
  if (auto dim = size.getDefiningOp<memref::DimOp>())
    if (auto number = dim.getConstantIndex()) {
      auto type = dyn_cast<MemRefType>(dim.getSource().getType());
      if (type && *number >= 0 && *number < type.getRank() &&
          !type.isDynamicDim(*number))
        return type.getDimSize(*number);
    }
  return getConstantIntValue(OpFoldResult(size));
}

//===----------------------------------------------------------------------===//
// Properties of one array
//===----------------------------------------------------------------------===//

LogicalResult polytoloops::evaluateProperties(poly::CallOp call,
                                              poly::KernelOp kernel,
                                              unsigned number) {
  auto bound = kernel.getArgAttrOfType<AffineMapAttr>(
      number, poly::KernelOp::getBoundAttrName());
  bool isMonotonic(
      kernel.getArgAttr(number, poly::KernelOp::getMonotonicAttrName()));
  bool isInjective(
      kernel.getArgAttr(number, poly::KernelOp::getInjectiveAttrName()));
  if (!bound && !isMonotonic && !isInjective)
    return success();
  auto fail = [&](const Twine &rule, size_t element, int64_t value) {
    return call.emitOpError("expects constants as operand #")
           << number << " " << rule << ", but element " << element << " is "
           << value;
  };
  ConstantData data = getData(call.getArguments()[number]);
  std::optional<int64_t> most;
  if (bound) {
    SmallVector<int64_t> sizes;
    AffineExpr limit = bound.getValue().getResult(0);
    for (auto [symbol, parameter] : llvm::enumerate(kernel.getParameters())) {
      if (!limit.isFunctionOfSymbol(symbol)) {
        sizes.push_back(0);
        continue;
      }
      auto size = getSize(call.getArguments()[parameter.getArgNumber()]);
      if (!size)
        return call.emitOpError("expects sizes that are constant, as operand "
                                "#")
               << number << " is, but operand #" << parameter.getArgNumber()
               << " is not";
      sizes.push_back(*size);
    }
    most = polyhedral::evaluate(limit, {}, sizes);
  }
  llvm::DenseSet<int64_t> seen;
  for (auto [element, value] : llvm::enumerate(data.values)) {
    if (most && (value < 0 || value >= *most))
      return fail("from 0 to less than " + Twine(*most), element, value);
    if (isMonotonic && element > 0 && value < data.values[element - 1])
      return fail("that do not decrease", element, value);
    if (isInjective && !seen.insert(value).second)
      return fail("that are different", element, value);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Statements
//===----------------------------------------------------------------------===//

/// More points than these, and prefixes of points, are too many for the
/// compiler to look at.
static constexpr int64_t kMaxPoints = 10'000'000;

namespace {
/// Visits the points of a statement, dimension by dimension: each between the
/// bounds that those before it and what is read at them give.
class Evaluator {
public:
  Evaluator(poly::GivenOp given, ArrayRef<Value> arrays,
            SmallVector<int64_t> symbols)
      : given(given), reads(given.getReadAccesses()), numParams(symbols.size()),
        symbols(std::move(symbols)) {
    for (Value array : arrays)
      data.push_back(getData(array));
    this->symbols.resize(numParams + reads.size());
  }

  /// Checks that all values are small enough to calculate with.
  LogicalResult checkRange();
  LogicalResult run(IntegerSet domain);

private:
  /// A condition `factor * x + rest >= 0` on a dimension, whose rest is known
  /// before it.
  struct Bound {
    int64_t factor;
    AffineExpr rest;
  };

  void addBounds(unsigned dim);
  LogicalResult visit(unsigned dim);
  LogicalResult checkPoint();
  /// Whether all that `expr` depends on is known before dimension `dim`.
  bool isKnown(AffineExpr expr, unsigned dim) const;
  /// Finds the values of reads at places that are known before dimension `dim`
  /// and were not before the one before it.
  LogicalResult read(unsigned dim);
  int64_t evaluate(AffineExpr expr) const {
    return polyhedral::evaluate(expr, point, symbols);
  }

  poly::GivenOp given;
  SmallVector<poly::ComputeAccess> reads;
  unsigned numParams;
  SmallVector<int64_t> symbols;
  SmallVector<ConstantData> data;
  SmallVector<AffineExpr> conditions;
  std::vector<SmallVector<Bound>> bounds;
  SmallVector<int64_t> point;
  int64_t numPoints = 0;
};
} // namespace

LogicalResult Evaluator::checkRange() {
  for (auto [number, array] : llvm::enumerate(data))
    for (int64_t value : array.values)
      if (value < -poly::kMaxGivenValue || value >= poly::kMaxGivenValue)
        return given.emitOpError("expects values from ")
               << -poly::kMaxGivenValue << " to less than "
               << poly::kMaxGivenValue << ", but read #" << number << " has "
               << value;
  return success();
}

/// The first dimension before which all that `expr` depends on are known.
static unsigned getDepth(AffineExpr expr, unsigned numDims) {
  while (numDims > 0 && !expr.isFunctionOfDim(numDims - 1))
    --numDims;
  return numDims;
}

static unsigned getDepth(AffineMap map) {
  unsigned depth = 0;
  for (AffineExpr index : map.getResults())
    depth = std::max(depth, getDepth(index, map.getNumDims()));
  return depth;
}

bool Evaluator::isKnown(AffineExpr expr, unsigned dim) const {
  for (auto [number, access] : llvm::enumerate(reads))
    if (expr.isFunctionOfSymbol(numParams + number) &&
        getDepth(access.map) > dim)
      return false;
  return getDepth(expr, point.size()) <= dim;
}

LogicalResult Evaluator::read(unsigned dim) {
  for (auto [number, access] : llvm::enumerate(reads)) {
    if (getDepth(access.map) != dim)
      continue;
    int64_t place = 0;
    for (auto [index, extent] :
         llvm::zip_equal(access.map.getResults(), data[number].shape)) {
      int64_t own = evaluate(index);
      if (own < 0 || own >= extent)
        return given.emitOpError("expects reads inside their arrays, but read "
                                 "#")
               << number << " is at " << own << " of " << extent;
      place = place * extent + own;
    }
    symbols[numParams + number] = data[number].values[place];
  }
  return success();
}

LogicalResult Evaluator::checkPoint() {
  if (llvm::any_of(conditions,
                   [&](AffineExpr expr) { return evaluate(expr) < 0; }))
    return success();
  bool holds = true;
  polyhedral::forEachConstraint(
      given.getHolds(), [&](AffineExpr expr) { holds &= evaluate(expr) >= 0; });
  if (holds)
    return success();
  InFlightDiagnostic diag = given.emitOpError("expects data for which it "
                                              "holds, but at (");
  llvm::interleaveComma(point, diag);
  diag << ") the values are ";
  llvm::interleaveComma(ArrayRef(symbols).drop_front(numParams), diag);
  return diag;
}

void Evaluator::addBounds(unsigned dim) {
  SmallVector<Bound> &own = bounds.emplace_back();
  AffineExpr iterator = getAffineDimExpr(dim, given.getContext());
  for (AffineExpr expr : conditions) {
    std::optional<int64_t> factor = polyhedral::getFactor(expr, iterator);
    if (!factor || *factor == 0)
      continue;
    AffineExpr rest =
        expr.replace(iterator, getAffineConstantExpr(0, given.getContext()));
    if (isKnown(rest, dim))
      own.push_back({*factor, rest});
  }
}

LogicalResult Evaluator::visit(unsigned dim) {
  if (failed(read(dim)))
    return failure();
  if (dim == point.size())
    return checkPoint();
  std::optional<int64_t> low, high;
  for (const Bound &bound : bounds[dim]) {
    int64_t value = evaluate(bound.rest);
    if (bound.factor > 0)
      low = std::max(low.value_or(std::numeric_limits<int64_t>::min()),
                     llvm::divideCeilSigned(-value, bound.factor));
    else
      high = std::min(high.value_or(std::numeric_limits<int64_t>::max()),
                      llvm::divideFloorSigned(value, -bound.factor));
  }
  if (!low || !high)
    return given.emitOpError("expects bounds for '")
           << given.getDimName(dim).getValue() << "'";
  if (*low <= *high &&
      (*low < -poly::kMaxGivenSize || *high > poly::kMaxGivenSize))
    return given.emitOpError("expects '")
           << given.getDimName(dim).getValue() << "' to be at most "
           << poly::kMaxGivenSize << " in size, but it is from " << *low
           << " to " << *high;
  for (int64_t value = *low; value <= *high; ++value) {
    if (++numPoints > kMaxPoints)
      return given.emitOpError("expects at most ")
             << kMaxPoints
             << " points about constants, those of its outer loops included";
    point[dim] = value;
    if (failed(visit(dim + 1)))
      return failure();
  }
  return success();
}

LogicalResult Evaluator::run(IntegerSet domain) {
  conditions.clear();
  auto add = [&](AffineExpr expr) { conditions.push_back(expr); };
  polyhedral::forEachConstraint(domain, add);
  polyhedral::forEachConstraint(given.getWhere().value_or(IntegerSet()), add);
  point.assign(domain.getNumDims(), 0);
  bounds.clear();
  for (unsigned dim = 0; dim < point.size(); ++dim)
    addBounds(dim);
  return visit(0);
}

LogicalResult polytoloops::evaluateGiven(poly::GivenOp given,
                                         ArrayRef<Value> arrays,
                                         ArrayRef<Value> sizes) {
  SmallVector<int64_t> symbols;
  for (auto [number, size] : llvm::enumerate(sizes)) {
    std::optional<int64_t> known = getSize(size);
    if (!known)
      return given.emitOpError("expects sizes that are constant, as its data "
                               "is, but parameter #")
             << number << " is not";
    if (*known < -poly::kMaxGivenSize || *known > poly::kMaxGivenSize)
      return given.emitOpError("expects sizes of at most ")
             << poly::kMaxGivenSize << ", but parameter #" << number << " is "
             << *known;
    symbols.push_back(*known);
  }
  Evaluator evaluator(given, arrays, symbols);
  if (failed(evaluator.checkRange()))
    return failure();
  for (IntegerSet domain : given.getDomainSets())
    if (failed(evaluator.run(domain)))
      return failure();
  return success();
}
