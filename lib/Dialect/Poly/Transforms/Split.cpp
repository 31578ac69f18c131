//===- Split.cpp - Strip-mining -------------------------------------------===//

#include "ScheduleTree.h"

using namespace mlir;
using namespace espalier::poly;

/// What `split` was asked for, checked against `extent`.
static llvm::Error checkFactors(StringRef loop, ArrayRef<int64_t> factors,
                                size_t numNames,
                                std::optional<int64_t> extent) {
  if (factors.empty())
    return refuse("expects at least one factor");
  if (numNames != 0 && numNames != factors.size() + 1)
    return refuse("expects " + Twine(factors.size() + 1) +
                  " names, one for each loop that \"" + loop +
                  "\" becomes, but got " + Twine(numNames));
  int64_t size = 1;
  for (int64_t factor : factors) {
    if (factor <= 0)
      return refuse("expects positive factors, but got " + Twine(factor));
    if (llvm::MulOverflow(size, factor, size))
      return refuse("expects factors whose product fits 64 bits");
  }
  if (extent && size > *extent)
    return refuse("expects factors whose product is at most " + Twine(*extent) +
                  ", the extent of \"" + loop + "\", but got " + Twine(size));
  return llvm::Error::success();
}

llvm::Error espalier::poly::split(ComputeOp compute, StringRef name,
                                  ArrayRef<int64_t> factors,
                                  ArrayRef<StringRef> names) {
  StringAttr symbol = compute.getSymNameAttr();
  return applyChecked(compute.getKernel(), [&](KernelOp kernel) -> llvm::Error {
    ComputeOp compute = kernel.lookupCompute(symbol);
    llvm::Expected<LoopPosition> found = findLoop(compute, name);
    if (!found)
      return found.takeError();
    BandOp band = found->band;
    AffineExpr own =
        band.getMap(compute.getSymName()).getResult(found->position);
    if (llvm::Error error =
            checkFactors(name, factors, names.size(), getExtent(compute, own)))
      return error;

    SmallVector<BandLoop> loops = getLoops(band);
    BandLoop rest = loops[found->position];
    SmallVector<BandLoop> parts(factors.size() + 1, rest);
    // From the inside out: `rest` is what outer loops still have to order.
    for (size_t part = factors.size(); part > 0; --part) {
      for (auto [inner, outer] :
           llvm::zip_equal(parts[part].exprs, rest.exprs)) {
        inner = getPlaceInTile(outer, factors[part - 1]);
        outer = getTile(outer, factors[part - 1]);
      }
      parts[part - 1].exprs = rest.exprs;
    }
    for (auto [number, part] : llvm::enumerate(parts))
      part.name = StringAttr::get(kernel.getContext(),
                                  names.empty() ? name + "." + Twine(number)
                                                : Twine(names[number]));
    loops.erase(loops.begin() + found->position);
    loops.insert(loops.begin() + found->position, parts.begin(), parts.end());
    setLoops(band, loops);
    return llvm::Error::success();
  });
}
