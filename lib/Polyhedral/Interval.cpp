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

std::optional<llvm::SmallVector<Interval>>
espalier::polyhedral::readBox(IntegerSet set) {
  constexpr int64_t least = std::numeric_limits<int64_t>::min();
  constexpr int64_t most = std::numeric_limits<int64_t>::max();
  SmallVector<Interval> box(set.getNumDims(), {least, most});
  for (auto [number, constraint] : llvm::enumerate(set.getConstraints())) {
    unsigned dim;
    int64_t factor, offset;
    if (set.isEq(number) || !matchBound(constraint, dim, factor, offset) ||
        offset == least)
      return std::nullopt;
    // d + offset >= 0 or offset - d >= 0
    if (factor > 0)
      box[dim].least = std::max(box[dim].least, -offset);
    else
      box[dim].most = std::min(box[dim].most, offset);
  }
  for (const Interval &interval : box)
    if (interval.least == least || interval.most == most ||
        interval.least > interval.most)
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

static std::optional<Interval> getSum(const Interval &lhs,
                                      const Interval &rhs) {
  Interval sum;
  if (llvm::AddOverflow(lhs.least, rhs.least, sum.least) ||
      llvm::AddOverflow(lhs.most, rhs.most, sum.most))
    return std::nullopt;
  sum.isDense = lhs.isDense && rhs.isDense;
  return sum;
}

static std::optional<Interval> getMultiple(const Interval &interval,
                                           int64_t factor) {
  Interval multiple;
  if (llvm::MulOverflow(interval.least, factor, multiple.least) ||
      llvm::MulOverflow(interval.most, factor, multiple.most))
    return std::nullopt;
  if (factor < 0)
    std::swap(multiple.least, multiple.most);
  multiple.isDense = multiple.least == multiple.most ||
                     (interval.isDense && (factor == 1 || factor == -1));
  return multiple;
}

static std::optional<Interval> getRemainder(const Interval &interval,
                                            int64_t divisor) {
  int64_t first = llvm::divideFloorSigned(interval.least, divisor);
  if (first == llvm::divideFloorSigned(interval.most, divisor))
    return Interval{llvm::mod(interval.least, divisor),
                    llvm::mod(interval.most, divisor), interval.isDense};
  if (!interval.isDense)
    return std::nullopt;
  // The last before a multiple and the multiple itself are values; those in
  // the middle are if a whole period is.
  int64_t length;
  bool isWhole = llvm::SubOverflow(interval.most, interval.least, length) ||
                 length >= divisor - 1;
  return Interval{0, divisor - 1, isWhole || divisor <= 2};
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
    return Interval{llvm::divideFloorSigned(lhs->least, *number),
                    llvm::divideFloorSigned(lhs->most, *number), lhs->isDense};
  return std::nullopt;
}
