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
/// An index of an access, and what is known where it is used.
struct Index {
  ComputeOp compute;
  const ComputeAccess &access;
  StringRef verb;
  unsigned dim;
  /// It decides itself which points run, and is read at all points.
  bool decidesPoints;
};

/// Looks for accesses outside of arrays, computation by computation. The values
/// that a computation reads are dimensions, after those of its points.
class AccessChecker {
public:
  explicit AccessChecker(KernelOp kernel)
      : kernel(kernel), model(buildModel(kernel)),
        numParams(kernel.getNumParameters()) {}

  LogicalResult run();

private:
  LogicalResult check(const Index &index);
  /// Reports a point at which `index` is outside, if it is where `outside` is
  /// not negative.
  LogicalResult checkOutside(const Index &index, AffineExpr value,
                             AffineExpr extent, AffineExpr outside);
  LogicalResult report(const Index &index, AffineExpr value, AffineExpr extent,
                       ArrayRef<int64_t> point);
  /// Whether there are points where `outside` is not negative; where that is
  /// not known, there may be.
  polyhedral::Set findPoints(const Index &index, AffineExpr outside);
  /// What is known of the values that a computation reads.
  void addFacts(ComputeOp compute, SmallVectorImpl<AffineExpr> &constraints);

  /// `expr` with dimensions for the values.
  AffineExpr replaceValues(ComputeOp compute, AffineExpr expr) const;
  bool isAffine(AffineExpr expr) const { return findAffineFault(expr).empty(); }
  const polyhedral::Statement &getStatement(ComputeOp compute) const {
    return model.program.statements[llvm::find(model.computes, compute) -
                                    model.computes.begin()];
  }
  polyhedral::ValueFacts getFacts(ComputeOp compute, unsigned read) const {
    return model.program.facts.lookup(getStatement(compute).values[read].array);
  }

  KernelOp kernel;
  KernelModel model;
  unsigned numParams;
  polyhedral::Context context;
};
} // namespace

AffineExpr AccessChecker::replaceValues(ComputeOp compute,
                                        AffineExpr expr) const {
  MLIRContext *mlirContext = expr.getContext();
  SmallVector<AffineExpr> symbols;
  for (unsigned i = 0; i < numParams + compute.getReads().size(); ++i)
    symbols.push_back(
        i < numParams ? getAffineSymbolExpr(i, mlirContext)
                      : getAffineDimExpr(compute.getNumDims() + i - numParams,
                                         mlirContext));
  return expr.replaceSymbols(symbols);
}

void AccessChecker::addFacts(ComputeOp compute,
                             SmallVectorImpl<AffineExpr> &constraints) {
  SmallVector<ComputeAccess> reads = compute.getReadAccesses();
  auto getValue = [&](unsigned read) {
    return getAffineDimExpr(compute.getNumDims() + read, kernel.getContext());
  };
  for (unsigned read = 0; read < reads.size(); ++read) {
    polyhedral::ValueFacts facts = getFacts(compute, read);
    if (facts.bound)
      llvm::append_values(constraints, getValue(read),
                          facts.bound - 1 - getValue(read));
    // A value is no less than another one that comes before it for sure.
    for (unsigned other = 0; facts.isMonotonic && other < reads.size();
         ++other) {
      if (reads[other].array != reads[read].array)
        continue;
      AffineMap here = reads[read].map, there = reads[other].map;
      auto distance = dyn_cast<AffineConstantExpr>(simplifyAffineExpr(
          here.getResult(0) - there.getResult(0), here.getNumDims(),
          std::max(here.getNumSymbols(), there.getNumSymbols())));
      if (distance && distance.getValue() >= 0)
        constraints.push_back(getValue(read) - getValue(other));
    }
  }
}

polyhedral::Set AccessChecker::findPoints(const Index &index,
                                          AffineExpr outside) {
  ComputeOp compute = index.compute;
  SmallVector<AffineExpr> constraints = {outside};
  for (unsigned i = 0; i < numParams; ++i)
    constraints.push_back(getAffineSymbolExpr(i, kernel.getContext()));
  addFacts(compute, constraints);
  if (!index.decidesPoints)
    polyhedral::forEachCondition(
        getStatement(compute), [&](AffineExpr condition) {
          AffineExpr expr = replaceValues(compute, condition);
          if (isAffine(expr))
            constraints.push_back(expr);
        });
  SmallVector<bool> isEquality(constraints.size());
  if (IntegerSet assumptions = kernel.getAssumptions()) {
    llvm::append_range(constraints, assumptions.getConstraints());
    llvm::append_range(isEquality, assumptions.getEqFlags());
  }
  unsigned numDims = compute.getNumDims(),
           numValues = compute.getReads().size();
  polyhedral::Set domain = polyhedral::Set::getUnion(
      context, numDims, numParams, compute.getDomainSets());
  return polyhedral::Set::get(context,
                              IntegerSet::get(numDims + numValues, numParams,
                                              constraints, isEquality))
      .intersect(domain.insertDims(numDims, numValues));
}

LogicalResult AccessChecker::report(const Index &index, AffineExpr value,
                                    AffineExpr extent,
                                    ArrayRef<int64_t> point) {
  ComputeOp compute = index.compute;
  unsigned numDims = compute.getNumDims();
  ArrayRef<int64_t> coordinates = point.drop_front(numParams);
  auto evaluate = [&](AffineExpr expr) {
    auto map = AffineMap::get(coordinates.size(), numParams, expr);
    SmallVector<Attribute> operands, results;
    Builder builder(kernel.getContext());
    for (int64_t coordinate : coordinates)
      operands.push_back(builder.getIndexAttr(coordinate));
    for (int64_t size : point.take_front(numParams))
      operands.push_back(builder.getIndexAttr(size));
    (void)map.constantFold(operands, results);
    return cast<IntegerAttr>(results.front()).getInt();
  };
  InFlightDiagnostic diag =
      compute.emitOpError("expects to ")
      << index.verb << " " << describeArray(index.access.array)
      << " inside its extent " << evaluate(extent) << " in dimension "
      << index.dim << ", but at point (";
  llvm::interleaveComma(coordinates.take_front(numDims), diag);
  diag << ")";
  if (numParams > 0)
    diag << " "
         << polyhedral::describeSizes(model.program,
                                      point.take_front(numParams));
  diag << " the index is " << evaluate(value);
  for (unsigned read = 0; read < compute.getReads().size(); ++read) {
    Value array = compute.getReads()[read];
    if (!value.isFunctionOfDim(numDims + read) || getFacts(compute, read).bound)
      continue;
    diag.attachNote(kernel.getLoc())
        << "nothing is known of the values in " << describeArray(array)
        << (isa<BlockArgument>(array)
                ? ", for which 'poly.bounded_by' would state a bound"
                : ", which the kernel computes");
  }
  return diag;
}

LogicalResult AccessChecker::checkOutside(const Index &index, AffineExpr value,
                                          AffineExpr extent,
                                          AffineExpr outside) {
  polyhedral::Set points = findPoints(index, outside);
  std::optional<bool> isEmpty = points.isEmpty();
  if (isEmpty == true)
    return success();
  auto point = isEmpty ? points.samplePoint() : std::nullopt;
  if (point)
    return report(index, value, extent, *point);
  ComputeOp compute = index.compute;
  return compute.emitOpError("expects an index of ")
         << describeArray(index.access.array)
         << " that can be checked, but in dimension " << index.dim << " of "
         << AffineMapAttr::get(index.access.map) << ": " << context.getError();
}

LogicalResult AccessChecker::check(const Index &index) {
  AffineExpr extent = getExtent(kernel, index.access.array, index.dim);
  if (!extent)
    return success();
  ComputeOp compute = index.compute;
  AffineExpr value =
      replaceValues(compute, index.access.map.getResult(index.dim));
  // Products of sizes are the caller's business; data without bounds is not.
  bool isBounded = true;
  for (unsigned read = 0; read < compute.getReads().size(); ++read)
    isBounded &= !value.isFunctionOfDim(compute.getNumDims() + read) ||
                 getFacts(compute, read).bound;
  if (!isAffine(value) && isBounded)
    return success();
  if (!isAffine(value))
    return compute.emitOpError("expects an index of ")
           << describeArray(index.access.array)
           << " that is affine, but in dimension " << index.dim << " got "
           << AffineMapAttr::get(index.access.map);
  if (failed(checkOutside(index, value, extent, -value - 1)))
    return failure();
  return checkOutside(index, value, extent, value - extent);
}

LogicalResult AccessChecker::run() {
  bool hasShapes = false;
  for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
    hasShapes |= bool(kernel.getArgAttr(i, KernelOp::getShapeAttrName()));
  if (!hasShapes)
    return success();
  for (ComputeOp compute : kernel.getComputes()) {
    SmallVector<ComputeAccess> reads = compute.getReadAccesses();
    SmallVector<ComputeAccess> writes = compute.getWriteAccesses();
    auto checkAll = [&](const ComputeAccess &access, StringRef verb,
                        bool decidesPoints) {
      for (unsigned dim = 0; dim < access.map.getNumResults(); ++dim)
        if (failed(check({compute, access, verb, dim, decidesPoints})))
          return failure();
      return success();
    };
    for (auto [number, read] : llvm::enumerate(reads))
      if (failed(checkAll(read, "read", compute.isConditionedOn(number))))
        return failure();
    for (const ComputeAccess &write : writes)
      if (failed(checkAll(write, "write", false)))
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
