//===- PartialReduction.cpp - Reductions in parts -------------------------===//
//
//   s += x[k]             becomes, for the loop k mod 8,
//
//   p[f] = 0              for all f
//   p[k mod 8] += x[k]
//   s += p[f]
//
// which a reduction allows, as its updates may run in any order and grouping.
// Along a dimension that data indexes, there are parts of all elements: those
// that are not updated stay neutral.
//
//===----------------------------------------------------------------------===//

#include "PartialReduction.h"
#include "espalier/Dialect/Poly/Analysis/Accesses.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

static PartialUpdate describe(ComputeOp compute) {
  if (CombinerOp combiner = compute.getCombinerOp())
    return {*getElementReads(compute),
            llvm::map_to_vector(
                combiner.getNeutral(),
                [](Attribute value) { return cast<TypedAttr>(value); }),
            !combiner.getCommutative(),
            [combiner](OpBuilder &builder, Location, ValueRange first,
                       ValueRange second) mutable {
              return combiner.combine(builder, first, second);
            }};
  ReductionUpdate update = *matchReduction(compute, *compute.getReduction());
  return {{update.read},
          {update.neutral},
          /*isOrdered=*/false,
          [update](OpBuilder &builder, Location loc, ValueRange first,
                   ValueRange second) {
            return SmallVector<Value>{
                update.combine(builder, loc, first[0], second[0])};
          }};
}

llvm::Expected<PartialUpdate> espalier::poly::getUpdate(ComputeOp compute) {
  if (!compute.getReduction() && !compute.getCombiner())
    return refuse("expects a reduction, but " + quote(compute) +
                  " is not marked as one");
  // Others that run between its updates would see the parts.
  ComputeOp begin = getGroupBegin(compute);
  for (Value array : compute.getWrites()) {
    if (llvm::count(compute.getReads(), array) != 1)
      return refuse("expects " + quote(compute) +
                    " to use nothing but the updated element of " +
                    describeArray(array));
    for (ComputeOp other : compute.getKernel().getComputes())
      if (other != compute && getGroupBegin(other) == begin &&
          (llvm::is_contained(other.getReads(), array) ||
           llvm::is_contained(other.getWrites(), array)))
        return refuse("expects " + describeArray(array) +
                      " to be used after all updates, but " + quote(other) +
                      " is interleaved with " + quote(compute));
  }
  return describe(compute);
}

/// Makes the parts of the elements at each point neutral.
static ComputeOp createInit(OpBuilder &builder, ComputeOp compute,
                            ArrayRef<IntegerSet> domain,
                            const PartialUpdate &update,
                            ArrayRef<ComputeAccess> parts) {
  KernelOp kernel = compute.getKernel();
  return ComputeOp::create(
      builder, compute.getLoc(),
      getFreeName(kernel, compute.getSymName() + "_init"), domain,
      ArrayRef<ComputeAccess>(), parts, std::nullopt,
      [&](OpBuilder &body, Location loc, ValueRange) {
        SmallVector<Value> values;
        for (TypedAttr neutral : update.neutral)
          values.push_back(arith::ConstantOp::create(body, loc, neutral));
        YieldOp::create(body, loc, values);
      });
}

/// Combines the parts of each point with their elements.
static ComputeOp createCombine(OpBuilder &builder, ComputeOp compute,
                               ArrayRef<IntegerSet> domain,
                               const PartialUpdate &update,
                               ArrayRef<ComputeAccess> parts,
                               ArrayRef<ComputeAccess> elements) {
  KernelOp kernel = compute.getKernel();
  SmallVector<ComputeAccess> reads(parts);
  llvm::append_range(reads, elements);
  auto combine = ComputeOp::create(
      builder, compute.getLoc(),
      getFreeName(kernel, compute.getSymName() + "_combine"), domain, reads,
      elements, compute.getReduction(),
      [&](OpBuilder &body, Location loc, ValueRange values) {
        YieldOp::create(body, loc,
                        update.combine(body, loc,
                                       values.drop_front(parts.size()),
                                       values.take_front(parts.size())));
      });
  combine.setCombinerAttr(compute.getCombinerAttr());
  return combine;
}

/// The parts of the elements of `array` that `compute` may update in each tile:
/// `map` has `numFactors` indices before those of the element. All elements
/// along a dimension whose index is not affine.
static llvm::Expected<polyhedral::Map>
getParts(const polyhedral::Context &context, const Tile &tile,
         ComputeOp compute, Value array, AffineMap map, unsigned numFactors) {
  unsigned numParams = compute.getKernel().getNumParameters();
  unsigned numIndices = map.getNumResults();
  SmallVector<AffineExpr> inside;
  for (auto [number, index] : llvm::enumerate(map.getResults())) {
    auto own = AffineMap::get(map.getNumDims(), map.getNumSymbols(), index);
    if (number < numFactors || polyhedral::Map::get(context, numParams, own))
      continue;
    AffineExpr extent = getStatedExtent(array, number - numFactors);
    if (!extent)
      return refuse("expects an extent that the type of " +
                    describeArray(array) + " or '" +
                    KernelOp::getShapeAttrName() + "' states in dimension " +
                    Twine(number - numFactors) + ", which " + quote(compute) +
                    " indexes by data");
    AffineExpr self = getAffineDimExpr(number, array.getContext());
    llvm::append_values(inside, self, extent - 1 - self);
  }
  polyhedral::Map parts =
      getFootprint(context, tile, compute, map, polyhedral::Map::Inexact::Any);
  if (!inside.empty())
    parts = parts.intersectRange(polyhedral::Set::get(
        context, IntegerSet::get(numIndices, numParams, inside,
                                 SmallVector<bool>(inside.size()))));
  if (!parts)
    return refuseUnknown(context);
  return parts;
}

llvm::Expected<LocalCopy> espalier::poly::makePartial(
    const Tile &tile, ComputeOp compute, ArrayRef<AffineExpr> factors,
    ArrayRef<StringAttr> names, const LocalOptions &options) {
  llvm::Expected<PartialUpdate> update = getUpdate(compute);
  if (!update)
    return update.takeError();
  SmallVector<ComputeAccess> writes = compute.getWriteAccesses();
  // The factors are the first indices.
  AffineMap own = writes.front().map;
  SmallVector<AffineExpr> results(factors);
  llvm::append_range(results, own.getResults());
  AffineMap map = AffineMap::get(own.getNumDims(), own.getNumSymbols(), results,
                                 compute.getContext());
  polyhedral::Context context;
  SmallVector<TileArray> locals;
  llvm::Expected<SmallVector<IntegerSet>> domain = SmallVector<IntegerSet>();
  SmallVector<ComputeAccess> parts, elements;
  for (const ComputeAccess &write : writes) {
    llvm::Expected<polyhedral::Map> footprint =
        getParts(context, tile, compute, write.array, map, factors.size());
    if (!footprint)
      return footprint.takeError();
    llvm::Expected<TileArray> local =
        makeLocalArray(tile, write.array, context, *footprint, options);
    if (!local)
      return local.takeError();
    locals.push_back(*local);
    auto isSame = [&](ArrayRef<AffineExpr> lhs, ArrayRef<AffineExpr> rhs) {
      return lhs == rhs;
    };
    if (!isSame(local->box.extents, locals.front().box.extents) ||
        !isSame(local->box.offsets, locals.front().box.offsets))
      return refuse("expects as many elements of " +
                    describeArray(write.array) + " as of " +
                    describeArray(writes.front().array));
    if (parts.empty())
      domain = getCopyDomain(tile, *local, context, *footprint);
    if (!domain)
      return domain.takeError();
    CopyAccesses accesses =
        getCopyAccesses(tile, write.array, *local, factors.size());
    parts.push_back(accesses.local);
    elements.push_back(accesses.global);
  }

  OpBuilder builder(compute.getContext());
  setInsertionPoint(builder, compute, TileSide::Before);
  ComputeOp init = createInit(builder, compute, *domain, *update, parts);
  setInsertionPoint(builder, compute, TileSide::After);
  ComputeOp combine =
      createCombine(builder, compute, *domain, *update, parts, elements);
  for (auto [number, local] : llvm::enumerate(locals)) {
    unsigned read = update->reads[number];
    AffineMap part = local.getMap(tile.maps[tile.getNumber(compute)], map);
    unsigned numSymbols = compute.getReadAccesses()[read].map.getNumSymbols();
    setAccess(compute, TileAccess::Read, read, local.op,
              AffineMap::get(part.getNumDims(), numSymbols, part.getResults(),
                             part.getContext()));
    setAccess(compute, TileAccess::Write, number, local.op, part);
  }
  nameDims(tile, init, names);
  nameDims(tile, combine, names);
  addToTile(tile, init, compute, TileSide::Before);
  addToTile(tile, combine, compute, TileSide::After);
  return LocalCopy{locals.front().op, init, combine};
}
