//===- DefaultSchedule.cpp - A good schedule for every kernel -------------===//
//
// For each component of a kernel (computations that feed one another) writes
//
//   tile loops over the shared dimensions        parallel where possible
//     sequence
//       each computation: its own loops, then the rows and vectors of the tile
//
// The result of a reduction is a register tile: its `poly.array` gets a storage
// map that keeps one tile, and the loops over the tile are unrolled. Where a
// tile does not divide an extent, the rest gets the same tree with a smaller
// tile (of the constant size that is left, or single rows if it is not known),
// so that no tile has conditions inside.
//
//===----------------------------------------------------------------------===//

#include "KernelShape.h"
#include "RegisterTile.h"
#include "Segments.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/Transforms/Passes.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYDEFAULTSCHEDULEPASS
#include "espalier/Dialect/Poly/Transforms/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier::poly;

/// Fewer points than this do not pay for waking threads.
static constexpr int64_t kMinParallelPoints = 1 << 15;
/// The score of a dimension that has a single point.
static constexpr int64_t kNoLanes = -1000000;
/// Private arrays up to this many bytes live on the stack.
static constexpr int64_t kMaxStackBytes = 1 << 14;

/// Bytes of an element in memory.
static int64_t getBytes(Type type) {
  return type.isIndex() ? 8 : llvm::divideCeil(type.getIntOrFloatBitWidth(), 8);
}

namespace {

class ComponentScheduler {
public:
  ComponentScheduler(KernelOp kernel, ArrayRef<ComputeShape> shapes,
                     const Component &component, OpBuilder &builder)
      : kernel(kernel), shapes(shapes), component(component), builder(builder),
        context(kernel.getContext()), target(getTarget(kernel)) {}

  void run();

private:
  const ComputeShape &shape(unsigned position) const {
    return shapes[component.computes[position]];
  }
  std::optional<int64_t> getSharedExtent(unsigned dim) const;
  AffineExpr getSharedBound(unsigned dim) const;
  /// Whether some computation leaves out points along a shared dimension.
  bool isRestricted(unsigned dim) const {
    return llvm::any_of(component.computes,
                        [&](unsigned i) { return shapes[i].restricted[dim]; });
  }
  /// The reduction whose result deserves a register tile: the one with the
  /// most work.
  std::optional<unsigned> findReduction() const;
  bool readsBroadcast(const ComputeShape &reduction) const;
  void chooseVectorDim();
  void chooseTile();
  void placeArrays();
  int64_t scoreVectorDim(const ComputeShape &compute, unsigned dim,
                         int64_t lanes) const;
  SmallVector<Segment> getSegments(unsigned dim) const;
  void emitSegments(unsigned dim, SmallVectorImpl<Segment> &chosen);
  void emitTree(ArrayRef<Segment> segments);
  void emitCompute(unsigned position, ArrayRef<Segment> segments);
  SmallVector<unsigned> getLoopOrder() const;
  SmallVector<unsigned> getOwnOrder(const ComputeShape &compute) const;
  LoopAttr getLoop(LoopKind kind) { return LoopAttr::get(context, kind); }
  void emitBand(ArrayRef<unsigned> positions,
                ArrayRef<SmallVector<AffineExpr>> results,
                ArrayRef<LoopAttr> loops);
  bool isParallelWorthwhile() const;

  KernelOp kernel;
  ArrayRef<ComputeShape> shapes;
  const Component &component;
  OpBuilder &builder;
  MLIRContext *context;
  TargetAttr target;

  unsigned numShared = 0;
  /// Lanes of a vector, by the widest element type that is computed with.
  int64_t lanes = 1;
  /// The shared dimension whose elements are lanes, if it is a shared one.
  std::optional<unsigned> vectorDim;
  std::optional<unsigned> reduction;
  RegisterTile tile;
};

std::optional<int64_t> ComponentScheduler::getSharedExtent(unsigned dim) const {
  auto number = dyn_cast_or_null<AffineConstantExpr>(getSharedBound(dim));
  if (!number)
    return std::nullopt;
  return number.getValue();
}

/// The extent of a shared dimension, if all computations agree in it.
AffineExpr ComponentScheduler::getSharedBound(unsigned dim) const {
  AffineExpr bound;
  for (unsigned i : component.computes) {
    if (!shapes[i].extents[dim] || (bound && bound != shapes[i].extents[dim]))
      return {};
    bound = shapes[i].extents[dim];
  }
  return bound;
}

std::optional<unsigned> ComponentScheduler::findReduction() const {
  std::optional<unsigned> best;
  for (unsigned p = 0; p < component.computes.size(); ++p)
    if (shape(p).op.getReduction() && shape(p).getNumDims() > numShared)
      if (!best || shape(p).getNumDims() > shape(*best).getNumDims())
        best = p;
  return best;
}

/// How well `dim` serves as lanes: contiguous or invariant accesses count for
/// it, others against.
int64_t ComponentScheduler::scoreVectorDim(const ComputeShape &compute,
                                           unsigned dim, int64_t lanes) const {
  int64_t score = 0;
  std::optional<int64_t> extent = compute.getExtent(dim);
  if ((extent && *extent < 2) || compute.restricted[dim])
    return kNoLanes;
  auto add = [&](const ComputeAccess &access, int64_t weight) {
    if (!access.map.isFunctionOfDim(dim))
      return;
    std::optional<int64_t> stride = getStride(access, dim, lanes);
    // Lanes at distances that vary cannot be loaded.
    if (!stride)
      score += kNoLanes;
    else if (stride == 1)
      score += 4 * weight;
    else if (*stride != 0)
      score -= (*stride == kUnknownStride ? 12 : 6) * weight;
  };
  for (const ComputeAccess &access : compute.reads)
    add(access, 1);
  for (const ComputeAccess &access : compute.writes)
    add(access, 2);
  if (extent && *extent < lanes)
    score = score / 2 - 1;
  return score;
}

void ComponentScheduler::chooseVectorDim() {
  // The widest element decides how many lanes a register has.
  int64_t bits = 8;
  auto widen = [&](Type type) {
    if (type.isIntOrFloat())
      bits = std::max<int64_t>(bits, type.getIntOrFloatBitWidth());
  };
  for (unsigned i : component.computes)
    for (const ComputeAccess &write : shapes[i].writes)
      widen(write.getType().getElementType());
  bits = std::max<int64_t>(bits, 32);
  lanes = std::max<int64_t>(1, target.getVectorBits() / bits);

  int64_t bestScore = 0;
  for (unsigned dim = 0; dim < numShared; ++dim) {
    if (component.sequential[dim] || isRestricted(dim))
      continue;
    int64_t score = 0;
    for (unsigned i : component.computes) {
      int64_t own = scoreVectorDim(shapes[i], dim, lanes);
      // The main reduction runs most often.
      score += own * (reduction && component.computes[*reduction] == i ? 8 : 1);
    }
    if (score >= bestScore && score > 0) {
      bestScore = score;
      vectorDim = dim;
    }
  }
  if (!vectorDim)
    return;
  // A loop of the computations' own may be better: a row of memory.
  int64_t ownScore = 0;
  for (unsigned i : component.computes) {
    int64_t best = 0;
    for (unsigned dim = numShared; dim < shapes[i].getNumDims(); ++dim)
      best = std::max(best, scoreVectorDim(shapes[i], dim, lanes));
    ownScore +=
        best * (reduction && component.computes[*reduction] == i ? 8 : 1);
  }
  if (ownScore > bestScore)
    vectorDim.reset();
}

/// Whether some operand of the reduction is the same for all lanes.
bool ComponentScheduler::readsBroadcast(const ComputeShape &compute) const {
  return llvm::any_of(compute.reads, [&](const ComputeAccess &read) {
    return !read.map.isFunctionOfDim(*vectorDim) && read.map.getNumResults();
  });
}

void ComponentScheduler::chooseTile() {
  tile.rows.assign(numShared, 1);
  tile.vectors = 1;
  if (!vectorDim || !reduction)
    return;
  TileProblem problem{target, lanes, {}, *vectorDim, {}, false};
  const ComputeShape &main = shape(*reduction);
  problem.broadcastsRows = readsBroadcast(main);
  for (unsigned dim = 0; dim < numShared; ++dim) {
    problem.extents.push_back(getSharedExtent(dim));
    // Rows share the operands that do not depend on them.
    bool shares = llvm::any_of(main.reads, [&](const ComputeAccess &read) {
      return !read.map.isFunctionOfDim(dim);
    });
    if (dim != *vectorDim && !component.sequential[dim] && !isRestricted(dim) &&
        getSharedBound(dim) && shares)
      problem.rowDims.push_back(dim);
  }
  tile = chooseRegisterTile(problem);
}

void ComponentScheduler::placeArrays() {
  llvm::DenseMap<Value, const ComputeAccess *> writers;
  // An element in a register is written in every iteration.
  llvm::SmallDenseSet<Value> partial;
  for (unsigned i : component.computes)
    for (const ComputeAccess &write : shapes[i].writes) {
      writers.try_emplace(write.array, &write);
      if (!shapes[i].op.getReduction() &&
          llvm::is_contained(
              ArrayRef(shapes[i].restricted).take_front(numShared), true))
        partial.insert(write.array);
    }
  for (auto [value, write] : writers) {
    auto array = value.getDefiningOp<ArrayOp>();
    if (!array || array.getStorage())
      continue;
    // One tile along each shared dimension, all of the others.
    auto type = cast<MemRefType>(array.getType());
    SmallVector<AffineExpr> results;
    SmallVector<int64_t> shape;
    llvm::SmallDenseSet<unsigned> covered;
    bool possible = true;
    for (auto [position, index] : llvm::enumerate(write->map.getResults())) {
      AffineExpr self = getAffineDimExpr(position, context);
      auto dim = dyn_cast<AffineDimExpr>(index);
      if (!dim || dim.getPosition() >= numShared ||
          component.sequential[dim.getPosition()]) {
        results.push_back(self);
        shape.push_back(type.getDimSize(position));
        continue;
      }
      unsigned number = dim.getPosition();
      covered.insert(number);
      int64_t size =
          number == vectorDim ? lanes * tile.vectors : tile.rows[number];
      if (size == 1)
        continue;
      results.push_back(self % size);
      shape.push_back(size);
    }
    // Without some shared dimension, iterations would share the memory.
    possible &= covered.size() == numShared ||
                llvm::all_of(llvm::seq(0u, numShared), [&](unsigned dim) {
                  return covered.contains(dim) || component.sequential[dim];
                });
    if (!possible || llvm::is_contained(component.sequential, true))
      continue;
    auto storage = MemRefType::get(shape, type.getElementType());
    array.setStorageAttr(AffineMapAttr::get(
        AffineMap::get(type.getRank(), 0, results, context)));
    array.setStorageTypeAttr(TypeAttr::get(storage));
    // Registers are written and read under the same conditions: where the
    // computations agree in the extents.
    bool isTile = results.size() <= covered.size() &&
                  storage.hasStaticShape() && !partial.contains(value) &&
                  llvm::all_of(llvm::seq(0u, numShared), [&](unsigned dim) {
                    return bool(getSharedBound(dim));
                  });
    if (isTile)
      for (auto [position, index] : llvm::enumerate(write->map.getResults()))
        isTile &= isa<AffineDimExpr>(index) &&
                  cast<AffineDimExpr>(index).getPosition() < numShared;
    if (isTile)
      array.setPlacement(Placement::Register);
    else if (storage.hasStaticShape() &&
             storage.getNumElements() * getBytes(type.getElementType()) <=
                 kMaxStackBytes)
      array.setPlacement(Placement::Stack);
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

/// The order of the tile loops. Panels that fit the second-level cache are
/// reused by all rows of an image; larger ones are kept while all rows pass.
SmallVector<unsigned> ComponentScheduler::getLoopOrder() const {
  SmallVector<unsigned> order;
  for (unsigned dim = 0; dim < numShared; ++dim)
    if (dim != vectorDim || !reduction)
      order.push_back(dim);
  if (!vectorDim || !reduction)
    return order;
  int64_t panelBytes = 0;
  for (const ComputeAccess &read : shape(*reduction).reads)
    if (read.map.isFunctionOfDim(*vectorDim)) {
      MemRefType type = read.getType();
      bool rows = llvm::any_of(llvm::seq(0u, numShared), [&](unsigned dim) {
        return tile.rows[dim] > 1 && read.map.isFunctionOfDim(dim);
      });
      if (rows || !isa<BlockArgument>(read.array))
        continue;
      panelBytes = type.hasStaticShape() ? type.getNumElements() * 4
                                         : std::numeric_limits<int64_t>::max();
    }
  if (llvm::is_contained(component.sequential, true))
    order.push_back(*vectorDim);
  else if (panelBytes > target.getL2() / 2) {
    // After the dimensions that the panels depend on (batches).
    order.insert(order.begin(), *vectorDim);
    llvm::stable_sort(order, [&](unsigned a, unsigned b) {
      auto isBatch = [&](unsigned dim) {
        return dim != *vectorDim &&
               llvm::all_of(shape(*reduction).reads,
                            [&](const ComputeAccess &read) {
                              return read.map.isFunctionOfDim(dim);
                            });
      };
      return isBatch(a) > isBatch(b);
    });
  } else if (order.size() >= 2)
    order.insert(order.end() - 1, *vectorDim);
  else
    order.push_back(*vectorDim);
  return order;
}

/// A reduction walks its panel as it lies in memory.
SmallVector<unsigned>
ComponentScheduler::getOwnOrder(const ComputeShape &compute) const {
  SmallVector<unsigned> order;
  const ComputeAccess *panel = nullptr;
  if (vectorDim)
    for (const ComputeAccess &read : compute.reads)
      if (read.map.isFunctionOfDim(*vectorDim) &&
          isa<BlockArgument>(read.array) &&
          (!panel || read.map.getNumResults() > panel->map.getNumResults()))
        panel = &read;
  if (panel)
    for (AffineExpr index : panel->map.getResults())
      for (unsigned dim = numShared; dim < compute.getNumDims(); ++dim)
        if (index.isFunctionOfDim(dim) && !llvm::is_contained(order, dim))
          order.push_back(dim);
  SmallVector<unsigned> rest;
  for (unsigned dim = numShared; dim < compute.getNumDims(); ++dim)
    if (!llvm::is_contained(order, dim))
      rest.push_back(dim);
  rest.append(order);
  return rest;
}

bool ComponentScheduler::isParallelWorthwhile() const {
  if (target.getCores() < 2)
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

void ComponentScheduler::emitCompute(unsigned position,
                                     ArrayRef<Segment> segments) {
  const ComputeShape &compute = shape(position);
  SmallVector<SmallVector<AffineExpr>> maps(1);
  SmallVector<AffineExpr> &results = maps.front();
  SmallVector<LoopAttr> loops;
  auto dimExpr = [&](unsigned dim) { return getAffineDimExpr(dim, context); };
  // The point inside a tile, counted from the segment's begin.
  auto inside = [&](unsigned dim) {
    AffineExpr self = dimExpr(dim);
    if (auto begin = dyn_cast_or_null<AffineConstantExpr>(segments[dim].begin))
      return (self - begin) % segments[dim].size;
    return self % segments[dim].size;
  };

  SmallVector<unsigned> own = getOwnOrder(compute);
  std::optional<unsigned> ownVector;
  if (!vectorDim) {
    int64_t best = 0;
    for (unsigned dim : own) {
      int64_t score = scoreVectorDim(compute, dim, lanes);
      if (score > best) {
        best = score;
        ownVector = dim;
      }
    }
  }
  for (unsigned dim : own)
    if (dim != ownVector) {
      results.push_back(dimExpr(dim));
      loops.push_back(getLoop(LoopKind::Sequential));
    }
  if (ownVector) {
    results.push_back(dimExpr(*ownVector).floorDiv(lanes));
    loops.push_back(getLoop(LoopKind::Sequential));
    results.push_back(dimExpr(*ownVector) % lanes);
    loops.push_back(LoopAttr::getVector(context, lanes));
  }
  for (unsigned dim = 0; dim < numShared; ++dim)
    if (dim != vectorDim && segments[dim].size > 1) {
      results.push_back(inside(dim));
      loops.push_back(getLoop(LoopKind::Unroll));
    }
  if (vectorDim) {
    AffineExpr lane = inside(*vectorDim);
    if (segments[*vectorDim].size > lanes) {
      results.push_back(lane.floorDiv(lanes));
      loops.push_back(getLoop(LoopKind::Unroll));
    }
    results.push_back(lane % lanes);
    loops.push_back(LoopAttr::getVector(context, lanes));
  }
  if (!results.empty())
    emitBand(position, maps, loops);
}

void ComponentScheduler::emitTree(ArrayRef<Segment> segments) {
  OpBuilder::InsertionGuard guard(builder);
  auto all = llvm::to_vector(llvm::seq<unsigned>(0, component.computes.size()));
  SmallVector<unsigned> order = getLoopOrder();
  if (!order.empty()) {
    SmallVector<SmallVector<AffineExpr>> results(all.size());
    SmallVector<LoopAttr> loops;
    bool parallel = isParallelWorthwhile();
    for (unsigned dim : order) {
      AffineExpr self = getAffineDimExpr(dim, context);
      if (auto begin =
              dyn_cast_or_null<AffineConstantExpr>(segments[dim].begin))
        self = self - begin;
      if (segments[dim].size > 1)
        self = self.floorDiv(segments[dim].size);
      for (SmallVector<AffineExpr> &map : results)
        map.push_back(self);
      // Later loops of an ordered one are inside every iteration of it.
      parallel &= !component.sequential[dim];
      loops.push_back(
          getLoop(parallel ? LoopKind::Parallel : LoopKind::Sequential));
    }
    emitBand(all, results, loops);
  }
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

void ComponentScheduler::run() {
  numShared = component.sharedDims;
  reduction = findReduction();
  chooseVectorDim();
  chooseTile();
  placeArrays();
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

struct PolyDefaultSchedulePass
    : espalier::poly::impl::PolyDefaultSchedulePassBase<
          PolyDefaultSchedulePass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    SmallVector<ComputeOp> computes = kernel.getComputes();
    if (kernel.getSchedule() || computes.empty())
      return;
    std::vector<ComputeShape> shapes;
    for (ComputeOp op : computes)
      shapes.push_back(getShape(op));
    SmallVector<Component> components = findComponents(shapes);
    OpBuilder builder = OpBuilder::atBlockEnd(&kernel.getBody().front());
    auto schedule = ScheduleOp::create(builder, kernel.getLoc());
    builder.setInsertionPointToEnd(&schedule.getOrCreateBlock());
    if (components.size() == 1) {
      ComponentScheduler(kernel, shapes, components.front(), builder).run();
      return;
    }
    auto sequence = SequenceOp::create(builder, kernel.getLoc());
    Block &block = sequence.getOrCreateBlock();
    for (const Component &component : components) {
      builder.setInsertionPointToEnd(&block);
      SmallVector<Attribute> names;
      for (unsigned i : component.computes)
        names.push_back(FlatSymbolRefAttr::get(shapes[i].op.getSymNameAttr()));
      auto filter = FilterOp::create(builder, kernel.getLoc(),
                                     builder.getArrayAttr(names), nullptr);
      builder.setInsertionPointToEnd(&filter.getOrCreateBlock());
      ComponentScheduler(kernel, shapes, component, builder).run();
    }
  }
};

} // namespace
