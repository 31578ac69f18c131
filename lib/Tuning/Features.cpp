//===- Features.cpp - What a schedule does to a machine -------------------===//
//
// A plan is a nest of loops around a tile. At each depth of the nest, an access
// touches as many lines as its map has values on the box that is left. What a
// cache gets is what the deepest loops that do not fit it touch, once for each
// iteration of those around them.
//
//===----------------------------------------------------------------------===//

#include "espalier/Tuning/Features.h"
#include "Access.h"
#include "espalier/Dialect/Poly/Analysis/Extents.h"
#include "llvm/ADT/StringSet.h"
#include <cmath>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

using llvm::ArrayRef;
using llvm::SmallVector;

/// Machines of this class do so much in a cycle, and wait so long for a sum.
static constexpr double kOpsPerCycle = 2, kLoadsPerCycle = 2;
static constexpr double kSumLatency = 4, kLoopCycles = 1, kMathOps = 12;
/// The cycles until a line comes from the next level.
static constexpr double kLineCycles[] = {2, 4, 10};
/// Of a cache, so much is there for the arrays of one loop.
static constexpr double kCacheShare = 0.75;

namespace {
/// A loop of a plan that is around another plan: its dimension, and whether it
/// is parallel.
using LoopAround = std::pair<unsigned, bool>;

struct Loop {
  unsigned dim;
  /// Points along `dim` of an iteration.
  int64_t step;
};

/// How one computation of a plan runs.
class Nest {
public:
  Nest(poly::ComputeOp compute, const poly::Plan &plan, unsigned position,
       ArrayRef<LoopAround> around, const llvm::StringSet<> &kept,
       int64_t unknownExtent);

  double countPoints() const { return product(extents); }
  double countTrips(unsigned from, unsigned to) const;
  /// The box inside the first `depth` loops.
  Box getBox(unsigned depth) const;
  double countBytes(unsigned depth) const;
  /// Lines that come into a cache of so many bytes.
  double countTraffic(double cacheBytes) const;
  /// Cycles of a tile of these points, and of all tiles.
  double countTileCycles(const Box &tile) const;
  double countCycles() const;
  void describe(const poly::Plan &plan, poly::TargetAttr target,
                Features &features) const;

  int64_t registers = 1;

private:
  static double product(ArrayRef<int64_t> numbers) {
    double result = 1;
    for (int64_t number : numbers)
      result *= number;
    return result;
  }
  void addTiles(const poly::Plan &plan);
  void addSums(const poly::Plan &plan, const poly::OwnLoops &own,
               bool outsideTiles);
  double countVectors(const Box &tile) const;
  double countLoads(const Access &access, const Box &tile,
                    double *gathers = nullptr) const;
  /// Vectors that live in a tile.
  double countLive(const Box &tile) const;

  Box extents, tile;
  std::optional<unsigned> lanes;
  int64_t width = 1;
  SmallVector<Loop> loops;
  /// Loops over tiles, over parts of sums, which are around some of these, and
  /// those around all parts.
  unsigned numOuter = 0, numParts = 0, numAroundParts = 0, numParallel = 0;
  SmallVector<Access> accesses;
  double ops = 1;
  bool isSum = false;
};
} // namespace

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

/// Instructions at a point; a product with a sum is one.
static double countOps(poly::ComputeOp compute) {
  double ops = 0;
  for (Operation &op : compute.getBody().front().without_terminator()) {
    if (op.getNumResults() != 1 || op.hasTrait<OpTrait::ConstantLike>())
      continue;
    bool isMath = op.getName().getDialectNamespace() == "math";
    bool isFused = op.getName().getStringRef() == "arith.mulf" &&
                   op.hasOneUse() &&
                   op.user_begin()->getName().getStringRef() == "arith.addf";
    ops += isMath ? kMathOps : isFused ? 0 : 1;
  }
  return std::max(ops, 1.0);
}

Nest::Nest(poly::ComputeOp compute, const poly::Plan &plan, unsigned position,
           ArrayRef<LoopAround> around, const llvm::StringSet<> &kept,
           int64_t unknownExtent)
    : width(plan.width), ops(countOps(compute)),
      isSum(compute.getReduction().has_value()) {
  extents.assign(compute.getNumDims(), 0);
  for (IntegerSet set : compute.getDomainSets())
    for (auto [extent, own] : llvm::zip(extents, poly::getBoxExtents(set)))
      extent = std::max<int64_t>(extent, own.value_or(unknownExtent));
  const poly::OwnLoops &own = plan.own[position];
  tile.assign(extents.size(), 1);
  for (auto [dim, points] : llvm::enumerate(plan.tile))
    tile[dim] =
        std::clamp<int64_t>(points, 1, std::max<int64_t>(extents[dim], 1));
  lanes = plan.lanes ? plan.lanes : own.lanes;
  if (own.lanes && !plan.lanes)
    tile[*own.lanes] = std::min(extents[*own.lanes], width * own.vectors);
  if (!lanes)
    width = 1;
  for (unsigned dim = plan.numShared;
       dim < std::min<size_t>(plan.numShared + plan.numWindow, extents.size());
       ++dim)
    tile[dim] = extents[dim];
  for (auto [dim, isParallel] : around) {
    loops.push_back({dim, 1});
    if (isParallel)
      numParallel = loops.size();
  }
  SmallVector<unsigned> order(plan.loops);
  order.append(plan.insideSum);
  for (auto [index, dim] : llvm::enumerate(order)) {
    // Parts of sums are around the tile loops inside them.
    if (index == plan.loops.size())
      addSums(plan, own, /*outsideTiles=*/true);
    bool isBlocks =
        plan.block == dim &&
        llvm::is_contained(ArrayRef(order).drop_front(index + 1), dim);
    loops.push_back({dim, isBlocks ? plan.blockSize : tile[dim]});
    if (index < plan.numParallel)
      numParallel = loops.size();
  }
  numOuter = loops.size();
  addSums(plan, own, /*outsideTiles=*/false);
  // What a tile has one place for is in registers.
  auto add = [&](const poly::ComputeAccess &access, bool isWrite) {
    auto array = access.array.getDefiningOp<poly::ArrayOp>();
    if (!array || !array.isIn(poly::Placement::Register))
      accesses.emplace_back(access.map, access.getType(), isWrite);
  };
  // Results of a part of a sum wait in memory for the next.
  bool isKept = kept.contains(compute.getSymName()) && plan.insideSum.empty();
  for (const poly::ComputeAccess &read : compute.getReadAccesses())
    if (!isKept || !isSum ||
        llvm::none_of(compute.getWriteAccesses(),
                      [&](auto &write) { return write.array == read.array; }))
      add(read, false);
  if (!isKept)
    for (const poly::ComputeAccess &write : compute.getWriteAccesses())
      add(write, true);
}

/// Adds the loops of a computation that others do not share: those over parts
/// of its terms, or those inside the tiles.
void Nest::addSums(const poly::Plan &plan, const poly::OwnLoops &own,
                   bool outsideTiles) {
  bool isCut = isSum && !plan.insideSum.empty() && plan.terms > 0;
  // How many terms of each a part has.
  SmallVector<int64_t> part;
  int64_t left = isCut ? plan.terms : INT64_MAX;
  for (unsigned dim : llvm::reverse(own.order)) {
    int64_t points =
        std::clamp<int64_t>(extents[dim], 1, std::max<int64_t>(left, 1));
    part.push_back(points);
    left = points < extents[dim] ? 1 : left / std::max<int64_t>(points, 1);
  }
  std::reverse(part.begin(), part.end());
  if (outsideTiles)
    numAroundParts = loops.size();
  for (auto [dim, points] : llvm::zip(own.order, part)) {
    if (outsideTiles && points < extents[dim]) {
      loops.push_back({dim, points});
      ++numParts;
    }
    if (!outsideTiles && points > tile[dim])
      loops.push_back({dim, tile[dim]});
  }
}

Box Nest::getBox(unsigned depth) const {
  Box box = extents;
  for (const Loop &loop : ArrayRef(loops).take_front(depth))
    box[loop.dim] = std::min(box[loop.dim], loop.step);
  return box;
}

double Nest::countTrips(unsigned from, unsigned to) const {
  Box box = getBox(from);
  double trips = 1;
  for (const Loop &loop : ArrayRef(loops).slice(from, to - from)) {
    int64_t step = std::max<int64_t>(loop.step, 1);
    trips *= llvm::divideCeil(std::max<int64_t>(box[loop.dim], 1), step);
    box[loop.dim] = std::min(box[loop.dim], step);
  }
  return trips;
}

//===----------------------------------------------------------------------===//
// Costs
//===----------------------------------------------------------------------===//

double Nest::countBytes(unsigned depth) const {
  Box box = getBox(depth);
  double lines = 0;
  for (const Access &access : accesses)
    lines += access.countLines(box);
  return lines * kLine;
}

double Nest::countTraffic(double cacheBytes) const {
  unsigned depth = 0;
  while (depth < loops.size() && countBytes(depth) > kCacheShare * cacheBytes)
    ++depth;
  // Between two iterations of the loop around what fits, the rest stays.
  unsigned around = depth == 0 ? 0 : depth - 1;
  return countTrips(0, around) * countBytes(around) / kLine;
}

double Nest::countVectors(const Box &points) const {
  double vectors = 1;
  for (auto [dim, count] : llvm::enumerate(points))
    if (count > 1 || lanes == dim)
      vectors *= lanes == dim ? double(llvm::divideCeil(count, width)) : count;
  return vectors;
}

double Nest::countLoads(const Access &access, const Box &points,
                        double *gathers) const {
  Box vectors = points;
  if (!lanes || !access.dependsOn(*lanes))
    return access.countElements(points);
  int64_t count = llvm::divideCeil(points[*lanes], width);
  vectors[*lanes] = count;
  double loads = access.countElements(vectors);
  std::optional<int64_t> stride = access.getStride(*lanes);
  if (stride && std::abs(*stride) <= 1)
    return loads;
  if (gathers)
    *gathers += loads * width;
  return loads * width;
}

double Nest::countLive(const Box &points) const {
  double live = isSum ? countVectors(points) : 1;
  // Vectors that several rows use stay, and one for what is broadcast.
  double most = 0;
  for (const Access &access : accesses)
    if (lanes && access.dependsOn(*lanes) && !access.isWrite)
      most = std::max(most, double(llvm::divideCeil(points[*lanes], width)));
  return live + most + 1;
}

double Nest::countTileCycles(const Box &points) const {
  double vectors = countVectors(points);
  double steps = countTrips(numOuter, loops.size());
  double compute = vectors * ops / kOpsPerCycle, memory = 0, outside = 0;
  for (const Access &access : accesses) {
    double loads =
        countLoads(access, points) * (access.isWrite ? 2 : 1) / kLoadsPerCycle;
    // What does not depend on the loops inside is loaded outside of them.
    unsigned depth = loops.size();
    while (depth > numOuter && !access.dependsOn(loops[depth - 1].dim))
      --depth;
    if (depth == loops.size())
      memory += loads;
    else
      outside += loads * countTrips(numOuter, depth);
  }
  double spills = std::max(countLive(points) - registers, 0.0);
  memory += 2 * spills / kLoadsPerCycle;
  double chain = isSum ? kSumLatency * ops : 0;
  return steps * (std::max({compute, memory, chain}) + kLoopCycles) + outside;
}

double Nest::countCycles() const {
  // Each dimension of a tile has whole tiles, and perhaps a rest.
  SmallVector<unsigned> tiled;
  Box whole = tile;
  double tiles = countTrips(0, numOuter);
  for (unsigned dim = 0; dim < tile.size(); ++dim)
    if (tile[dim] > 1 && extents[dim] % tile[dim] != 0)
      tiled.push_back(dim);
  for (unsigned dim = 0; dim < tile.size(); ++dim)
    if (llvm::is_contained(tiled, dim))
      tiles /= llvm::divideCeil(extents[dim], tile[dim]);
  double cycles = 0;
  for (unsigned rests = 0; rests < 1u << std::min<size_t>(tiled.size(), 6);
       ++rests) {
    Box points = whole;
    double count = tiles;
    for (auto [bit, dim] : llvm::enumerate(tiled)) {
      bool isRest = bit < 6 && (rests >> bit) & 1;
      points[dim] = isRest ? extents[dim] % tile[dim] : tile[dim];
      if (!isRest)
        count *= extents[dim] / tile[dim];
    }
    if (count > 0)
      cycles += count * (countTileCycles(points) + kLoopCycles);
  }
  return cycles;
}

static float logarithm(double value) {
  return std::log2(1 + std::max(value, 0.0));
}

void Nest::describe(const poly::Plan &plan, poly::TargetAttr target,
                    Features &features) const {
  double points = std::max(countPoints(), 1.0);
  double vectors = countVectors(tile), gathers = 0, loads = 0;
  for (const Access &access : accesses)
    if (loops.empty() || access.dependsOn(loops.back().dim))
      loads += countLoads(access, tile, &gathers);
  double tilePoints = product(tile), live = countLive(tile);
  double lanePoints = lanes ? tile[*lanes] : 1;
  double inWholeTiles = 1;
  for (auto [size, extent] : llvm::zip(tile, extents))
    if (extent > 0)
      inWholeTiles *= double(extent / size * size) / extent;
  features[Feature::Points] = logarithm(points);
  features[Feature::PointsPerCycle] = points / std::max(countCycles(), 1.0);
  features[Feature::VectorOps] = tilePoints / std::max(vectors, 1.0);
  features[Feature::Loads] = loads / std::max(vectors, 1.0);
  features[Feature::Accumulators] = vectors;
  features[Feature::Registers] = live / registers;
  features[Feature::Spills] = std::max(live - registers, 0.0);
  features[Feature::Chain] =
      isSum ? kSumLatency / std::max(vectors / kOpsPerCycle, 1.0) : 0;
  features[Feature::StraightCode] =
      logarithm(vectors * ops * (plan.unrollTerms ? plan.terms : 1));
  features[Feature::InnerTrips] =
      logarithm(loops.empty() ? 1 : countTrips(loops.size() - 1, loops.size()));
  features[Feature::TileTrips] = logarithm(countTrips(0, numOuter));
  features[Feature::Rows] = tilePoints / std::max(lanePoints, 1.0);
  features[Feature::Vectors] = lanePoints / width;
  features[Feature::LaneUse] =
      lanes ? double(extents[*lanes]) /
                  std::max<double>(llvm::alignTo(extents[*lanes], width), 1)
            : 1;
  features[Feature::Rest] = 1 - inWholeTiles;
  features[Feature::Gathers] = gathers / std::max(vectors, 1.0);
  features[Feature::ParallelTrips] = logarithm(countTrips(0, numParallel));
  features[Feature::WholeBytes] = logarithm(countBytes(0));
  features[Feature::TileBytes] = logarithm(countBytes(numOuter));
  features[Feature::StepBytes] =
      logarithm(countBytes(numOuter == 0 ? 0 : numOuter - 1));
  features[Feature::LinesL1] =
      logarithm(1000 * countTraffic(target.getL1()) / points);
  features[Feature::LinesL2] =
      logarithm(1000 * countTraffic(target.getL2()) / points);
  features[Feature::LinesL3] =
      logarithm(1000 * countTraffic(target.getL3()) / points);
  // Of the loops that an access does not depend on, the deepest repeats it.
  double reuse = countBytes(0);
  for (unsigned depth = 0; depth < numOuter; ++depth)
    for (const Access &access : accesses)
      if (!access.dependsOn(loops[depth].dim))
        reuse = std::min(reuse, countBytes(depth + 1));
  features[Feature::ReuseL1] =
      logarithm(reuse / std::max<double>(target.getL1(), 1));
  features[Feature::LocalBytes] = logarithm(tilePoints * 4 * plan.kept.size());
  features[Feature::Parts] = logarithm(
      numParts == 0 ? 0
                    : countTrips(numAroundParts, numAroundParts + numParts));
  features[Feature::Blocked] = plan.block.has_value();
  features[Feature::Fetch] = static_cast<unsigned>(plan.fetch);
  features[Feature::Ahead] = plan.fetch == poly::Fetch::None ? 0 : plan.ahead;
}

/// The loops around a plan, those of the plans before that have its first
/// computation and are around its own. Nothing for a plan that is around others
/// itself: its computations run in those.
static std::optional<SmallVector<LoopAround>>
findLoopsAround(ArrayRef<poly::Plan> plans, const poly::Plan &plan) {
  auto isAround = [](const poly::Plan &outer, const poly::Plan &inner) {
    return outer.numInside < inner.numInside &&
           llvm::is_contained(outer.computations, inner.computations.front());
  };
  SmallVector<LoopAround> around;
  for (const poly::Plan &other : plans) {
    if (isAround(plan, other))
      return std::nullopt;
    if (isAround(other, plan))
      for (auto [number, dim] : llvm::enumerate(other.loops))
        around.push_back({dim, number < other.numParallel});
  }
  return around;
}

Features tuning::computeFeatures(poly::KernelOp kernel, poly::TargetAttr target,
                                 ArrayRef<poly::Plan> plans,
                                 int64_t unknownExtent) {
  Features features;
  double most = -1, all = 0;
  for (const poly::Plan &plan : plans) {
    auto around = findLoopsAround(plans, plan);
    if (!around)
      continue;
    llvm::StringSet<> kept;
    for (const std::string &name : plan.kept)
      kept.insert(name);
    for (auto [position, name] : llvm::enumerate(plan.computations)) {
      Nest nest(kernel.lookupCompute(name), plan, position, *around, kept,
                unknownExtent);
      nest.registers = std::max<int64_t>(target.getRegisters(), 1);
      double cycles = nest.countCycles(), memory = 0;
      const int64_t sizes[] = {target.getL1(), target.getL2(), target.getL3()};
      for (auto [size, cost] : llvm::zip(sizes, kLineCycles))
        memory += cost * nest.countTraffic(size);
      // Some of the waiting is hidden behind the work.
      cycles = std::max(cycles, memory) + 0.25 * std::min(cycles, memory);
      all += cycles;
      if (cycles <= most)
        continue;
      most = cycles;
      nest.describe(plan, target, features);
    }
  }
  features[Feature::Cycles] = logarithm(all);
  return features;
}
