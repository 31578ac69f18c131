//===- Interval.cpp - What values an expression takes on a box ------------===//

#include "espalier/Polyhedral/Interval.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace espalier::polyhedral;

static std::optional<int64_t> getConstant(AffineExpr expr) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  return std::nullopt;
}

/// Reads `expr` as `factor` * dimension + `offset`, where `factor` is 1 or -1.
static bool matchBound(AffineExpr expr, unsigned &dim, int64_t &factor,
                       int64_t &offset) {
  offset = 0;
  if (expr.getKind() == AffineExprKind::Add) {
    auto sum = cast<AffineBinaryOpExpr>(expr);
    std::optional<int64_t> constant = getConstant(sum.getRHS());
    if (!constant)
      return false;
    offset = *constant;
    expr = sum.getLHS();
  }
  factor = 1;
  if (expr.getKind() == AffineExprKind::Mul) {
    auto product = cast<AffineBinaryOpExpr>(expr);
    if (getConstant(product.getRHS()) != -1)
      return false;
    factor = -1;
    expr = product.getLHS();
  }
  auto position = dyn_cast<AffineDimExpr>(expr);
  if (position)
    dim = position.getPosition();
  return static_cast<bool>(position);
}

static bool usesSymbols(AffineExpr expr) {
  return expr
      .walk([](AffineExpr part) {
        return isa<AffineSymbolExpr>(part) ? WalkResult::interrupt()
                                           : WalkResult::advance();
      })
      .wasInterrupted();
}

/// Whether `expr` is a sum of positive multiples of symbols and of what has
/// none.
static bool growsWithSymbols(AffineExpr expr) {
  if (!usesSymbols(expr) || isa<AffineSymbolExpr>(expr))
    return true;
  auto binary = cast<AffineBinaryOpExpr>(expr);
  if (expr.getKind() == AffineExprKind::Add)
    return growsWithSymbols(binary.getLHS()) &&
           growsWithSymbols(binary.getRHS());
  return expr.getKind() == AffineExprKind::Mul &&
         getConstant(binary.getRHS()).value_or(0) > 0 &&
         growsWithSymbols(binary.getLHS());
}

/// Narrows `box`, by dimension, to where `constraint` holds.
static bool addConstraint(MutableArrayRef<Interval> box,
                          AffineExpr constraint) {
  unsigned dim;
  int64_t factor, offset;
  if (!matchBound(constraint, dim, factor, offset) ||
      offset == Interval::kNoLeast)
    return false;
  // d + offset >= 0 or offset - d >= 0
  if (factor > 0)
    box[dim].least = std::max(box[dim].least, -offset);
  else
    box[dim].most = std::min(box[dim].most, offset);
  return true;
}

std::optional<llvm::SmallVector<Interval>>
espalier::polyhedral::readBox(IntegerSet set) {
  if (set.getNumSymbols() != 0)
    for (AffineExpr constraint : set.getConstraints())
      if (usesSymbols(constraint))
        return std::nullopt;
  auto box = readBoxOfAllSizes(set);
  if (box && !llvm::all_of(*box, std::mem_fn(&Interval::isClosed)))
    return std::nullopt;
  return box;
}

std::optional<llvm::SmallVector<Interval>>
espalier::polyhedral::readBoxOfAllSizes(IntegerSet set) {
  SmallVector<Interval> box(set.getNumDims(),
                            {Interval::kNoLeast, Interval::kNoMost});
  for (auto [number, constraint] : llvm::enumerate(set.getConstraints())) {
    if (set.isEq(number))
      return std::nullopt;
    // For each point there are sizes so large that this holds.
    if (usesSymbols(constraint) ? !growsWithSymbols(constraint)
                                : !addConstraint(box, constraint))
      return std::nullopt;
  }
  for (const Interval &interval : box)
    if (interval.least > interval.most)
      return std::nullopt;
  return box;
}

/// Whether `lhs` and `rhs` have a dimension in common.
static bool shareDimension(AffineExpr lhs, AffineExpr rhs) {
  bool found = false;
  lhs.walk([&](AffineExpr part) {
    if (auto dim = dyn_cast<AffineDimExpr>(part))
      found |= rhs.isFunctionOfDim(dim.getPosition());
  });
  return found;
}

/// `lhs` + `rhs` where neither is `noEnd`; nothing beyond 64 bits.
static std::optional<int64_t> addEnds(int64_t lhs, int64_t rhs, int64_t noEnd) {
  if (lhs == noEnd || rhs == noEnd)
    return noEnd;
  int64_t sum;
  if (llvm::AddOverflow(lhs, rhs, sum) || sum == noEnd)
    return std::nullopt;
  return sum;
}

static std::optional<Interval> getSum(const Interval &lhs,
                                      const Interval &rhs) {
  auto least = addEnds(lhs.least, rhs.least, Interval::kNoLeast);
  auto most = addEnds(lhs.most, rhs.most, Interval::kNoMost);
  if (!least || !most)
    return std::nullopt;
  return Interval{*least, *most, lhs.isDense && rhs.isDense};
}

static std::optional<Interval> getMultiple(const Interval &interval,
                                           int64_t factor) {
  if (factor == 0)
    return Interval{0, 0};
  Interval multiple{Interval::kNoLeast, Interval::kNoMost};
  if (factor < 0)
    std::swap(multiple.least, multiple.most);
  auto multiply = [factor](int64_t end, int64_t noEnd, int64_t &result) {
    return end == noEnd ||
           (!llvm::MulOverflow(end, factor, result) &&
            result != Interval::kNoLeast && result != Interval::kNoMost);
  };
  if (!multiply(interval.least, Interval::kNoLeast, multiple.least) ||
      !multiply(interval.most, Interval::kNoMost, multiple.most))
    return std::nullopt;
  if (factor < 0)
    std::swap(multiple.least, multiple.most);
  multiple.isDense = multiple.least == multiple.most ||
                     (interval.isDense && (factor == 1 || factor == -1));
  return multiple;
}

static std::optional<Interval> getRemainder(const Interval &interval,
                                            int64_t divisor) {
  if (interval.isClosed()) {
    int64_t first = llvm::divideFloorSigned(interval.least, divisor);
    if (first == llvm::divideFloorSigned(interval.most, divisor))
      return Interval{llvm::mod(interval.least, divisor),
                      llvm::mod(interval.most, divisor), interval.isDense};
  }
  if (!interval.isDense)
    return std::nullopt;
  // The last before a multiple and the multiple itself are values; those in
  // the middle are if a whole period is.
  int64_t length;
  bool isWhole = !interval.isClosed() ||
                 llvm::SubOverflow(interval.most, interval.least, length) ||
                 length >= divisor - 1;
  return Interval{0, divisor - 1, isWhole || divisor <= 2};
}

static Interval getQuotient(const Interval &interval, int64_t divisor) {
  Interval quotient = interval;
  if (interval.least != Interval::kNoLeast)
    quotient.least = llvm::divideFloorSigned(interval.least, divisor);
  if (interval.most != Interval::kNoMost)
    quotient.most = llvm::divideFloorSigned(interval.most, divisor);
  return quotient;
}

std::optional<Interval>
espalier::polyhedral::getInterval(AffineExpr expr, ArrayRef<Interval> box) {
  if (std::optional<int64_t> constant = getConstant(expr))
    return Interval{*constant, *constant};
  if (auto dim = dyn_cast<AffineDimExpr>(expr))
    return box[dim.getPosition()];
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<Interval> lhs = getInterval(binary.getLHS(), box);
  if (!lhs)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Add) {
    std::optional<Interval> rhs = getInterval(binary.getRHS(), box);
    if (!rhs || shareDimension(binary.getLHS(), binary.getRHS()))
      return std::nullopt;
    return getSum(*lhs, *rhs);
  }
  std::optional<int64_t> number = getConstant(binary.getRHS());
  if (!number)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mul)
    return getMultiple(*lhs, *number);
  if (*number <= 0)
    return std::nullopt;
  if (expr.getKind() == AffineExprKind::Mod)
    return getRemainder(*lhs, *number);
  if (expr.getKind() == AffineExprKind::FloorDiv)
    return getQuotient(*lhs, *number);
  return std::nullopt;
}
