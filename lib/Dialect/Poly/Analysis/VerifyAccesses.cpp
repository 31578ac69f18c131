//===- VerifyAccesses.cpp - Do accesses stay inside their arrays? ---------===//

#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/Analysis/Passes.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYVERIFYACCESSESPASS
#include "espalier/Dialect/Poly/Analysis/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// The extent of a dimension in terms of the parameters; null if not known.
static AffineExpr getExtent(KernelOp kernel, Value array, unsigned dim) {
  MLIRContext *context = kernel.getContext();
  auto type = cast<MemRefType>(array.getType());
  if (!type.isDynamicDim(dim))
    return getAffineConstantExpr(type.getDimSize(dim), context);
  if (auto local = array.getDefiningOp<ArrayOp>()) {
    if (local.getSizes().empty())
      return {}; // Its storage says where elements lie.
    Value size = local.getSizes()[type.getDynamicDimIndex(dim)];
    auto parameters = kernel.getParameters();
    return getAffineSymbolExpr(
        llvm::find(parameters, size) - parameters.begin(), context);
  }
  auto shape = kernel.getArgAttrOfType<AffineMapAttr>(
      cast<BlockArgument>(array).getArgNumber(), KernelOp::getShapeAttrName());
  return shape ? shape.getValue().getResult(dim) : AffineExpr();
}

namespace {
/// Looks for accesses outside of arrays, computation by computation.
class AccessChecker {
public:
  explicit AccessChecker(KernelOp kernel)
      : kernel(kernel), model(buildModel(kernel)),
        numParams(kernel.getNumParameters()) {}

  LogicalResult run();

private:
  LogicalResult check(ComputeOp compute, const ComputeAccess &access,
                      StringRef verb);
  LogicalResult check(ComputeOp compute, const ComputeAccess &access,
                      StringRef verb, unsigned dim);
  /// Points of the domain where `outside` is not negative.
  std::optional<SmallVector<int64_t>> findPoint(ComputeOp compute,
                                                AffineExpr outside);

  const polyhedral::Statement &getStatement(ComputeOp compute) const {
    return model.program.statements[llvm::find(model.computes, compute) -
                                    model.computes.begin()];
  }

  KernelOp kernel;
  KernelModel model;
  unsigned numParams;
  polyhedral::Context context;
};
} // namespace

std::optional<SmallVector<int64_t>>
AccessChecker::findPoint(ComputeOp compute, AffineExpr outside) {
  SmallVector<AffineExpr> constraints = {outside};
  SmallVector<bool> isEquality = {false};
  for (unsigned i = 0; i < numParams; ++i) {
    constraints.push_back(getAffineSymbolExpr(i, kernel.getContext()));
    isEquality.push_back(false);
  }
  if (IntegerSet assumptions = kernel.getAssumptions()) {
    llvm::append_range(constraints, assumptions.getConstraints());
    llvm::append_range(isEquality, assumptions.getEqFlags());
  }
  // What bounds of values say of the points that run.
  const polyhedral::Statement &statement = getStatement(compute);
  polyhedral::forEachCondition(statement, [&](AffineExpr condition) {
    if (AffineExpr most =
            polyhedral::getExtreme(model.program, statement, condition, true)) {
      constraints.push_back(most);
      isEquality.push_back(false);
    }
  });
  unsigned numDims = compute.getNumDims();
  polyhedral::Set domain = polyhedral::Set::getUnion(
      context, numDims, numParams, compute.getDomainSets());
  return polyhedral::Set::get(context, IntegerSet::get(numDims, numParams,
                                                       constraints, isEquality))
      .intersect(domain)
      .samplePoint();
}

LogicalResult AccessChecker::check(ComputeOp compute,
                                   const ComputeAccess &access, StringRef verb,
                                   unsigned dim) {
  AffineExpr extent = getExtent(kernel, access.array, dim);
  // Values that are read may be anything within their bounds.
  auto getIndex = [&](bool isLargest) {
    return polyhedral::getExtreme(model.program, getStatement(compute),
                                  access.map.getResult(dim), isLargest);
  };
  AffineExpr index = getIndex(false);
  if (!extent || !index)
    return success();
  auto point = findPoint(compute, -index - 1);
  if (!point) {
    index = getIndex(true);
    point = findPoint(compute, index - extent);
  }
  if (!point)
    return success();
  ArrayRef<int64_t> values = *point;
  auto evaluate = [&](AffineExpr expr) {
    auto map = AffineMap::get(compute.getNumDims(), numParams, expr);
    SmallVector<Attribute> operands;
    Builder builder(kernel.getContext());
    for (int64_t value : values.drop_front(numParams))
      operands.push_back(builder.getIndexAttr(value));
    for (int64_t value : values.take_front(numParams))
      operands.push_back(builder.getIndexAttr(value));
    SmallVector<Attribute> results;
    (void)map.constantFold(operands, results);
    return cast<IntegerAttr>(results.front()).getInt();
  };
  InFlightDiagnostic diag = compute.emitOpError("expects to ")
                            << verb << " " << describeArray(access.array)
                            << " inside its extent " << evaluate(extent)
                            << " in dimension " << dim << ", but at point (";
  llvm::interleaveComma(values.drop_front(numParams), diag);
  diag << ")";
  if (numParams > 0)
    diag << " "
         << polyhedral::describeSizes(model.program,
                                      values.take_front(numParams));
  return diag << " the index is " << evaluate(index);
}

LogicalResult AccessChecker::check(ComputeOp compute,
                                   const ComputeAccess &access,
                                   StringRef verb) {
  for (unsigned dim = 0; dim < access.map.getNumResults(); ++dim)
    if (failed(check(compute, access, verb, dim)))
      return failure();
  return success();
}

LogicalResult AccessChecker::run() {
  bool hasShapes = false;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    hasShapes |= bool(kernel.getArgAttr(i, KernelOp::getShapeAttrName()));
  if (!hasShapes)
    return success();
  for (ComputeOp compute : kernel.getComputes()) {
    for (const ComputeAccess &read : compute.getReadAccesses())
      if (failed(check(compute, read, "read")))
        return failure();
    for (const ComputeAccess &write : compute.getWriteAccesses())
      if (failed(check(compute, write, "write")))
        return failure();
  }
  return success();
}

namespace {
struct PolyVerifyAccessesPass
    : espalier::poly::impl::PolyVerifyAccessesPassBase<PolyVerifyAccessesPass> {
  void runOnOperation() override {
    if (failed(AccessChecker(getOperation()).run()))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
