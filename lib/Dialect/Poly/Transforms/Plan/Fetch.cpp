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
    int64_t bytes = getBytes(read.getType().getElementType());
    int64_t numPages = 1;
    for (unsigned term : plan.own[reduction].order) {
      std::optional<int64_t> step = getStride(read, term, plan.width);
      if (step && *step != kUnknownStride && *step * bytes >= kPageBytes)
        numPages *= compute.getExtent(term).value_or(1);
    }
    if (numPages < 2 || !isa<BlockArgument>(read.array) ||
        read.map.isFunctionOfDim(*plan.lanes) ||
        getStride(read, row, plan.width) != 1)
      continue;
    // The tile before has fetched all lines but the last.
    int64_t size = getRows(row) * bytes;
    SmallVector<AffineExpr> ahead = getPoint(compute);
    ahead[row] = ahead[row] + plan.ahead * getRows(row) +
                 (size <= kLineBytes ? getRows(row) - 1 : 0);
    Prefetch prefetch =
        getPrefetchOf(compute, number, ahead, llvm::alignTo(size, kLineBytes));
    return RowFetch{prefetch, size * numPages};
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
  for (auto find :
       {&TiledComponent::findSharePrefetch, &TiledComponent::findColumnPrefetch,
        &TiledComponent::findWindowPrefetch})
    if (std::optional<RowFetch> rows = (this->*find)())
      return rows;
  return std::nullopt;
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

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

std::optional<std::pair<const ComputeShape *, SmallVector<AffineExpr>>>
TiledComponent::findCopy(const ComputeAccess &read) const {
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
            made - getAffineDimExpr(dim, context), copy.getNumDims(),
            copy.writes.front().map.getNumSymbols());
        if (isa<AffineConstantExpr>(shift))
          point[dim] = used - shift;
      }
    if (llvm::all_of(point, [](AffineExpr expr) { return bool(expr); }))
      return std::pair(&copy, point);
  }
  return std::nullopt;
}

std::optional<Prefetch> TiledComponent::findCopyPrefetch() const {
  if (!plan.numWindow || plan.numInside == 0)
    return std::nullopt;
  const ComputeShape &compute = shape(*findReduction());
  for (const ComputeAccess &read : compute.reads) {
    auto found = findCopy(read);
    if (!found)
      continue;
    const ComputeShape &copy = *found->first;
    // The last points of the window need what the copies did not have before.
    std::optional<unsigned> lane;
    for (auto [dim, expr] : llvm::enumerate(found->second)) {
      if (expr.isFunctionOfDim(*plan.lanes))
        lane = dim;
      for (unsigned other = plan.numShared; other < getFirstOwn(compute);
           ++other)
        expr = expr.replace(
            getAffineDimExpr(other, context),
            getAffineConstantExpr(*compute.getExtent(other) - 1, context));
    }
    if (!lane)
      return std::nullopt;
    std::optional<int64_t> stride =
        getStride(copy.reads.front(), *lane, plan.width);
    MemRefType type = copy.reads.front().getType();
    int64_t bytes = plan.tile[*plan.lanes] * getBytes(type.getElementType());
    if (!stride || *stride < 1 || *stride > 8)
      return std::nullopt;
    AffineExpr next = getAffineDimExpr(plan.numInside - 1, context);
    for (AffineExpr &expr : found->second)
      expr =
          simplifyAffineExpr(expr.replace(next, next + plan.ahead),
                             compute.getNumDims(), kernel.getNumParameters());
    return getPrefetchOf(copy, 0, found->second, bytes * *stride);
  }
  return std::nullopt;
}

namespace {
/// Rows of an argument that are read in one iteration of the loops around, and
/// not in those before: each lies in memory, and two are no neighbours there.
struct CopiedRows {
  /// A dimension that counts rows, from `first` on.
  struct Dim {
    unsigned dim;
    int64_t first, count;
  };
  SmallVector<Dim> dims;
  unsigned line = 0;      ///< The dimension along a row.
  int64_t pointBytes = 0; ///< From one point of it to the next.
  int64_t rowBytes = 0;   ///< Of one row.
  int64_t numRows = 1;
};
} // namespace

/// What `read` reads in one iteration of the first `numOuter` loops; nothing if
/// these are not rows on several pages.
static std::optional<CopiedRows> getCopiedRows(const ComputeShape &copy,
                                               const ComputeAccess &read,
                                               unsigned numOuter,
                                               int64_t width) {
  int64_t bytes = getBytes(read.getType().getElementType());
  auto getStep = [&](unsigned dim) -> std::optional<int64_t> {
    std::optional<int64_t> step = getStride(read, dim, width);
    if (!step || *step == kUnknownStride || *step < 0)
      return std::nullopt;
    return *step * bytes;
  };
  std::optional<int64_t> next = getStep(numOuter - 1);
  if (!next || *next == 0)
    return std::nullopt;
  CopiedRows rows;
  int64_t numPages = 1;
  for (unsigned dim = copy.getNumDims(); dim-- > numOuter;) {
    std::optional<int64_t> step = getStep(dim), extent = copy.getExtent(dim);
    if (!step || !extent)
      return std::nullopt;
    int64_t count = *extent - copy.begins[dim];
    if (*step == 0 || count <= 1)
      continue;
    if (*step < kLineBytes) {
      if (rows.rowBytes)
        return std::nullopt;
      rows.line = dim;
      rows.pointBytes = *step;
      rows.rowBytes = *step * count;
      continue;
    }
    // The iterations before have read what is nearer.
    int64_t isNew = *next % *step == 0 ? std::min(*next / *step, count) : count;
    rows.dims.push_back({dim, *extent - isNew, isNew});
    rows.numRows *= isNew;
    if (*step >= kPageBytes)
      numPages *= isNew;
  }
  if (!rows.rowBytes || numPages < 2)
    return std::nullopt;
  return rows;
}

std::pair<AffineExpr, int64_t> TiledComponent::countTiles() const {
  AffineExpr tile = getAffineConstantExpr(0, context);
  int64_t numTiles = 1;
  for (unsigned dim : plan.loops) {
    std::optional<int64_t> extent = getSharedExtent(dim);
    if (!extent || *extent < 1)
      return {};
    int64_t tiles = llvm::divideCeil(*extent, plan.tile[dim]);
    tile =
        tile * tiles + getAffineDimExpr(dim, context).floorDiv(plan.tile[dim]);
    numTiles *= tiles;
  }
  return {tile, numTiles};
}

std::optional<Prefetch> TiledComponent::findCopiedPanel() const {
  const ComputeShape &compute = shape(*findReduction());
  const OwnLoops &own = plan.own[*findReduction()];
  auto [tile, numTiles] = countTiles();
  if (plan.numInside == 0 || plan.block || !plan.insideSum.empty() ||
      own.order.size() != 1 || !tile)
    return std::nullopt;
  unsigned next = plan.numInside - 1, lanes = *plan.lanes,
           term = own.order.back();
  std::optional<int64_t> numTerms = compute.getExtent(term);
  std::optional<int64_t> width = getSharedExtent(lanes);
  if (!numTerms || !width)
    return std::nullopt;
  AffineExpr step = tile * llvm::divideCeil(*numTerms, numTiles) +
                    getAffineDimExpr(term, context).floorDiv(numTiles);
  for (const ComputeAccess &read : compute.reads) {
    auto found = findCopy(read);
    if (!found)
      continue;
    const ComputeShape *copy = found->first;
    SmallVector<AffineExpr> &at = found->second;
    const ComputeAccess &source = copy->reads.front();
    auto *lane = llvm::find(at, getAffineDimExpr(lanes, context));
    auto *ownTerm = llvm::find(at, getAffineDimExpr(term, context));
    int64_t bytes = *width * getBytes(source.getType().getElementType());
    if (lane == at.end() || ownTerm == at.end() ||
        bytes > PrefetchOp::kMaxBytes)
      continue;
    // Each step fetches the lanes of one term, or as many terms of one lane.
    auto isContiguous = [&](AffineExpr *dim) {
      return getStride(source, dim - at.begin(), plan.width) == 1;
    };
    if (!isContiguous(lane) && !isContiguous(ownTerm))
      continue;
    *ownTerm = isContiguous(lane) ? step : step.floorDiv(*width) * *width;
    *lane =
        isContiguous(lane) ? getAffineConstantExpr(0, context) : step % *width;
    AffineExpr self = getAffineDimExpr(next, context);
    for (AffineExpr &expr : at)
      expr = expr.replace(self, self + plan.ahead);
    return getPrefetchOf(*copy, 0, at, bytes);
  }
  return std::nullopt;
}

std::optional<RowFetch> TiledComponent::findCopiedRows() const {
  const OwnLoops &own = plan.own[*findReduction()];
  // Divisions find the place, once for each tile.
  if (plan.numInside == 0 || plan.block || !plan.insideSum.empty() ||
      !llvm::all_of(own.order,
                    [&](unsigned dim) { return dim == own.unrolled; }))
    return std::nullopt;
  auto [tile, numTiles] = countTiles();
  if (!tile)
    return std::nullopt;
  std::optional<RowFetch> best;
  for (const ComputeShape &copy : shapes) {
    if (copy.reads.size() != 1 || copy.getNumDims() <= plan.numInside ||
        llvm::is_contained(plan.computations, copy.op.getSymName()) ||
        !isa<BlockArgument>(copy.reads.front().array))
      continue;
    std::optional<CopiedRows> rows =
        getCopiedRows(copy, copy.reads.front(), plan.numInside, plan.width);
    if (!rows || rows->numRows > numTiles)
      continue;
    // Each row is fetched by as many tiles.
    int64_t numParts = numTiles / rows->numRows;
    int64_t points =
        llvm::divideCeil(rows->rowBytes, numParts * rows->pointBytes);
    int64_t bytes = llvm::alignTo(points * rows->pointBytes, kLineBytes);
    if (bytes > PrefetchOp::kMaxBytes ||
        (best && best->bytes >= rows->numRows * rows->rowBytes))
      continue;
    SmallVector<AffineExpr> at(copy.getNumDims(),
                               getAffineConstantExpr(0, context));
    for (unsigned dim = 0; dim < plan.numInside; ++dim)
      at[dim] = getAffineDimExpr(dim, context);
    at[plan.numInside - 1] = at[plan.numInside - 1] + plan.ahead;
    at[rows->line] =
        copy.begins[rows->line] + tile % numParts * (bytes / rows->pointBytes);
    AffineExpr row = tile.floorDiv(numParts);
    for (const CopiedRows::Dim &dim : rows->dims) {
      at[dim.dim] = dim.first + row % dim.count;
      row = row.floorDiv(dim.count);
    }
    best = RowFetch{getPrefetchOf(copy, 0, at, bytes),
                    rows->numRows * rows->rowBytes};
  }
  return best;
}
