//===- FetchCopies.cpp - What copies read later, fetched now --------------===//
//
// A tile may compute with copies of what lies elsewhere, which are made in an
// iteration of the loops around it. Its steps fetch what the copies of the next
// iteration read: the panel, or the rows.
//
//===----------------------------------------------------------------------===//

#include "TiledComponent.h"
#include "espalier/Dialect/Poly/IR/Target.h"

using namespace mlir;
using namespace espalier::poly;

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
