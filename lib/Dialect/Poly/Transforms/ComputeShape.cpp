//===- ComputeShape.cpp - A computation's box and rows --------------------===//

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

/// The list whose neighbours are, in `where`, begin and end of `dim`.
static std::optional<Part> getPart(IntegerSet where, const ComputeShape &shape,
                                   unsigned dim) {
  KernelOp kernel = shape.op.getKernel();
  unsigned numDims = shape.getNumDims();
  unsigned numParams = kernel.getNumParameters();
  MLIRContext *context = where.getContext();
  AffineExpr self = getAffineDimExpr(dim, context);
  auto hasCondition = [&](AffineExpr expected) {
    return llvm::any_of(
        llvm::zip_equal(where.getConstraints(), where.getEqFlags()),
        [&](auto condition) {
          return !std::get<1>(condition) &&
                 simplifyAffineExpr(std::get<0>(condition) - expected, numDims,
                                    where.getNumSymbols()) == 0;
        });
  };
  auto value = [&](size_t read) {
    return getAffineSymbolExpr(numParams + read, context);
  };
  for (auto [first, begin] : llvm::enumerate(shape.reads)) {
    auto list = dyn_cast<BlockArgument>(begin.array);
    if (!list || begin.map.getNumResults() != 1 ||
        !kernel.getArgAttr(list.getArgNumber(),
                           KernelOp::getMonotonicAttrName()) ||
        !hasCondition(self - value(first)))
      continue;
    AffineExpr row = begin.map.getResult(0);
    for (auto [second, end] : llvm::enumerate(shape.reads))
      if (end.array == list && hasCondition(value(second) - 1 - self) &&
          simplifyAffineExpr(end.map.getResult(0) - row, numDims, numParams) ==
              1)
        return Part{list, row};
  }
  return std::nullopt;
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
  for (unsigned dim = 0; dim < numDims; ++dim)
    shape.parts[dim] = getPart(where, shape, dim);
  // What decides where that is read.
  for (auto [number, read] : llvm::enumerate(shape.reads))
    for (unsigned dim = 0; dim < numDims; ++dim)
      if (shape.op.isConditionedOn(number) && read.map.isFunctionOfDim(dim))
        shape.restricted[dim] = true;
}

bool ComputeShape::dependsOn(const ComputeAccess &access, unsigned dim) const {
  unsigned numParams = op.getKernel().getNumParameters();
  if (access.map.isFunctionOfDim(dim))
    return true;
  for (unsigned symbol = numParams; symbol < access.map.getNumSymbols();
       ++symbol)
    if (access.map.isFunctionOfSymbol(symbol) &&
        dependsOn(reads[symbol - numParams], dim))
      return true;
  return false;
}

ComputeShape espalier::poly::getShape(ComputeOp op) {
  ComputeShape shape{
      op, {}, {}, {}, {}, {}, op.getReadAccesses(), op.getWriteAccesses()};
  unsigned numDims = op.getNumDims();
  shape.extents.resize(numDims);
  shape.begins.assign(numDims, 0);
  shape.restricted.assign(numDims, op.getDomain().size() != 1);
  shape.limited.assign(numDims, false);
  shape.parts.resize(numDims);
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
      if (set.isEq(number) || !constraint.isFunctionOfDim(dim))
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
