//===- Accesses.cpp - Addresses, loads and stores -------------------------===//

#include "KernelLoops.h"
#include "Lookup.h"
#include "espalier/Dialect/Poly/Analysis/Extents.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"
#include <numeric>

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::AstNode;

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

void KernelLoops::addMemory(Value array, Value memref) {
  auto type = cast<MemRefType>(memref.getType());
  Memory memory;
  memory.elementType = type.getElementType();
  AffineExpr stride = constant(1);
  for (int64_t dim = type.getRank() - 1; dim >= 0; --dim) {
    memory.strides.insert(memory.strides.begin(), stride);
    if (dim == 0)
      break;
    if (type.isDynamicDim(dim)) {
      symbols.push_back(memref::DimOp::create(builder, loc, memref, dim));
      stride = stride *
               getAffineSymbolExpr(symbols.size() - 1, builder.getContext());
    } else {
      stride = stride * type.getDimSize(dim);
    }
  }
  if (type.getRank() == 0) {
    memory.flat = memref::ReinterpretCastOp::create(
        builder, loc, MemRefType::get({1}, memory.elementType), memref,
        OpFoldResult(builder.getIndexAttr(0)),
        {OpFoldResult(builder.getIndexAttr(1))},
        {OpFoldResult(builder.getIndexAttr(1))});
  } else if (type.getRank() == 1) {
    memory.flat = memref;
  } else {
    ReassociationIndices all(
        llvm::to_vector(llvm::seq<int64_t>(0, type.getRank())));
    int64_t size =
        type.hasStaticShape() ? type.getNumElements() : ShapedType::kDynamic;
    memory.flat = memref::CollapseShapeOp::create(
        builder, loc, MemRefType::get({size}, memory.elementType), memref,
        ArrayRef<ReassociationIndices>{all});
  }
  memories[array] = std::move(memory);
}

std::pair<MemRefType, SmallVector<Value>>
KernelLoops::getStorage(poly::ArrayOp array) {
  auto type = cast<MemRefType>(array.getType());
  SmallVector<Value> sizes;
  if (!array.getStorage()) {
    for (Value size : array.getSizes())
      sizes.push_back(scalars.lookup(size));
    return {type, sizes};
  }
  auto storage = cast<MemRefType>(*array.getStorageType());
  if (std::optional<AffineMap> extents = array.getExtents()) {
    // Of a box that is empty, the last index may be before the first.
    Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
    for (AffineExpr extent : extents->getResults())
      sizes.push_back(
          arith::MaxSIOp::create(builder, loc, emitIndex(extent), zero));
    return {storage, sizes};
  }
  for (auto [result, extent] :
       llvm::zip(array.getStorage()->getResults(), storage.getShape()))
    if (ShapedType::isDynamic(extent)) {
      unsigned dim = cast<AffineDimExpr>(result).getPosition();
      sizes.push_back(
          scalars.lookup(array.getSizes()[type.getDynamicDimIndex(dim)]));
    }
  return {storage, sizes};
}

LogicalResult KernelLoops::addLocal(poly::ArrayOp array) {
  if (array.isIn(poly::Placement::Register)) {
    auto [type, sizes] = getStorage(array);
    Memory memory;
    memory.elementType = type.getElementType();
    memory.inRegisters = true;
    if (array.getStorage())
      memory.storage = *array.getStorage();
    SmallVector<int64_t> strides;
    int64_t offset;
    if (failed(type.getStridesAndOffset(strides, offset)))
      return array.emitError("expects a strided layout, but got ") << type;
    for (int64_t stride : strides)
      memory.strides.push_back(constant(stride));
    memories[array] = std::move(memory);
    return success();
  }
  if (array.getStorage())
    storedArrays.push_back(array);
  else
    addMemory(array, allocate(array));
  return success();
}

Value KernelLoops::allocate(poly::ArrayOp array) {
  auto [type, sizes] = getStorage(array);
  auto alignment = builder.getI64IntegerAttr(64);
  if (array.isIn(poly::Placement::Stack))
    return memref::AllocaOp::create(builder, loc, type, sizes, alignment);
  Value memref = memref::AllocOp::create(builder, loc, type, sizes, alignment);
  scopes.back().push_back(memref);
  return memref;
}

bool KernelLoops::isPrivate(Value array, const AstNode &loop) const {
  auto loops = privateLoops.find(array);
  return loop.member && loops != privateLoops.end() &&
         loops->second.contains(loop.member);
}

bool KernelLoops::usesShared(Value array, const AstNode &node) {
  if (node.kind == AstNode::Kind::Call) {
    poly::ComputeOp compute = computes[node.statement];
    return llvm::is_contained(compute.getReads(), array) ||
           llvm::is_contained(compute.getWrites(), array);
  }
  return llvm::any_of(node.children, [&](const polyhedral::Ast &child) {
    return !isPrivate(array, *child) && usesShared(array, *child);
  });
}

void KernelLoops::enterScope(const AstNode &body,
                             ArrayRef<const AstNode *> loops) {
  scopes.emplace_back();
  for (poly::ArrayOp array : storedArrays) {
    Value value = array.getArray();
    bool isOwn = loops.empty() ? !isPrivate(value, body)
                               : llvm::any_of(loops, [&](const AstNode *loop) {
                                   return isPrivate(value, *loop);
                                 });
    if (!isOwn || !usesShared(value, body))
      continue;
    addMemory(value, allocate(array));
    memories[value].storage = *array.getStorage();
  }
}

void KernelLoops::leaveScope() {
  for (Value memref : scopes.pop_back_val())
    memref::DeallocOp::create(builder, loc, memref);
}

//===----------------------------------------------------------------------===//
// Accesses
//===----------------------------------------------------------------------===//

SmallVector<AffineExpr>
KernelLoops::getIndices(const poly::ComputeAccess &access,
                        const AstNode &call) {
  const Memory &memory = memories.find(access.array)->second;
  // The map's symbols: parameters stay, values read move behind the sizes.
  MLIRContext *context = builder.getContext();
  SmallVector<AffineExpr> newSymbols;
  for (unsigned s = 0; s < access.map.getNumSymbols(); ++s)
    newSymbols.push_back(getAffineSymbolExpr(
        s < numParams ? s : symbols.size() + s - numParams, context));
  SmallVector<AffineExpr> indices;
  for (AffineExpr index : access.map.getResults())
    indices.push_back(index.replaceDimsAndSymbols(call.values, newSymbols));
  if (memory.storage) {
    SmallVector<AffineExpr> stored;
    for (AffineExpr result : memory.storage.getResults())
      stored.push_back(result.replaceDims(indices));
    indices = stored;
  }
  for (AffineExpr &index : indices)
    index = simplify(index);
  return indices;
}

AffineExpr KernelLoops::getAddress(const poly::ComputeAccess &access,
                                   const AstNode &call) {
  const Memory &memory = memories.find(access.array)->second;
  Question question = {symbols.size()};
  addExprs(question, access.map.getResults());
  addExprs(question, memory.storage ? memory.storage.getResults()
                                    : ArrayRef<AffineExpr>());
  addExprs(question, memory.strides);
  addExprs(question, call.values);
  addState(question);
  auto [place, isNew] = addresses.try_emplace(std::move(question));
  if (!isNew)
    return place->second;
  AffineExpr address = constant(0);
  for (auto [index, stride] :
       llvm::zip(getIndices(access, call), memory.strides))
    address = address + index * stride;
  // As a sum of products, also where extents are not known.
  SmallVector<AffineExpr> terms;
  getTerms(canonicalize(simplify(address)), terms);
  AffineExpr sum = constant(0);
  for (AffineExpr term : terms)
    sum = sum + term;
  return place->second = sum;
}

SlotKey KernelLoops::getSlotKey(const poly::ComputeAccess &access,
                                const AstNode &call) {
  AffineExpr address = getAddress(access, call);
  if (lanes && address.isFunctionOfDim(lanes->iterator))
    address = canonicalize(
        simplify(address.replace(iterator(lanes->iterator), lanes->first)));
  return SlotKey(access.array, address);
}

std::optional<Span> KernelLoops::getSpan(const poly::ComputeAccess &access,
                                         const AstNode &call) {
  std::optional<int64_t> stride =
      lanes ? getLaneStride(getAddress(access, call), *lanes) : 0;
  if (stride == 0)
    return Span();
  if (stride != 1)
    return std::nullopt;
  std::optional<int64_t> lower = getConstantBoundOf(*lanes->loop, false);
  std::optional<int64_t> upper = getConstantBoundOf(*lanes->loop, true);
  int64_t most = lower && upper ? *upper - *lower : lanes->width;
  return Span{std::min(most, lanes->width), lanes->width};
}

LogicalResult KernelLoops::setSlot(const SlotKey &key, Value value, Span span) {
  bool isApart = true;
  registers.remove_if([&](const auto &entry) {
    const SlotKey &other = entry.first;
    if (other.first != key.first || other.second == key.second)
      return false;
    auto distance = dyn_cast<AffineConstantExpr>(
        canonicalize(simplify(other.second - key.second)));
    if (distance)
      isApart &= distance.getValue() >= span.numElements ||
                 -distance.getValue() >= entry.second.numElements;
    return !distance;
  });
  if (!isApart)
    return failure();
  unsigned lastIterator = 0;
  for (unsigned iterator : llvm::concat<const unsigned>(
           llvm::make_first_range(iterators), llvm::make_first_range(unrolled)))
    lastIterator = std::max(lastIterator, iterator);
  const AstNode *vectorLoop = lanes ? lanes->loop : nullptr;
  auto slot = registers.find(key);
  if (slot != registers.end()) {
    if (slot->second.value.getType() != value.getType())
      return failure();
    lastIterator = slot->second.lastIterator;
    vectorLoop = slot->second.vectorLoop;
    span.numElements = std::max(span.numElements, slot->second.numElements);
  }
  registers[key] = {value, {}, lastIterator, vectorLoop, span.numElements};
  return success();
}

/// Whether two bounds are the same function of iterators and parameters.
static bool isSameBound(const polyhedral::AstExpr &lhs,
                        const polyhedral::AstExpr &rhs) {
  return lhs.kind == rhs.kind && lhs.affine == rhs.affine && !lhs.condition &&
         !rhs.condition && lhs.operands.size() == rhs.operands.size() &&
         llvm::all_of_zip(lhs.operands, rhs.operands, isSameBound);
}

Value KernelLoops::mergeLanes(const SlotKey &key, Value value) {
  auto slot = registers.find(key);
  if (!lanes || !lanes->mask || slot == registers.end() ||
      slot->second.value.getType() != value.getType())
    return value;
  // All elements that are in registers get a new value.
  if (std::optional<int64_t> numActive = countActiveLanes();
      numActive && *numActive >= slot->second.numElements &&
      memories.find(key.first)->second.inRegisters)
    return value;
  // With the same lanes active as before, the others hold nothing.
  const AstNode *before = slot->second.vectorLoop;
  bool isSame = before && isSameBound(before->lower, lanes->loop->lower) &&
                isSameBound(before->upper, lanes->loop->upper) &&
                llvm::all_of(lanes->maskIterators, [&](unsigned iterator) {
                  return iterator <= slot->second.lastIterator &&
                         !unrolled.count(iterator);
                });
  if (isSame)
    return value;
  return arith::SelectOp::create(builder, loc, lanes->mask, value,
                                 slot->second.value);
}

/// The addresses of the lanes relative to `base`, as a vector of indices.
Value KernelLoops::emitLaneIndices(AffineExpr address, ValueRange data,
                                   Value &base) {
  auto type = VectorType::get({lanes->width}, builder.getIndexType());
  SmallVector<AffineExpr> terms, uniform;
  getTerms(address, terms);
  Value offsets;
  auto add = [&](Value value) {
    offsets =
        offsets
            ? arith::AddIOp::create(builder, loc, offsets, value).getResult()
            : value;
  };
  for (AffineExpr term : terms) {
    // A value read that differs from lane to lane, times one that does not.
    auto indirect = splitData(term);
    if (indirect && isa<VectorType>(data[indirect->first].getType())) {
      Value value = toIndex(data[indirect->first], type);
      Value by = vector::BroadcastOp::create(builder, loc, type,
                                             emitIndex(indirect->second, data));
      add(arith::MulIOp::create(builder, loc, value, by));
      continue;
    }
    if (term.isFunctionOfDim(lanes->iterator)) {
      AffineExpr step = getLaneStep(term, *lanes);
      auto number = dyn_cast_or_null<AffineConstantExpr>(step);
      SmallVector<int64_t> steps;
      if (step)
        for (int64_t lane = 0; lane < lanes->width; ++lane)
          steps.push_back(number ? lane * number.getValue() : lane);
      else
        steps = *getLaneOffsets(term, *lanes);
      Value distances = arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(type, ArrayRef<int64_t>(steps)));
      if (step && !number) {
        Value by = vector::BroadcastOp::create(builder, loc, type,
                                               emitIndex(step, data));
        distances = arith::MulIOp::create(builder, loc, distances, by);
      }
      add(distances);
      term = term.replace(iterator(lanes->iterator), lanes->first);
    }
    uniform.push_back(term);
  }
  AffineExpr sum = constant(0);
  for (AffineExpr term : uniform)
    sum = sum + term;
  base = emitIndex(sum, data);
  return offsets;
}

Value KernelLoops::getMask() {
  if (lanes->mask)
    return lanes->mask;
  return arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(
          VectorType::get({lanes->width}, builder.getI1Type()), true));
}

/// The machine, if it is known.
static poly::TargetAttr getKnownTarget(poly::KernelOp kernel) {
  auto module = kernel->getParentOfType<ModuleOp>();
  return module ? module->getAttrOfType<poly::TargetAttr>(
                      poly::TargetAttr::getAttrName())
                : nullptr;
}

/// The extent of the dimension of `compute` that has the lanes, if it is known.
static std::optional<int64_t> getLaneExtent(poly::ComputeOp compute,
                                            const AstNode &call,
                                            const Lanes &lanes) {
  SmallVector<IntegerSet> sets = compute.getDomainSets();
  std::optional<int64_t> extent;
  if (sets.size() != 1)
    return extent;
  for (auto [value, known] :
       llvm::zip_equal(call.values, poly::getBoxExtents(sets.front())))
    if (value.isFunctionOfDim(lanes.iterator)) {
      if (extent || !known)
        return std::nullopt;
      extent = known;
    }
  return extent;
}

/// Reports that a computation uses elements in registers in its own way.
static InFlightDiagnostic emitMixedLanes(poly::ComputeOp compute) {
  return compute.getKernel().emitError(
             "expects elements of an array in registers to be used in the same "
             "lanes, or each by itself, but '")
         << compute.getSymName() << "' uses them otherwise";
}

FailureOr<Value> KernelLoops::emitRead(const poly::ComputeAccess &access,
                                       const AstNode &call, ValueRange data) {
  const Memory &memory = memories.find(access.array)->second;
  if (memory.inRegisters) {
    auto slot = registers.find(getSlotKey(access, call));
    if (slot == registers.end() || slot->second.partial)
      return kernel.emitError("expects an element of an array in registers to "
                              "be written, in the same iteration, before '")
             << computes[call.statement].getSymName()
             << "' reads it, and its loops to be unrolled";
    std::optional<Span> span = getSpan(access, call);
    if (!span || !slot->second.holds(*span))
      return emitMixedLanes(computes[call.statement]);
    return slot->second.value;
  }
  if (!promoted.empty()) {
    SlotKey key = getSlotKey(access, call);
    if (promoted.contains(key))
      return registers.lookup(key).value;
  }
  AffineExpr address = getAddress(access, call);
  if (!lanes)
    return memref::LoadOp::create(builder, loc, memory.flat,
                                  emitIndex(address, data))
        .getResult();

  bool indirect = false;
  address.walk([&](AffineExpr e) {
    if (auto symbol = dyn_cast<AffineSymbolExpr>(e))
      indirect |= symbol.getPosition() >= symbols.size() &&
                  isa<VectorType>(
                      data[symbol.getPosition() - symbols.size()].getType());
  });
  std::optional<int64_t> stride = getLaneStride(address, *lanes);
  auto type = VectorType::get({lanes->width}, memory.elementType);
  if (!indirect && stride == 0)
    return memref::LoadOp::create(builder, loc, memory.flat,
                                  emitIndex(address, data))
        .getResult();
  if (!indirect && stride == 1) {
    Value base = emitIndex(
        address.replace(iterator(lanes->iterator), lanes->first), data);
    if (!lanes->mask)
      return vector::LoadOp::create(builder, loc, type, memory.flat, base)
          .getResult();
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    return vector::MaskedLoadOp::create(builder, loc, type, memory.flat, base,
                                        lanes->mask, zero)
        .getResult();
  }
  if (!readsData(address))
    if (Value value = emitShuffledRead(memory, getIndices(access, call).back(),
                                       type, address))
      return value;
  if (Value value = emitTransposedRead(access, call, type, data))
    return value;
  Value base;
  Value offsets = emitLaneIndices(address, data, base);
  poly::TargetAttr target = getKnownTarget(kernel);
  auto emitGather = [&]() -> Value {
    if (!lanes->mask && target && !target.hasFastGather())
      return emitLaneReads(memory.flat, type, base, offsets);
    Value zero =
        arith::ConstantOp::create(builder, loc, builder.getZeroAttr(type));
    return vector::GatherOp::create(builder, loc, type, memory.flat,
                                    ValueRange{base}, offsets, getMask(), zero);
  };
  // What the kernel itself has stored nobody else writes meanwhile.
  if (!indirect || !target || !access.array.getDefiningOp<poly::ArrayOp>())
    return emitGather();
  int64_t number =
      countLookedUp(cast<MemRefType>(memory.flat.getType()), type,
                    getLaneExtent(computes[call.statement], call, *lanes),
                    target.getVectorBits());
  if (number == 0)
    return emitGather();
  return emitLookup(builder, loc,
                    {memory.flat, type, base, offsets, lanes->mask}, number,
                    emitGather);
}

LogicalResult KernelLoops::emitWrite(const poly::ComputeAccess &access,
                                     const AstNode &call, Value value,
                                     ValueRange data) {
  const Memory &memory = memories.find(access.array)->second;
  if (memory.inRegisters) {
    SlotKey key = getSlotKey(access, call);
    std::optional<Span> span = getSpan(access, call);
    if (!span || failed(setSlot(key, mergeLanes(key, value), *span)))
      return emitMixedLanes(computes[call.statement]);
    return success();
  }
  if (!promoted.empty()) {
    SlotKey key = getSlotKey(access, call);
    if (promoted.contains(key)) {
      // Lanes that no write has active are not stored in the end either.
      registers[key].value = lanes ? mergeLanes(key, toVector(value)) : value;
      return success();
    }
  }
  AffineExpr address = getAddress(access, call);
  if (!lanes) {
    memref::StoreOp::create(builder, loc, value, memory.flat,
                            emitIndex(address, data));
    return success();
  }
  value = toVector(value);
  if (getLaneStride(address, *lanes) == 1) {
    Value base = emitIndex(
        address.replace(iterator(lanes->iterator), lanes->first), data);
    if (lanes->mask)
      vector::MaskedStoreOp::create(builder, loc, memory.flat, base,
                                    lanes->mask, value);
    else
      vector::StoreOp::create(builder, loc, value, memory.flat, base);
    return success();
  }
  if (!emitTransposedWrite(access, call, value))
    emitLaneWrites(memory, address, value, data);
  return success();
}

void KernelLoops::emitLaneWrites(const Memory &memory, AffineExpr address,
                                 Value value, ValueRange data) {
  Value base;
  Value offsets = emitLaneIndices(address, data, base);
  vector::ScatterOp::create(builder, loc, Type(), memory.flat, ValueRange{base},
                            offsets, getMask(), value);
}
