//===- IndexArithmetic.cpp - Affine expressions as values -----------------===//

#include "IndexArithmetic.h"
#include "espalier/Dialect/Poly/IR/GivenLimits.h"
#include "espalier/Support/AffineArithmetic.h"
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

void IndexArithmetic::addExprs(Question &question, ArrayRef<AffineExpr> exprs) {
  // Their number keeps one list apart from the next.
  question.push_back(exprs.size());
  for (AffineExpr expr : exprs)
    question.push_back(reinterpret_cast<uintptr_t>(expr.getAsOpaquePointer()));
}

void IndexArithmetic::addState(Question &question) const {
  question.push_back(unrolled.size());
  for (auto [iterator, value] : unrolled)
    question.insert(question.end(), {iterator, uint64_t(value)});
  for (auto [iterator, range] : ranges)
    question.insert(question.end(),
                    {iterator, uint64_t(range.first), uint64_t(range.second)});
}

AffineExpr IndexArithmetic::getLaneStep(AffineExpr expr, const Lanes &vector) {
  if (!expr.isFunctionOfDim(vector.iterator))
    return constant(0);
  Question question = {vector.iterator};
  addExprs(question, expr);
  addState(question);
  auto [place, isNew] = laneSteps.try_emplace(std::move(question));
  if (isNew)
    place->second = findLaneStep(expr, vector);
  return place->second;
}

AffineExpr IndexArithmetic::findLaneStep(AffineExpr expr, const Lanes &vector) {
  AffineExpr lane = iterator(vector.iterator);
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
    Range sum;
    if (!lhs || !rhs || llvm::AddOverflow(lhs->first, rhs->first, sum.first) ||
        llvm::AddOverflow(lhs->second, rhs->second, sum.second))
      return std::nullopt;
    return sum;
  }
  case AffineExprKind::Mul: {
    Range product;
    if (!lhs || !number ||
        llvm::MulOverflow(lhs->first, number.getValue(), product.first) ||
        llvm::MulOverflow(lhs->second, number.getValue(), product.second))
      return std::nullopt;
    return std::minmax(product.first, product.second);
  }
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

bool IndexArithmetic::fitsMask(const polyhedral::AstNode &loop) {
  ArrayRef<polyhedral::AstExpr> ends =
      loop.upper.kind == polyhedral::AstExpr::Kind::Min
          ? ArrayRef<polyhedral::AstExpr>(loop.upper.operands)
          : ArrayRef<polyhedral::AstExpr>(loop.upper);
  return loop.lower.kind == polyhedral::AstExpr::Kind::Affine &&
         llvm::all_of(ends, [&](const polyhedral::AstExpr &end) {
           if (end.kind != polyhedral::AstExpr::Kind::Affine)
             return false;
           auto range = getRange(simplify(end.affine - loop.lower.affine));
           return range && range->first >= std::numeric_limits<int32_t>::min();
         });
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
  auto [place, isNew] = canonical.try_emplace(expr);
  if (isNew)
    place->second =
        simplifyAffineExpr(expr, numIterators, symbols.size() + numReads);
  return place->second;
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

static constexpr unsigned kIndexBits = IndexType::kInternalStorageBitWidth;

static bool isDivision(AffineExpr expr) {
  return expr.getKind() == AffineExprKind::FloorDiv ||
         expr.getKind() == AffineExprKind::CeilDiv ||
         expr.getKind() == AffineExprKind::Mod;
}

unsigned IndexArithmetic::getNumBits(AffineExpr expr, ValueRange data) const {
  static constexpr unsigned kSizeBits =
      llvm::ConstantLog2<poly::kMaxGivenSize>();
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return llvm::Log2_64_Ceil(number.getValue() < 0
                                  ? -uint64_t(number.getValue())
                                  : std::max<uint64_t>(number.getValue(), 1));
  auto symbol = dyn_cast<AffineSymbolExpr>(expr);
  if (symbol && symbol.getPosition() >= symbols.size()) {
    Value value = data[symbol.getPosition() - symbols.size()];
    if (auto known = dataBits.find(value); known != dataBits.end())
      return known->second;
    auto type = dyn_cast<IntegerType>(getElementTypeOrSelf(value));
    return (type ? type.getWidth() : kIndexBits) - 1;
  }
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return kSizeBits;
  unsigned lhs = getNumBits(binary.getLHS(), data);
  unsigned rhs = getNumBits(binary.getRHS(), data);
  auto divisor = dyn_cast<AffineConstantExpr>(binary.getRHS());
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return std::max(lhs, rhs) + 1;
  case AffineExprKind::Mul:
    return lhs + rhs;
  case AffineExprKind::Mod:
    return rhs;
  default: {
    unsigned less = divisor ? llvm::Log2_64(divisor.getValue()) : 0;
    return lhs - std::min(lhs, less);
  }
  }
}

unsigned IndexArithmetic::getMostBits(AffineExpr expr, ValueRange data) const {
  unsigned most = 0;
  expr.walk(
      [&](AffineExpr part) { most = std::max(most, getNumBits(part, data)); });
  return most;
}

bool IndexArithmetic::fitsIndex(AffineExpr expr, ValueRange data) const {
  if (!readsData(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return getNumBits(expr, data) < kIndexBits;
  return fitsIndex(binary.getLHS(), data) && fitsIndex(binary.getRHS(), data) &&
         (getNumBits(expr, data) < kIndexBits - 1 || isDivision(expr));
}

static arith::IntegerOverflowFlags getFlags(bool fits) {
  return fits ? arith::IntegerOverflowFlags::nsw
              : arith::IntegerOverflowFlags::none;
}

/// A quotient or remainder of integers of more than 64 bits: the expansion of
/// MLIR 22's rounding divisions takes -1 for 2^64 - 1 there.
static Value emitWideDivision(OpBuilder &builder, Location loc,
                              AffineExprKind kind, Value lhs, Value rhs) {
  using Predicate = arith::CmpIPredicate;
  Type type = lhs.getType();
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
  Value rest = arith::RemSIOp::create(builder, loc, lhs, rhs);
  Value signs = arith::XOrIOp::create(builder, loc, rest, rhs);
  bool isUp = kind == AffineExprKind::CeilDiv;
  Value isRounded = arith::CmpIOp::create(
      builder, loc, isUp ? Predicate::sge : Predicate::slt, signs, zero);
  Value isInexact =
      arith::CmpIOp::create(builder, loc, Predicate::ne, rest, zero);
  Value isOff = arith::AndIOp::create(builder, loc, isRounded, isInexact);
  if (kind == AffineExprKind::Mod)
    return arith::AddIOp::create(
        builder, loc, rest,
        arith::SelectOp::create(builder, loc, isOff, rhs, zero));
  Value quotient = arith::DivSIOp::create(builder, loc, lhs, rhs);
  Value one = arith::ExtUIOp::create(builder, loc, type, isOff);
  if (isUp)
    return arith::AddIOp::create(builder, loc, quotient, one);
  return arith::SubIOp::create(builder, loc, quotient, one);
}

Value IndexArithmetic::emitNumber(int64_t number, Type type) {
  return arith::ConstantOp::create(
      builder, loc,
      builder.getIntegerAttr(type, APInt(type.getIntOrFloatBitWidth(), number,
                                         /*isSigned=*/true)));
}

Value IndexArithmetic::emitWide(AffineExpr expr, ValueRange data,
                                IntegerType type) {
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return emitNumber(number.getValue(), type);
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (binary && !fitsIndex(expr, data)) {
    Value lhs = emitWide(binary.getLHS(), data, type);
    Value rhs = emitWide(binary.getRHS(), data, type);
    if (isDivision(expr))
      return emitWideDivision(builder, loc, expr.getKind(), lhs, rhs);
    return emitAffineOperation(builder, loc, expr.getKind(), lhs, rhs,
                               arith::IntegerOverflowFlags::nsw);
  }
  auto symbol = dyn_cast<AffineSymbolExpr>(expr);
  Value value = symbol && symbol.getPosition() >= symbols.size()
                    ? data[symbol.getPosition() - symbols.size()]
                    : emitTerm(expr, data);
  if (value.getType().isIndex())
    return arith::IndexCastOp::create(builder, loc, type, value);
  return value.getType() == type
             ? value
             : arith::ExtSIOp::create(builder, loc, type, value);
}

Value IndexArithmetic::emitExact(AffineExpr expr, ValueRange data) {
  expr = simplify(expr);
  if (fitsIndex(expr, data))
    return emitIndex(expr, data);
  unsigned width = llvm::alignTo(getMostBits(expr, data) + 2, kIndexBits);
  return emitWide(expr, data, builder.getIntegerType(width));
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
  bool fits = fitsIndex(expr, data);
  // A quotient depends on all bits of what is divided.
  if (isDivision(expr) && !fits)
    return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                      emitExact(expr, data));
  return emitAffineOperation(builder, loc, expr.getKind(),
                             emitTerm(binary.getLHS(), data),
                             emitTerm(binary.getRHS(), data), getFlags(fits));
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
  arith::IntegerOverflowFlags flags = getFlags(fitsIndex(expr, data));
  for (AffineExpr term : terms) {
    auto number = dyn_cast<AffineConstantExpr>(term);
    if (number && number.getValue() == 0 && sum)
      continue;
    Value value = emitTerm(term, data);
    sum =
        sum ? arith::AddIOp::create(builder, loc, sum, value, flags).getResult()
            : value;
  }
  return sum;
}
