//===- IndexArithmetic.cpp - Affine expressions as values -----------------===//

#include "IndexArithmetic.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;

void espalier::polytoloops::getTerms(AffineExpr expr,
                                     SmallVectorImpl<AffineExpr> &terms) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && expr.getKind() == AffineExprKind::Add) {
    getTerms(binary.getLHS(), terms);
    getTerms(binary.getRHS(), terms);
    return;
  }
  if (binary && expr.getKind() == AffineExprKind::Mul) {
    SmallVector<AffineExpr> factors;
    getTerms(binary.getLHS(), factors);
    for (AffineExpr factor : factors)
      terms.push_back(factor * binary.getRHS());
    return;
  }
  terms.push_back(expr);
}

static void getFactors(AffineExpr term, SmallVectorImpl<AffineExpr> &factors) {
  if (term.getKind() != AffineExprKind::Mul)
    return factors.push_back(term);
  auto binary = cast<AffineBinaryOpExpr>(term);
  getFactors(binary.getLHS(), factors);
  getFactors(binary.getRHS(), factors);
}

bool IndexArithmetic::readsData(AffineExpr expr) const {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    found |= symbol && symbol.getPosition() >= symbols.size();
  });
  return found;
}

std::optional<std::pair<unsigned, AffineExpr>>
IndexArithmetic::splitData(AffineExpr term) {
  SmallVector<AffineExpr> factors;
  getFactors(term, factors);
  std::optional<unsigned> read;
  AffineExpr scale = constant(1);
  for (AffineExpr factor : factors) {
    if (!readsData(factor)) {
      scale = scale * factor;
      continue;
    }
    auto symbol = dyn_cast<AffineSymbolExpr>(factor);
    if (!symbol || read)
      return std::nullopt;
    read = symbol.getPosition() - symbols.size();
  }
  if (!read)
    return std::nullopt;
  return std::make_pair(*read, scale);
}

std::optional<int64_t> IndexArithmetic::getLaneStride(AffineExpr expr,
                                                      const Lanes &vector) {
  auto number = dyn_cast_or_null<AffineConstantExpr>(getLaneStep(expr, vector));
  if (!number)
    return std::nullopt;
  return number.getValue();
}

AffineExpr IndexArithmetic::getLaneStep(AffineExpr expr, const Lanes &vector) {
  AffineExpr lane = iterator(vector.iterator);
  if (!expr.isFunctionOfDim(vector.iterator))
    return constant(0);
  AffineExpr next = expr.replace(lane, lane + 1);
  AffineExpr difference = canonicalize(simplify(next) - simplify(expr));
  if (isa<AffineConstantExpr>(difference))
    return difference;
  SmallVector<AffineExpr> terms;
  getTerms(expr, terms);
  AffineExpr sum = constant(0);
  for (AffineExpr term : terms) {
    if (!term.isFunctionOfDim(vector.iterator))
      continue;
    AffineExpr step;
    auto binary = dyn_cast<AffineBinaryOpExpr>(term);
    if (binary && term.getKind() == AffineExprKind::Mul &&
        !binary.getRHS().isFunctionOfDim(vector.iterator)) {
      step = getLaneStep(binary.getLHS(), vector);
      step = step ? step * binary.getRHS() : step;
    } else if (terms.size() > 1) {
      step = getLaneStep(term, vector);
    }
    if (!step)
      return {};
    sum = sum + step;
  }
  return canonicalize(sum);
}

std::optional<SmallVector<int64_t>>
IndexArithmetic::getLaneOffsets(AffineExpr expr, const Lanes &vector) {
  AffineExpr lane = iterator(vector.iterator);
  auto at = [&](int64_t number) {
    return canonicalize(simplify(expr.replace(lane, vector.first + number)));
  };
  AffineExpr first = at(0);
  SmallVector<int64_t> offsets;
  for (int64_t number = 0; number < vector.width; ++number) {
    auto offset =
        dyn_cast<AffineConstantExpr>(canonicalize(at(number) - first));
    if (!offset)
      return std::nullopt;
    offsets.push_back(offset.getValue());
  }
  return offsets;
}

bool IndexArithmetic::hasLaneAddresses(AffineExpr address,
                                       const Lanes &vector) {
  SmallVector<AffineExpr> terms;
  getTerms(address, terms);
  return llvm::all_of(terms,
                      [&](AffineExpr term) {
                        return !readsData(term) || splitData(term);
                      }) &&
         (getLaneStep(address, vector) ||
          (!readsData(address) && getLaneOffsets(address, vector)));
}

std::optional<std::pair<int64_t, int64_t>>
IndexArithmetic::getRange(AffineExpr expr) {
  using Range = std::pair<int64_t, int64_t>;
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return Range(number.getValue(), number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    auto it = ranges.find(dim.getPosition());
    if (it == ranges.end())
      return std::nullopt;
    return it->second;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Range> lhs = getRange(binary.getLHS());
  auto number = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add: {
    std::optional<Range> rhs = getRange(binary.getRHS());
    if (!lhs || !rhs)
      return std::nullopt;
    return Range(lhs->first + rhs->first, lhs->second + rhs->second);
  }
  case AffineExprKind::Mul:
    if (!lhs || !number)
      return std::nullopt;
    return std::minmax(lhs->first * number.getValue(),
                       lhs->second * number.getValue());
  case AffineExprKind::FloorDiv:
    if (!lhs || !number || number.getValue() <= 0)
      return std::nullopt;
    return Range(llvm::divideFloorSigned(lhs->first, number.getValue()),
                 llvm::divideFloorSigned(lhs->second, number.getValue()));
  case AffineExprKind::Mod:
    if (!number || number.getValue() <= 0)
      return std::nullopt;
    return Range(0, number.getValue() - 1);
  default:
    return std::nullopt;
  }
}

std::optional<int64_t> IndexArithmetic::getLargest(AffineExpr expr) {
  unsigned numDims = 0;
  SmallVector<AffineExpr> constraints{
      getAffineConstantExpr(0, expr.getContext())};
  for (auto [iterator, range] : ranges) {
    if (!expr.isFunctionOfDim(iterator))
      continue;
    AffineExpr dim = getAffineDimExpr(iterator, expr.getContext());
    constraints.push_back(dim - range.first);
    constraints.push_back(range.second - dim);
  }
  for (AffineExpr fact : known)
    constraints.push_back(simplify(fact));
  constraints.push_back(expr);
  for (AffineExpr part : constraints)
    part.walk([&](AffineExpr leaf) {
      if (auto dim = dyn_cast<AffineDimExpr>(leaf))
        numDims = std::max(numDims, dim.getPosition() + 1);
    });
  constraints.pop_back();
  polyhedral::Context context;
  polyhedral::Map value = polyhedral::Map::get(
      context, numParams, AffineMap::get(numDims, numParams, expr));
  polyhedral::Set points = polyhedral::Set::get(
      context, IntegerSet::get(numDims, numParams, constraints,
                               SmallVector<bool>(constraints.size())));
  if (!value || !points)
    return std::nullopt;
  return value.apply(points.assumeNonnegativeParameters()).getMax(0);
}

AffineExpr IndexArithmetic::canonicalize(AffineExpr expr) {
  return simplifyAffineExpr(expr, numIterators, symbols.size() + numReads);
}

/// Replaces unrolled iterators by their values, and simplifies divisions whose
/// remainder is known from the iterators' ranges: with 0 <= d1 < 16,
/// (d0 * 16 + d1) floordiv 16 is d0.
AffineExpr IndexArithmetic::simplify(AffineExpr expr) {
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    auto it = unrolled.find(dim.getPosition());
    return it == unrolled.end() ? expr : constant(it->second);
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return expr;
  AffineExpr lhs = simplify(binary.getLHS()), rhs = simplify(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return lhs + rhs;
  case AffineExprKind::Mul:
    return lhs * rhs;
  case AffineExprKind::CeilDiv:
    return lhs.ceilDiv(rhs);
  default:
    break;
  }
  bool isMod = expr.getKind() == AffineExprKind::Mod;
  auto divisor = dyn_cast<AffineConstantExpr>(rhs);
  if (!divisor)
    return isMod ? lhs % rhs : lhs.floorDiv(rhs);
  int64_t number = divisor.getValue();
  lhs = canonicalize(lhs);
  SmallVector<AffineExpr> terms;
  getTerms(lhs, terms);
  // With terms = step * multiple + rest, where step divides the divisor and the
  // rest stays between two multiples of it, the rest decides nothing.
  llvm::SmallSetVector<int64_t, 4> steps;
  steps.insert(number);
  for (AffineExpr term : terms)
    steps.insert(std::gcd(number, term.getLargestKnownDivisor()));
  for (int64_t step : steps) {
    AffineExpr multiple = constant(0), rest = constant(0);
    for (AffineExpr term : terms)
      (term.isMultipleOf(step) ? multiple : rest) =
          (term.isMultipleOf(step) ? multiple : rest) + term;
    std::optional<std::pair<int64_t, int64_t>> range = getRange(rest);
    if (step <= 1 || !range)
      continue;
    int64_t quotient = llvm::divideFloorSigned(range->first, step);
    if (quotient != llvm::divideFloorSigned(range->second, step))
      continue;
    multiple = multiple.floorDiv(step) + quotient;
    rest = rest - quotient * step;
    return isMod ? (multiple % (number / step)) * step + rest
                 : multiple.floorDiv(number / step);
  }
  return isMod ? lhs % rhs : lhs.floorDiv(rhs);
}

/// Converts an integer that was read, or a vector of them.
Value IndexArithmetic::toIndex(Value value, Type type) {
  if (value.getType() == type)
    return value;
  return arith::IndexCastOp::create(builder, loc, type, value);
}

Value IndexArithmetic::emitTerm(AffineExpr expr, ValueRange data) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return arith::ConstantIndexOp::create(builder, loc, number.getValue());
  if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
    assert(iterators.count(dim.getPosition()) && "an iterator out of its loop");
    return iterators.lookup(dim.getPosition());
  }
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    unsigned position = symbol.getPosition();
    if (position < symbols.size())
      return symbols[position];
    return toIndex(data[position - symbols.size()], builder.getIndexType());
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  Value lhs = emitTerm(binary.getLHS(), data);
  Value rhs = emitTerm(binary.getRHS(), data);
  constexpr auto nsw = arith::IntegerOverflowFlags::nsw;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return arith::AddIOp::create(builder, loc, lhs, rhs, nsw);
  case AffineExprKind::Mul:
    return arith::MulIOp::create(builder, loc, lhs, rhs, nsw);
  case AffineExprKind::FloorDiv:
    return arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
  case AffineExprKind::CeilDiv:
    return arith::CeilDivSIOp::create(builder, loc, lhs, rhs);
  default: {
    Value quotient = arith::FloorDivSIOp::create(builder, loc, lhs, rhs);
    Value whole = arith::MulIOp::create(builder, loc, quotient, rhs, nsw);
    return arith::SubIOp::create(builder, loc, lhs, whole, nsw);
  }
  }
}

/// Emits the terms in the order of loops, outermost first, the constant last:
/// what an inner loop does not change can then be moved out of it, and the
/// constant becomes part of an address.
Value IndexArithmetic::emitIndex(AffineExpr expr, ValueRange data) {
  expr = simplify(expr);
  SmallVector<AffineExpr> terms;
  getTerms(expr, terms);
  auto depth = [&](AffineExpr term) {
    if (isa<AffineConstantExpr>(term))
      return std::numeric_limits<int64_t>::max();
    int64_t last = -1;
    term.walk([&](AffineExpr e) {
      if (auto dim = dyn_cast<AffineDimExpr>(e))
        last = std::max<int64_t>(last, dim.getPosition());
      if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
        if (symbol.getPosition() >= symbols.size())
          last = std::numeric_limits<int64_t>::max() - 1;
    });
    return last;
  };
  llvm::stable_sort(
      terms, [&](AffineExpr a, AffineExpr b) { return depth(a) < depth(b); });
  Value sum;
  for (AffineExpr term : terms) {
    auto number = dyn_cast<AffineConstantExpr>(term);
    if (number && number.getValue() == 0 && sum)
      continue;
    Value value = emitTerm(term, data);
    sum = sum ? arith::AddIOp::create(builder, loc, sum, value,
                                      arith::IntegerOverflowFlags::nsw)
                    .getResult()
              : value;
  }
  return sum;
}
