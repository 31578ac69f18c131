//===- BlockKernel.cpp - A kernel for a range of its first loop -----------===//
//
// Point t of a computation becomes point r of a block that begins at `first`,
// t = first + r:
//
//   S[t] = f(A[t - 1])  where 0 <= t < T
//   S[first + r] = f(A[first + r - 1])  where 0 <= r < count
//
// and first + count <= T is an assumption of the kernel. Arrays of its own
// have as many rows as the block, and are indexed by r.
//
//===----------------------------------------------------------------------===//

#include "BlockKernel.h"

using namespace mlir;
using namespace espalier::poly;

/// What `constraint` >= 0 says of dimension 0 as an upper bound: that it is
/// less than the result, which depends on no dimension. Null for others.
static AffineExpr getUpperBound(IntegerSet set, unsigned number) {
  if (set.isEq(number))
    return {};
  AffineExpr self = getAffineDimExpr(0, set.getContext());
  AffineExpr bound = simplifyAffineExpr(set.getConstraint(number) + self + 1,
                                        set.getNumDims(), set.getNumSymbols());
  return bound.isSymbolicOrConstant() ? bound : AffineExpr();
}

/// Whether constraint `number` is that dimension 0 is not negative.
static bool isLowerBound(IntegerSet set, unsigned number) {
  return !set.isEq(number) &&
         simplifyAffineExpr(set.getConstraint(number), set.getNumDims(),
                            set.getNumSymbols()) ==
             getAffineDimExpr(0, set.getContext());
}

/// The one upper bound of dimension 0 that is a parameter or a number, where
/// that dimension begins at 0; null if there is none, or several.
static AffineExpr getOuterExtent(IntegerSet set) {
  AffineExpr extent;
  bool hasLower = false;
  for (unsigned number = 0; number < set.getNumConstraints(); ++number) {
    hasLower |= isLowerBound(set, number);
    AffineExpr bound = getUpperBound(set, number);
    auto constant = dyn_cast_if_present<AffineConstantExpr>(bound);
    bool isExtent = bound && (isa<AffineSymbolExpr>(bound) ||
                              (constant && constant.getValue() > 0));
    if (!isExtent || bound == extent)
      continue;
    if (extent)
      return {};
    extent = bound;
  }
  return hasLower ? extent : AffineExpr();
}

AffineExpr espalier::poly::findOuterExtent(KernelOp kernel) {
  AffineExpr extent;
  for (ComputeOp compute : kernel.getComputes()) {
    if (compute.getNumDims() == 0)
      return {};
    for (IntegerSet set : compute.getDomainSets()) {
      AffineExpr own = getOuterExtent(set);
      if (!own || (extent && own != extent))
        return {};
      extent = own;
    }
    WalkResult indices = compute.getBody().walk([&](IndexOp index) {
      return index.getDim() == 0 ? WalkResult::interrupt()
                                 : WalkResult::advance();
    });
    if (indices.wasInterrupted())
      return {};
  }
  return extent;
}

std::optional<int64_t>
espalier::poly::findOuterOffset(const ComputeAccess &access) {
  AffineMap map = access.map;
  if (map.getNumResults() == 0 || map.getNumDims() == 0)
    return std::nullopt;
  auto offset = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
      map.getResult(0) - getAffineDimExpr(0, map.getContext()),
      map.getNumDims(), map.getNumSymbols()));
  return offset ? std::optional(offset.getValue()) : std::nullopt;
}

bool espalier::poly::hasOwnRows(KernelOp kernel) {
  return llvm::all_of(kernel.getComputes(), [](ComputeOp compute) {
    auto isOwn = [](const ComputeAccess &access) {
      return isa<BlockArgument>(access.array) || findOuterOffset(access) == 0;
    };
    return llvm::all_of(compute.getReadAccesses(), isOwn) &&
           llvm::all_of(compute.getWriteAccesses(), isOwn);
  });
}

/// `set`, of which dimension 0 begins at symbol `first`, without the bounds
/// that the kernel's assumption says; `end` is the extent of that dimension.
static IntegerSet shiftDomain(IntegerSet set, AffineExpr first, AffineExpr end,
                              AffineExpr extent) {
  AffineExpr self = getAffineDimExpr(0, set.getContext());
  SmallVector<AffineExpr> constraints{self, end - 1 - self};
  SmallVector<bool> isEquality(2, false);
  for (unsigned number = 0; number < set.getNumConstraints(); ++number) {
    if (isLowerBound(set, number) || getUpperBound(set, number) == extent)
      continue;
    constraints.push_back(
        set.getConstraint(number).replace(self, self + first));
    isEquality.push_back(set.isEq(number));
  }
  return IntegerSet::get(set.getNumDims(), set.getNumSymbols(), constraints,
                         isEquality);
}

void espalier::poly::makeBlockKernel(KernelCall call, Value first,
                                     Value count) {
  KernelOp kernel = call.kernel;
  MLIRContext *context = kernel.getContext();
  AffineExpr extent = findOuterExtent(kernel);
  unsigned numBefore = kernel.getNumParameters();
  addArgument(call, first);
  BlockArgument rows = addArgument(call, count);
  AffineExpr begin = getAffineSymbolExpr(numBefore, context);
  AffineExpr end = getAffineSymbolExpr(numBefore + 1, context);

  SmallVector<AffineExpr> known{extent - begin - end};
  SmallVector<bool> isEquality{false};
  if (IntegerSet assumptions = kernel.getAssumptions()) {
    llvm::append_range(known, assumptions.getConstraints());
    llvm::append_range(isEquality, assumptions.getEqFlags());
  }
  kernel->setAttr(KernelOp::getAssumptionsAttrName(),
                  IntegerSetAttr::get(
                      IntegerSet::get(0, numBefore + 2, known, isEquality)));

  AffineExpr self = getAffineDimExpr(0, context);
  for (ComputeOp compute : kernel.getComputes()) {
    SmallVector<Attribute> domain;
    for (IntegerSet set : compute.getDomainSets())
      domain.push_back(
          IntegerSetAttr::get(shiftDomain(set, begin, end, extent)));
    compute.setDomainAttr(ArrayAttr::get(context, domain));
    if (std::optional<IntegerSet> where = compute.getWhere()) {
      SmallVector<AffineExpr> shifted;
      for (AffineExpr constraint : where->getConstraints())
        shifted.push_back(constraint.replace(self, self + begin));
      compute.setWhereAttr(IntegerSetAttr::get(
          IntegerSet::get(where->getNumDims(), where->getNumSymbols(), shifted,
                          where->getEqFlags())));
    }
    updateAccesses(compute, [&](ComputeAccess &access) {
      if (isa<BlockArgument>(access.array))
        access.map = simplifyAffineMap(
            access.map.replace(self, self + begin, access.map.getNumDims(),
                               access.map.getNumSymbols()));
    });
  }
  auto symbol = dyn_cast<AffineSymbolExpr>(extent);
  for (ArrayOp array : kernel.getArrays())
    if (symbol && !array.getSizes().empty() &&
        cast<MemRefType>(array.getArray().getType()).isDynamicDim(0))
      array->setOperand(0, rows);
}
