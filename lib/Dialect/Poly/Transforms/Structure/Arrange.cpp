//===- Arrange.cpp - A new nest for several computations ------------------===//

#include "../LoopNest.h"
#include "espalier/Dialect/Poly/Transforms/Commands.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;

/// The computations with these names, or a refusal.
static llvm::Expected<SmallVector<ComputeOp>>
findComputes(KernelOp kernel, ArrayRef<StringRef> names) {
  SmallVector<ComputeOp> computes;
  for (StringRef name : names) {
    ComputeOp compute = kernel.lookupCompute(name);
    if (!compute)
      return refuse("expects computations of the kernel, out of " +
                    listComputes(kernel) + ", but got @" + name);
    if (llvm::is_contained(computes, compute))
      return refuse("expects each computation once, but got " + quote(compute) +
                    " twice");
    computes.push_back(compute);
  }
  return computes;
}

/// Whether all of `computes` reach a filter.
static bool reachAll(FilterOp filter, ArrayRef<ComputeOp> computes) {
  SmallVector<StringRef> symbols = getSymbols(filter.getComputations());
  return llvm::all_of(computes, [&](ComputeOp compute) {
    return llvm::is_contained(symbols, compute.getSymName());
  });
}

/// The innermost filter, or the schedule, that all of `computes` reach, with
/// all of their points; with `loop`, around the loop of this name, which may be
/// for some of them.
static llvm::Expected<Operation *>
findPart(KernelOp kernel, ArrayRef<ComputeOp> computes, StringRef loop) {
  Operation *part = kernel.getSchedule();
  if (!loop.empty()) {
    llvm::Expected<LoopPosition> found = findLoop(computes.front(), loop);
    if (!found)
      return found.takeError();
    for (Operation *node = found->band->getParentOp(); node != part;
         node = node->getParentOp())
      if (auto filter = dyn_cast<FilterOp>(node);
          filter && reachAll(filter, computes))
        return node;
    return part;
  }
  kernel.getSchedule().walk<WalkOrder::PreOrder>([&](FilterOp filter) {
    if (filter.getSets() || !reachAll(filter, computes))
      return WalkResult::skip();
    part = filter;
    return WalkResult::advance();
  });
  return part;
}

/// The same; a refusal if another computation reaches it too.
static llvm::Expected<Operation *>
findRoot(KernelOp kernel, ArrayRef<ComputeOp> computes, StringRef loop) {
  llvm::Expected<Operation *> root = findPart(kernel, computes, loop);
  if (!root)
    return root.takeError();
  SmallVector<StringRef> reaching;
  if (auto filter = dyn_cast<FilterOp>(*root))
    reaching = getSymbols(filter.getComputations());
  else
    for (ComputeOp compute : kernel.getComputes())
      reaching.push_back(compute.getSymName());
  for (StringRef symbol : reaching)
    if (llvm::none_of(computes, [&](ComputeOp compute) {
          return compute.getSymName() == symbol;
        }))
      return refuse("expects all computations of a part of a sequence, but @" +
                    symbol + ", which runs with " + quote(computes.front()) +
                    ", is missing");
  return root;
}

static llvm::Error checkMaps(ArrayRef<ComputeOp> computes,
                             ArrayRef<AffineMap> maps, int64_t numShared) {
  if (maps.size() != computes.size())
    return refuse("expects a map for each of " + Twine(computes.size()) +
                  " computations, but got " + Twine(maps.size()));
  for (auto [op, map] : llvm::zip_equal(computes, maps)) {
    ComputeOp compute = op;
    if (map.getNumDims() != compute.getNumDims())
      return refuse("expects a map from the " + Twine(compute.getNumDims()) +
                    " dimensions of " + quote(compute) + ", but got one from " +
                    Twine(map.getNumDims()));
    if (int64_t(map.getNumResults()) < numShared)
      return refuse("expects at least " + Twine(numShared) + " loops for " +
                    quote(compute) + ", but got " + Twine(map.getNumResults()));
    for (AffineExpr result : map.getResults())
      if (llvm::Error error = checkExpr(compute, result, map.getNumDims()))
        return error;
  }
  return llvm::Error::success();
}

/// A band of results `from` to `to` of the maps; none if there are no results.
static void createBand(OpBuilder &builder, ArrayRef<ComputeOp> computes,
                       ArrayRef<AffineMap> maps, unsigned from, unsigned to,
                       ArrayRef<StringRef> names) {
  if (from == to)
    return;
  SmallVector<Attribute> symbols;
  SmallVector<AffineMap> own;
  for (auto [op, map] : llvm::zip_equal(computes, maps)) {
    ComputeOp compute = op;
    symbols.push_back(FlatSymbolRefAttr::get(compute.getSymNameAttr()));
    own.push_back(AffineMap::get(
        map.getNumDims(), compute.getKernel().getNumParameters(),
        map.getResults().slice(from, to - from), builder.getContext()));
  }
  SmallVector<Attribute> kinds(
      to - from, LoopAttr::get(builder.getContext(), LoopKind::Sequential));
  auto band = BandOp::create(
      builder, computes.front()->getLoc(), builder.getArrayAttr(symbols),
      builder.getAffineMapArrayAttr(own), builder.getArrayAttr(kinds),
      names.empty() ? ArrayAttr() : builder.getStrArrayAttr(names), false);
  builder.setInsertionPointToEnd(&band.getOrCreateBlock());
}

/// Replaces what is below `root`.
static void createNest(Operation *root, ArrayRef<ComputeOp> computes,
                       ArrayRef<AffineMap> maps, ArrayRef<StringRef> names) {
  Region &region = root->getRegion(0);
  if (region.empty())
    region.emplaceBlock();
  region.front().clear();
  OpBuilder builder = OpBuilder::atBlockEnd(&region.front());
  unsigned numShared = names.size();
  createBand(builder, computes, maps, 0, numShared, names);
  if (computes.size() == 1)
    return createBand(builder, computes, maps, numShared,
                      maps.front().getNumResults(), {});
  auto sequence = SequenceOp::create(builder, root->getLoc());
  for (auto [op, map] : llvm::zip_equal(computes, maps)) {
    ComputeOp compute = op;
    builder.setInsertionPointToEnd(&sequence.getOrCreateBlock());
    auto filter = FilterOp::create(
        builder, compute->getLoc(),
        builder.getArrayAttr(FlatSymbolRefAttr::get(compute.getSymNameAttr())),
        nullptr);
    builder.setInsertionPointToEnd(&filter.getOrCreateBlock());
    createBand(builder, compute, map, numShared, map.getNumResults(), {});
  }
}

llvm::Error espalier::poly::arrange(ComputeTarget compute,
                                    ArrayRef<StringRef> others,
                                    ArrayRef<AffineMap> maps,
                                    ArrayRef<StringRef> names, StringRef loop) {
  return applyTo(compute, [&](ComputeOp compute) -> llvm::Error {
    KernelOp kernel = compute.getKernel();
    SmallVector<StringRef> symbols{compute.getSymName()};
    llvm::append_range(symbols, others);
    llvm::Expected<SmallVector<ComputeOp>> computes =
        findComputes(kernel, symbols);
    if (!computes)
      return computes.takeError();
    llvm::Expected<Operation *> root = findRoot(kernel, *computes, loop);
    if (!root)
      return root.takeError();
    if (llvm::Error error = checkMaps(*computes, maps, names.size()))
      return error;
    createNest(*root, *computes, maps, names);
    nameLoops(kernel);
    return llvm::Error::success();
  });
}
