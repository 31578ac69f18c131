//===- EmitSchedule.cpp - The tree of a default schedule ------------------===//

#include "ComponentScheduler.h"
#include "espalier/Support/CodeSize.h"

using namespace mlir;
using namespace espalier::poly;

/// Fewer points than this do not pay for waking threads.
static constexpr int64_t kMinParallelPoints = 1 << 15;

void espalier::poly::emitSequence(
    KernelOp kernel, ArrayRef<ComputeShape> shapes, ArrayRef<Component> parts,
    OpBuilder &builder, llvm::function_ref<void(const Component &)> emit) {
  if (parts.size() == 1) {
    emit(parts.front());
    return;
  }
  OpBuilder::InsertionGuard guard(builder);
  auto sequence = SequenceOp::create(builder, kernel.getLoc());
  Block &block = sequence.getOrCreateBlock();
  for (const Component &part : parts) {
    builder.setInsertionPointToEnd(&block);
    SmallVector<Attribute> names;
    for (unsigned i : part.computes)
      names.push_back(FlatSymbolRefAttr::get(shapes[i].op.getSymNameAttr()));
    auto filter = FilterOp::create(builder, kernel.getLoc(),
                                   builder.getArrayAttr(names), nullptr);
    builder.setInsertionPointToEnd(&filter.getOrCreateBlock());
    emit(part);
  }
}

SmallVector<Segment> ComponentScheduler::getSegments(unsigned dim) const {
  bool isVector = dim == vectorDim;
  int64_t size = isVector ? lanes * tile.vectors : tile.rows[dim];
  AffineExpr bound = getSharedBound(dim);
  AffineExpr zero = getAffineConstantExpr(0, context);
  if (size == 1 || !bound || (isVector && tile.vectors == 1))
    return {{{}, {}, size}};
  if (std::optional<int64_t> extent = getSharedExtent(dim)) {
    int64_t whole = *extent / size * size, rest = *extent - whole;
    SmallVector<Segment> segments;
    if (whole == *extent)
      return {{{}, {}, size}};
    AffineExpr middle = getAffineConstantExpr(whole, context);
    if (whole)
      segments.push_back({zero, middle, size});
    segments.push_back({middle, getAffineConstantExpr(*extent, context),
                        isVector ? int64_t(llvm::alignTo(rest, lanes)) : rest});
    return segments;
  }
  AffineExpr middle = bound.floorDiv(size) * size;
  return {{zero, middle, size}, {middle, bound, isVector ? lanes : 1}};
}

/// A reduction walks its panel as it lies in memory.
SmallVector<unsigned>
ComponentScheduler::getOwnOrder(const ComputeShape &compute) const {
  SmallVector<unsigned> order;
  if (std::optional<unsigned> panel = getPanel(compute))
    for (AffineExpr index : compute.reads[*panel].map.getResults())
      for (unsigned dim = getFirstOwn(compute); dim < compute.getNumDims();
           ++dim)
        if (index.isFunctionOfDim(dim) && !llvm::is_contained(order, dim))
          order.push_back(dim);
  SmallVector<unsigned> rest;
  for (unsigned dim = getFirstOwn(compute); dim < compute.getNumDims(); ++dim)
    if (!llvm::is_contained(order, dim))
      rest.push_back(dim);
  rest.append(order);
  return rest;
}

bool ComponentScheduler::isUnrolled(const ComputeShape &compute,
                                    unsigned dim) const {
  std::optional<int64_t> points = compute.getExtent(dim);
  if (!component.numWindow || !points)
    return false;
  for (unsigned other = numShared; other < getFirstOwn(compute); ++other)
    *points *= *compute.getExtent(other);
  for (int64_t rows : tile.rows)
    *points *= rows;
  return *points * tile.vectors <= espalier::kMaxStraightPoints;
}

bool ComponentScheduler::isParallelWorthwhile() const {
  if (target.getCores() < 2 || outer.areParallel)
    return false;
  for (unsigned i : component.computes) {
    int64_t points = 1;
    for (unsigned dim = 0; dim < shapes[i].getNumDims(); ++dim)
      points *= std::min<int64_t>(
          shapes[i].getExtent(dim).value_or(kMinParallelPoints),
          kMinParallelPoints);
    if (points >= kMinParallelPoints)
      return true;
  }
  return false;
}

void ComponentScheduler::emitBand(ArrayRef<unsigned> positions,
                                  ArrayRef<SmallVector<AffineExpr>> results,
                                  ArrayRef<LoopAttr> loops) {
  SmallVector<Attribute> names, maps, kinds;
  for (auto [position, exprs] : llvm::zip(positions, results)) {
    const ComputeShape &compute = shape(position);
    names.push_back(FlatSymbolRefAttr::get(compute.op.getSymNameAttr()));
    maps.push_back(AffineMapAttr::get(AffineMap::get(
        compute.getNumDims(), kernel.getNumParameters(), exprs, context)));
  }
  kinds.assign(loops.begin(), loops.end());
  auto band = BandOp::create(
      builder, kernel.getLoc(), builder.getArrayAttr(names),
      builder.getArrayAttr(maps), builder.getArrayAttr(kinds), nullptr, false);
  builder.setInsertionPointToEnd(&band.getOrCreateBlock());
}

/// Whether the points along `dim` update the same element.
static bool isReduced(const ComputeShape &compute, unsigned dim) {
  return llvm::none_of(compute.writes, [&](const ComputeAccess &write) {
    return write.map.isFunctionOfDim(dim);
  });
}

/// How many vectors along `dim` one pass over the terms of a reduction adds up:
/// enough to hide the latency of an addition. 1 if `dim` is itself reduced, or
/// they would not fit.
static int64_t getRowVectors(const ComputeShape &compute, unsigned dim,
                             int64_t lanes, unsigned numShared) {
  std::optional<int64_t> extent = compute.getExtent(dim);
  bool isSum = compute.op.getReduction() && !isReduced(compute, dim);
  for (unsigned other = numShared; other < compute.getNumDims(); ++other)
    isSum &= !compute.restricted[other];
  if (isSum && extent)
    for (int64_t vectors : {8, 4, 2})
      if (*extent % (vectors * lanes) == 0)
        return vectors;
  return 1;
}

std::optional<unsigned>
ComponentScheduler::chooseOwnVector(const ComputeShape &compute,
                                    ArrayRef<unsigned> own) const {
  std::optional<unsigned> best;
  int64_t bestScore = 0;
  for (unsigned dim : own) {
    int64_t score = scoreVectorDim(compute, dim, lanes);
    if (score > bestScore) {
      bestScore = score;
      best = dim;
    }
  }
  return best;
}

void ComponentScheduler::addOwnLoops(const ComputeShape &compute,
                                     ArrayRef<unsigned> own, Loops &loops) {
  auto add = [&](AffineExpr expr) {
    bool unroll = expr == getAffineDimExpr(own.back(), context) &&
                  isUnrolled(compute, own.back());
    loops.add(expr, getLoop(unroll ? LoopKind::Unroll : LoopKind::Sequential));
  };
  std::optional<unsigned> vector;
  if (!vectorDim)
    vector = chooseOwnVector(compute, own);
  int64_t vectors =
      vector ? getRowVectors(compute, *vector, lanes, numShared) : 1;
  // Terms of a row of sums are added innermost, those of one sum outermost.
  auto isInside = [&](unsigned dim) {
    return vectors > 1 && isReduced(compute, dim);
  };
  for (unsigned dim : own)
    if (dim != vector && !isInside(dim))
      add(getAffineDimExpr(dim, context));
  if (!vector)
    return;
  AffineExpr self = getAffineDimExpr(*vector, context);
  add(self.floorDiv(lanes * vectors));
  for (unsigned dim : own)
    if (isInside(dim))
      add(getAffineDimExpr(dim, context));
  if (vectors > 1)
    loops.add((self % (lanes * vectors)).floorDiv(lanes),
              getLoop(LoopKind::Unroll));
  loops.add(self % lanes, LoopAttr::getVector(context, lanes));
}

AffineExpr ComponentScheduler::getOffset(unsigned dim,
                                         const Segment &segment) const {
  AffineExpr self = getAffineDimExpr(dim, context);
  auto begin = dyn_cast_or_null<AffineConstantExpr>(segment.begin);
  return begin ? self - begin : self;
}

/// The number of the tile of `size` that has `offset`.
static AffineExpr getTile(AffineExpr offset, int64_t size) {
  return size > 1 ? offset.floorDiv(size) : offset;
}

void ComponentScheduler::addPartLoops(ArrayRef<unsigned> own,
                                      ArrayRef<Segment> segments,
                                      Loops &loops) {
  auto add = [&](AffineExpr expr) {
    loops.add(expr, getLoop(LoopKind::Sequential));
  };
  for (unsigned dim : own.empty() ? own : own.drop_back())
    add(getAffineDimExpr(dim, context));
  if (!own.empty())
    add(getAffineDimExpr(own.back(), context).floorDiv(termsOfPart));
  for (unsigned dim : rowsInsideSum)
    add(getTile(dim == blockedRow ? getOffset(dim, segments[dim]) % rowsOfBlock
                                  : getOffset(dim, segments[dim]),
                segments[dim].size));
  if (!own.empty())
    add(getAffineDimExpr(own.back(), context) % termsOfPart);
}

void ComponentScheduler::emitCompute(unsigned position,
                                     ArrayRef<Segment> segments) {
  const ComputeShape &compute = shape(position);
  // The point inside a tile, counted from the segment's begin.
  auto inside = [&](unsigned dim) {
    return getOffset(dim, segments[dim]) % segments[dim].size;
  };
  SmallVector<unsigned> own = getOwnOrder(compute);
  Loops loops;
  if (rowsInsideSum.empty())
    addOwnLoops(compute, own, loops);
  else
    addPartLoops(own, segments, loops);
  OpBuilder::InsertionGuard guard(builder);
  if (std::optional<Prefetch> prefetch = getPrefetch(position, own)) {
    // Once for all points of a loop that is written out.
    Loops inner;
    if (!own.empty() && isUnrolled(compute, own.back()))
      inner.add(loops.results.pop_back_val(), loops.kinds.pop_back_val());
    emitBand(position, loops.results, loops.kinds);
    auto node = PrefetchOp::create(
        builder, kernel.getLoc(), compute.op.getSymName(), prefetch->read,
        prefetch->reader.empty()
            ? FlatSymbolRefAttr()
            : FlatSymbolRefAttr::get(context, prefetch->reader),
        prefetch->at, prefetch->bytes);
    builder.setInsertionPointToEnd(&node.getOrCreateBlock());
    loops = std::move(inner);
  }
  for (unsigned dim = numShared; dim < getFirstOwn(compute); ++dim)
    loops.add(getAffineDimExpr(dim, context), getLoop(LoopKind::Unroll));
  for (unsigned dim = 0; dim < numShared; ++dim)
    if (dim != vectorDim && segments[dim].size > 1)
      loops.add(inside(dim), getLoop(LoopKind::Unroll));
  if (vectorDim) {
    AffineExpr lane = inside(*vectorDim);
    if (segments[*vectorDim].size > lanes)
      loops.add(lane.floorDiv(lanes), getLoop(LoopKind::Unroll));
    loops.add(lane % lanes, LoopAttr::getVector(context, lanes));
  }
  if (!loops.results.empty())
    emitBand(position, loops.results, loops.kinds);
}

void ComponentScheduler::emitTileLoops(ArrayRef<unsigned> order,
                                       ArrayRef<Segment> segments,
                                       bool parallel) {
  auto all = llvm::to_vector(llvm::seq<unsigned>(0, component.computes.size()));
  SmallVector<SmallVector<AffineExpr>> results(all.size());
  SmallVector<LoopAttr> loops;
  // Threads run the outermost loops.
  for (auto [position, dim] : llvm::enumerate(order)) {
    // Blocks are outside, what one is cut into inside.
    AffineExpr offset = getOffset(dim, segments[dim]);
    AffineExpr number = getTile(offset, segments[dim].size);
    if (dim == blockedRow)
      number = llvm::is_contained(order.take_front(position), dim)
                   ? getTile(offset % rowsOfBlock, segments[dim].size)
                   : getTile(offset, rowsOfBlock);
    for (SmallVector<AffineExpr> &map : results)
      map.push_back(number);
    // Later loops of an ordered one are inside every iteration of it.
    parallel &= !component.sequential[dim];
    loops.push_back(
        getLoop(parallel ? LoopKind::Parallel : LoopKind::Sequential));
  }
  if (!order.empty())
    emitBand(all, results, loops);
}

void ComponentScheduler::emitPanelLoop(
    ArrayRef<SmallVector<Segment>> segments) {
  if (!isPanelStreamed() || getLoopOrder().front() != vectorDim ||
      segments[*vectorDim].size() > 1)
    return;
  std::optional<int64_t> extent = getSharedExtent(*vectorDim);
  int64_t size = segments[*vectorDim].front().size;
  // The other loops could occupy more threads.
  if (isParallelWorthwhile() &&
      (!extent || *extent / size < 2 * target.getCores()))
    return;
  SmallVector<Segment> first;
  for (const SmallVector<Segment> &list : segments)
    first.push_back(list.front());
  emitTileLoops(*vectorDim, first, isParallelWorthwhile());
  hasPanelLoop = true;
}

void ComponentScheduler::emitTree(ArrayRef<Segment> segments) {
  OpBuilder::InsertionGuard guard(builder);
  auto all = llvm::to_vector(llvm::seq<unsigned>(0, component.computes.size()));
  SmallVector<unsigned> order = getLoopOrder();
  if (hasPanelLoop)
    order.erase(order.begin());
  order.truncate(order.size() - rowsInsideSum.size());
  emitTileLoops(order, segments, isParallelWorthwhile() && !hasPanelLoop);
  if (all.size() == 1) {
    emitCompute(0, segments);
    return;
  }
  auto sequence = SequenceOp::create(builder, kernel.getLoc());
  Block &block = sequence.getOrCreateBlock();
  for (unsigned position : all) {
    builder.setInsertionPointToEnd(&block);
    auto filter = FilterOp::create(builder, kernel.getLoc(),
                                   builder.getArrayAttr(FlatSymbolRefAttr::get(
                                       shape(position).op.getSymNameAttr())),
                                   nullptr);
    builder.setInsertionPointToEnd(&filter.getOrCreateBlock());
    emitCompute(position, segments);
  }
}

void ComponentScheduler::emitSegments() {
  SmallVector<SmallVector<Segment>> segments;
  unsigned numCombinations = 1;
  for (unsigned dim = 0; dim < numShared; ++dim) {
    segments.push_back(getSegments(dim));
    numCombinations *= segments.back().size();
  }
  if (numCombinations == 1) {
    SmallVector<Segment> only;
    for (const SmallVector<Segment> &list : segments)
      only.push_back(list.front());
    emitTree(only);
    return;
  }
  emitPanelLoop(segments);
  auto sequence = SequenceOp::create(builder, kernel.getLoc());
  Block &block = sequence.getOrCreateBlock();
  forEachCombination(segments, [&](ArrayRef<Segment> chosen) {
    SmallVector<Attribute> names, sets;
    for (unsigned p = 0; p < component.computes.size(); ++p) {
      SmallVector<AffineExpr> constraints;
      for (auto [dim, segment] : llvm::enumerate(chosen))
        if (segment.begin) {
          AffineExpr self = getAffineDimExpr(dim, context);
          constraints.push_back(self - segment.begin);
          constraints.push_back(segment.end - 1 - self);
        }
      names.push_back(FlatSymbolRefAttr::get(shape(p).op.getSymNameAttr()));
      sets.push_back(IntegerSetAttr::get(IntegerSet::get(
          shape(p).getNumDims(), kernel.getNumParameters(), constraints,
          SmallVector<bool>(constraints.size(), false))));
    }
    builder.setInsertionPointToEnd(&block);
    auto filter =
        FilterOp::create(builder, kernel.getLoc(), builder.getArrayAttr(names),
                         builder.getArrayAttr(sets));
    builder.setInsertionPointToEnd(&filter.getOrCreateBlock());
    emitTree(chosen);
  });
}
