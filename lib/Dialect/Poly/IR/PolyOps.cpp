//===- PolyOps.cpp - Arrays and computations ------------------------------===//

#include "Combiner.h"
#include "espalier/Dialect/Poly/IR/IndexData.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;

//===----------------------------------------------------------------------===//
// ArrayOp
//===----------------------------------------------------------------------===//

LogicalResult ArrayOp::verify() {
  // C1
  int64_t dynamic = cast<MemRefType>(getArray().getType()).getNumDynamicDims();
  bool isUnbounded = getStorage() && getSizes().empty();
  if (!isUnbounded && dynamic != static_cast<int64_t>(getSizes().size()))
    return emitOpError("expects ")
           << dynamic << " sizes, one for each dynamic extent, but got "
           << getSizes().size();
  // C2
  for (auto [number, size] : llvm::enumerate(getSizes()))
    if (!isa<BlockArgument>(size))
      return emitOpError("expects sizes that are parameters of the kernel, "
                         "but size #")
             << number << " is computed";
  if (!getStorage())
    return success();
  // C3
  auto type = cast<MemRefType>(getArray().getType());
  auto storage = cast<MemRefType>(*getStorageType());
  AffineMap map = *getStorage();
  if (map.getNumDims() != type.getRank() || map.getNumSymbols() != 0 ||
      map.getNumResults() != storage.getRank() ||
      storage.getElementType() != type.getElementType())
    return emitOpError("expects storage that maps ")
           << type.getRank() << " indices to those of a memref of "
           << type.getElementType() << ", but got " << AffineMapAttr::get(map)
           << " to " << storage;
  // C5
  for (AffineExpr place : map.getResults())
    if (std::string fault = findAffineFault(place); !fault.empty())
      return emitOpError("expects storage by ") << fault;
  // C4
  if (std::optional<AffineMap> extents = getExtents()) {
    auto kernel = cast<KernelOp>((*this)->getParentOp());
    if (extents->getNumDims() != 0 ||
        extents->getNumSymbols() != kernel.getNumParameters() ||
        extents->getNumResults() != storage.getNumDynamicDims())
      return emitOpError("expects extents that map the kernel's ")
             << kernel.getNumParameters() << " parameters to the "
             << storage.getNumDynamicDims()
             << " dynamic extents of the storage, but got "
             << AffineMapAttr::get(*extents);
    return success();
  }
  for (auto [result, extent] :
       llvm::zip(map.getResults(), storage.getShape())) {
    auto dim = dyn_cast<AffineDimExpr>(result);
    if (ShapedType::isDynamic(extent) &&
        (isUnbounded || !dim || !type.isDynamicDim(dim.getPosition())))
      return emitOpError("expects a dynamic extent of the storage to be that "
                         "of a dynamic dimension, but got ")
             << AffineMapAttr::get(map) << " to " << storage;
  }
  return success();
}

//===----------------------------------------------------------------------===//
// ComputeOp
//===----------------------------------------------------------------------===//

void ComputeOp::build(
    OpBuilder &builder, OperationState &state, StringRef name,
    ArrayRef<IntegerSet> domain, ArrayRef<ComputeAccess> reads,
    ArrayRef<ComputeAccess> writes, std::optional<Reduction> reduction,
    function_ref<void(OpBuilder &, Location, ValueRange)> buildBody) {
  Properties &properties = state.getOrAddProperties<Properties>();
  properties.sym_name = builder.getStringAttr(name);
  properties.domain =
      builder.getArrayAttr(llvm::map_to_vector(domain, [](IntegerSet set) {
        return Attribute(IntegerSetAttr::get(set));
      }));
  auto getMaps = [&](ArrayRef<ComputeAccess> accesses) {
    return builder.getAffineMapArrayAttr(llvm::map_to_vector(
        accesses, [](const ComputeAccess &access) { return access.map; }));
  };
  properties.read_maps = getMaps(reads);
  properties.write_maps = getMaps(writes);
  if (reduction)
    properties.reduction = ReductionAttr::get(builder.getContext(), *reduction);
  properties.operandSegmentSizes = {static_cast<int32_t>(reads.size()),
                                    static_cast<int32_t>(writes.size())};
  for (const ComputeAccess &access :
       llvm::concat<const ComputeAccess>(reads, writes))
    state.addOperands(access.array);

  OpBuilder::InsertionGuard guard(builder);
  Block *block = builder.createBlock(state.addRegion());
  for (const ComputeAccess &access : reads)
    block->addArgument(access.getType().getElementType(), state.location);
  buildBody(builder, state.location, block->getArguments());
}

static SmallVector<ComputeAccess> getAccesses(OperandRange arrays,
                                              ArrayAttr maps, Block *body) {
  SmallVector<ComputeAccess> accesses;
  for (auto [number, array, map] :
       llvm::enumerate(arrays, maps.getAsRange<AffineMapAttr>()))
    accesses.push_back(
        {array, map.getValue(), body ? body->getArgument(number) : nullptr});
  return accesses;
}

SmallVector<ComputeAccess> ComputeOp::getReadAccesses() {
  return getAccesses(getReads(), getReadMaps(), &getBody().front());
}

SmallVector<ComputeAccess> ComputeOp::getWriteAccesses() {
  return getAccesses(getWrites(), getWriteMaps(), nullptr);
}

YieldOp ComputeOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

/// Checks C3, C4, C7 and C10 for the reads (or writes) of `op`.
static LogicalResult verifyAccesses(ComputeOp op, OperandRange arrays,
                                    ArrayAttr maps, bool isRead) {
  StringRef what = isRead ? "read" : "write";
  unsigned numDims = op.getNumDims();
  unsigned numParams = op.getKernel().getNumParameters();
  // C3
  if (arrays.size() != maps.size())
    return op.emitOpError("expects one map per ")
           << what << ", but got " << maps.size() << " maps for "
           << arrays.size();
  for (auto [number, array, attr] :
       llvm::enumerate(arrays, maps.getAsRange<AffineMapAttr>())) {
    AffineMap map = attr.getValue();
    int64_t rank = cast<MemRefType>(array.getType()).getRank();
    if (map.getNumDims() != numDims || map.getNumResults() != rank)
      return op.emitOpError("expects a map from ")
             << numDims << " dimensions to " << rank << " indices for " << what
             << " #" << number << ", but got " << attr;

    // C4
    unsigned numValues = isRead ? number : op.getReads().size();
    if (map.getNumSymbols() != numParams &&
        map.getNumSymbols() != numParams + numValues)
      return op.emitOpError("expects ")
             << numParams << " parameters, and the values of none or all of "
             << numValues << " reads, as symbols of the map of " << what << " #"
             << number << ", but got " << map.getNumSymbols() << " symbols";

    // C7
    for (unsigned symbol = numParams; symbol < map.getNumSymbols(); ++symbol) {
      std::string other = describeOtherData(op.getReads()[symbol - numParams]);
      if (map.isFunctionOfSymbol(symbol) && !other.empty())
        return op.emitOpError("expects ")
               << what << " #" << number
               << " to be indexed by integers with a sign and at most 64 bits, "
                  "but read #"
               << symbol - numParams << ' ' << other;
    }

    // C10
    bool isLocal = isa_and_nonnull<ArrayOp>(array.getDefiningOp());
    if (!isLocal && !isa<BlockArgument>(array))
      return op.emitOpError("expects ")
             << what << " #" << number
             << " to be of an argument or array of the kernel";

    // C17
    for (AffineExpr index : map.getResults())
      if (std::string fault = findIndexFault(index, numParams); !fault.empty())
        return op.emitOpError("expects indices of ")
               << what << " #" << number << " with " << fault;
  }
  return success();
}

bool ComputeOp::isConditionedOn(unsigned number) {
  std::optional<IntegerSet> where = getWhere();
  unsigned symbol = getKernel().getNumParameters() + number;
  return where && symbol < where->getNumSymbols() &&
         llvm::any_of(
             where->getConstraints(),
             [&](AffineExpr expr) { return expr.isFunctionOfSymbol(symbol); });
}

/// Checks C14, C15, and C17 of `where`.
static LogicalResult verifyWhere(ComputeOp op) {
  std::optional<IntegerSet> where = op.getWhere();
  if (!where)
    return success();
  // C14
  unsigned numParams = op.getKernel().getNumParameters();
  unsigned numReads = op.getReads().size();
  if (where->getNumDims() != op.getNumDims() ||
      where->getNumSymbols() < numParams ||
      where->getNumSymbols() > numParams + numReads)
    return op.emitOpError("expects 'where' to have ")
           << op.getNumDims() << " dimensions, with " << numParams
           << " parameters and at most " << numReads
           << " values of reads as symbols, but got " << where->getNumDims()
           << " dimensions and " << where->getNumSymbols() << " symbols";
  // C17
  for (AffineExpr constraint : where->getConstraints())
    if (std::string fault = findIndexFault(constraint, numParams);
        !fault.empty())
      return op.emitOpError("expects 'where' with ") << fault;
  // C15
  for (auto [number, read] : llvm::enumerate(op.getReadAccesses())) {
    if (!op.isConditionedOn(number))
      continue;
    if (std::string other = describeOtherData(read.array); !other.empty())
      return op.emitOpError("expects 'where' to depend on integers with a sign "
                            "and at most 64 bits, but read #")
             << number << ' ' << other;
    for (unsigned symbol = numParams; symbol < read.map.getNumSymbols();
         ++symbol)
      if (read.map.isFunctionOfSymbol(symbol))
        return op.emitOpError("expects 'where' to depend on reads at places "
                              "that no other read decides, but read #")
               << number << " uses the value of read #" << symbol - numParams;
  }
  return success();
}

/// Checks C9.
static LogicalResult verifyUpdatedElement(ComputeOp op) {
  if (!op.getReduction())
    return success();
  if (op.getWrites().size() != 1)
    return op.emitOpError("expects a reduction to write one element, but got ")
           << op.getWrites().size() << " writes";
  SmallVector<unsigned> reads = getUpdateReads(op);
  if (reads.empty())
    return op.emitOpError(
        "expects a reduction to read an element that it writes");
  if (reads.size() == 1)
    return success();
  InFlightDiagnostic diag = op.emitOpError(
      "expects a reduction to read the element that it updates once, but reads "
      "#");
  llvm::interleave(reads, diag, " and #");
  return diag << " are of it, at "
              << AffineMapAttr::get(op.getReadAccesses()[reads.back()].map);
}

LogicalResult ComputeOp::verify() {
  unsigned numParams = getKernel().getNumParameters();
  // C1
  if (getDomain().empty())
    return emitOpError("expects at least one set as domain");
  for (auto [number, set] : llvm::enumerate(getDomainSets())) {
    if (set.getNumDims() != getNumDims())
      return emitOpError("expects sets of ")
             << getNumDims() << " dimensions, but set #" << number << " has "
             << set.getNumDims();
    // C2
    if (set.getNumSymbols() != numParams)
      return emitOpError("expects the kernel's ")
             << numParams << " parameters as symbols, but set #" << number
             << " has " << set.getNumSymbols();
    // C16
    for (AffineExpr constraint : set.getConstraints())
      if (std::string fault = findAffineFault(constraint); !fault.empty())
        return emitOpError("expects a domain of ") << fault;
  }
  if (failed(verifyAccesses(*this, getReads(), getReadMaps(), true)) ||
      failed(verifyAccesses(*this, getWrites(), getWriteMaps(), false)))
    return failure();
  // C5
  Block &block = getBody().front();
  if (block.getNumArguments() != getReads().size())
    return emitOpError("expects one argument per read, ")
           << getReads().size() << ", but got " << block.getNumArguments();
  // C14, C15, C17
  if (failed(verifyWhere(*this)))
    return failure();
  for (auto [number, access] : llvm::enumerate(getReadAccesses()))
    if (access.argument.getType() != access.getType().getElementType())
      return emitOpError("expects argument #")
             << number << " to be " << access.getType().getElementType()
             << " like the elements it reads, but got "
             << access.argument.getType();

  // C9, C18, C19
  if (failed(verifyCombined(*this)) || failed(verifyUpdatedElement(*this)))
    return failure();

  // C12
  if (std::optional<ArrayAttr> dims = getDims()) {
    llvm::SmallDenseSet<Attribute> names(dims->begin(), dims->end());
    if (dims->size() != getNumDims() || names.size() != getNumDims())
      return emitOpError("expects a different name for each of ")
             << getNumDims() << " dimensions, but got " << *dims;
  }

  // C11
  int64_t interleaved = getInterleaved().value_or(0);
  if (interleaved == 0)
    return success();
  Operation *before = (*this)->getPrevNode();
  while (before && !isa<ComputeOp>(before))
    before = before->getPrevNode();
  if (!before)
    return emitOpError(
        "expects a computation before it to be interleaved with");
  int64_t shared = std::min(getNumDims(), cast<ComputeOp>(before).getNumDims());
  if (interleaved > shared)
    return emitOpError("expects to be interleaved in at most ")
           << shared << " dimensions, but got " << interleaved;
  return success();
}

LogicalResult ComputeOp::verifyRegions() {
  // C6
  auto yield = dyn_cast<YieldOp>(getBody().front().back());
  if (!yield)
    return emitOpError("expects a body that ends in poly.yield");
  if (yield.getValues().size() != getWrites().size())
    return yield.emitOpError("expects one value per write, ")
           << getWrites().size() << ", but got " << yield.getValues().size();
  for (auto [number, access, value] :
       llvm::enumerate(getWriteAccesses(), yield.getValues()))
    if (access.getType().getElementType() != value.getType())
      return yield.emitOpError("expects value #")
             << number << " to be " << access.getType().getElementType()
             << " like the elements it writes, but got " << value.getType();

  // C8
  for (Operation &op : getBody().front().without_terminator())
    if (!isa<IndexOp>(op) && !isScalar(op))
      return op.emitOpError("expects to be outside poly.compute, which holds "
                            "operations of arith and math on numbers");

  // C13
  std::optional<Reduction> reduction = getReduction();
  if (reduction && !matchReduction(*this, *reduction))
    return emitOpError("expects a body that combines the element that it "
                       "updates with other values by '")
           << stringifyReduction(*reduction) << "' alone";
  // C21
  if (getAtomic())
    if (std::string fault = findAtomicFault(*this); !fault.empty())
      return emitOpError("expects 'atomic' on ") << fault;
  // C20
  return verifyCombinedUpdate(*this);
}

LogicalResult IndexOp::verify() {
  // C1
  auto compute = cast<ComputeOp>((*this)->getParentOp());
  if (!compute.getDomain().empty() && getDim() >= compute.getNumDims())
    return emitOpError("expects a dimension below ")
           << compute.getNumDims() << ", but got " << getDim();
  return success();
}

//===----------------------------------------------------------------------===//
// CallOp
//===----------------------------------------------------------------------===//

void CallOp::build(OpBuilder &, OperationState &state, KernelOp kernel,
                   ValueRange arguments) {
  state.addOperands(arguments);
  state.getOrAddProperties<Properties>().callee =
      FlatSymbolRefAttr::get(kernel.getSymNameAttr());
}

LogicalResult CallOp::verifySymbolUses(SymbolTableCollection &symbols) {
  // C1
  auto kernel =
      symbols.lookupNearestSymbolFrom<KernelOp>(*this, getCalleeAttr());
  if (!kernel)
    return emitOpError("expects the name of a poly.kernel, but got ")
           << getCalleeAttr();
  // C2
  if (getArguments().getTypes() != TypeRange(kernel.getArgumentTypes())) {
    InFlightDiagnostic diag = emitOpError("expects the arguments of ")
                              << getCalleeAttr();
    diag.attachNote(kernel.getLoc())
        << "the kernel has type " << kernel.getFunctionType();
    return diag;
  }
  return success();
}
