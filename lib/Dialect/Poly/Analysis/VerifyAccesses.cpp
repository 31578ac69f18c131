//===- VerifyAccesses.cpp - Do accesses stay inside their arrays? ---------===//

#include "AccessIndices.h"
#include "espalier/Dialect/Poly/Analysis/Passes.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYVERIFYACCESSESPASS
#include "espalier/Dialect/Poly/Analysis/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// Reports a point at which `index` is outside.
static LogicalResult check(AccessIndices &indices, const AccessIndex &index) {
  AffineExpr extent = indices.getExtent(index);
  AffineExpr value = indices.getValue(index);
  if (!extent)
    return success();
  // Sizes decide, which a program checks; data without bounds is a fault.
  bool isAffine = indices.isAffine(value) && indices.isAffine(extent);
  if (!isAffine && indices.isBounded(index.compute, value))
    return success();
  if (!isAffine) {
    ComputeOp compute = index.compute;
    return compute.emitOpError("expects an index of ")
           << describeArray(index.access.array)
           << " that is affine, but in dimension " << index.dim << " got "
           << AffineMapAttr::get(index.access.map);
  }
  for (AffineExpr outside : {-value - 1, value - extent}) {
    polyhedral::Set points = indices.findPoints(index, outside);
    if (points.isEmpty() != true)
      return indices.report(index, value, extent, points);
  }
  return success();
}

namespace {
struct PolyVerifyAccessesPass
    : espalier::poly::impl::PolyVerifyAccessesPassBase<PolyVerifyAccessesPass> {
  using PolyVerifyAccessesPassBase::PolyVerifyAccessesPassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    KernelOp kernel = getOperation();
    bool isStated = statesShapes(kernel);
    bool isTyped = types && kernel.getNumParameters() == 0 &&
                   getUnstatedExtents(kernel).empty();
    if (!isStated && !isTyped)
      return;
    AccessIndices indices(kernel, {});
    auto visit = [&](const AccessIndex &index) {
      return isStated ||
                     indices.isBounded(index.compute, indices.getValue(index))
                 ? check(indices, index)
                 : success();
    };
    if (failed(indices.forEach(visit)))
      signalPassFailure();
  }
};
} // namespace
