//===- WritePlan.cpp - The tree that a plan stands for --------------------===//
//
//   loops around the rest
//     sequence                       one part for each combination of tiles and
//       loops over tiles             rests along the dimensions
//         sequence
//           each computation: its own loops, then the points of the tile
//
// No tile has conditions inside. Two unknown extents make four parts. Rows of a
// sum whose number is not known make no part: code for each number of them
// does.
//
//===----------------------------------------------------------------------===//

#include "WritePlan.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;

namespace {
/// The dimensions of a band of one computation, outermost first.
struct Loops {
  SmallVector<AffineExpr> results;
  SmallVector<LoopAttr> kinds;

  void add(AffineExpr result, LoopAttr kind) {
    results.push_back(result);
    kinds.push_back(kind);
  }
};

/// Writes the tree of one plan.
class PlanWriter : public TiledComponent {
public:
  PlanWriter(const TiledComponent &component, OpBuilder &builder)
      : TiledComponent(component), builder(builder), fetches(findFetches()) {}

  void write();

private:
  LoopAttr getLoop(LoopKind kind) { return LoopAttr::get(context, kind); }
  AffineExpr getDim(unsigned dim) { return getAffineDimExpr(dim, context); }
  /// The point along `dim`, counted from the segment's begin.
  AffineExpr getOffset(unsigned dim, const IndexRange &range);
  void createBand(ArrayRef<unsigned> positions,
                  ArrayRef<SmallVector<AffineExpr>> results,
                  ArrayRef<LoopAttr> loops);
  /// A filter of the sequence whose block this is, and the builder in it.
  void enterFilter(Block &sequence, ArrayRef<unsigned> positions,
                   ArrayAttr sets = {});
  IntegerSetAttr getSet(const ComputeShape &compute,
                        ArrayRef<IndexRange> chosen);
  /// The loops over tiles from number `from` to `to`.
  void writeTileLoops(unsigned from, unsigned to, ArrayRef<IndexRange> ranges);
  void writeTree(unsigned firstLoop, ArrayRef<IndexRange> ranges);
  void writeCompute(unsigned position, ArrayRef<IndexRange> ranges);
  /// Writes `loops`, of which none is left, and what each iteration fetches.
  void writeFetches(const StepFetches &fetches, Loops &loops);
  /// Adds the loops over the parts of a sum, the rows and the terms of a part.
  void addPartLoops(unsigned position, ArrayRef<IndexRange> ranges,
                    Loops &loops);
  /// Adds the loops of a computation inside the shared ones.
  void addOwnLoops(unsigned position, Loops &loops);
  /// Adds the loops over the rows of a tile, or over the points of one.
  void addTileRows(unsigned position, ArrayRef<IndexRange> ranges,
                   Loops &loops);
  void addTileLanes(unsigned position, ArrayRef<IndexRange> ranges,
                    Loops &loops);
  /// How the loops over the points of a tile run that are no lanes.
  LoopAttr getTileLoop(unsigned position) {
    return getLoop(hasTileLoops(position) ? LoopKind::Sequential
                                          : LoopKind::Unroll);
  }
  /// The point inside a tile, counted from the segment's begin.
  AffineExpr getInside(unsigned dim, ArrayRef<IndexRange> ranges) {
    AffineExpr offset = getOffset(dim, ranges[dim]);
    return ranges[dim].isOneTile ? offset : offset % ranges[dim].size;
  }

  OpBuilder &builder;
  StepFetches fetches;
};
} // namespace

void espalier::poly::writePlan(const TiledComponent &component,
                               OpBuilder &builder) {
  PlanWriter(component, builder).write();
}

//===----------------------------------------------------------------------===//
// Nodes
//===----------------------------------------------------------------------===//

void PlanWriter::createBand(ArrayRef<unsigned> positions,
                            ArrayRef<SmallVector<AffineExpr>> results,
                            ArrayRef<LoopAttr> loops) {
  if (loops.empty())
    return;
  SmallVector<Attribute> names, maps;
  SmallVector<Attribute> kinds(loops.begin(), loops.end());
  for (auto [position, exprs] : llvm::zip_equal(positions, results)) {
    const ComputeShape &compute = shape(position);
    names.push_back(FlatSymbolRefAttr::get(compute.op.getSymNameAttr()));
    maps.push_back(AffineMapAttr::get(AffineMap::get(
        compute.getNumDims(), kernel.getNumParameters(), exprs, context)));
  }
  auto band = BandOp::create(
      builder, kernel.getLoc(), builder.getArrayAttr(names),
      builder.getArrayAttr(maps), builder.getArrayAttr(kinds), nullptr, false);
  builder.setInsertionPointToEnd(&band.getOrCreateBlock());
}

void PlanWriter::enterFilter(Block &sequence, ArrayRef<unsigned> positions,
                             ArrayAttr sets) {
  builder.setInsertionPointToEnd(&sequence);
  SmallVector<Attribute> names;
  for (unsigned position : positions)
    names.push_back(
        FlatSymbolRefAttr::get(shape(position).op.getSymNameAttr()));
  auto filter = FilterOp::create(builder, kernel.getLoc(),
                                 builder.getArrayAttr(names), sets);
  builder.setInsertionPointToEnd(&filter.getOrCreateBlock());
}

IntegerSetAttr PlanWriter::getSet(const ComputeShape &compute,
                                  ArrayRef<IndexRange> chosen) {
  SmallVector<AffineExpr> constraints;
  for (auto [dim, range] : llvm::enumerate(chosen))
    if (range.end) {
      constraints.push_back(getDim(dim) - range.begin);
      constraints.push_back(range.end - 1 - getDim(dim));
    }
  return IntegerSetAttr::get(
      IntegerSet::get(compute.getNumDims(), kernel.getNumParameters(),
                      constraints, SmallVector<bool>(constraints.size())));
}

//===----------------------------------------------------------------------===//
// Loops of a computation
//===----------------------------------------------------------------------===//

AffineExpr PlanWriter::getOffset(unsigned dim, const IndexRange &range) {
  auto begin = dyn_cast_or_null<AffineConstantExpr>(range.begin);
  return begin ? getDim(dim) - begin : getDim(dim);
}

/// The number of the tile of `size` that has `offset`.
static AffineExpr getTileOf(AffineExpr offset, int64_t size) {
  return size > 1 ? offset.floorDiv(size) : offset;
}

/// The same for a tile of `range`.
static AffineExpr getTileOf(AffineExpr offset, const IndexRange &range) {
  return range.isOneTile ? getAffineConstantExpr(0, offset.getContext())
                         : getTileOf(offset, range.size);
}

void PlanWriter::addOwnLoops(unsigned position, Loops &loops) {
  const OwnLoops &own = plan.own[position];
  for (unsigned dim : own.order) {
    AffineExpr self = getDim(dim);
    if (dim == own.lanes)
      self = self.floorDiv(plan.width * own.vectors);
    loops.add(self, getLoop(dim == own.unrolled ? LoopKind::Unroll
                                                : LoopKind::Sequential));
  }
  if (!own.lanes)
    return;
  AffineExpr self = getDim(*own.lanes);
  // Vectors that are added to the same element have sums of their own.
  if (shape(position).isReduced(*own.lanes)) {
    int64_t lanes = plan.width * own.vectors;
    return loops.add(self % lanes, LoopAttr::getVector(context, lanes));
  }
  if (own.vectors > 1)
    loops.add((self % (plan.width * own.vectors)).floorDiv(plan.width),
              getLoop(LoopKind::Unroll));
  loops.add(self % plan.width, LoopAttr::getVector(context, plan.width));
}

void PlanWriter::addPartLoops(unsigned position, ArrayRef<IndexRange> ranges,
                              Loops &loops) {
  ArrayRef<unsigned> own = plan.own[position].order;
  auto add = [&](AffineExpr expr) {
    loops.add(expr, getLoop(LoopKind::Sequential));
  };
  PartLoop part{0, 0};
  if (!own.empty()) {
    part = getPartLoop(position, own, plan.terms);
    for (unsigned dim : own.take_front(part.number))
      add(getDim(dim));
    add(getDim(own[part.number]).floorDiv(part.terms));
  }
  for (unsigned dim : plan.insideSum) {
    AffineExpr offset = getOffset(dim, ranges[dim]);
    add(getTileOf(dim == plan.block ? offset % plan.blockSize : offset,
                  ranges[dim].size));
  }
  if (own.empty())
    return;
  loops.add(
      getDim(own[part.number]) % part.terms,
      getLoop(plan.unrollTerms ? LoopKind::Unroll : LoopKind::Sequential));
  for (unsigned dim : own.drop_front(part.number + 1))
    loops.add(getDim(dim), getLoop(dim == plan.own[position].unrolled
                                       ? LoopKind::Unroll
                                       : LoopKind::Sequential));
}

void PlanWriter::addTileRows(unsigned position, ArrayRef<IndexRange> ranges,
                             Loops &loops) {
  const ComputeShape &compute = shape(position);
  for (unsigned dim = plan.numShared; dim < getFirstOwn(compute); ++dim)
    loops.add(getDim(dim), getLoop(LoopKind::Unroll));
  for (unsigned dim = 0; dim < plan.numShared; ++dim)
    if (dim != plan.lanes && ranges[dim].size > 1)
      loops.add(getInside(dim, ranges), getTileLoop(position));
}

void PlanWriter::addTileLanes(unsigned position, ArrayRef<IndexRange> ranges,
                              Loops &loops) {
  if (!plan.lanes)
    return;
  AffineExpr lane = getInside(*plan.lanes, ranges);
  if (ranges[*plan.lanes].size > plan.width)
    loops.add(lane.floorDiv(plan.width), getTileLoop(position));
  loops.add(lane % plan.width, LoopAttr::getVector(context, plan.width));
}

void PlanWriter::writeFetches(const StepFetches &fetches, Loops &loops) {
  unsigned position = fetches.position;
  createBand(position, loops.results, loops.kinds);
  loops = {};
  for (const Prefetch &prefetch : fetches.prefetches) {
    auto node = PrefetchOp::create(
        builder, kernel.getLoc(), shape(position).op.getSymName(),
        prefetch.isWrite, prefetch.number,
        prefetch.owner.empty()
            ? FlatSymbolRefAttr()
            : FlatSymbolRefAttr::get(context, prefetch.owner),
        prefetch.at, prefetch.bytes);
    builder.setInsertionPointToEnd(&node.getOrCreateBlock());
  }
}

void PlanWriter::writeCompute(unsigned position, ArrayRef<IndexRange> ranges) {
  const OwnLoops &own = plan.own[position];
  Loops loops;
  if (plan.insideSum.empty())
    addOwnLoops(position, loops);
  else
    addPartLoops(position, ranges, loops);
  auto fetchesHere = [&](const StepFetches &fetches) {
    return position == fetches.position && !fetches.prefetches.empty();
  };
  if (fetchesHere(fetches)) {
    // Once for all lanes of a vector, and points of a loop that is written out.
    Loops inner;
    bool isVector = own.lanes && !shape(position).isReduced(*own.lanes);
    if (isVector || (own.unrolled && own.order.back() == own.unrolled))
      inner.add(loops.results.pop_back_val(), loops.kinds.pop_back_val());
    writeFetches(fetches, loops);
    loops = std::move(inner);
  }
  addTileRows(position, ranges, loops);
  if (plan.fetchResults)
    if (StepFetches results = findResults(ranges[*plan.lanes].size);
        fetchesHere(results))
      writeFetches(results, loops);
  addTileLanes(position, ranges, loops);
  createBand(position, loops.results, loops.kinds);
}

//===----------------------------------------------------------------------===//
// The tree
//===----------------------------------------------------------------------===//

void PlanWriter::writeTileLoops(unsigned from, unsigned to,
                                ArrayRef<IndexRange> ranges) {
  auto all = llvm::to_vector(llvm::seq<unsigned>(0, computes.size()));
  SmallVector<AffineExpr> results;
  SmallVector<LoopAttr> kinds;
  for (unsigned position = from; position < to; ++position) {
    unsigned dim = plan.loops[position];
    // Blocks are outside, what one is cut into inside.
    AffineExpr offset = getOffset(dim, ranges[dim]);
    bool isAgain =
        llvm::is_contained(ArrayRef(plan.loops).take_front(position), dim);
    if (dim != plan.block)
      results.push_back(getTileOf(offset, ranges[dim]));
    else if (isAgain)
      results.push_back(getTileOf(offset % plan.blockSize, ranges[dim].size));
    else
      results.push_back(getTileOf(offset, plan.blockSize));
    kinds.push_back(getLoop(position < plan.numParallel
                                ? LoopKind::Parallel
                                : LoopKind::Sequential));
  }
  createBand(all, SmallVector<SmallVector<AffineExpr>>(all.size(), results),
             kinds);
}

void PlanWriter::writeTree(unsigned firstLoop, ArrayRef<IndexRange> ranges) {
  writeTileLoops(firstLoop, plan.loops.size(), ranges);
  if (computes.size() == 1)
    return writeCompute(0, ranges);
  auto sequence = SequenceOp::create(builder, kernel.getLoc());
  Block &block = sequence.getOrCreateBlock();
  for (unsigned position = 0; position < computes.size(); ++position) {
    enterFilter(block, position);
    writeCompute(position, ranges);
  }
}

void PlanWriter::write() {
  SmallVector<SmallVector<IndexRange>> ranges;
  SmallVector<IndexRange> first;
  unsigned numCombinations = 1;
  for (unsigned dim = 0; dim < plan.numShared; ++dim) {
    ranges.push_back(getIndexRanges(dim));
    first.push_back(ranges.back().front());
    numCombinations *= ranges.back().size();
  }
  if (numCombinations == 1)
    return writeTree(0, first);
  writeTileLoops(0, plan.numAroundRest, first);
  auto sequence = SequenceOp::create(builder, kernel.getLoc());
  Block &block = sequence.getOrCreateBlock();
  auto all = llvm::to_vector(llvm::seq<unsigned>(0, computes.size()));
  for (unsigned number = 0; number < numCombinations; ++number) {
    // The last dimension changes fastest.
    SmallVector<IndexRange> chosen(first);
    unsigned rest = number;
    for (unsigned dim = plan.numShared; dim-- > 0;) {
      chosen[dim] = ranges[dim][rest % ranges[dim].size()];
      rest /= ranges[dim].size();
    }
    SmallVector<Attribute> sets;
    for (unsigned position : all)
      sets.push_back(getSet(shape(position), chosen));
    enterFilter(block, all, builder.getArrayAttr(sets));
    writeTree(plan.numAroundRest, chosen);
  }
}
