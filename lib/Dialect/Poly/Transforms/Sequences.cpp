//===- Sequences.cpp - What runs one after the other ----------------------===//

#include "Sequences.h"
#include "Hints.h"
#include "LoopNest.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace espalier::poly;

static bool hasComputation(FilterOp filter, ComputeOp compute) {
  return llvm::is_contained(getSymbols(filter.getComputations()),
                            compute.getSymName());
}

llvm::Expected<Parts> espalier::poly::findParts(ComputeOp first,
                                                ComputeOp second) {
  if (first.getKernel() != second.getKernel())
    return refuse("expects computations of one kernel");
  Parts parts;
  first.getKernel().getSchedule().walk<WalkOrder::PreOrder>(
      [&](SequenceOp sequence) {
        // Goes on until both have been met, each without the other.
        Parts met;
        for (auto filter : sequence.getBody().getOps<FilterOp>()) {
          bool isFirst = hasComputation(filter, first);
          if (isFirst == hasComputation(filter, second))
            continue;
          (isFirst ? met.first : met.second) = filter;
          if (!met.first || !met.second)
            continue;
          parts = met;
          return WalkResult::interrupt();
        }
        return WalkResult::advance();
      });
  if (!parts.first)
    return refuse("expects " + quote(first) + " and " + quote(second) +
                  " in different parts of a sequence");
  return parts;
}

IntegerSet espalier::poly::getSet(FilterOp filter, unsigned number) {
  if (std::optional<ArrayAttr> sets = filter.getSets())
    return cast<IntegerSetAttr>((*sets)[number]).getValue();
  auto kernel = filter->getParentOfType<KernelOp>();
  ComputeOp compute =
      kernel.lookupCompute(getSymbols(filter.getComputations())[number]);
  AffineExpr zero = getAffineConstantExpr(0, filter.getContext());
  return IntegerSet::get(compute.getNumDims(), kernel.getNumParameters(), zero,
                         /*eqFlags=*/{false});
}

SmallVector<FilterOp>
espalier::poly::createVersions(BandOp band, ArrayRef<Version> versions) {
  OpBuilder builder(band);
  auto sequence = SequenceOp::create(builder, band.getLoc());
  builder.setInsertionPointToEnd(&sequence.getOrCreateBlock());
  for (const Version &version : versions) {
    auto sets = llvm::map_to_vector(version.sets, [](IntegerSet set) {
      return Attribute(IntegerSetAttr::get(set));
    });
    auto filter =
        FilterOp::create(builder, band.getLoc(), band.getComputations(),
                         builder.getArrayAttr(sets));
    filter.getOrCreateBlock().push_back(band->clone());
  }
  band.erase();
  auto filters = llvm::to_vector(sequence.getBody().getOps<FilterOp>());
  for (auto [filter, version] : llvm::zip_equal(filters, versions))
    if (!version.name.empty())
      renameClashes(filter, version.name);
  return filters;
}

void espalier::poly::simplify(SequenceOp sequence) {
  for (auto filter :
       llvm::make_early_inc_range(sequence.getBody().getOps<FilterOp>())) {
    auto inner = dyn_cast_or_null<SequenceOp>(filter.getChild());
    if (!inner || filter.getSets())
      continue;
    for (auto part :
         llvm::make_early_inc_range(inner.getBody().getOps<FilterOp>()))
      part->moveBefore(filter);
    filter.erase();
  }
  auto only = cast<FilterOp>(sequence.getBody().front().front());
  if (only->getNextNode() || only.getSets())
    return;
  if (Operation *child = only.getChild())
    child->moveBefore(sequence);
  sequence.erase();
}

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

llvm::Error espalier::poly::moveBefore(ComputeTarget compute,
                                       ComputeOp before) {
  StringAttr symbol = before.getSymNameAttr();
  if (compute.getKernel() != before.getKernel())
    return refuse("expects computations of one kernel");
  auto edit = [](ComputeOp compute, StringRef before) -> llvm::Error {
    llvm::Expected<Parts> parts =
        findParts(compute, compute.getKernel().lookupCompute(before));
    if (!parts)
      return parts.takeError();
    parts->first->moveBefore(parts->second);
    return llvm::Error::success();
  };
  return applyWithHint(
      compute, [&](ComputeOp compute) { return edit(compute, symbol); },
      [&] { return findPlaces(compute, edit); });
}

//===----------------------------------------------------------------------===//
// Fission
//===----------------------------------------------------------------------===//

/// Puts a copy of `band`, for what `filter` lets pass, above what is below it.
static void distribute(BandOp band, FilterOp filter) {
  OpBuilder builder(filter.getContext());
  builder.setInsertionPointToStart(&filter.getOrCreateBlock());
  SmallVector<Attribute> maps;
  for (StringRef symbol : getSymbols(filter.getComputations()))
    maps.push_back(AffineMapAttr::get(band.getMap(symbol)));
  auto copy = BandOp::create(builder, band.getLoc(), filter.getComputations(),
                             builder.getArrayAttr(maps), band.getLoops(),
                             band.getNamesAttr(), band.getFullTiles());
  if (Operation *child = copy->getNextNode())
    child->moveBefore(&copy.getOrCreateBlock(), copy.getOrCreateBlock().end());
}

/// Makes a part of a sequence of some neighbours in one.
static FilterOp groupParts(ArrayRef<FilterOp> parts) {
  FilterOp first = parts.front();
  if (parts.size() == 1)
    return first;
  OpBuilder builder(first);
  llvm::SmallSetVector<Attribute, 4> symbols;
  for (FilterOp part : parts)
    symbols.insert(part.getComputations().begin(),
                   part.getComputations().end());
  auto group = FilterOp::create(builder, first.getLoc(),
                                builder.getArrayAttr(symbols.getArrayRef()),
                                /*sets=*/nullptr);
  builder.setInsertionPointToStart(&group.getOrCreateBlock());
  auto inner = SequenceOp::create(builder, group.getLoc());
  for (FilterOp part : parts)
    part->moveBefore(&inner.getOrCreateBlock(), inner.getOrCreateBlock().end());
  return group;
}

/// Makes two parts of `parts`, which are those of a sequence below `loop`: the
/// first `at`, and the others.
static llvm::Expected<SmallVector<FilterOp>>
cutParts(ArrayRef<FilterOp> parts, int64_t at, StringRef loop) {
  int64_t last = parts.size() - 1;
  if (at < 1 || at > last)
    return refuse("expects between 1 and " + Twine(last) +
                  " parts before the cut, out of " + Twine(parts.size()) +
                  " below the nest of " + quote(loop) + ", but got " +
                  Twine(at));
  ArrayRef<FilterOp> before = parts.take_front(at),
                     after = parts.drop_front(at);
  for (FilterOp part : before)
    for (StringRef symbol : getSymbols(part.getComputations()))
      for (FilterOp other : after)
        if (llvm::is_contained(getSymbols(other.getComputations()), symbol))
          return refuse("expects each computation on one side of the cut, but "
                        "got parts of @" +
                        symbol + " on both");
  return SmallVector<FilterOp>{groupParts(before), groupParts(after)};
}

/// Distributes loops over a sequence, as the command does.
static llvm::Error distributeLoops(ComputeOp compute, StringRef name,
                                   std::optional<int64_t> at) {
  llvm::Expected<LoopPosition> found = findLoop(compute, name);
  if (!found)
    return found.takeError();
  BandOp band = splitBand(found->band, found->position);
  mergeChildren(band);
  auto sequence = dyn_cast_or_null<SequenceOp>(band.getChild());
  if (!sequence)
    return refuse(
        "expects a sequence below the nest of " + quote(name) + ", but got " +
        (band.getChild() ? describeNode(band.getChild()) : "no node"));
  auto filters = llvm::to_vector(sequence.getBody().getOps<FilterOp>());
  if (at) {
    llvm::Expected<SmallVector<FilterOp>> sides = cutParts(filters, *at, name);
    if (!sides)
      return sides.takeError();
    filters = std::move(*sides);
  }
  for (FilterOp filter : filters)
    distribute(band, filter);
  sequence->moveBefore(band);
  band.erase();
  for (FilterOp filter : llvm::reverse(filters))
    renameClashes(filter, "rest");
  if (auto outer = dyn_cast<FilterOp>(sequence->getParentOp()))
    simplify(cast<SequenceOp>(outer->getParentOp()));
  return llvm::Error::success();
}

llvm::Error espalier::poly::fission(ComputeTarget compute, StringRef loop,
                                    std::optional<int64_t> at) {
  auto edit = [at](ComputeOp compute, StringRef loop) {
    return distributeLoops(compute, loop, at);
  };
  return applyWithHint(
      compute, [&](ComputeOp compute) { return edit(compute, loop); },
      [&] { return findLoops(compute, "distributed", edit); });
}
