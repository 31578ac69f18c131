//===- TiledComponent.cpp - A plan and what it is for ---------------------===//

#include "TiledComponent.h"

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
  for (unsigned p = 0; p < computes.size(); ++p)
    if (shape(p).op.getReduction() && shape(p).getNumDims() > plan.numShared)
      if (!best || shape(p).getNumDims() > shape(*best).getNumDims())
        best = p;
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

SmallVector<Segment> TiledComponent::getSegments(unsigned dim) const {
  bool isVector = dim == plan.lanes;
  int64_t size = plan.tile[dim];
  AffineExpr bound = getSharedBound(dim);
  AffineExpr zero = getAffineConstantExpr(0, context);
  // Lanes of one vector are masked, but for those of a square that is
  // transposed.
  bool isMasked = isVector && size == plan.width && !isSquare();
  if (isMasked && getBegin(dim))
    return {{getAffineConstantExpr(getBegin(dim), context), {}, size}};
  if (size == 1 || !bound || isMasked)
    return {{{}, {}, size}};
  if (std::optional<int64_t> extent = getSharedExtent(dim)) {
    int64_t whole = *extent / size * size, rest = *extent - whole;
    SmallVector<Segment> segments;
    if (whole == *extent)
      return {{{}, {}, size}};
    AffineExpr middle = getAffineConstantExpr(whole, context);
    if (whole)
      segments.push_back({zero, middle, size});
    segments.push_back(
        {middle, getAffineConstantExpr(*extent, context),
         isVector ? int64_t(llvm::alignTo(rest, plan.width)) : rest});
    return segments;
  }
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

bool TiledComponent::isPartlyWritten(Value array) const {
  for (unsigned i : computes)
    for (const ComputeAccess &write : shapes[i].writes)
      if (write.array == array && !shapes[i].op.getReduction() &&
          (shapes[i].op.getWhere() ||
           llvm::any_of(llvm::seq(0u, plan.numShared), [&](unsigned dim) {
             return shapes[i].isRestricted(dim);
           })))
        return true;
  return false;
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

std::optional<TileStorage>
TiledComponent::findStorage(const ComputeAccess &write) const {
  auto array = write.array.getDefiningOp<ArrayOp>();
  if (!array || array.getStorage() || isShared(write.array))
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
  if (isTile)
    storage.placement = Placement::Register;
  else if (fitsStack(storage.type))
    storage.placement = Placement::Stack;
  return storage;
}
