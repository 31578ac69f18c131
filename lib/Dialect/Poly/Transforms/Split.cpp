//===- Split.cpp - Strip-mining and tiling --------------------------------===//

#include "Edits.h"
#include "Hints.h"
#include "LoopNest.h"

using namespace mlir;
using namespace espalier::poly;

llvm::Error espalier::poly::checkSize(LoopPosition loop, int64_t size,
                                      StringRef what) {
  if (!isSmall(size))
    return refuse("expects " + what + " of at most 2^30, but got " +
                  Twine(size));
  std::optional<int64_t> extent = getExtent(loop);
  if (extent && size > *extent)
    return refuse("expects " + what + " of at most " + Twine(*extent) +
                  ", the extent of " +
                  quote(getLoops(loop.band)[loop.position].name) +
                  ", but got " + Twine(size));
  return llvm::Error::success();
}

/// The product of factors, or a refusal if one is not positive or it is large.
static llvm::Expected<int64_t> getProduct(ArrayRef<int64_t> factors) {
  int64_t product = 1;
  for (int64_t factor : factors) {
    if (factor <= 0)
      return refuse("expects positive factors, but got " + Twine(factor));
    if (factor > kMaxNumber / product)
      return refuse("expects a product of factors of at most 2^30, but got " +
                    print(factors));
    product *= factor;
  }
  return product;
}

SmallVector<BandLoop> espalier::poly::stripMine(const BandLoop &loop,
                                                ArrayRef<int64_t> factors,
                                                ArrayRef<StringRef> names) {
  BandLoop rest = loop;
  MLIRContext *context = loop.name.getContext();
  auto sequential = LoopAttr::get(context, LoopKind::Sequential);
  SmallVector<BandLoop> parts(factors.size() + 1, loop);
  // From the inside out: `rest` is what outer loops still have to order.
  for (size_t part = factors.size(); part > 0; --part) {
    for (auto [inner, outer] : llvm::zip_equal(parts[part].exprs, rest.exprs)) {
      inner = getPlaceInTile(outer, factors[part - 1]);
      outer = getTile(outer, factors[part - 1]);
    }
    parts[part - 1].exprs = rest.exprs;
  }
  for (auto [number, part] : llvm::enumerate(parts)) {
    part.name = StringAttr::get(context, names.empty() ? loop.name.getValue() +
                                                             "." + Twine(number)
                                                       : Twine(names[number]));
    bool isInnermost = number == factors.size();
    if ((loop.kind.isParallel() && number > 0) ||
        (loop.kind.isVector() && !isInnermost))
      part.kind = sequential;
  }
  return parts;
}

llvm::Error espalier::poly::splitLoop(ComputeOp compute, StringRef name,
                                      ArrayRef<int64_t> factors,
                                      ArrayRef<StringRef> names) {
  llvm::Expected<LoopPosition> found = findLoop(compute, name);
  if (!found)
    return found.takeError();
  if (factors.empty())
    return refuse("expects at least one factor");
  if (!names.empty() && names.size() != factors.size() + 1)
    return refuse("expects " + Twine(factors.size() + 1) +
                  " names, one for each loop that " + quote(name) +
                  " becomes, but got " + Twine(names.size()));
  llvm::Expected<int64_t> size = getProduct(factors);
  if (!size)
    return size.takeError();
  if (llvm::Error error = checkSize(*found, *size, "a product of factors"))
    return error;
  SmallVector<BandLoop> loops = getLoops(found->band);
  SmallVector<BandLoop> parts =
      stripMine(loops[found->position], factors, names);
  loops.erase(loops.begin() + found->position);
  loops.insert(loops.begin() + found->position, parts.begin(), parts.end());
  setLoops(found->band, loops);
  return llvm::Error::success();
}

llvm::Error espalier::poly::split(ComputeTarget compute, StringRef name,
                                  ArrayRef<int64_t> factors,
                                  ArrayRef<StringRef> names) {
  return applyTo(compute, [&](ComputeOp compute) {
    return splitLoop(compute, name, factors, names);
  });
}

//===----------------------------------------------------------------------===//
// Tiles
//===----------------------------------------------------------------------===//

/// The factors that cut loop `which` into tiles of the sizes of all levels.
static llvm::Expected<SmallVector<int64_t>>
getFactors(ArrayRef<SmallVector<int64_t>> sizes, unsigned which) {
  SmallVector<int64_t> factors;
  for (auto [level, size] : llvm::enumerate(sizes)) {
    if (size[which] <= 0)
      return refuse("expects positive sizes, but got " + Twine(size[which]));
    bool isInnermost = level + 1 == sizes.size();
    int64_t inner = isInnermost ? 1 : sizes[level + 1][which];
    if (inner > 0 && size[which] % inner != 0)
      return refuse("expects the size of a tile to be a multiple of that of "
                    "the tiles in it, but got " +
                    Twine(size[which]) + " over " + Twine(inner));
    factors.push_back(inner > 0 ? size[which] / inner : 1);
  }
  return factors;
}

llvm::Error espalier::poly::tile(ComputeTarget compute,
                                 ArrayRef<StringRef> names,
                                 ArrayRef<SmallVector<int64_t>> sizes) {
  auto edit = [&](ComputeOp compute) -> llvm::Error {
    llvm::Expected<LoopNest> nest = getNest(compute, names);
    if (!nest)
      return nest.takeError();
    if (sizes.empty())
      return refuse("expects at least one level of tiles");
    for (ArrayRef<int64_t> level : sizes)
      if (level.size() != names.size())
        return refuse("expects " + Twine(names.size()) +
                      " sizes, one for each loop, but got " +
                      Twine(level.size()));
    SmallVector<BandLoop> loops = getLoops(nest->band);
    SmallVector<SmallVector<BandLoop>> parts;
    for (auto [which, position] : llvm::enumerate(nest->positions)) {
      llvm::Expected<SmallVector<int64_t>> factors = getFactors(sizes, which);
      if (!factors)
        return factors.takeError();
      if (llvm::Error error =
              checkSize({nest->band, position}, sizes.front()[which], "sizes"))
        return error;
      parts.push_back(stripMine(loops[position], *factors));
    }
    // The tile loops take the loops' places; the others follow the last.
    SmallVector<unsigned> places = nest->getPlaces();
    for (auto [place, part] : llvm::zip_equal(places, parts))
      loops[place] = part.front();
    auto *next = loops.begin() + places.back() + 1;
    for (size_t level = 1; level <= sizes.size(); ++level)
      for (const SmallVector<BandLoop> &part : parts)
        next = loops.insert(next, part[level]) + 1;
    setLoops(nest->band, loops);
    return llvm::Error::success();
  };
  return applyWithHint(compute, edit,
                       [&] { return findSkews(compute, names, edit); });
}
