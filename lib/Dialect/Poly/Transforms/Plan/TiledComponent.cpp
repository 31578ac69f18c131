//===- TiledComponent.cpp - A plan and what it is for ---------------------===//

#include "TiledComponent.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Support/CodeSize.h"
#include "mlir/Dialect/Math/IR/Math.h"

using namespace mlir;
using namespace espalier::poly;

std::optional<int64_t> TiledComponent::getSharedExtent(unsigned dim) const {
  auto number = dyn_cast_or_null<AffineConstantExpr>(getSharedBound(dim));
  if (!number)
    return std::nullopt;
  return number.getValue();
}

AffineExpr TiledComponent::getSharedBound(unsigned dim) const {
  AffineExpr bound;
  for (unsigned i : computes) {
    if (!shapes[i].extents[dim] || (bound && bound != shapes[i].extents[dim]))
      return {};
    bound = shapes[i].extents[dim];
  }
  return bound;
}

int64_t TiledComponent::getBegin(unsigned dim) const {
  int64_t begin = shape(0).begins[dim];
  auto isSame = [&](unsigned i) { return shapes[i].begins[dim] == begin; };
  return findReduction() || !llvm::all_of(computes, isSame) ? 0 : begin;
}

std::optional<unsigned> TiledComponent::findReduction() const {
  std::optional<unsigned> best;
  // Of those with as many loops, the one that fills most of a window.
  std::pair<unsigned, int64_t> most(0, 0);
  for (unsigned p = 0; p < computes.size(); ++p) {
    const ComputeShape &compute = shape(p);
    if (!compute.op.getReduction() || compute.getNumDims() <= plan.numShared)
      continue;
    int64_t points = 1;
    for (unsigned dim = plan.numShared; dim < getFirstOwn(compute); ++dim)
      points *= compute.getExtent(dim).value_or(1);
    if (std::pair size(compute.getNumDims(), points); !best || size > most) {
      best = p;
      most = size;
    }
  }
  return best;
}

std::optional<unsigned>
TiledComponent::getPanel(const ComputeShape &compute) const {
  std::optional<unsigned> panel;
  if (!plan.lanes)
    return panel;
  for (auto [number, read] : llvm::enumerate(compute.reads)) {
    AffineMap map = read.map;
    bool dependsOnRows = false;
    for (unsigned dim = 0; dim < plan.numShared; ++dim)
      dependsOnRows |= getRows(dim) > 1 && map.isFunctionOfDim(dim);
    if (map.isFunctionOfDim(*plan.lanes) && !dependsOnRows &&
        isa<BlockArgument>(read.array) &&
        (!panel ||
         map.getNumResults() > compute.reads[*panel].map.getNumResults()))
      panel = number;
  }
  return panel;
}

bool TiledComponent::hasStridedLanes() const {
  std::optional<unsigned> reduction = findReduction();
  return reduction && plan.lanes && getSharedExtent(*plan.lanes) &&
         llvm::any_of(shape(*reduction).reads, [&](const ComputeAccess &read) {
           std::optional<int64_t> stride =
               getStride(read, *plan.lanes, plan.width);
           return stride && *stride > 1 && *stride < plan.width;
         });
}

bool TiledComponent::hasRowVersions(unsigned dim) const {
  auto isOpen = [&](unsigned other) {
    return getRows(other) > 1 && !getSharedExtent(other);
  };
  return isOpen(dim) && getRows(dim) <= kMaxRowVersions && findReduction() &&
         llvm::count_if(llvm::seq(0u, plan.numShared), isOpen) == 1;
}

bool TiledComponent::hasTileLoops(unsigned position) const {
  const ComputeShape &compute = shape(position);
  auto isFunction = [](Operation &op) {
    return isa<math::MathDialect>(op.getDialect());
  };
  return !compute.op.getReduction() && compute.getNumDims() == plan.numShared &&
         llvm::any_of(llvm::seq(0u, plan.numShared),
                      [&](unsigned dim) {
                        return isLimited(dim) && getRows(dim) > 1;
                      }) &&
         llvm::any_of(compute.op.getBody().getOps(), isFunction);
}

std::optional<unsigned> TiledComponent::findBorderTap(unsigned dim) const {
  std::optional<unsigned> reduction = findReduction();
  if (!reduction ||
      getSharedExtent(dim).value_or(espalier::kMaxBorderedColumns + 1) >
          espalier::kMaxBorderedColumns ||
      llvm::any_of(computes, [&](unsigned i) {
        const ComputeShape &other = shapes[i];
        return other.begins[dim] != 0 || other.limited[dim] ||
               (other.restricted[dim] && i != computes[*reduction]);
      }))
    return std::nullopt;
  const ComputeShape &main = shape(*reduction);
  SmallVector<IntegerSet> sets = main.op.getDomainSets();
  if (sets.size() != 1 || main.op.getWhere())
    return std::nullopt;
  auto getDims = [&](AffineExpr condition) {
    SmallVector<unsigned> dims;
    for (unsigned other = 0; other < main.getNumDims(); ++other)
      if (condition.isFunctionOfDim(other))
        dims.push_back(other);
    return dims;
  };
  std::optional<unsigned> tap;
  for (AffineExpr condition : sets.front().getConstraints())
    if (SmallVector<unsigned> dims = getDims(condition);
        dims.size() > 1 && llvm::is_contained(dims, dim)) {
      unsigned other = dims[dims.front() == dim];
      if (dims.size() > 2 || (tap && tap != other))
        return std::nullopt;
      tap = other;
    }
  if (!tap || *tap < getFirstOwn(main) || !main.isReduced(*tap) ||
      main.getExtent(*tap).value_or(espalier::kMaxTaps + 1) >
          espalier::kMaxTaps ||
      llvm::any_of(sets.front().getConstraints(), [&](AffineExpr condition) {
        SmallVector<unsigned> dims = getDims(condition);
        return dims.size() > 1 && llvm::is_contained(dims, *tap) &&
               !llvm::is_contained(dims, dim);
      }))
    return std::nullopt;
  return tap;
}

SmallVector<IndexRange> TiledComponent::getIndexRanges(unsigned dim) const {
  bool isVector = dim == plan.lanes;
  int64_t size = plan.tile[dim];
  AffineExpr bound = getSharedBound(dim);
  AffineExpr zero = getAffineConstantExpr(0, context);
  AffineExpr first = getBegin(dim)
                         ? getAffineConstantExpr(getBegin(dim), context)
                         : AffineExpr();
  // Lanes of one vector are masked, but for those of a square that is
  // transposed, and those that are shuffled out of vectors.
  bool isMasked =
      isVector && size == plan.width && !isSquare() && !hasStridedLanes();
  if (isMasked && first)
    return {{first, {}, size}};
  if (size == 1 || !bound || isMasked || isLimited(dim))
    return {{{}, {}, size}};
  if (std::optional<int64_t> extent = getSharedExtent(dim)) {
    int64_t points = std::max<int64_t>(*extent - getBegin(dim), 0);
    int64_t whole = points / size * size, rest = points - whole;
    SmallVector<IndexRange> ranges;
    if (whole == points && (size == points || !findBorderTap(dim)))
      return {{first, {}, size}};
    if (findBorderTap(dim)) {
      for (int64_t begin = 0; begin < *extent; begin += size) {
        int64_t end = std::min(begin + size, *extent);
        ranges.push_back({getAffineConstantExpr(begin, context),
                          getAffineConstantExpr(end, context), end - begin,
                          /*isOneTile=*/true});
      }
      return ranges;
    }
    AffineExpr middle = getAffineConstantExpr(*extent - rest, context);
    if (whole)
      ranges.push_back({first ? first : zero, middle, size});
    ranges.push_back(
        {middle, getAffineConstantExpr(*extent, context),
         isVector ? int64_t(llvm::alignTo(rest, plan.width)) : rest});
    return ranges;
  }
  if (hasRowVersions(dim))
    return {{{}, {}, size}};
  AffineExpr middle = bound.floorDiv(size) * size;
  return {{zero, middle, size}, {middle, bound, isVector ? plan.width : 1}};
}

PartLoop TiledComponent::getPartLoop(unsigned position,
                                     ArrayRef<unsigned> order,
                                     int64_t terms) const {
  PartLoop part{unsigned(order.size()) - 1, terms};
  while (part.number > 0) {
    std::optional<int64_t> extent =
        shape(position).getExtent(order[part.number]);
    if (!extent || *extent < 1 || *extent >= part.terms)
      break;
    part.terms /= *extent;
    --part.number;
  }
  return part;
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

bool TiledComponent::isShared(Value array) const {
  // By the uses of the array: a kernel may have thousands of computations.
  return llvm::any_of(array.getUsers(), [&](Operation *user) {
    auto compute = dyn_cast<ComputeOp>(user);
    return compute && llvm::none_of(computes, [&](unsigned number) {
             return shapes[number].op == compute;
           });
  });
}

bool TiledComponent::haveSameConditions() const {
  unsigned numParams = kernel.getNumParameters();
  // Conditions by what is read, not by its number.
  auto getConditions = [&](const ComputeShape &compute) {
    SmallVector<std::pair<Value, AffineMap>> reads;
    SmallVector<AffineExpr> conditions;
    std::optional<IntegerSet> where = compute.op.getWhere();
    if (!where)
      return std::pair(reads, conditions);
    SmallVector<AffineExpr> symbols;
    for (unsigned symbol = 0; symbol < numParams; ++symbol)
      symbols.push_back(getAffineSymbolExpr(symbol, context));
    for (auto [number, read] : llvm::enumerate(compute.reads)) {
      symbols.push_back(getAffineSymbolExpr(numParams + reads.size(), context));
      if (compute.op.isConditionedOn(number))
        reads.emplace_back(read.array,
                           AffineMap::get(plan.numShared, numParams,
                                          read.map.getResults(), context));
    }
    for (AffineExpr condition : where->getConstraints())
      conditions.push_back(condition.replaceSymbols(symbols));
    return std::pair(reads, conditions);
  };
  auto isShared = [&](const ComputeShape &compute) {
    for (unsigned dim = plan.numShared; dim < compute.getNumDims(); ++dim)
      if (compute.isRestricted(dim))
        return false;
    return true;
  };
  auto first = getConditions(shape(0));
  return llvm::all_of(computes, [&](unsigned i) {
    return isShared(shapes[i]) && getConditions(shapes[i]) == first;
  });
}

bool TiledComponent::isPartlyWritten(Value array) const {
  for (unsigned i : computes)
    for (const ComputeAccess &write : shapes[i].writes)
      if (write.array == array && !shapes[i].op.getReduction() &&
          ((shapes[i].op.getWhere() && !haveSameConditions()) ||
           llvm::any_of(
               llvm::seq(plan.numInside, plan.numShared), [&](unsigned dim) {
                 return shapes[i].restricted[dim] || shapes[i].begins[dim] != 0;
               })))
        return true;
  return false;
}

bool TiledComponent::fitsRegisters(Value array, int64_t elements) const {
  auto uses = [&](ArrayRef<ComputeAccess> accesses) {
    return llvm::any_of(accesses, [&](const ComputeAccess &access) {
      return access.array == array;
    });
  };
  std::optional<unsigned> first, last;
  for (unsigned position = 0; position < computes.size(); ++position) {
    bool isRead = uses(shape(position).reads);
    bool isWritten = uses(shape(position).writes);
    if ((isRead || isWritten) && hasTileLoops(position))
      return false;
    if (isWritten && !first)
      first = position;
    if (isRead)
      last = position;
  }
  // Sums of one tile have as many vectors each.
  if (!first || !last || !plan.lanes ||
      2 * elements <= plan.width * getTarget(kernel).getRegisters())
    return true;
  return llvm::none_of(llvm::seq(*first, *last), [&](unsigned position) {
    return shape(position).op.getReduction() &&
           shape(position).getNumDims() > plan.numShared &&
           !uses(shape(position).writes);
  });
}

SmallVector<std::pair<unsigned, const ComputeAccess *>>
TiledComponent::getFirstWrites() const {
  SmallVector<std::pair<unsigned, const ComputeAccess *>> first;
  llvm::SmallDenseSet<Value> seen;
  for (unsigned position = 0; position < computes.size(); ++position)
    for (const ComputeAccess &write : shape(position).writes)
      if (seen.insert(write.array).second)
        first.emplace_back(position, &write);
  return first;
}

StepFetches TiledComponent::findResults(int64_t columns) const {
  std::optional<unsigned> sum = findReduction();
  if (!sum || !plan.lanes)
    return {};
  auto isOfTile = [&](unsigned position) {
    return shape(position).getNumDims() == plan.numShared;
  };
  auto startsSum = [&](auto write) {
    return write.second->array == shape(*sum).writes.front().array;
  };
  auto writes = getFirstWrites();
  const auto *start = llvm::find_if(writes, startsSum);
  StepFetches results{start->first, {}};
  if (start->first == *sum || !isOfTile(start->first))
    return {};
  for (auto [position, write] : ArrayRef(start, writes.end())) {
    if (!isa<BlockArgument>(write->array) || !isOfTile(position) ||
        getStride(*write, *plan.lanes, plan.width) != 1)
      continue;
    Prefetch prefetch;
    prefetch.isWrite = true;
    prefetch.number = write - shape(position).writes.begin();
    if (position != start->first)
      prefetch.owner = shape(position).op.getSymName().str();
    prefetch.at = AffineMap::get(plan.numShared, kernel.getNumParameters(),
                                 getPoint(shape(start->first)), context);
    int64_t bytes = columns * getBytes(write->getType().getElementType());
    prefetch.bytes =
        std::min(bytes, static_cast<int64_t>(PrefetchOp::kMaxBytes));
    results.prefetches.push_back(prefetch);
  }
  return results;
}

/// Whether the memory of an array is that of one iteration of the first loops:
/// elements lie where they would, but for the first indices.
static bool isOfOneIteration(ArrayOp array) {
  AffineMap storage = *array.getStorage();
  return storage.getNumResults() < storage.getNumDims() &&
         storage == AffineMap::getMinorIdentityMap(storage.getNumDims(),
                                                   storage.getNumResults(),
                                                   storage.getContext());
}

std::optional<TileStorage>
TiledComponent::findStorage(const ComputeAccess &write) const {
  auto array = write.array.getDefiningOp<ArrayOp>();
  if (!array || isShared(write.array) ||
      (array.getStorage() && !isOfOneIteration(array)))
    return std::nullopt;
  // One tile along each shared dimension, all of the others.
  auto type = cast<MemRefType>(array.getType());
  SmallVector<AffineExpr> results;
  SmallVector<int64_t> extents;
  llvm::SmallDenseSet<unsigned> covered;
  bool hasOnlyTile = true;
  for (auto [position, index] : llvm::enumerate(write.map.getResults())) {
    AffineExpr self = getAffineDimExpr(position, context);
    auto dim = dyn_cast<AffineDimExpr>(index);
    hasOnlyTile &= dim && dim.getPosition() < plan.numShared + plan.numWindow;
    if (!dim || dim.getPosition() >= plan.numShared) {
      results.push_back(self);
      extents.push_back(type.getDimSize(position));
      continue;
    }
    unsigned number = dim.getPosition();
    covered.insert(number);
    int64_t size = plan.tile[number];
    if (llvm::is_contained(plan.insideSum, number)) {
      bool isBlocked = number == plan.block;
      results.push_back(isBlocked ? self % plan.blockSize : self);
      extents.push_back(isBlocked ? plan.blockSize : type.getDimSize(position));
    } else if (size > 1) {
      results.push_back(self % size);
      extents.push_back(size);
    }
  }
  // Without some shared dimension, iterations would share the memory.
  if (covered.size() != plan.numShared)
    return std::nullopt;
  // An array of an iteration has no bound along what a plan does not tile.
  if (array.getStorage() && array.getSizes().empty() &&
      llvm::is_contained(extents, ShapedType::kDynamic))
    return std::nullopt;
  TileStorage storage{AffineMap::get(type.getRank(), 0, results, context),
                      MemRefType::get(extents, type.getElementType()),
                      array.getPlacement()};
  // Registers are written and read under the same conditions: where the
  // computations agree in the extents.
  bool isTile = plan.insideSum.empty() && hasOnlyTile &&
                results.size() <= covered.size() + plan.numWindow &&
                storage.type.hasStaticShape() && !isPartlyWritten(write.array);
  for (unsigned dim = 0; dim < plan.numShared; ++dim)
    isTile &= bool(getSharedBound(dim));
  // LLVM would keep one that it can on the stack in each step of another sum;
  // the memory that an array of an iteration has is as near.
  if (isTile && !fitsRegisters(write.array, storage.type.getNumElements())) {
    if (array.getStorage())
      return std::nullopt;
    isTile = false;
  }
  if (isTile)
    storage.placement = PlacementAttr::get(context, Placement::Register);
  else if (fitsStack(storage.type))
    storage.placement = PlacementAttr::get(context, Placement::Stack);
  return storage;
}
