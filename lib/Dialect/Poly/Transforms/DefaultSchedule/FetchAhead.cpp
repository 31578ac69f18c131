//===- FetchAhead.cpp - What a product reads later, fetched now -----------===//
//
// The steps of a tile have room for a fetch each. Which operand is far away
// depends on the order of the loops: panels that pass once, or the rows that
// pass panels in cache.
//
//===----------------------------------------------------------------------===//

#include "ComponentScheduler.h"

using namespace mlir;
using namespace espalier::poly;

/// Steps of a sum between fetching an operand and using it.
static constexpr int64_t kStepsAhead = 16;
/// Smaller tiles of several rows fetch nothing ahead: few multiply-adds do not
/// hide what it takes to find the place.
static constexpr int64_t kMinPrefetchResults = 10;

std::optional<Prefetch>
ComponentScheduler::getPrefetch(unsigned position, ArrayRef<unsigned> own) {
  if (position != reduction)
    return std::nullopt;
  int64_t rows = 1;
  for (int64_t size : tile.rows)
    rows *= size;
  bool hasRoom = rows == 1 || rows * tile.vectors >= kMinPrefetchResults;
  if (hasRoom && vectorDim && !own.empty() &&
      (rowsInsideSum.empty() || blockedRow == vectorDim))
    if (std::optional<Prefetch> fetch =
            isPanelStreamed() ? getPanelPrefetch(own) : getRowPrefetch(own))
      return fetch;
  return getCopyPrefetch();
}

Prefetch ComponentScheduler::getPrefetchOf(const ComputeShape &reader,
                                           unsigned read,
                                           ArrayRef<AffineExpr> at,
                                           int64_t bytes) {
  const ComputeShape &main = shape(*reduction);
  Prefetch prefetch;
  prefetch.read = read;
  if (&reader != &main)
    prefetch.reader = reader.op.getSymName().str();
  prefetch.at =
      AffineMap::get(main.getNumDims(), kernel.getNumParameters(), at, context);
  prefetch.bytes = bytes;
  return prefetch;
}

std::optional<Prefetch>
ComponentScheduler::getPanelPrefetch(ArrayRef<unsigned> own) {
  const ComputeShape &compute = shape(*reduction);
  unsigned panel = *getPanel(compute);
  int64_t bytes = lanes * tile.vectors *
                  getBytes(compute.reads[panel].getType().getElementType());
  SmallVector<AffineExpr> ahead;
  for (unsigned dim = 0; dim < compute.getNumDims(); ++dim)
    ahead.push_back(getAffineDimExpr(dim, context));
  if (blockedRow == vectorDim) {
    // While a part passes, fetch the next.
    ahead[own.back()] = ahead[own.back()] + termsOfPart;
    return getPrefetchOf(compute, panel, ahead, bytes);
  }
  AffineMap map = compute.reads[panel].map;
  // The tiles of rows that pass a panel; `number` counts them.
  AffineExpr number = getAffineConstantExpr(0, context);
  int64_t numTiles = 1;
  SmallVector<unsigned> order = getLoopOrder();
  for (unsigned dim :
       ArrayRef<unsigned>(llvm::find(order, *vectorDim) + 1, order.end())) {
    if (map.isFunctionOfDim(dim))
      continue;
    std::optional<int64_t> extent = getSharedExtent(dim);
    if (!extent)
      return std::nullopt;
    AffineExpr row = getAffineDimExpr(dim, context);
    bool isBlock = dim == blockedRow;
    int64_t tiles =
        llvm::divideCeil(isBlock ? rowsOfBlock : *extent, tile.rows[dim]);
    number = number * tiles +
             (isBlock ? row % rowsOfBlock : row).floorDiv(tile.rows[dim]);
    numTiles *= tiles;
  }
  std::optional<int64_t> extent = compute.getExtent(own.back());
  // A single tile of several rows is busy enough.
  if (!extent ||
      (numTiles < 2 &&
       llvm::any_of(tile.rows, [](int64_t rows) { return rows > 1; })))
    return std::nullopt;
  if (numTiles < 2) {
    // Read once: each step fetches what a later one needs.
    ahead[own.back()] = ahead[own.back()] + kStepsAhead;
  } else {
    // Each tile fetches its share of the next panel, spread over its own steps.
    ahead[*vectorDim] = ahead[*vectorDim] + lanes * tile.vectors;
    ahead[own.back()] = number * llvm::divideCeil(*extent, numTiles) +
                        ahead[own.back()].floorDiv(numTiles);
  }
  return getPrefetchOf(compute, panel, ahead, bytes);
}

/// How many elements `read` uses of a piece of memory without gaps, if it runs
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

std::optional<Prefetch>
ComponentScheduler::getRowPrefetch(ArrayRef<unsigned> own) {
  const ComputeShape &compute = shape(*reduction);
  std::optional<PassBytes> passed = getPassBytes();
  const auto *rows = llvm::find_if(compute.reads, [&](const auto &read) {
    return isa<BlockArgument>(read.array) &&
           !read.map.isFunctionOfDim(*vectorDim) &&
           getStride(read, own.back(), lanes) == 1;
  });
  if (!passed || rows == compute.reads.end() || passed->rows <= target.getL1())
    return std::nullopt;
  // One pass of the loop over panels: what it reads, in how many steps.
  SmallVector<unsigned> order = getLoopOrder();
  auto panels = llvm::find(order, *vectorDim);
  SmallVector<std::pair<int64_t, int64_t>> stridesAndSizes;
  AffineExpr step =
      getAffineDimExpr(*vectorDim, context).floorDiv(lanes * tile.vectors);
  int64_t numSteps = passed->numPanels, newElements = 0;
  std::optional<unsigned> next;
  SmallVector<AffineExpr> ahead;
  for (unsigned dim = 0; dim < compute.getNumDims(); ++dim)
    ahead.push_back(getAffineDimExpr(dim, context));
  auto add = [&](unsigned dim, int64_t size) {
    std::optional<int64_t> stride = getStride(*rows, dim, lanes);
    std::optional<int64_t> extent = compute.getExtent(dim);
    if (!stride || *stride == kUnknownStride || !extent || *extent < 1)
      return false;
    stridesAndSizes.emplace_back(*stride, std::min(size, *extent));
    return true;
  };
  for (unsigned dim : ArrayRef<unsigned>(order.begin(), panels)) {
    if (!rows->map.isFunctionOfDim(dim))
      continue;
    if (!add(dim, tile.rows[dim]))
      return std::nullopt;
    next = dim;
    newElements = stridesAndSizes.back().first * tile.rows[dim];
  }
  SmallVector<unsigned> inside(panels + 1, order.end());
  inside.append(own.begin(), own.end());
  for (unsigned dim : inside) {
    std::optional<int64_t> extent = compute.getExtent(dim);
    if (!extent || !add(dim, *extent))
      return std::nullopt;
    int64_t size = dim < numShared ? tile.rows[dim] : 1;
    int64_t tiles = llvm::divideCeil(*extent, size);
    step = step * tiles + ahead[dim].floorDiv(size);
    numSteps *= tiles;
    ahead[dim] = getAffineConstantExpr(0, context);
  }
  std::optional<int64_t> elements = getContiguous(stridesAndSizes);
  if (!next || !elements || newElements < 1 || newElements > *elements)
    return std::nullopt;
  int64_t bytes = getBytes(rows->getType().getElementType());
  // A short pass ends before what it fetches is there.
  bool isShort = newElements * bytes <= target.getL1() / 2;
  ahead[*next] = ahead[*next] + (isShort ? 2 : 1) * tile.rows[*next];
  ahead[own.back()] =
      *elements - newElements + (step * newElements).floorDiv(numSteps);
  return getPrefetchOf(
      compute, rows - compute.reads.begin(), ahead,
      llvm::alignTo(llvm::divideCeil(newElements, numSteps) * bytes,
                    kLineBytes));
}

std::optional<std::pair<const ComputeShape *, SmallVector<AffineExpr>>>
ComponentScheduler::findCopy(const ComputeAccess &read) const {
  for (const ComputeShape &copy : llvm::reverse(shapes)) {
    if (copy.reads.size() != 1 || copy.writes.size() != 1 ||
        copy.writes.front().array != read.array ||
        !isa<BlockArgument>(copy.reads.front().array))
      continue;
    // Each dimension of the copy is an index of the element, but for a number.
    SmallVector<AffineExpr> point(copy.getNumDims());
    for (auto [made, used] : llvm::zip_equal(
             copy.writes.front().map.getResults(), read.map.getResults()))
      for (unsigned dim = 0; dim < point.size(); ++dim) {
        AffineExpr shift = simplifyAffineExpr(
            made - getAffineDimExpr(dim, context), copy.getNumDims(), 0);
        if (isa<AffineConstantExpr>(shift))
          point[dim] = used - shift;
      }
    if (llvm::all_of(point, [](AffineExpr expr) { return bool(expr); }))
      return std::pair(&copy, point);
  }
  return std::nullopt;
}

std::optional<Prefetch> ComponentScheduler::getCopyPrefetch() {
  if (!component.numWindow || outer.count == 0)
    return std::nullopt;
  const ComputeShape &compute = shape(*reduction);
  for (const ComputeAccess &read : compute.reads) {
    auto found = findCopy(read);
    if (!found)
      continue;
    const ComputeShape &copy = *found->first;
    // The last points of the window need what the copies did not have before.
    std::optional<unsigned> lane;
    for (auto [dim, expr] : llvm::enumerate(found->second)) {
      if (expr.isFunctionOfDim(*vectorDim))
        lane = dim;
      for (unsigned other = numShared; other < getFirstOwn(compute); ++other)
        expr = expr.replace(
            getAffineDimExpr(other, context),
            getAffineConstantExpr(*compute.getExtent(other) - 1, context));
    }
    if (!lane)
      return std::nullopt;
    std::optional<int64_t> stride = getStride(copy.reads.front(), *lane, lanes);
    MemRefType type = copy.reads.front().getType();
    int64_t bytes = lanes * tile.vectors * getBytes(type.getElementType());
    if (!stride || *stride < 1 || *stride > 8)
      return std::nullopt;
    AffineExpr next = getAffineDimExpr(outer.count - 1, context);
    for (AffineExpr &expr : found->second)
      expr =
          simplifyAffineExpr(expr.replace(next, next + 1), compute.getNumDims(),
                             kernel.getNumParameters());
    return getPrefetchOf(copy, 0, found->second, bytes * *stride);
  }
  return std::nullopt;
}
