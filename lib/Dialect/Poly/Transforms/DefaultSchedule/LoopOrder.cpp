//===- LoopOrder.cpp - Which loops are around which -----------------------===//
//
// The panels of a product stay in a cache while rows pass them. What one panel
// and its rows take decides which loop is around which, whether rows pass in
// blocks, and whether the sum is cut, so that they pass a part before the next:
//
//   for block of rows: for panel:
//     for part of the sum: for tile of rows: for term of the part
//
// A few rows that pass a matrix with long rows take blocks of its columns:
//
//   for block of columns: for part of the sum:
//     for panel: for tile of rows: for term of the part
//
// Few panels stay in the cache whatever passes. Rows that would leave it before
// the next panel wants them, or whose results would before it stores what is
// beside them, take all panels at once:
//
//   for tile of rows: for panel: for term
//
// So do rows that share nothing with a panel but its terms, each lane reading
// elements of its own, as in a depthwise convolution with channels innermost:
// all vectors of a line pass before the next line does.
//
// Where the number of rows is not known before, a tile passes two panels before
// the next tile does. With few rows, `program-join-sums` makes one loop of both
// sums, which would wait for one another's steps:
//
//   for pair of panels: for tile of rows: for panel of the pair: for term
//
// Entries of sparse rows in blocks, of which each reads little, let all rows
// pass a block at a tile of the others. Sums wait for the next block in memory,
// and those of a single block are registers:
//
//   for tile: for block: for row: for entry of the block
//
// Maps pass memory as their result lies in it.
//
//===----------------------------------------------------------------------===//

#include "PlanChooser.h"
#include <numeric>

using namespace mlir;
using namespace espalier::poly;

/// Fewer tiles than this do not pay for storing results between parts of a sum.
static constexpr int64_t kMinTilesOfPart = 4;
/// Vectors side by side in a register tile of such few rows.
static constexpr int64_t kThinVectors = 2;
/// Panels that pass a tile of a few rows side by side, and as many of these as
/// each thread finds at least, so that none waits long for the others.
static constexpr int64_t kPanelsAtOnce = 2, kPairsPerThread = 4;
/// What one core may take of the cache that all share: one part of so many.
static constexpr int64_t kPartOfSharedCache = 4;
/// As many terms on different pages are read in turns at most.
static constexpr int64_t kPagesAtOnce = 32;

bool PlanChooser::isPanelStreamed() const {
  if (!reduction)
    return false;
  std::optional<unsigned> panel = getPanel(shape(*reduction));
  if (!panel)
    return false;
  MemRefType type = shape(*reduction).reads[*panel].getType();
  return !type.hasStaticShape() ||
         type.getNumElements() * getBytes(type.getElementType()) >
             target.getL2() / 2;
}

bool PlanChooser::mayFetchPanels() const {
  const ComputeShape &main = shape(*reduction);
  const ComputeAccess &panel = main.reads[*getPanel(main)];
  MemRefType type = panel.getType();
  ArrayRef<unsigned> own = plan.own[*reduction].order;
  if (!type.hasStaticShape() ||
      getStride(panel, own.back(), plan.width) != plan.tile[*plan.lanes])
    return false;
  bool hasTaps = llvm::any_of(
      own.drop_back(), [&](unsigned dim) { return main.getExtent(dim) != 1; });
  return !hasTaps || type.getNumElements() * getBytes(type.getElementType()) >=
                         target.getL3() / kPartOfSharedCache;
}

std::optional<PlanChooser::PassBytes> PlanChooser::getPassBytes() const {
  const ComputeShape &main = shape(*reduction);
  std::optional<unsigned> panel = getPanel(main);
  std::optional<int64_t> width = getSharedExtent(*plan.lanes);
  PassBytes bytes;
  for (auto [number, read] : llvm::enumerate(main.reads)) {
    MemRefType type = read.getType();
    bool isResult = llvm::any_of(main.writes,
                                 [&, &read = read](const ComputeAccess &write) {
                                   return write.array == read.array;
                                 });
    if (isResult || !isa<BlockArgument>(read.array))
      continue;
    if (!type.hasStaticShape())
      return std::nullopt;
    (number == panel ? bytes.panel : bytes.rows) +=
        type.getNumElements() * getBytes(type.getElementType());
  }
  if (!width || *width == 0)
    return std::nullopt;
  bytes.numPanels = llvm::divideCeil(*width, plan.tile[*plan.lanes]);
  bytes.panel /= bytes.numPanels;
  return bytes;
}

unsigned PlanChooser::countRowsAroundPanels(ArrayRef<unsigned> rows) const {
  std::optional<PassBytes> bytes = getPassBytes();
  if (!bytes)
    return 0;
  // Bytes from beyond the second-level cache: it holds one panel and what is
  // read in one iteration of the loops around, or all rows pass again. If it
  // holds all panels as well, with room for results, these are read once.
  auto getTraffic = [&](int64_t iterations) {
    int64_t rows = bytes->rows / iterations;
    int64_t panels = bytes->panel * bytes->numPanels;
    bool stays = rows + bytes->panel <= target.getL2();
    bool allStay = rows + panels <= target.getL2() / 4 * 3;
    return panels * (allStay ? 1 : iterations) +
           bytes->rows * (stays ? 1 : bytes->numPanels);
  };
  unsigned best = 0;
  int64_t iterations = 1, least = getTraffic(1);
  for (unsigned count = 1; count < rows.size(); ++count) {
    std::optional<int64_t> extent = getSharedExtent(rows[count - 1]);
    if (!extent || getRows(rows[count - 1]) != 1)
      break;
    iterations *= std::max<int64_t>(*extent, 1);
    if (int64_t traffic = getTraffic(iterations); traffic < least) {
      least = traffic;
      best = count;
    }
  }
  return best;
}

void PlanChooser::orderAsStored(SmallVectorImpl<unsigned> &order) const {
  const ComputeShape &last = shape(computes.size() - 1);
  const ComputeAccess *access = &last.writes.front();
  // A copy that a tile keeps is near: what it reads is farther.
  if (plan.numInside > 0 && computes.size() == 1 && last.reads.size() == 1 &&
      !isa<BlockArgument>(access->array) &&
      isa<BlockArgument>(last.reads.front().array) &&
      getStride(last.reads.front(), *plan.lanes, plan.width) == 1)
    access = &last.reads.front();
  auto getStep = [&](unsigned dim) {
    std::optional<int64_t> step = getStride(*access, dim, plan.width);
    return step ? std::abs(*step) : kUnknownStride;
  };
  if (llvm::is_contained(llvm::map_range(order, getStep), kUnknownStride))
    return;
  llvm::stable_sort(
      order, [&](unsigned a, unsigned b) { return getStep(a) > getStep(b); });
}

void PlanChooser::orderFarFirst(SmallVectorImpl<unsigned> &order) const {
  const ComputeShape &main = shape(*reduction);
  const ComputeAccess *far = nullptr;
  int64_t most = 0, all = 0;
  for (const ComputeAccess &read : main.reads) {
    if (llvm::any_of(main.writes, [&](const ComputeAccess &write) {
          return write.array == read.array;
        }))
      continue;
    MemRefType type = read.getType();
    if (!type.hasStaticShape())
      return;
    int64_t bytes = type.getNumElements() * getBytes(type.getElementType());
    all += bytes;
    if (bytes > most) {
      most = bytes;
      far = &read;
    }
  }
  int64_t cache = target.getL2() / 2;
  if (most > cache && all - most <= cache)
    llvm::stable_sort(order, [&](unsigned a, unsigned b) {
      return far->map.isFunctionOfDim(a) > far->map.isFunctionOfDim(b);
    });
}

bool PlanChooser::storesFarRows(ArrayRef<unsigned> inside) const {
  const ComputeAccess &write = shape(computes.size() - 1).writes.front();
  const ComputeShape &main = shape(*reduction);
  std::optional<int64_t> width = getSharedExtent(*plan.lanes);
  std::optional<unsigned> panel = getPanel(main);
  if (!width || !panel || !isa<BlockArgument>(write.array) ||
      getStride(write, *plan.lanes, plan.width) != 1)
    return false;
  int64_t bytes = getBytes(write.getType().getElementType());
  uint64_t stored = *width * bytes;
  bool isFar = plan.tile[*plan.lanes] * bytes % kLineBytes != 0;
  for (unsigned dim = plan.numInside; dim < plan.numShared; ++dim) {
    bool isInside = llvm::is_contained(inside, dim);
    std::optional<int64_t> step = getStride(write, dim, plan.width);
    if (dim == *plan.lanes || (!isInside && getRows(dim) == 1))
      continue;
    if (!step || *step == kUnknownStride)
      return false;
    stored = llvm::SaturatingMultiply<uint64_t>(
        stored, isInside ? getSharedExtent(dim).value_or(1) : getRows(dim));
    isFar |= *step * bytes % kLineBytes != 0 ||
             std::abs(*step) * bytes >= kPageBytes;
  }
  // All panels, at one point of the loops around.
  MemRefType read = main.reads[*panel].getType();
  uint64_t panels = *width;
  for (unsigned dim = getFirstOwn(main); dim < main.getNumDims(); ++dim)
    panels = llvm::SaturatingMultiply<uint64_t>(
        panels, main.getExtent(dim).value_or(kUnknownStride));
  if (read.hasStaticShape())
    panels = std::min<uint64_t>(panels, read.getNumElements());
  panels = llvm::SaturatingMultiply<uint64_t>(panels,
                                              getBytes(read.getElementType()));
  return isFar && llvm::any_of(ArrayRef{target.getL1(), target.getL2() / 2},
                               [&](uint64_t cache) {
                                 return panels <= cache && stored > cache;
                               });
}

bool PlanChooser::leavesCache(ArrayRef<unsigned> around) const {
  if (!getPanel(shape(*reduction)) || isPanelStreamed() || isSequential() ||
      plan.numWindow)
    return false;
  std::optional<PassBytes> bytes = getPassBytes();
  if (!bytes || bytes->numPanels < 2)
    return false;
  for (unsigned dim : around)
    bytes->rows /= std::max<int64_t>(1, getSharedExtent(dim).value_or(1));
  return bytes->rows > target.getL2() / 2;
}

bool PlanChooser::isBatch(unsigned dim) const {
  return dim != *plan.lanes &&
         llvm::all_of(shape(*reduction).reads, [&](const ComputeAccess &read) {
           return read.map.isFunctionOfDim(dim);
         });
}

/// The order of the tile loops. Panels that fit the second-level cache are
/// reused by all rows of an image; larger ones are kept while all rows pass, or
/// those of an image if these stay in cache.
SmallVector<unsigned> PlanChooser::getLoopOrder() const {
  SmallVector<unsigned> order;
  for (unsigned dim = plan.numInside; dim < plan.numShared; ++dim)
    if (dim != plan.lanes || !reduction)
      order.push_back(dim);
  if (!reduction && plan.lanes && !hasRows() && !isSequential())
    orderAsStored(order);
  if (reduction && !plan.lanes && !isSequential())
    orderFarFirst(order);
  if (!plan.lanes || !reduction)
    return order;
  if (isSequential())
    order.push_back(*plan.lanes);
  else if (isPanelStreamed()) {
    // After the dimensions that the panels depend on (batches).
    order.insert(order.begin(), *plan.lanes);
    llvm::stable_sort(
        order, [&](unsigned a, unsigned b) { return isBatch(a) > isBatch(b); });
    auto panel = llvm::find(order, *plan.lanes);
    unsigned outside =
        countRowsAroundPanels(ArrayRef<unsigned>(panel + 1, order.end()));
    std::rotate(panel, panel + 1, panel + 1 + outside);
    // Rows whose results cannot wait for the next part of a sum.
    panel = llvm::find(order, *plan.lanes);
    if (!plan.insideSum.empty() && plan.insideSum.front() != plan.lanes)
      std::rotate(panel, panel + 1, order.end() - plan.insideSum.size());
    if (plan.block)
      order.insert(llvm::find(order, *plan.lanes), *plan.block);
  } else if (order.size() >= 2 || (!order.empty() && isWrittenOut(*reduction)))
    order.insert(order.end() - 1, *plan.lanes);
  else
    order.push_back(*plan.lanes);
  auto panel = llvm::find(order, *plan.lanes);
  if (plan.insideSum.empty() && !plan.block &&
      (passesLines() || storesFarRows(ArrayRef(panel + 1, order.end())) ||
       leavesCache(ArrayRef(order.begin(), panel))))
    std::rotate(panel, panel + 1, order.end());
  if (const Part *block = findBlockOfEntries())
    llvm::stable_sort(order, [&](unsigned a, unsigned b) {
      return block->row.isFunctionOfDim(a) < block->row.isFunctionOfDim(b);
    });
  return order;
}

const Part *PlanChooser::findBlockOfEntries() const {
  const ComputeShape &main = shape(*reduction);
  unsigned number = getFirstOwn(main), entry = number + 1;
  if (plan.numWindow || isSequential() || main.getNumDims() != entry + 1 ||
      main.limited[number] || main.begins[number] != 0 || !main.parts[entry] ||
      !main.getExtent(entry) ||
      !main.parts[entry]->row.isFunctionOfDim(number) ||
      llvm::count_if(computes, [&](unsigned i) {
        return shapes[i].getNumDims() > plan.numShared;
      }) != 1)
    return nullptr;
  return &*main.parts[entry];
}

void PlanChooser::cutSum() {
  if (const Part *block = reduction ? findBlockOfEntries() : nullptr) {
    const ComputeShape &main = shape(*reduction);
    if (main.getExtent(getFirstOwn(main)) == 1)
      return;
    for (unsigned dim : getLoopOrder())
      if (block->row.isFunctionOfDim(dim))
        plan.insideSum.push_back(dim);
    // No block has more entries.
    if (!plan.insideSum.empty())
      plan.terms = *main.getExtent(main.getNumDims() - 1) + 1;
    return;
  }
  if (!isPanelStreamed() || plan.numWindow || isSequential() ||
      llvm::count_if(computes, [&](unsigned i) {
        return shapes[i].getNumDims() > plan.numShared;
      }) != 1)
    return;
  const ComputeShape &main = shape(*reduction);
  SmallVector<unsigned> own = getOwnOrder(main);
  // Each row that data ends would look for its terms in every part.
  if (llvm::any_of(own, [&](unsigned dim) { return main.isRestricted(dim); }))
    return;
  std::optional<PassBytes> bytes = getPassBytes();
  uint64_t numTerms = 1;
  for (unsigned dim : own)
    numTerms = llvm::SaturatingMultiply<uint64_t>(
        numTerms, std::max<int64_t>(main.getExtent(dim).value_or(0), 0));
  if (numTerms < 1 || !bytes || cutThinSum())
    return;
  SmallVector<unsigned> order = getLoopOrder(), inside;
  for (unsigned dim : order) {
    if (dim == plan.lanes)
      break;
    // Each iteration around the panels has rows of its own, or panels, too.
    int64_t extent = std::max<int64_t>(1, getSharedExtent(dim).value_or(1));
    bytes->rows /= extent;
    if (main.reads[*getPanel(main)].map.isFunctionOfDim(dim))
      bytes->panel /= extent;
  }
  if (bytes->panel + bytes->rows <= target.getL2())
    return;
  // The tiles of few registers are so small that what each part begins and
  // ends with costs more than rows that pass from the next cache.
  if (target.getRegisters() < kManyRegisters &&
      bytes->rows <= target.getL3() / kPartOfSharedCache)
    return;
  // Results of as many rows as the stack has room for wait for the next part.
  int64_t rowBytes = plan.tile[*plan.lanes] *
                     getBytes(main.writes.front().getType().getElementType());
  int64_t rows = 1;
  while (!order.empty() && order.back() != plan.lanes) {
    unsigned dim = order.back();
    std::optional<int64_t> extent = getSharedExtent(dim);
    if (!extent)
      break;
    int64_t most = kMaxStackBytes / rowBytes / rows;
    if (*extent > most) {
      most = most / getRows(dim) * getRows(dim);
      if (most < 2 * getRows(dim))
        break;
      plan.block = dim;
      plan.blockSize = llvm::alignTo(
          llvm::divideCeil(*extent, llvm::divideCeil(*extent, most)),
          getRows(dim));
    }
    rows *= plan.block ? plan.blockSize : *extent;
    inside.push_back(order.pop_back_val());
    if (plan.block)
      break;
  }
  int64_t tileRows = 1;
  for (unsigned dim = 0; dim < plan.numShared; ++dim)
    tileRows *= getRows(dim);
  if (rows < kMinTilesOfPart * tileRows) {
    plan.block.reset();
    return;
  }
  int64_t mostTerms = std::max<int64_t>(1, target.getL1() / rowBytes);
  if (plan.block) {
    // No need for parts if a block of rows stays in cache for all panels.
    int64_t fitting = (target.getL2() / 2 - 2 * bytes->panel) *
                      *getSharedExtent(*plan.block) /
                      std::max<int64_t>(bytes->rows, 1);
    fitting = fitting / getRows(*plan.block) * getRows(*plan.block);
    if (fitting >= plan.blockSize ||
        (numTerms <= uint64_t(mostTerms) &&
         fitting * (rows / plan.blockSize) >= kMinTilesOfPart * tileRows)) {
      plan.blockSize = std::min(plan.blockSize, fitting);
      return;
    }
  }
  plan.insideSum.assign(inside.rbegin(), inside.rend());
  // Parts of equal size, each of whole iterations of the loop that is cut.
  PartLoop part = getPartLoop(*reduction, own, mostTerms);
  int64_t extent = *main.getExtent(own[part.number]);
  plan.terms = llvm::divideCeil(extent, llvm::divideCeil(extent, part.terms));
  for (unsigned dim : ArrayRef(own).drop_front(part.number + 1))
    plan.terms *= *main.getExtent(dim);
}

bool PlanChooser::cutThinSum() {
  const ComputeShape &main = shape(*reduction);
  const ComputeAccess &panel = main.reads[*getPanel(main)];
  unsigned term = getOwnOrder(main).back();
  int64_t bytes = getBytes(panel.getType().getElementType());
  std::optional<int64_t> step = getStride(panel, term, plan.width);
  // Each product of a batch is cut by itself.
  SmallVector<unsigned> order = getLoopOrder();
  llvm::erase_if(order, [&](unsigned dim) { return isBatch(dim); });
  if (!step || *step == kUnknownStride || *step * bytes < kPageBytes ||
      getStride(panel, *plan.lanes, plan.width) != 1 ||
      order.front() != *plan.lanes || *main.getExtent(term) <= kPagesAtOnce)
    return false;
  std::optional<int64_t> rows = getSharedExtent(order.back());
  if (order.size() != 2 || !rows || *rows < 1)
    return false;
  // Tiles of one size, where there are some, read the matrix in one go.
  int64_t mostRows = (target.getRegisters() - 1) / kThinVectors - 1;
  int64_t numTiles = llvm::divideCeil(*rows, mostRows);
  while (numTiles < kMinTilesOfPart && *rows % numTiles != 0)
    ++numTiles;
  int64_t width = plan.width * kThinVectors;
  int64_t columns = kMaxStackBytes / bytes / *rows / width * width;
  if (numTiles > kMinTilesOfPart || columns < 2 * width)
    return false;
  plan.tile[*plan.lanes] = width;
  plan.tile[order.back()] = llvm::divideCeil(*rows, numTiles);
  plan.block = plan.lanes;
  plan.blockSize = columns;
  plan.insideSum = order;
  plan.terms = kPagesAtOnce;
  // The many tiles of few registers find a part in the cache again. Its terms
  // and those that are fetched for the next one share the sets of the cache:
  // few, if rows are far apart by a multiple of many lines.
  if (target.getRegisters() < kManyRegisters) {
    int64_t numSets = kWayBytes / std::gcd(*step * bytes, kWayBytes);
    int64_t held = numSets * std::max<int64_t>(target.getL1() / kWayBytes, 2);
    plan.terms = std::min(plan.terms, held / 2);
  }
  return true;
}

void PlanChooser::chooseNeighbours() {
  if (!reduction || !plan.lanes || plan.block || !plan.insideSum.empty() ||
      plan.numWindow || plan.fetch != Fetch::None || isSequential())
    return;
  auto hasVersions = [&](unsigned dim) {
    return getRows(dim) > 1 && (isLimited(dim) || hasRowVersions(dim));
  };
  // Other sums of the tile are neighbours already.
  bool isOther = false;
  for (unsigned position = 0; position < computes.size(); ++position)
    isOther |=
        position != *reduction && shape(position).getNumDims() > plan.numShared;
  int64_t size = kPanelsAtOnce * plan.tile[*plan.lanes];
  std::optional<int64_t> width = getSharedExtent(*plan.lanes);
  if (isOther || !width || *width % size != 0 ||
      llvm::none_of(llvm::seq(0u, plan.numShared), hasVersions))
    return;
  ArrayRef<unsigned> shared = ArrayRef(plan.loops).take_front(plan.numParallel);
  if (llvm::is_contained(shared, *plan.lanes) &&
      *width / size < kPairsPerThread * target.getCores())
    return;
  plan.block = plan.lanes;
  plan.blockSize = size;
  plan.loops.push_back(*plan.lanes);
}
