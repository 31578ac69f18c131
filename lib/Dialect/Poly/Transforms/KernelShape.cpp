//===- KernelShape.cpp - What the default schedule looks at ---------------===//

#include "KernelShape.h"

using namespace mlir;
using namespace espalier::poly;

std::optional<int64_t> ComputeShape::getExtent(unsigned dim) const {
  if (auto number = dyn_cast_or_null<AffineConstantExpr>(extents[dim]))
    return number.getValue();
  return std::nullopt;
}

/// Reads `constraint` as d - begin >= 0, for a number: d and that.
static std::optional<std::pair<unsigned, int64_t>>
getBegin(AffineExpr constraint) {
  AffineExpr dim = constraint, begin;
  auto sum = dyn_cast<AffineBinaryOpExpr>(constraint);
  if (sum && sum.getKind() == AffineExprKind::Add)
    std::tie(dim, begin) = std::pair(sum.getLHS(), sum.getRHS());
  auto self = dyn_cast<AffineDimExpr>(dim);
  auto number = dyn_cast_or_null<AffineConstantExpr>(begin);
  if (!self || (begin && !number))
    return std::nullopt;
  return std::pair(self.getPosition(), number ? -number.getValue() : 0);
}

/// Whether `constraint` is extent - 1 - d >= 0.
static bool isBound(AffineExpr constraint, unsigned numDims,
                    unsigned numSymbols) {
  for (unsigned dim = 0; dim < numDims; ++dim)
    if (constraint.isFunctionOfDim(dim))
      return simplifyAffineExpr(
                 constraint + getAffineDimExpr(dim, constraint.getContext()),
                 numDims, numSymbols)
          .isSymbolicOrConstant();
  return false;
}

/// The dimension that `condition` >= 0, of the `where` of a computation with
/// these reads, ends before a number that is read at a place which the
/// dimensions before it decide.
static std::optional<unsigned> getLimited(AffineExpr condition,
                                          ArrayRef<ComputeAccess> reads,
                                          unsigned numDims,
                                          unsigned numParams) {
  unsigned last = numDims;
  while (last > 0 && !condition.isFunctionOfDim(last - 1))
    --last;
  if (last == 0)
    return std::nullopt;
  unsigned dim = last - 1;
  AffineExpr self = getAffineDimExpr(dim, condition.getContext());
  if (simplifyAffineExpr(condition + self, numDims, numParams + reads.size())
          .isFunctionOfDim(dim))
    return std::nullopt;
  for (auto [number, read] : llvm::enumerate(reads))
    if (condition.isFunctionOfSymbol(numParams + number))
      for (unsigned later = dim; later < numDims; ++later)
        if (read.map.isFunctionOfDim(later))
          return std::nullopt;
  return dim;
}

/// Marks what the `where` of a computation limits, or restricts otherwise.
static void addConditions(IntegerSet where, ComputeShape &shape) {
  unsigned numDims = shape.getNumDims();
  unsigned numParams = shape.op.getKernel().getNumParameters();
  for (auto [condition, isEquality] :
       llvm::zip_equal(where.getConstraints(), where.getEqFlags())) {
    std::optional<unsigned> limited =
        isEquality ? std::nullopt
                   : getLimited(condition, shape.reads, numDims, numParams);
    for (unsigned dim = 0; dim < numDims; ++dim)
      if (limited == dim)
        shape.limited[dim] = true;
      else if (condition.isFunctionOfDim(dim))
        shape.restricted[dim] = true;
  }
  // What decides where that is read.
  for (auto [number, read] : llvm::enumerate(shape.reads))
    for (unsigned dim = 0; dim < numDims; ++dim)
      if (shape.op.isConditionedOn(number) && read.map.isFunctionOfDim(dim))
        shape.restricted[dim] = true;
}

ComputeShape espalier::poly::getShape(ComputeOp op) {
  ComputeShape shape{
      op, {}, {}, {}, {}, op.getReadAccesses(), op.getWriteAccesses()};
  unsigned numDims = op.getNumDims();
  shape.extents.resize(numDims);
  shape.begins.assign(numDims, 0);
  shape.restricted.assign(numDims, op.getDomain().size() != 1);
  shape.limited.assign(numDims, false);
  MLIRContext *context = op.getContext();
  SmallVector<IntegerSet> sets = op.getDomainSets();
  if (std::optional<IntegerSet> where = op.getWhere())
    addConditions(*where, shape);
  if (sets.size() != 1)
    return shape;
  IntegerSet set = sets.front();
  for (auto [number, constraint] : llvm::enumerate(set.getConstraints())) {
    if (!set.isEq(number)) {
      if (auto begin = getBegin(
              simplifyAffineExpr(constraint, numDims, set.getNumSymbols()))) {
        int64_t &least = shape.begins[begin->first];
        least = std::max(least, begin->second);
        continue;
      }
      if (isBound(constraint, numDims, set.getNumSymbols()))
        continue;
    }
    for (unsigned dim = 0; dim < numDims; ++dim)
      if (constraint.isFunctionOfDim(dim))
        shape.restricted[dim] = true;
  }
  for (unsigned dim = 0; dim < numDims; ++dim) {
    AffineExpr self = getAffineDimExpr(dim, context);
    for (auto [number, constraint] : llvm::enumerate(set.getConstraints())) {
      if (set.isEq(number))
        continue;
      // extent - 1 - d >= 0
      AffineExpr extent = simplifyAffineExpr(constraint + self + 1, numDims,
                                             set.getNumSymbols());
      if (!extent.isSymbolicOrConstant())
        continue;
      auto known = dyn_cast_or_null<AffineConstantExpr>(shape.extents[dim]);
      auto fresh = dyn_cast<AffineConstantExpr>(extent);
      if (!shape.extents[dim] ||
          (known && fresh && fresh.getValue() < known.getValue()))
        shape.extents[dim] = extent;
    }
  }
  return shape;
}

/// The value of `expr`, a function of one dimension alone, where it is `value`;
/// nothing if it is another expression.
static std::optional<int64_t> evaluate(AffineExpr expr, unsigned dim,
                                       int64_t value) {
  if (auto constant = dyn_cast<AffineConstantExpr>(expr))
    return constant.getValue();
  if (auto self = dyn_cast<AffineDimExpr>(expr))
    return self.getPosition() == dim ? std::optional(value) : std::nullopt;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  std::optional<int64_t> lhs = evaluate(binary.getLHS(), dim, value);
  std::optional<int64_t> rhs = evaluate(binary.getRHS(), dim, value);
  if (!lhs || !rhs)
    return std::nullopt;
  switch (expr.getKind()) {
  case AffineExprKind::Add:
    return *lhs + *rhs;
  case AffineExprKind::Mul:
    return *lhs * *rhs;
  case AffineExprKind::FloorDiv:
    return *rhs > 0 ? std::optional(llvm::divideFloorSigned(*lhs, *rhs))
                    : std::nullopt;
  case AffineExprKind::Mod:
    return *rhs > 0 ? std::optional(llvm::mod(*lhs, *rhs)) : std::nullopt;
  default:
    return std::nullopt;
  }
}

/// How far apart the values of `index` are for `lanes` neighbours along `dim`,
/// counted from a multiple of `lanes`, if the pattern is the same for all such
/// groups: 0 if they are equal, 1 if one vector has them all.
static std::optional<int64_t> getGroupStep(AffineExpr index, unsigned dim,
                                           int64_t lanes) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(index);
  if (binary && index.getKind() == AffineExprKind::Add) {
    AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
    if (!rhs.isFunctionOfDim(dim))
      return getGroupStep(lhs, dim, lanes);
    if (!lhs.isFunctionOfDim(dim))
      return getGroupStep(rhs, dim, lanes);
  }
  bool isPeriodic = true;
  index.walk([&](AffineExpr part) {
    if (part.getKind() != AffineExprKind::FloorDiv &&
        part.getKind() != AffineExprKind::Mod)
      return;
    auto divisor =
        dyn_cast<AffineConstantExpr>(cast<AffineBinaryOpExpr>(part).getRHS());
    isPeriodic &=
        divisor && divisor.getValue() > 0 &&
        (lanes % divisor.getValue() == 0 || divisor.getValue() % lanes == 0);
  });
  std::optional<int64_t> first = evaluate(index, dim, 0);
  if (!isPeriodic || !first)
    return std::nullopt;
  int64_t span = 0;
  for (int64_t lane = 0; lane < lanes; ++lane) {
    int64_t offset = *evaluate(index, dim, lane) - *first;
    if (offset < 0 || offset >= lanes)
      return std::nullopt;
    span = std::max(span, offset);
  }
  return span == 0 ? 0 : 1;
}

std::optional<int64_t> espalier::poly::getStride(const ComputeAccess &access,
                                                 unsigned dim, int64_t lanes) {
  MemRefType type = access.getType();
  SmallVector<int64_t> strides;
  int64_t offset;
  if (failed(type.getStridesAndOffset(strides, offset)))
    return std::nullopt;
  AffineExpr self = getAffineDimExpr(dim, type.getContext());
  int64_t total = 0;
  for (auto [index, stride] : llvm::zip(access.map.getResults(), strides)) {
    if (!index.isFunctionOfDim(dim))
      continue;
    AffineExpr next = index.replace(self, self + 1);
    auto difference = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
        next - index, access.map.getNumDims(), access.map.getNumSymbols()));
    std::optional<int64_t> step =
        difference ? difference.getValue() : getGroupStep(index, dim, lanes);
    // A vector of elements that are not neighbours is no vector in memory.
    if (!step || (!difference && *step != 0 && stride != 1))
      return std::nullopt;
    if (*step != 0 && ShapedType::isDynamic(stride))
      return kUnknownStride;
    total += *step == 0 ? 0 : *step * stride;
  }
  return total;
}

bool espalier::poly::fitsStack(MemRefType type) {
  return type.hasStaticShape() &&
         type.getNumElements() * getBytes(type.getElementType()) <=
             kMaxStackBytes;
}
