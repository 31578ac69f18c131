//===- Tile.cpp - What runs in one iteration of a loop --------------------===//

#include "Tile.h"
#include "LoopNest.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

unsigned Tile::getNumber(ComputeOp compute) const {
  return llvm::find(computes, compute) - computes.begin();
}

//===----------------------------------------------------------------------===//
// Tiles in the schedule
//===----------------------------------------------------------------------===//

/// The bands from `node` up, outermost first.
static SmallVector<BandOp> getBandsAbove(Operation *node) {
  SmallVector<BandOp> bands;
  for (; !isa<ScheduleOp>(node); node = node->getParentOp())
    if (auto band = dyn_cast<BandOp>(node))
      bands.push_back(band);
  return llvm::to_vector(llvm::reverse(bands));
}

/// Refuses if a filter above the loop lets only some points pass.
static llvm::Error checkFilters(const Tile &tile) {
  for (Operation *node = tile.parent; !isa<ScheduleOp>(node);
       node = node->getParentOp()) {
    auto filter = dyn_cast<FilterOp>(node);
    if (filter && filter.getSets())
      return refuse("expects all points of " + quote(tile.computes.front()) +
                    " to run in \"" + tile.loops.back().getValue() +
                    "\", but a filter above it leaves some out");
  }
  return llvm::Error::success();
}

llvm::Expected<Tile> espalier::poly::getTile(ComputeOp compute,
                                             StringRef loop) {
  Tile tile;
  KernelOp kernel = compute.getKernel();
  MLIRContext *context = kernel.getContext();
  if (loop.empty()) {
    tile.parent = kernel.getSchedule();
    tile.computes = kernel.getComputes();
  } else {
    llvm::Expected<LoopPosition> found = findLoop(compute, loop);
    if (!found)
      return found.takeError();
    tile.parent = found->band;
    tile.position = found->position;
    tile.computes =
        llvm::filter_to_vector(kernel.getComputes(), [&](ComputeOp op) {
          return bool(found->band.getMap(op.getSymName()));
        });
  }
  SmallVector<BandOp> bands = getBandsAbove(tile.parent);
  auto getNumLoops = [&](BandOp band) {
    return band == tile.parent ? tile.position + 1 : band.getLoops().size();
  };
  for (BandOp band : bands)
    for (size_t loop = 0; loop < getNumLoops(band); ++loop)
      tile.loops.push_back(cast<StringAttr>((*band.getNames())[loop]));
  if (llvm::Error error = checkFilters(tile))
    return error;
  for (ComputeOp op : tile.computes) {
    SmallVector<AffineExpr> values;
    for (BandOp band : bands)
      llvm::append_range(values, band.getMap(op.getSymName())
                                     .getResults()
                                     .take_front(getNumLoops(band)));
    tile.maps.push_back(AffineMap::get(
        op.getNumDims(), kernel.getNumParameters(), values, context));
  }
  return tile;
}

llvm::Expected<Tile> espalier::poly::getTileOfLoop(ComputeOp compute,
                                                   StringRef loop) {
  if (loop.empty())
    if (llvm::Error error = findLoop(compute, loop).takeError())
      return std::move(error);
  return getTile(compute, loop);
}

/// Lets `compute` reach `node`: `loops` are the values of the loops above.
static void addToNodesAbove(Operation *node, ComputeOp compute,
                            ArrayRef<AffineExpr> loops) {
  Builder builder(compute.getContext());
  unsigned numDims = compute.getNumDims();
  unsigned numParams = compute.getKernel().getNumParameters();
  auto symbol = FlatSymbolRefAttr::get(compute.getSymNameAttr());
  auto append = [&](ArrayAttr list, Attribute value) {
    SmallVector<Attribute> values(list.begin(), list.end());
    values.push_back(value);
    return builder.getArrayAttr(values);
  };
  unsigned depth = 0;
  for (BandOp band : getBandsAbove(node)) {
    ArrayRef<AffineExpr> own = loops.slice(depth, band.getLoops().size());
    depth += own.size();
    band.setComputationsAttr(append(band.getComputations(), symbol));
    band.setMapsAttr(append(band.getMaps(),
                            AffineMapAttr::get(AffineMap::get(
                                numDims, numParams, own, node->getContext()))));
  }
  for (; !isa<ScheduleOp>(node); node = node->getParentOp())
    if (auto filter = dyn_cast<FilterOp>(node))
      filter.setComputationsAttr(append(filter.getComputations(), symbol));
}

/// The next computation in one direction, or null.
static ComputeOp getNeighbour(Operation *op, TileSide side) {
  do
    op = side == TileSide::Before ? op->getPrevNode() : op->getNextNode();
  while (op && !isa<ComputeOp>(op));
  return cast_or_null<ComputeOp>(op);
}

/// Drops the computation `name` from a band or filter; false if no other one
/// is left.
template <typename NodeOp>
static bool dropName(NodeOp node, StringRef name) {
  SmallVector<Attribute> symbols, others;
  auto values = [&] {
    if constexpr (std::is_same_v<NodeOp, BandOp>)
      return node.getMaps();
    else
      return node.getSets().value_or(ArrayAttr());
  }();
  for (auto [number, symbol] : llvm::enumerate(
           node.getComputations().template getAsRange<FlatSymbolRefAttr>())) {
    if (symbol.getValue() == name)
      continue;
    symbols.push_back(symbol);
    if (values)
      others.push_back(values[number]);
  }
  Builder builder(node.getContext());
  node.setComputationsAttr(builder.getArrayAttr(symbols));
  if constexpr (std::is_same_v<NodeOp, BandOp>)
    node.setMapsAttr(builder.getArrayAttr(others));
  else if (values)
    node.setSetsAttr(builder.getArrayAttr(others));
  return !symbols.empty();
}

/// Erases a sequence with nothing in it; replaces one with a single filter that
/// lets all points pass by what is below that.
static void simplifySequence(SequenceOp sequence) {
  auto filters = llvm::to_vector(sequence.getBody().getOps<FilterOp>());
  if (filters.size() > 1 || (filters.size() == 1 && filters.front().getSets()))
    return;
  if (!filters.empty())
    if (Operation *child = filters.front().getChild())
      child->moveBefore(sequence);
  sequence.erase();
}

void espalier::poly::removeFromSchedule(ComputeOp compute) {
  StringRef name = compute.getSymName();
  SmallVector<Operation *> nodes;
  compute.getKernel().getSchedule().walk(
      [&](Operation *node) { nodes.push_back(node); });
  // Children come before their parents.
  for (Operation *node : nodes) {
    if (auto band = dyn_cast<BandOp>(node)) {
      if (!dropName(band, name))
        band.erase();
    } else if (auto filter = dyn_cast<FilterOp>(node)) {
      if (!dropName(filter, name))
        filter.erase();
    } else if (auto sequence = dyn_cast<SequenceOp>(node)) {
      simplifySequence(sequence);
    }
  }
}

void espalier::poly::removeCompute(
    ComputeOp compute, llvm::function_ref<void(Operation *)> erase) {
  removeFromSchedule(compute);
  // What was interleaved with it is so with the one before it.
  if (ComputeOp next = getNeighbour(compute, TileSide::After)) {
    int64_t shared = std::min(next.getInterleaved().value_or(0),
                              compute.getInterleaved().value_or(0));
    if (next.getInterleaved() && shared == 0)
      next.removeInterleavedAttr();
    else if (shared > 0)
      next.setInterleaved(shared);
  }
  erase(compute);
}

/// The sequence below `parent`, made around what is there.
static SequenceOp getOrCreateSequence(Operation *parent,
                                      ArrayRef<ComputeOp> computes) {
  Operation *child = getChildNode(parent->getRegion(0));
  if (auto sequence = dyn_cast_or_null<SequenceOp>(child))
    return sequence;
  if (parent->getRegion(0).empty())
    parent->getRegion(0).emplaceBlock();
  OpBuilder builder = OpBuilder::atBlockEnd(&parent->getRegion(0).front());
  auto sequence = SequenceOp::create(builder, parent->getLoc());
  builder.setInsertionPointToEnd(&sequence.getOrCreateBlock());
  SmallVector<Attribute> symbols;
  for (ComputeOp compute : computes)
    symbols.push_back(FlatSymbolRefAttr::get(compute.getSymNameAttr()));
  auto filter = FilterOp::create(builder, parent->getLoc(),
                                 builder.getArrayAttr(symbols), nullptr);
  Block &block = filter.getOrCreateBlock();
  if (child)
    child->moveBefore(&block, block.end());
  return sequence;
}

/// A leaf for `compute`, below a band over its dimensions from `from` on.
static void createOwnBand(OpBuilder &builder, ComputeOp compute,
                          unsigned from) {
  unsigned numDims = compute.getNumDims();
  if (from == numDims)
    return;
  SmallVector<AffineExpr> dims;
  SmallVector<Attribute> names;
  for (unsigned dim = from; dim < numDims; ++dim) {
    dims.push_back(builder.getAffineDimExpr(dim));
    names.push_back(compute.getDimName(dim));
  }
  SmallVector<Attribute> kinds(
      numDims - from,
      LoopAttr::get(builder.getContext(), LoopKind::Sequential));
  AffineMap map =
      AffineMap::get(numDims, compute.getKernel().getNumParameters(), dims,
                     builder.getContext());
  BandOp::create(
      builder, compute.getLoc(),
      builder.getArrayAttr(FlatSymbolRefAttr::get(compute.getSymNameAttr())),
      builder.getAffineMapArrayAttr(map), builder.getArrayAttr(kinds),
      builder.getArrayAttr(names), false);
}

FilterOp espalier::poly::addToTile(const Tile &tile, ComputeOp compute,
                                   ArrayRef<ComputeOp> uses, TileSide side,
                                   std::optional<AffineMap> loops) {
  auto band = dyn_cast<BandOp>(tile.parent);
  if (band && tile.position + 1 < band.getLoops().size())
    splitBand(band, tile.position + 1);
  SequenceOp sequence = getOrCreateSequence(tile.parent, tile.computes);
  FilterOp place;
  for (auto filter : sequence.getBody().getOps<FilterOp>()) {
    bool hasUse = llvm::any_of(
        filter.getComputations().getAsValueRange<FlatSymbolRefAttr>(),
        [&](StringRef name) {
          return llvm::any_of(
              uses, [&](ComputeOp use) { return use.getSymName() == name; });
        });
    if (hasUse && (!place || side == TileSide::After))
      place = filter;
  }
  OpBuilder builder(place);
  if (side == TileSide::After)
    builder.setInsertionPointAfter(place);
  auto filter = FilterOp::create(
      builder, compute.getLoc(),
      builder.getArrayAttr(FlatSymbolRefAttr::get(compute.getSymNameAttr())),
      nullptr);
  builder.setInsertionPointToEnd(&filter.getOrCreateBlock());
  createOwnBand(builder, compute, loops ? 0 : tile.getNumLoops());
  AffineMap values = loops.value_or(AffineMap::getMultiDimIdentityMap(
      tile.getNumLoops(), compute.getContext()));
  addToNodesAbove(tile.parent, compute, values.getResults());
  return filter;
}

ComputeOp espalier::poly::getGroupBegin(ComputeOp first) {
  while (first.getInterleaved())
    first = getNeighbour(first, TileSide::Before);
  return first;
}

void espalier::poly::setInsertionPoint(OpBuilder &builder,
                                       ArrayRef<ComputeOp> uses,
                                       TileSide side) {
  // Computations that are interleaved stay together.
  if (side == TileSide::Before)
    return builder.setInsertionPoint(getGroupBegin(uses.front()));
  ComputeOp last = uses.back();
  for (ComputeOp next = getNeighbour(last, TileSide::After);
       next && next.getInterleaved();
       next = getNeighbour(last, TileSide::After))
    last = next;
  builder.setInsertionPointAfter(last);
}

std::string espalier::poly::getFreeName(KernelOp kernel, const Twine &base) {
  std::string name = base.str();
  for (unsigned number = 1; kernel.lookupCompute(name); ++number)
    name = (base + "_" + Twine(number)).str();
  return name;
}
