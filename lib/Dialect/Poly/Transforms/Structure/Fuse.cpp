//===- Fuse.cpp - Loops that several computations share -------------------===//

#include "../Hints.h"
#include "../LoopNest.h"
#include "../NestDistances.h"
#include "../Sequences.h"

using namespace mlir;
using namespace espalier::poly;

//===----------------------------------------------------------------------===//
// Fusion
//===----------------------------------------------------------------------===//

/// A filter for what two let pass.
static FilterOp uniteFilters(OpBuilder &builder, Parts parts) {
  SmallVector<Attribute> computations, sets;
  bool isRestricted = false;
  for (FilterOp filter : {parts.first, parts.second}) {
    isRestricted |= filter.getSets().has_value();
    for (auto [number, symbol] : llvm::enumerate(filter.getComputations())) {
      computations.push_back(symbol);
      sets.push_back(IntegerSetAttr::get(getSet(filter, number)));
    }
  }
  return FilterOp::create(
      builder, parts.first.getLoc(), builder.getArrayAttr(computations),
      isRestricted ? builder.getArrayAttr(sets) : ArrayAttr());
}

/// The loops of the band below `filter` that are to be shared, cut off from the
/// rest; `compute` is for messages.
static llvm::Expected<BandOp> getSharedBand(FilterOp filter, ComputeOp compute,
                                            int64_t numLoops) {
  auto band = dyn_cast_or_null<BandOp>(filter.getChild());
  if (band && band.getFullTiles())
    return refuse("expects " + quote(compute) +
                  " to be fused before its full tiles are separated");
  if (band)
    mergeChildren(band);
  int64_t available = band ? band.getLoops().size() : 0;
  if (available == 0)
    return refuse("expects loops to share around " + quote(compute) +
                  ", but there are none");
  if (numLoops <= 0 || numLoops > available)
    return refuse("expects between 1 and " + Twine(available) +
                  " loops, those of the nest of " + quote(compute) +
                  ", but got " + Twine(numLoops));
  splitBand(band, numLoops);
  return band;
}

/// Makes the first loops of two parts of a sequence one band, and returns it.
static llvm::Expected<BandOp> fuseParts(Parts parts, ComputeOp first,
                                        ComputeOp second, int64_t numLoops) {
  llvm::Expected<BandOp> band = getSharedBand(parts.first, first, numLoops);
  if (!band)
    return band;
  llvm::Expected<BandOp> other = getSharedBand(parts.second, second, numLoops);
  if (!other)
    return other;
  for (StringRef symbol : getSymbols(parts.second.getComputations()))
    if (llvm::is_contained(getSymbols(parts.first.getComputations()), symbol))
      return refuse("expects to fuse different computations, but both parts "
                    "run @" +
                    symbol);
  SmallVector<BandLoop> loops = getLoops(*band), others = getLoops(*other);
  for (auto [loop, twin] : llvm::zip_equal(loops, others)) {
    if (loop.kind != twin.kind)
      return refuse("expects loops that run alike, but " +
                    quote(loop.name.getValue()) + " of " + quote(first) +
                    " and " + quote(twin.name.getValue()) + " of " +
                    quote(second) + " do not");
    llvm::append_range(loop.exprs, twin.exprs);
  }

  OpBuilder builder(parts.first);
  auto sequence = cast<SequenceOp>(parts.first->getParentOp());
  FilterOp united = uniteFilters(builder, parts);
  SmallVector<Attribute> maps = llvm::to_vector((*band).getMaps());
  llvm::append_range(maps, (*other).getMaps());
  builder.setInsertionPointToEnd(&united.getOrCreateBlock());
  auto shared = BandOp::create(
      builder, (*band).getLoc(), united.getComputations(),
      builder.getArrayAttr(maps), (*band).getLoops(), (*band).getNamesAttr(),
      /*full_tiles=*/false);
  setLoops(shared, loops);
  builder.setInsertionPointToEnd(&shared.getOrCreateBlock());
  auto inner = SequenceOp::create(builder, sequence.getLoc());
  Block &block = inner.getOrCreateBlock();
  for (FilterOp part : {parts.first, parts.second}) {
    part->moveBefore(&block, block.end());
    part.removeSetsAttr();
    setLoops(cast<BandOp>(part.getChild()), {});
  }
  renameClashes(parts.second, second.getSymName());
  simplify(inner);
  simplify(sequence);
  return shared;
}

//===----------------------------------------------------------------------===//
// The delay
//===----------------------------------------------------------------------===//

/// The least delays of `delayed` computations in the loops of `band` with which
/// their points come after the points of others that they depend on; in
/// parallel loops, together with them. A delay that no number can be is zero.
static llvm::Expected<SmallVector<int64_t>>
computeDelays(BandOp band, ArrayRef<StringRef> delayed) {
  llvm::Expected<NestDistances> distances = NestDistances::compute(band);
  if (!distances)
    return refuse(llvm::toString(distances.takeError()));
  distances->keep([&](StringRef source, StringRef sink) {
    return !llvm::is_contained(delayed, source) &&
           llvm::is_contained(delayed, sink);
  });
  SmallVector<int64_t> delays;
  for (auto [position, kind] : llvm::enumerate(band.getLoopKinds())) {
    int64_t delay = -distances->getMin(position).value_or(0);
    if (!kind.isParallel())
      delay = std::max<int64_t>(delay, 0);
    delays.push_back(delay);
    // Inner loops order what is equal here.
    distances->restrictToZero(getAffineDimExpr(position, band.getContext()) +
                              delay);
  }
  return delays;
}

/// Fuses as the command does. Computes `delays`, if they are not known yet.
static llvm::Error fuseNests(ComputeOp first, StringRef secondName,
                             int64_t numLoops,
                             std::optional<SmallVector<int64_t>> &delays) {
  ComputeOp second = first.getKernel().lookupCompute(secondName);
  llvm::Expected<Parts> parts = findParts(first, second);
  if (!parts)
    return parts.takeError();
  if (!parts->first->isBeforeInBlock(parts->second))
    return refuse("expects " + quote(first) + " before " + quote(second) +
                  " in a sequence");
  FilterOp part = parts->second;
  part->moveAfter(parts->first);
  SmallVector<StringRef> delayed = getSymbols(part.getComputations());
  llvm::Expected<BandOp> band = fuseParts(*parts, first, second, numLoops);
  if (!band)
    return band.takeError();
  if (!delays) {
    auto computed = computeDelays(*band, delayed);
    if (!computed)
      return computed.takeError();
    delays = *computed;
  }
  SmallVector<BandLoop> loops = getLoops(*band);
  for (auto [loop, delay] : llvm::zip_equal(loops, *delays))
    for (auto [symbol, expr] :
         llvm::zip_equal(getSymbols((*band).getComputations()), loop.exprs))
      if (llvm::is_contained(delayed, symbol))
        expr = expr + delay;
  setLoops(*band, loops);
  return llvm::Error::success();
}

llvm::Expected<SmallVector<int64_t>>
espalier::poly::fuse(ComputeTarget first, ComputeOp second, int64_t numLoops) {
  if (first.getKernel() != second.getKernel())
    return refuse("expects computations of one kernel");
  std::optional<SmallVector<int64_t>> delays;
  auto edit = [&](ComputeOp first) {
    return fuseNests(first, second.getSymName(), numLoops, delays);
  };
  auto hint = [&]() -> std::string {
    for (int64_t fewer = numLoops - 1; fewer > 0; --fewer)
      if (isLegal(first, [&](ComputeOp first) {
            std::optional<SmallVector<int64_t>> own;
            return fuseNests(first, second.getSymName(), fewer, own);
          }))
        return "legal with loops " + std::to_string(fewer);
    return "";
  };
  if (llvm::Error error = applyWithHint(first, edit, hint))
    return error;
  return *delays;
}
