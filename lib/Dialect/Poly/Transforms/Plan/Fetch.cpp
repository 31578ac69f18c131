//===- Fetch.cpp - What a product reads later, fetched now ----------------===//
//
// The steps of a tile have room for a fetch each. Which operand is far away
// depends on the order of the loops: panels that pass once, or the rows that
// pass panels in cache. Maps that read rows fetch those of the next iterations.
//
//===----------------------------------------------------------------------===//

#include "TiledComponent.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Support/CodeSize.h"

using namespace mlir;
using namespace espalier::poly;

SmallVector<AffineExpr>
TiledComponent::getPoint(const ComputeShape &shape) const {
  SmallVector<AffineExpr> point;
  for (unsigned dim = 0; dim < shape.getNumDims(); ++dim)
    point.push_back(getAffineDimExpr(dim, context));
  return point;
}

Prefetch TiledComponent::getPrefetchOf(const ComputeShape &reader,
                                       unsigned read, ArrayRef<AffineExpr> at,
                                       int64_t bytes) const {
  const ComputeShape &main = shape(*findReduction());
  Prefetch prefetch;
  prefetch.number = read;
  if (&reader != &main)
    prefetch.owner = reader.op.getSymName().str();
  prefetch.at =
      AffineMap::get(main.getNumDims(), kernel.getNumParameters(), at, context);
  prefetch.bytes = bytes;
  return prefetch;
}

StepFetches TiledComponent::findFetches() const {
  if (plan.fetch == Fetch::Rows && !findReduction())
    return findNumberedRows();
  if (std::optional<Prefetch> prefetch = findPrefetch())
    return {*findReduction(), {*prefetch}};
  return {};
}

std::optional<Prefetch> TiledComponent::findPrefetch() const {
  if (plan.fetch == Fetch::None || !plan.lanes || !findReduction())
    return std::nullopt;
  bool isCopies = plan.fetch == Fetch::Copies;
  if (isCopies)
    for (auto find :
         {&TiledComponent::findCopyPrefetch, &TiledComponent::findCopiedPanel})
      if (std::optional<Prefetch> copy = (this->*find)())
        return copy;
  if (!isCopies && plan.own[*findReduction()].order.empty())
    return std::nullopt;
  if (!isCopies && plan.fetch != Fetch::Rows)
    return findPanelPrefetch();
  std::optional<RowFetch> rows =
      isCopies ? findCopiedRows() : findRowPrefetch();
  if (!rows)
    return std::nullopt;
  return rows->prefetch;
}

//===----------------------------------------------------------------------===//
// Panels
//===----------------------------------------------------------------------===//

std::optional<std::pair<int64_t, AffineExpr>>
TiledComponent::countRowTiles() const {
  const ComputeShape &compute = shape(*findReduction());
  AffineMap map = compute.reads[*getPanel(compute)].map;
  AffineExpr number = getAffineConstantExpr(0, context);
  int64_t numTiles = 1;
  SmallVector<unsigned> order = getTileOrder();
  auto *panels = llvm::find(order, *plan.lanes);
  if (panels == order.end())
    return std::nullopt;
  for (unsigned dim : ArrayRef<unsigned>(panels + 1, order.end())) {
    if (map.isFunctionOfDim(dim))
      continue;
    std::optional<int64_t> extent = getSharedExtent(dim);
    if (!extent)
      return std::nullopt;
    AffineExpr row = getAffineDimExpr(dim, context);
    bool isBlock = dim == plan.block;
    int64_t tiles =
        llvm::divideCeil(isBlock ? plan.blockSize : *extent, getRows(dim));
    number = number * tiles +
             (isBlock ? row % plan.blockSize : row).floorDiv(getRows(dim));
    numTiles *= tiles;
  }
  return std::pair(numTiles, number);
}

std::optional<WindowSteps> TiledComponent::findWindowSteps() const {
  unsigned reduction = *findReduction();
  const ComputeShape &compute = shape(reduction);
  ArrayRef<unsigned> order = plan.own[reduction].order;
  std::optional<unsigned> panel = getPanel(compute);
  if (!panel || order.size() < 2)
    return std::nullopt;
  WindowSteps steps{compute.getExtent(order.back()).value_or(0), 1,
                    getAffineConstantExpr(0, context)};
  std::optional<int64_t> size =
      getStride(compute.reads[*panel], order.back(), plan.width);
  if (size == kUnknownStride)
    return std::nullopt;
  for (unsigned dim : llvm::reverse(order)) {
    std::optional<int64_t> extent = compute.getExtent(dim);
    if (!extent || *extent < 1 || !size ||
        getStride(compute.reads[*panel], dim, plan.width) !=
            *size * steps.numSteps)
      return std::nullopt;
    if (dim != order.back())
      steps.outer = steps.outer + getAffineDimExpr(dim, context) *
                                      (steps.numSteps / steps.taps);
    steps.numSteps *= *extent;
  }
  if (steps.taps < 2 || steps.taps > espalier::kMaxTaps)
    return std::nullopt;
  return steps;
}

std::optional<Prefetch> TiledComponent::findPanelPrefetch() const {
  unsigned reduction = *findReduction();
  const ComputeShape &compute = shape(reduction);
  std::optional<unsigned> panel = getPanel(compute);
  if (!panel)
    return std::nullopt;
  int64_t bytes = plan.tile[*plan.lanes] *
                  getBytes(compute.reads[*panel].getType().getElementType());
  unsigned term = plan.own[reduction].order.back();
  SmallVector<AffineExpr> ahead = getPoint(compute);
  if (plan.fetch == Fetch::Terms) {
    ahead[term] = ahead[term] + plan.ahead;
    return getPrefetchOf(compute, *panel, ahead, bytes);
  }
  // Each tile fetches its share of the next panel, spread over its own steps.
  std::optional<std::pair<int64_t, AffineExpr>> tiles = countRowTiles();
  std::optional<int64_t> extent = compute.getExtent(term);
  if (!extent || !tiles || tiles->first < 1)
    return std::nullopt;
  auto [numTiles, number] = *tiles;
  ahead[*plan.lanes] = ahead[*plan.lanes] + plan.ahead * plan.tile[*plan.lanes];
  // A shift finds the place: what two tiles both fetch is there already.
  auto getShare = [](AffineExpr step, uint64_t steps) {
    return step.floorDiv(llvm::bit_floor(std::max<uint64_t>(steps, 1)));
  };
  AffineExpr step = getShare(ahead[term], numTiles);
  if (std::optional<WindowSteps> window = findWindowSteps()) {
    // The taps fetch the same: the place is found once for them.
    for (unsigned own : plan.own[reduction].order)
      ahead[own] = getAffineConstantExpr(0, context);
    extent = window->numSteps;
    step = getShare(window->outer, numTiles / window->taps);
  }
  ahead[term] = number * llvm::divideCeil(*extent, numTiles) + step;
  return getPrefetchOf(compute, *panel, ahead, bytes);
}

//===----------------------------------------------------------------------===//
// Rows
//===----------------------------------------------------------------------===//

/// How many elements a read uses of a piece of memory without gaps, if it runs
/// over dimensions with these strides and sizes; nothing if there are gaps.
static std::optional<int64_t>
getContiguous(SmallVector<std::pair<int64_t, int64_t>> stridesAndSizes) {
  llvm::sort(stridesAndSizes);
  int64_t covered = 1;
  for (auto [stride, size] : stridesAndSizes) {
    if (stride < 0 || (size > 1 && stride > covered))
      return std::nullopt;
    covered += stride * (size - 1);
  }
  return covered;
}

std::optional<RowFetch> TiledComponent::findColumnPrefetch() const {
  unsigned reduction = *findReduction();
  const ComputeShape &compute = shape(reduction);
  SmallVector<unsigned> order = getTileOrder();
  llvm::erase(order, *plan.lanes);
  if (order.empty())
    return std::nullopt;
  unsigned row = order.back();
  for (auto [number, read] : llvm::enumerate(compute.reads)) {
    int64_t bytes = getBytes(read.getType().getElementType()), numRows = 1;
    bool isPagesApart = false;
    std::optional<int64_t> rowStep = getStride(read, row, plan.width);
    for (unsigned term : plan.own[reduction].order) {
      std::optional<int64_t> step = getStride(read, term, plan.width);
      if (!step || *step == kUnknownStride || *step * bytes < kUnforeseenBytes)
        continue;
      numRows *= compute.getExtent(term).value_or(1);
      isPagesApart |= *step * bytes >= kPageBytes;
    }
    if (numRows < 2 || !isa<BlockArgument>(read.array) ||
        read.map.isFunctionOfDim(*plan.lanes) || rowStep < 1 ||
        *rowStep >= kLineBytes / bytes)
      continue;
    // The tile before has fetched all lines but the last.
    int64_t size = ((getRows(row) - 1) * *rowStep + 1) * bytes;
    SmallVector<AffineExpr> ahead = getPoint(compute);
    ahead[row] = ahead[row] + plan.ahead * getRows(row) +
                 (size <= kLineBytes ? getRows(row) - 1 : 0);
    Prefetch prefetch =
        getPrefetchOf(compute, number, ahead, llvm::alignTo(size, kLineBytes));
    return RowFetch{prefetch, size * numRows, isPagesApart && rowStep == 1};
  }
  return std::nullopt;
}

std::optional<RowFetch> TiledComponent::findWindowPrefetch() const {
  unsigned reduction = *findReduction();
  const ComputeShape &compute = shape(reduction);
  unsigned tap = plan.own[reduction].order.back();
  std::optional<int64_t> taps = compute.getExtent(tap);
  if (!taps)
    return std::nullopt;
  for (auto [number, read] : llvm::enumerate(compute.reads)) {
    int64_t bytes = getBytes(read.getType().getElementType());
    auto getStep = [&, &read = read](unsigned dim) {
      std::optional<int64_t> step = getStride(read, dim, plan.width);
      return step && *step != kUnknownStride ? *step * bytes : 0;
    };
    int64_t numRows = 1;
    for (unsigned term : plan.own[reduction].order)
      if (getStep(term) >= kPageBytes)
        numRows *= compute.getExtent(term).value_or(1);
    if (numRows < 2 || !isa<BlockArgument>(read.array) || getStep(tap) != bytes)
      continue;
    // The rows that are next are near, but not in the same lines.
    SmallVector<unsigned> order = getTileOrder();
    auto next = llvm::find_if(llvm::reverse(order), [&](unsigned dim) {
      return getStep(dim) >= kLineBytes &&
             getStep(dim) * getRows(dim) <= kPageBytes;
    });
    if (next == order.rend())
      continue;
    // The taps together pass over all that a tile reads in a row.
    int64_t span = *taps - 1;
    for (unsigned dim : order)
      if (getStep(dim) > 0 && getStep(dim) < kLineBytes)
        span += (plan.tile[dim] - 1) * getStep(dim) / bytes;
    SmallVector<AffineExpr> ahead = getPoint(compute);
    ahead[*next] = ahead[*next] + plan.ahead * getRows(*next);
    if (*taps > 1)
      ahead[tap] = ahead[tap] * llvm::divideCeil(span, *taps - 1);
    return RowFetch{getPrefetchOf(compute, number, ahead, kLineBytes),
                    getStep(*next) * getRows(*next) * numRows};
  }
  return std::nullopt;
}

std::optional<RowFetch> TiledComponent::findRowPrefetch() const {
  if (std::optional<RowFetch> share = findSharePrefetch())
    return share;
  std::optional<RowFetch> columns = findColumnPrefetch();
  if (columns && columns->fillsPages)
    return columns;
  // Taps fetch what their window needs in fewer steps.
  if (std::optional<RowFetch> window = findWindowPrefetch())
    return window;
  return columns;
}

std::optional<RowFetch> TiledComponent::findSharePrefetch() const {
  unsigned reduction = *findReduction();
  const ComputeShape &compute = shape(reduction);
  ArrayRef<unsigned> own = plan.own[reduction].order;
  const auto *rows = llvm::find_if(compute.reads, [&](const auto &read) {
    return isa<BlockArgument>(read.array) &&
           !read.map.isFunctionOfDim(*plan.lanes) &&
           getStride(read, own.back(), plan.width) == 1;
  });
  std::optional<int64_t> width = getSharedExtent(*plan.lanes);
  if (rows == compute.reads.end() || !width || *width < 1)
    return std::nullopt;
  // One pass of the loop over panels: what it reads, in how many steps.
  SmallVector<unsigned> order = getTileOrder();
  auto *panels = llvm::find(order, *plan.lanes);
  if (panels == order.end())
    return std::nullopt;
  SmallVector<std::pair<int64_t, int64_t>> stridesAndSizes;
  int64_t panelSize = plan.tile[*plan.lanes];
  AffineExpr step = getAffineDimExpr(*plan.lanes, context).floorDiv(panelSize);
  int64_t numSteps = llvm::divideCeil(*width, panelSize), newElements = 0;
  std::optional<unsigned> next;
  SmallVector<AffineExpr> ahead = getPoint(compute);
  auto add = [&](unsigned dim, int64_t size) {
    std::optional<int64_t> stride = getStride(*rows, dim, plan.width);
    std::optional<int64_t> extent = compute.getExtent(dim);
    if (!stride || *stride == kUnknownStride || !extent || *extent < 1)
      return false;
    stridesAndSizes.emplace_back(*stride, std::min(size, *extent));
    return true;
  };
  for (unsigned dim : ArrayRef<unsigned>(order.begin(), panels)) {
    if (!rows->map.isFunctionOfDim(dim))
      continue;
    if (!add(dim, getRows(dim)))
      return std::nullopt;
    next = dim;
    newElements = stridesAndSizes.back().first * getRows(dim);
  }
  SmallVector<unsigned> inside(panels + 1, order.end());
  inside.append(own.begin(), own.end());
  for (unsigned dim : inside) {
    std::optional<int64_t> extent = compute.getExtent(dim);
    if (!extent || !add(dim, *extent))
      return std::nullopt;
    int64_t size = dim < plan.numShared ? getRows(dim) : 1;
    int64_t tiles = llvm::divideCeil(*extent, size);
    step = step * tiles + ahead[dim].floorDiv(size);
    numSteps *= tiles;
    ahead[dim] = getAffineConstantExpr(0, context);
  }
  std::optional<int64_t> elements = getContiguous(stridesAndSizes);
  if (!next || !elements || newElements < 1 || newElements > *elements)
    return std::nullopt;
  int64_t bytes = getBytes(rows->getType().getElementType());
  ahead[*next] = ahead[*next] + plan.ahead * getRows(*next);
  ahead[own.back()] =
      *elements - newElements + (step * newElements).floorDiv(numSteps);
  Prefetch prefetch = getPrefetchOf(
      compute, rows - compute.reads.begin(), ahead,
      llvm::alignTo(llvm::divideCeil(newElements, numSteps) * bytes,
                    kLineBytes));
  return RowFetch{prefetch, newElements * bytes};
}

StepFetches TiledComponent::findNumberedRows() const {
  // What the kernel writes is near.
  auto isGiven = [&](Value array) {
    return isa<BlockArgument>(array) &&
           llvm::none_of(shapes, [&](const ComputeShape &shape) {
             return llvm::is_contained(shape.op.getWrites(), array);
           });
  };
  if (plan.lanes || plan.loops.empty() || getRows(plan.loops.back()) != 1)
    return {};
  unsigned next = plan.loops.back();
  for (unsigned position = 0; position < computes.size(); ++position) {
    const ComputeShape &compute = shape(position);
    const OwnLoops &own = plan.own[position];
    if (!own.lanes || own.vectors != 1 || own.order.empty() ||
        own.order.back() != own.lanes)
      continue;
    StepFetches fetches{position, {}};
    for (auto [number, read] : llvm::enumerate(compute.reads)) {
      if (!isGiven(read.array) || read.map.isFunctionOfDim(next) ||
          !compute.dependsOn(read, next) ||
          getStride(read, *own.lanes, plan.width) != 1)
        continue;
      SmallVector<AffineExpr> ahead = getPoint(compute);
      ahead[next] = ahead[next] + plan.ahead;
      Prefetch prefetch;
      prefetch.number = number;
      prefetch.at = AffineMap::get(compute.getNumDims(),
                                   kernel.getNumParameters(), ahead, context);
      prefetch.bytes = llvm::alignTo(
          plan.width * getBytes(read.getType().getElementType()), kLineBytes);
      fetches.prefetches.push_back(prefetch);
    }
    if (!fetches.prefetches.empty())
      return fetches;
  }
  return {};
}
