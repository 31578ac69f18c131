//===- Retile.cpp - Smaller tiles for what is left ------------------------===//
//
//   for t = i floordiv 14: for p = i mod 14     with i < N becomes, for tiles
//   of 4 and b = 14 * (N floordiv 14),
//
//   for t = i floordiv 14: for p = i mod 14                       where i < b
//   for t = (i - b) floordiv 4: for p = (i - b) mod 4             where i >= b
//
// with the same loops around, between and inside.
//
//===----------------------------------------------------------------------===//

#include "../LoopNest.h"
#include "../Sequences.h"
#include "llvm/ADT/StringMap.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

namespace {
/// A loop over tiles: for each computation, what is cut into tiles of `size`.
struct TileLoop {
  SmallVector<AffineExpr> values;
  int64_t size = 0;
};
} // namespace

/// `x` and `n` where `expr` is `x floordiv n`, but for what is added to it for
/// all points alike.
static std::optional<std::pair<AffineExpr, int64_t>>
matchTile(AffineExpr expr) {
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!binary)
    return std::nullopt;
  AffineExpr lhs = binary.getLHS(), rhs = binary.getRHS();
  if (expr.getKind() == AffineExprKind::FloorDiv)
    if (auto size = dyn_cast<AffineConstantExpr>(rhs))
      return std::make_pair(lhs, size.getValue());
  if (expr.getKind() != AffineExprKind::Add)
    return std::nullopt;
  if (rhs.isSymbolicOrConstant())
    return matchTile(lhs);
  return lhs.isSymbolicOrConstant() ? matchTile(rhs) : std::nullopt;
}

static llvm::Expected<TileLoop> getTileLoop(LoopPosition found) {
  BandLoop loop = getLoops(found.band)[found.position];
  TileLoop tiles;
  for (auto [symbol, expr] :
       llvm::zip_equal(getSymbols(found.band.getComputations()), loop.exprs)) {
    auto tile = matchTile(expr);
    if (!tile || (tiles.size != 0 && tile->second != tiles.size))
      return refuse("expects a loop over tiles, of one size for all of its "
                    "computations, but got " +
                    quote(loop.name.getValue()) + " of @" + symbol);
    tiles.values.push_back(tile->first);
    tiles.size = tile->second;
  }
  return tiles;
}

/// Where what is cut into tiles ends, for each computation: one more than its
/// last value, for given values of the loops around.
static llvm::Expected<SmallVector<AffineExpr>> getEnds(LoopPosition loop,
                                                       const TileLoop &tiles) {
  // As if the loop ran over those values.
  SmallVector<BandLoop> loops = getLoops(loop.band), untiled = loops;
  untiled[loop.position].exprs = tiles.values;
  setLoops(loop.band, untiled);
  llvm::Expected<SmallVector<AffineExpr>> ends =
      getBounds(loop, /*isUpper=*/true);
  setLoops(loop.band, loops);
  if (ends)
    for (AffineExpr &end : *ends)
      end = end + 1;
  return ends;
}

/// The size of tiles that the rest gets, or a refusal.
static llvm::Expected<int64_t> getSize(StringRef name, const TileLoop &tiles,
                                       AffineExpr end,
                                       std::optional<int64_t> wanted) {
  std::optional<int64_t> left;
  if (auto number = dyn_cast<AffineConstantExpr>(end))
    left = llvm::mod(number.getValue(), tiles.size);
  if (left == 0)
    return refuse("expects a rest of " + quote(name) +
                  ", but there are whole tiles of " + Twine(tiles.size) +
                  " only");
  if (!wanted && !left)
    return refuse("expects a size for the tiles of the rest of " + quote(name) +
                  ", whose extent is not a number");
  int64_t size = wanted ? *wanted : *left;
  if (size < 1 || size >= tiles.size)
    return refuse("expects tiles of the rest of between 1 and " +
                  Twine(tiles.size - 1) + " iterations, but got " +
                  Twine(size));
  return size;
}

/// A vector of at most `size` lanes.
static LoopKindAttrInterface narrow(LoopKindAttrInterface kind, int64_t size) {
  if (!isa<LoopAttr>(kind) || !kind.isVector() || kind.getWidth() <= size)
    return kind;
  if (size == 1)
    return LoopAttr::get(kind.getContext(), LoopKind::Sequential);
  return LoopAttr::getVector(kind.getContext(), size);
}

llvm::Error espalier::poly::retile(ComputeTarget compute, StringRef name,
                                   std::optional<int64_t> wanted) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopPosition> loop = findLoop(compute, name);
    if (!loop)
      return loop.takeError();
    llvm::Expected<TileLoop> tiles = getTileLoop(*loop);
    if (!tiles)
      return tiles.takeError();
    llvm::Expected<SmallVector<AffineExpr>> ends = getEnds(*loop, *tiles);
    if (!ends)
      return ends.takeError();
    llvm::Expected<int64_t> size = getSize(name, *tiles, ends->front(), wanted);
    if (!size)
      return size.takeError();
    KernelOp kernel = compute.getKernel();
    BandOp band = splitBand(loop->band, loop->position);
    SmallVector<StringRef> symbols = getSymbols(band.getComputations());
    SmallVector<Version> versions(2);
    versions[1].name = "rest";
    llvm::StringMap<std::pair<AffineExpr, AffineExpr>> begins;
    for (auto [symbol, value, end] :
         llvm::zip_equal(symbols, tiles->values, *ends)) {
      unsigned numDims = kernel.lookupCompute(symbol).getNumDims();
      unsigned numParams = kernel.getNumParameters();
      AffineExpr begin = simplifyAffineExpr(
          end.floorDiv(tiles->size) * tiles->size, numDims, numParams);
      begins[symbol] = {value, begin};
      versions[0].sets.push_back(IntegerSet::get(
          numDims, numParams, begin - 1 - value, /*eqFlags=*/{false}));
      versions[1].sets.push_back(IntegerSet::get(
          numDims, numParams, value - begin, /*eqFlags=*/{false}));
    }
    FilterOp rest = createVersions(band, versions).back();
    BandOp first = cast<BandOp>(rest.getChild());
    rest.walk([&](BandOp band) {
      SmallVector<BandLoop> loops = getLoops(band);
      for (BandLoop &loop : loops) {
        bool isTile = band == first && &loop == &loops.front();
        bool isChanged = false;
        for (auto [symbol, expr] :
             llvm::zip_equal(getSymbols(band.getComputations()), loop.exprs)) {
          auto [value, begin] = begins[symbol];
          AffineExpr left = value - begin, old = expr;
          expr = isTile ? left.floorDiv(*size)
                        : expr.replace(value % tiles->size, left % *size);
          isChanged |= expr != old;
        }
        if (isChanged)
          loop.kind = narrow(loop.kind, *size);
      }
      setLoops(band, loops);
    });
    return llvm::Error::success();
  });
}
