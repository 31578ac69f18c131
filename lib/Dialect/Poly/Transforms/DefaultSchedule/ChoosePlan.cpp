//===- ChoosePlan.cpp - A good schedule for every kernel ------------------===//
//
// For each component of a kernel (computations that feed one another) chooses a
// plan: tile loops over the shared dimensions, parallel where possible; in a
// tile each computation's own loops, then the rows and vectors of the tile. The
// result of a reduction is a register tile.
//
//===----------------------------------------------------------------------===//

#include "PlanChooser.h"
#include "espalier/Support/CodeSize.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace espalier::poly;

/// Fewer points than this do not pay for waking threads.
static constexpr int64_t kMinParallelPoints = 1 << 15;
/// Results that are so many times as large as the second-level cache have left
/// it, and what is nearer, by the time that they are written again.
static constexpr int64_t kFarResults = 4;
/// Iterations that each thread finds at least, so that none waits long for the
/// others. More parallel loops than that takes cost more than they give: loops
/// that are one for the threads compute each index by divisions.
static constexpr int64_t kIterationsPerThread = 16;
/// Steps of a sum between fetching an operand and using it.
static constexpr int64_t kStepsAhead = 16;
/// Smaller tiles of several rows fetch nothing ahead: few multiply-adds do not
/// hide what it takes to find the place. Divisions find that of a share, and
/// nothing is needed for that of a window.
static constexpr int64_t kMinShareResults = 10, kMinPrefetchResults = 8,
                         kMinWindowResults = 6;
/// And so many multiply-adds of a tile that is written out.
static constexpr int64_t kMinTileProducts = 32;

/// A plan of which nothing is decided.
static Plan startPlan(ArrayRef<ComputeShape> shapes, const Component &component,
                      unsigned numInside) {
  Plan plan;
  for (unsigned i : component.computes)
    plan.computations.push_back(shapes[i].op.getSymName().str());
  plan.numInside = numInside;
  plan.numShared = component.sharedDims;
  plan.numWindow = component.numWindow;
  plan.tile.assign(component.sharedDims, 1);
  return plan;
}

PlanChooser::PlanChooser(KernelOp kernel, ArrayRef<ComputeShape> shapes,
                         const Component &component, Choices &choices,
                         OuterLoops outer)
    : TiledComponent(kernel, shapes, component.computes,
                     startPlan(shapes, component, outer.count)),
      component(component), choices(choices), target(choices.target),
      outer(outer) {}

bool PlanChooser::isUnrolled(const ComputeShape &compute, unsigned dim) const {
  std::optional<int64_t> points = compute.getExtent(dim);
  if (!plan.numWindow || !points || compute.limited[dim])
    return false;
  for (unsigned other = plan.numShared; other < getFirstOwn(compute); ++other)
    *points *= *compute.getExtent(other);
  for (unsigned shared = 0; shared < plan.numShared; ++shared)
    *points *= getRows(shared);
  return *points * getVectors() <= espalier::kMaxStraightPoints;
}

bool PlanChooser::isWrittenOut(unsigned position) const {
  if (!plan.numWindow || position >= plan.own.size())
    return false;
  const OwnLoops &own = plan.own[position];
  return own.unrolled && llvm::all_of(own.order, [&](unsigned dim) {
           return dim == own.unrolled;
         });
}

//===----------------------------------------------------------------------===//
// Threads
//===----------------------------------------------------------------------===//

/// Points of `shape` in one iteration of its first `numOuter` loops, up to
/// `kMinParallelPoints`; a size that is not known is taken to be `unknown`.
static int64_t countPoints(const ComputeShape &shape, unsigned numOuter,
                           int64_t unknown) {
  auto count = [&](unsigned dim) {
    int64_t extent = shape.getExtent(dim).value_or(unknown);
    if (shape.limited[dim])
      extent = std::min(extent, kMaxLimitedRows);
    return std::min(extent, kMinParallelPoints);
  };
  auto isOuter = [&](AffineExpr row) {
    return llvm::any_of(llvm::seq(numOuter),
                        [&](unsigned dim) { return row.isFunctionOfDim(dim); });
  };
  int64_t points = 1;
  llvm::SmallBitVector isCounted(shape.getNumDims());
  for (unsigned dim = shape.getNumDims(); dim-- > numOuter;) {
    if (isCounted[dim])
      continue;
    int64_t number = count(dim);
    // All rows together have the whole of what they have parts of.
    const std::optional<Part> &part = shape.parts[dim];
    if (part && shape.getExtent(dim) && !isOuter(part->row)) {
      for (unsigned row = numOuter; row < dim; ++row)
        if (part->row.isFunctionOfDim(row) && !isCounted[row]) {
          number = std::min(number * count(row), kMinParallelPoints);
          isCounted.set(row);
        }
      number = std::max(number, *shape.getExtent(dim));
    }
    points = std::min(points * std::min(number, kMinParallelPoints),
                      kMinParallelPoints);
  }
  return points;
}

bool PlanChooser::isParallelWorthwhile() const {
  return target.getCores() >= 2 && !outer.areParallel &&
         (outer.haveThreads || hasParallelWork());
}

bool PlanChooser::hasParallelWork() const {
  unsigned numInOrder = 0;
  while (numInOrder < component.numOuter && component.sequential[numInOrder])
    ++numInOrder;
  // Threads meet in each step of a recurrence: what is not known there counts
  // little.
  int64_t unknown = numInOrder > 0 ? kMaxLimitedRows : kMinParallelPoints;
  int64_t points = 0;
  for (unsigned i : computes)
    points += countPoints(shapes[i], numInOrder, unknown);
  return points >= kMinParallelPoints;
}

bool PlanChooser::isPanelAroundRest() const {
  bool hasRest = llvm::any_of(llvm::seq(0u, plan.numShared), [&](unsigned dim) {
    return getIndexRanges(dim).size() > 1;
  });
  if (!hasRest || !isPanelStreamed() || plan.loops.empty() ||
      plan.loops.front() != plan.lanes ||
      getIndexRanges(*plan.lanes).size() > 1)
    return false;
  // The other loops could occupy more threads.
  std::optional<int64_t> extent = getSharedExtent(*plan.lanes);
  return !isParallelWorthwhile() ||
         (extent && *extent / plan.tile[*plan.lanes] >= 2 * target.getCores());
}

void PlanChooser::chooseParallelLoops() {
  plan.numAroundRest = isPanelAroundRest() ? 1 : 0;
  if (!isParallelWorthwhile())
    return;
  // Threads run the outermost loops. Later loops of an ordered one are inside
  // every iteration of it.
  size_t most = plan.loops.size();
  if (plan.numAroundRest || !hasParallelWork())
    most = std::min<size_t>(most, 1);
  int64_t iterations = 1;
  while (plan.numParallel < most &&
         !component.sequential[plan.loops[plan.numParallel]] &&
         iterations < kIterationsPerThread * target.getCores()) {
    ArrayRef<unsigned> around =
        ArrayRef(plan.loops).take_front(plan.numParallel);
    unsigned dim = plan.loops[plan.numParallel++];
    int64_t size = plan.tile[dim];
    // Over blocks, and then over the tiles of one.
    if (dim == plan.block && llvm::is_contained(around, dim))
      iterations *= llvm::divideCeil(plan.blockSize, size);
    else if (std::optional<int64_t> extent = getSharedExtent(dim))
      iterations *= llvm::divideCeil(*extent - getBegin(dim),
                                     dim == plan.block ? plan.blockSize : size);
  }
}

//===----------------------------------------------------------------------===//
// What is fetched ahead
//===----------------------------------------------------------------------===//

bool PlanChooser::hasRoom(int64_t results) const {
  int64_t rows = 1;
  for (unsigned dim = 0; dim < plan.numShared; ++dim)
    rows *= getRows(dim);
  return rows == 1 || rows * getVectors() >= results;
}

int64_t PlanChooser::countPassedBytes() const {
  std::optional<PassBytes> passed = getPassBytes();
  int64_t bytes = passed ? passed->rows : 0;
  for (unsigned dim : plan.loops) {
    if (dim == plan.lanes)
      break;
    bytes /= std::max<int64_t>(getSharedExtent(dim).value_or(1), 1);
  }
  return bytes;
}

bool PlanChooser::chooseFetchOfRows() {
  std::optional<PassBytes> passed = getPassBytes();
  if (!passed || passed->rows <= target.getL1())
    return false;
  plan.fetch = Fetch::Rows;
  std::optional<RowFetch> rows = findRowPrefetch();
  std::optional<RowFetch> columns = findColumnPrefetch();
  bool isShare = findSharePrefetch().has_value();
  if (isShare
          ? !hasRoom(kMinShareResults)
          : passed->rows <= target.getL2() && !(columns && columns->fillsPages))
    return false;
  // Rows that are near when the next panel comes are far for the first alone.
  if (rows && !rows->fillsPages && countPassedBytes() <= target.getL2() / 2)
    return false;
  // A short pass ends before what it fetches is there.
  if (rows && rows->bytes <= target.getL1() / 2)
    plan.ahead = 2;
  return bool(rows);
}

bool PlanChooser::chooseFetchOfColumns() {
  if (plan.loops.empty() || plan.loops.back() == plan.lanes)
    return false;
  plan.fetch = Fetch::Rows;
  return countPassedBytes() > target.getL2() && findColumnPrefetch() &&
         chooseFetchOfRows();
}

bool PlanChooser::chooseFetchOfWindow() {
  std::optional<PassBytes> passed = getPassBytes();
  // Panels that pass again and again are near.
  if (!passed || passed->rows <= target.getL2() || plan.loops.empty() ||
      (passed->panel > 0 && plan.loops.front() == plan.lanes) ||
      passed->panel * passed->numPanels > target.getL2())
    return false;
  plan.fetch = Fetch::Rows;
  return findWindowPrefetch().has_value();
}

bool PlanChooser::chooseFetchOfPanel() {
  plan.fetch = Fetch::Terms;
  if (plan.block == plan.lanes) {
    // While a part passes, fetch the next.
    plan.ahead = plan.terms;
    return true;
  }
  const ComputeShape &main = shape(*reduction);
  auto tiles = countRowTiles();
  // A single tile of several rows is busy enough.
  if (!tiles || !main.getExtent(plan.own[*reduction].order.back()) ||
      (tiles->first < 2 && hasRows()))
    return false;
  // Read once: each step fetches what a later one needs.
  if (tiles->first < 2)
    plan.ahead = kStepsAhead;
  else if (target.getRegisters() < kManyRegisters && hasRows() &&
           !findWindowSteps() && !mayFetchPanels())
    return false;
  else
    plan.fetch = Fetch::Panel;
  return true;
}

int64_t PlanChooser::countTileProducts() const {
  const ComputeShape &main = shape(*reduction);
  int64_t products = getVectors();
  for (unsigned dim = plan.numInside; dim < plan.numShared; ++dim)
    products *= getRows(dim);
  for (unsigned dim = plan.numShared; dim < main.getNumDims(); ++dim)
    products *= main.getExtent(dim).value_or(1);
  return products;
}

bool PlanChooser::chooseFetchOfCopies() {
  plan.fetch = Fetch::Copies;
  plan.ahead = 1;
  if (findCopyPrefetch())
    return true;
  if (findCopiedPanel())
    return hasRoom(kMinPrefetchResults);
  std::optional<RowFetch> rows = findCopiedRows();
  if (!rows || countTileProducts() < kMinTileProducts)
    return false;
  // All of them together leave the cache.
  uint64_t bytes = rows->bytes;
  for (unsigned dim = 0; dim < plan.numInside; ++dim)
    bytes = llvm::SaturatingMultiply<uint64_t>(
        bytes, getSharedExtent(dim).value_or(target.getL2()));
  if (bytes <= uint64_t(target.getL2()))
    return false;
  if (rows->bytes <= target.getL1() / 2)
    plan.ahead = 2;
  return true;
}

bool PlanChooser::chooseFetchOfNumberedRows() {
  plan.fetch = Fetch::Rows;
  StepFetches fetches = findNumberedRows();
  if (fetches.prefetches.empty())
    return false;
  const ComputeShape &map = shape(fetches.position);
  int64_t rowBytes = 0;
  for (const Prefetch &prefetch : fetches.prefetches) {
    MemRefType type = map.reads[prefetch.number].getType();
    int64_t bytes = getBytes(type.getElementType());
    // A table whose length is not known is taken to be near.
    if (!type.hasStaticShape() ||
        type.getNumElements() * bytes <= target.getL2())
      return false;
    rowBytes +=
        map.getExtent(*plan.own[fetches.position].lanes).value_or(1) * bytes;
  }
  if (rowBytes <= target.getL1() / 2)
    plan.ahead = 2;
  return true;
}

bool PlanChooser::areResultsFar() const {
  auto isFar = [&](std::pair<unsigned, const ComputeAccess *> first) {
    MemRefType type = first.second->getType();
    return isa<BlockArgument>(first.second->array) && type.hasStaticShape() &&
           type.getNumElements() * getBytes(type.getElementType()) >
               kFarResults * target.getL2();
  };
  return !findResults(/*columns=*/1).prefetches.empty() &&
         llvm::any_of(getFirstWrites(), isFar);
}

void PlanChooser::chooseFetch() {
  if (!reduction && !chooseFetchOfNumberedRows())
    plan.fetch = Fetch::None;
  if (!reduction || !plan.lanes)
    return;
  // Rows that stay in cache are nearer than what is copied beside them.
  if (std::optional<PassBytes> passed = getPassBytes();
      passed && passed->rows <= target.getL2() && chooseFetchOfCopies())
    return;
  if (!plan.own[*reduction].order.empty() &&
      (plan.insideSum.empty() || plan.block == plan.lanes ||
       target.getRegisters() >= kManyRegisters) &&
      ((hasRoom(kMinWindowResults) && chooseFetchOfWindow()) ||
       (hasRoom(kMinPrefetchResults) &&
        (isPanelStreamed() ? chooseFetchOfColumns() || chooseFetchOfPanel()
                           : chooseFetchOfRows()))))
    return;
  if (!chooseFetchOfCopies())
    plan.fetch = Fetch::None;
}

//===----------------------------------------------------------------------===//
// Components
//===----------------------------------------------------------------------===//

/// Whether one group of computations has loops for a register tile that the
/// whole component does not have.
static bool hasInnerTile(ArrayRef<ComputeShape> shapes,
                         const Component &component,
                         ArrayRef<Component> groups) {
  return groups.size() > 1 && !llvm::is_contained(component.sequential, true) &&
         llvm::any_of(groups, [&](const Component &group) {
           return group.sharedDims > component.sharedDims + 1 &&
                  llvm::any_of(group.computes, [&](unsigned i) {
                    return shapes[i].op.getReduction() &&
                           shapes[i].getNumDims() > group.sharedDims;
                  });
         });
}

/// Keeps the results of computations for one tile, where that can be.
void PlanChooser::chooseKept(Plan &chosen) {
  if (isSequential())
    return;
  for (auto [position, write] : getFirstWrites())
    if (findStorage(*write) && choices.kept.insert(write->array).second &&
        !llvm::is_contained(chosen.kept, plan.computations[position]))
      chosen.kept.push_back(plan.computations[position]);
}

void PlanChooser::run() {
  SmallVector<Component> groups = choices.fuse ? findGroups(shapes, component)
                                               : separate(shapes, component);
  if (outer.count == 0 &&
      (component.numOuter > 0 || hasInnerTile(shapes, component, groups)))
    return runGroups(groups);
  reduction = findReduction();
  chooseVectorDim();
  chooseTile();
  bool isStreamed = isGemvByRows();
  if (isStreamed)
    chooseGemvByRows();
  else
    cutSum();
  chooseOwnLoops();
  if (!isStreamed) {
    plan.loops = getLoopOrder();
    plan.loops.truncate(plan.loops.size() - plan.insideSum.size());
    chooseFetch();
    plan.fetchResults = areResultsFar();
  }
  chooseParallelLoops();
  chooseNeighbours();
  chooseKept(plan);
  choices.plans.push_back(plan);
}

void PlanChooser::runGroups(ArrayRef<Component> groups) {
  plan.loops = getLoopOrder();
  for (unsigned position = 0; position < computes.size(); ++position)
    plan.own.emplace_back().order = llvm::to_vector(
        llvm::seq(plan.numShared, shape(position).getNumDims()));
  OuterLoops loops{plan.numShared, false};
  // Threads run loops of which no iteration waits for another, outside of those
  // that data ends.
  unsigned numParallel = 0;
  int64_t iterations = 1;
  for (unsigned dim : plan.loops) {
    if (component.sequential[dim] || isLimited(dim))
      break;
    ++numParallel;
    iterations *= getSharedExtent(dim).value_or(target.getCores());
  }
  // Few iterations do not occupy the threads; then the groups share the work.
  loops.areParallel = numParallel > 0 && iterations >= target.getCores() &&
                      isParallelWorthwhile();
  if (loops.areParallel)
    plan.numParallel = numParallel;
  loops.haveThreads =
      component.numOuter > 0 && target.getCores() >= 2 && !loops.areParallel &&
      llvm::any_of(groups, [&](const Component &group) {
        PlanChooser inside(kernel, shapes, group, choices, loops);
        return inside.hasParallelWork() && !inside.isSequential();
      });
  unsigned number = choices.plans.size();
  choices.plans.push_back(plan);
  for (const Component &group : groups)
    PlanChooser(kernel, shapes, group, choices, loops).run();
  // Arrays within one group are kept with it.
  chooseKept(choices.plans[number]);
}

/// As many rows of a group at most are kept in registers.
static constexpr int64_t kMaxGroupRows = 9;

/// Finds the window of sums over lists that data ends, which fill parts of one
/// array at each point of the shared loops: the rows of a group, of which each
/// list has some.
static void findRowWindow(ArrayRef<ComputeShape> shapes, Component &component) {
  unsigned shared = component.sharedDims;
  bool hasLists = false;
  for (unsigned i : component.computes) {
    const ComputeShape &shape = shapes[i];
    if (shape.getNumDims() <= shared || shape.isRestricted(shared) ||
        shape.getExtent(shared).value_or(kMaxGroupRows + 1) > kMaxGroupRows)
      return;
    hasLists |= shape.op.getReduction() && shape.getNumDims() == shared + 2 &&
                shape.limited[shared + 1] && !shape.isReduced(shared);
  }
  if (hasLists && !llvm::is_contained(component.sequential, true))
    component.numWindow = 1;
}

std::vector<Plan> espalier::poly::chooseSchedule(KernelOp kernel,
                                                 TargetAttr target, bool fuse) {
  std::vector<ComputeShape> shapes;
  for (ComputeOp op : kernel.getComputes())
    shapes.push_back(getShape(op));
  // What writes nothing has no array that its loops would go along.
  if (llvm::any_of(shapes, [](const ComputeShape &shape) {
        return shape.writes.empty();
      }))
    return {};
  Choices choices{target, fuse, {}, {}};
  for (Component &component : findComponents(shapes, target.getL2())) {
    findRowWindow(shapes, component);
    if (fuse || component.numOuter > 0)
      PlanChooser(kernel, shapes, component, choices).run();
    else
      for (const Component &alone : separate(shapes, component))
        PlanChooser(kernel, shapes, alone, choices).run();
  }
  return choices.plans;
}
