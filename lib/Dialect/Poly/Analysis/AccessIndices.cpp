//===- AccessIndices.cpp - Indices of accesses beside extents -------------===//

#include "AccessIndices.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

static AffineMap getShape(KernelOp kernel, unsigned argument) {
  auto shape = kernel.getArgAttrOfType<AffineMapAttr>(
      argument, KernelOp::getShapeAttrName());
  return shape ? shape.getValue() : AffineMap();
}

bool espalier::poly::statesShapes(KernelOp kernel) {
  return llvm::any_of(
      llvm::seq(kernel.getNumArguments()),
      [&](unsigned argument) { return bool(getShape(kernel, argument)); });
}

SmallVector<UnstatedExtent>
espalier::poly::getUnstatedExtents(KernelOp kernel) {
  SmallVector<UnstatedExtent> unstated;
  for (auto [number, type] : llvm::enumerate(kernel.getArgumentTypes())) {
    auto memref = dyn_cast<MemRefType>(type);
    if (!memref || getShape(kernel, number))
      continue;
    for (unsigned dim = 0; dim < memref.getRank(); ++dim)
      if (memref.isDynamicDim(dim))
        unstated.push_back({unsigned(number), dim});
  }
  return unstated;
}

AccessIndices::AccessIndices(KernelOp kernel, ArrayRef<UnstatedExtent> unstated)
    : kernel(kernel), model(buildModel(kernel)),
      numParams(kernel.getNumParameters()), unstated(unstated) {}

LogicalResult AccessIndices::forEach(
    llvm::function_ref<LogicalResult(const AccessIndex &)> visit) {
  for (ComputeOp compute : kernel.getComputes()) {
    auto visitAll = [&](const ComputeAccess &access, StringRef verb,
                        unsigned read, bool decidesPoints) {
      for (unsigned dim = 0; dim < access.map.getNumResults(); ++dim)
        if (failed(visit({compute, access, verb, dim, read, decidesPoints})))
          return failure();
      return success();
    };
    for (auto [number, read] : llvm::enumerate(compute.getReadAccesses()))
      if (failed(
              visitAll(read, "read", number, compute.isConditionedOn(number))))
        return failure();
    for (const ComputeAccess &write : compute.getWriteAccesses())
      if (failed(visitAll(write, "write", compute.getReads().size(), false)))
        return failure();
  }
  return success();
}

AffineExpr espalier::poly::getStatedExtent(Value array, unsigned dim) {
  MLIRContext *context = array.getContext();
  auto type = cast<MemRefType>(array.getType());
  if (!type.isDynamicDim(dim))
    return getAffineConstantExpr(type.getDimSize(dim), context);
  auto kernel = cast<KernelOp>(array.getParentRegion()->getParentOp());
  if (auto local = array.getDefiningOp<ArrayOp>()) {
    if (local.getSizes().empty())
      return {}; // Its storage says where elements lie.
    Value size = local.getSizes()[type.getDynamicDimIndex(dim)];
    auto parameters = kernel.getParameters();
    return getAffineSymbolExpr(
        llvm::find(parameters, size) - parameters.begin(), context);
  }
  AffineMap shape = getShape(kernel, cast<BlockArgument>(array).getArgNumber());
  return shape ? shape.getResult(dim) : AffineExpr();
}

AffineExpr AccessIndices::getExtent(const AccessIndex &index) {
  if (AffineExpr stated = getStatedExtent(index.access.array, index.dim))
    return stated;
  auto argument = dyn_cast<BlockArgument>(index.access.array);
  for (auto [number, extent] : llvm::enumerate(unstated))
    if (argument && extent.argument == argument.getArgNumber() &&
        extent.dim == index.dim)
      return getAffineSymbolExpr(numParams + number, kernel.getContext());
  return {};
}

AffineExpr AccessIndices::replaceValues(ComputeOp compute,
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

polyhedral::ValueCases AccessIndices::getFacts(const AccessIndex &index) const {
  ComputeOp compute = index.compute;
  unsigned statement =
      llvm::find(model.computes, compute) - model.computes.begin();
  polyhedral::ReadValues values(
      context, model.program,
      {{statement, index.access.map.getResults(), !index.decidesPoints}});
  MLIRContext *mlirContext = compute->getContext();
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < compute.getNumDims(); ++dim)
    dims.push_back(getAffineDimExpr(dim, mlirContext));
  for (unsigned number = 0; number < values.size(); ++number)
    dims.push_back(getAffineDimExpr(
        compute.getNumDims() + values.getRead(number), mlirContext));
  polyhedral::ValueCases cases = values.getCases();
  for (auto &constraints : cases)
    for (AffineExpr &constraint : constraints)
      constraint = constraint.replaceDims(dims);
  return cases;
}

const polyhedral::Set &AccessIndices::getDomain(ComputeOp compute) {
  polyhedral::Set &domain = domains[compute];
  if (domain)
    return domain;
  // The same with symbols for the extents, which no constraint has.
  auto sets = llvm::map_to_vector(compute.getDomainSets(), [&](IntegerSet set) {
    return IntegerSet::get(set.getNumDims(), getNumSymbols(),
                           set.getConstraints(), set.getEqFlags());
  });
  domain = polyhedral::Set::getUnion(context, compute.getNumDims(),
                                     getNumSymbols(), sets);
  return domain;
}

polyhedral::Set AccessIndices::findPoints(const AccessIndex &index,
                                          AffineExpr outside) {
  ComputeOp compute = index.compute;
  SmallVector<AffineExpr> constraints = {outside};
  for (unsigned i = 0; i < getNumSymbols(); ++i)
    constraints.push_back(getAffineSymbolExpr(i, outside.getContext()));
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
  auto sets = llvm::map_to_vector(getFacts(index), [&](auto facts) {
    SmallVector<bool> flags = isEquality;
    flags.append(facts.size(), false);
    facts.insert(facts.begin(), constraints.begin(), constraints.end());
    return IntegerSet::get(numDims + numValues, getNumSymbols(), facts, flags);
  });
  return polyhedral::Set::getUnion(context, numDims + numValues,
                                   getNumSymbols(), sets)
      .intersect(getDomain(compute).insertDims(numDims, numValues));
}

bool AccessIndices::isBounded(ComputeOp compute, AffineExpr value) const {
  return llvm::none_of(
      llvm::seq<unsigned>(0, compute.getReads().size()), [&](unsigned read) {
        return value.isFunctionOfDim(compute.getNumDims() + read) &&
               !getFacts(compute, read).bound;
      });
}

LogicalResult AccessIndices::reportAt(const AccessIndex &index,
                                      AffineExpr value, AffineExpr extent,
                                      ArrayRef<int64_t> point) const {
  ComputeOp compute = index.compute;
  unsigned numDims = compute.getNumDims();
  ArrayRef<int64_t> coordinates = point.drop_front(getNumSymbols());
  auto evaluate = [&](AffineExpr expr) {
    auto map = AffineMap::get(coordinates.size(), getNumSymbols(), expr);
    SmallVector<Attribute> operands, results;
    Builder builder(expr.getContext());
    for (int64_t coordinate : coordinates)
      operands.push_back(builder.getIndexAttr(coordinate));
    for (int64_t size : point.take_front(getNumSymbols()))
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
    diag.attachNote(compute.getKernel().getLoc())
        << "nothing is known of the values in " << describeArray(array)
        << (isa<BlockArgument>(array)
                ? ", for which 'poly.bounded_by' would state a bound"
                : ", which the kernel computes");
  }
  return diag;
}

LogicalResult AccessIndices::reportUnknown(const AccessIndex &index,
                                           const Twine &why) const {
  ComputeOp compute = index.compute;
  return compute.emitOpError("expects an index of ")
         << describeArray(index.access.array)
         << " that can be checked, but in dimension " << index.dim << " of "
         << AffineMapAttr::get(index.access.map) << ": " << why;
}

LogicalResult AccessIndices::report(const AccessIndex &index, AffineExpr value,
                                    AffineExpr extent,
                                    const polyhedral::Set &points) const {
  if (auto point = points.samplePoint())
    return reportAt(index, value, extent, *point);
  return reportUnknown(index, context.getError());
}
