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

llvm::Expected<ReductionUpdate> espalier::poly::getUpdate(ComputeOp compute) {
  if (!compute.getReduction())
    return refuse("expects a reduction, but " + quote(compute) +
                  " is not marked as one");
  ReductionUpdate update = *matchReduction(compute, *compute.getReduction());
  Value array = compute.getWrites().front();
  if (llvm::count(compute.getReads(), array) != 1)
    return refuse("expects " + quote(compute) +
                  " to use nothing but the updated element of " +
                  describeArray(array));
  // Others that run between its updates would see the parts.
  ComputeOp begin = getGroupBegin(compute);
  for (ComputeOp other : compute.getKernel().getComputes())
    if (other != compute && getGroupBegin(other) == begin &&
        (llvm::is_contained(other.getReads(), array) ||
         llvm::is_contained(other.getWrites(), array)))
      return refuse("expects " + describeArray(array) +
                    " to be used after all updates, but " + quote(other) +
                    " is interleaved with " + quote(compute));
  return update;
}

/// Makes the part of the element at each point neutral.
static ComputeOp createInit(OpBuilder &builder, ComputeOp compute,
                            ArrayRef<IntegerSet> domain, TypedAttr neutral,
                            const ComputeAccess &part) {
  KernelOp kernel = compute.getKernel();
  return ComputeOp::create(
      builder, compute.getLoc(),
      getFreeName(kernel, compute.getSymName() + "_init"), domain,
      ArrayRef<ComputeAccess>(), part, std::nullopt,
      [&](OpBuilder &body, Location loc, ValueRange) {
        Value value = arith::ConstantOp::create(body, loc, neutral);
        YieldOp::create(body, loc, value);
      });
}

/// Combines the part of each point with its element.
static ComputeOp createCombine(OpBuilder &builder, ComputeOp compute,
                               ArrayRef<IntegerSet> domain,
                               const ReductionUpdate &update,
                               const CopyAccesses &accesses) {
  KernelOp kernel = compute.getKernel();
  ComputeAccess reads[] = {accesses.local, accesses.global};
  return ComputeOp::create(
      builder, compute.getLoc(),
      getFreeName(kernel, compute.getSymName() + "_combine"), domain, reads,
      accesses.global, compute.getReduction(),
      [&](OpBuilder &body, Location loc, ValueRange values) {
        YieldOp::create(body, loc,
                        update.combine(body, loc, values[1], values[0]));
      });
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
  llvm::Expected<ReductionUpdate> update = getUpdate(compute);
  if (!update)
    return update.takeError();
  ComputeAccess write = compute.getWriteAccesses().front();
  // The factors are the first indices.
  SmallVector<AffineExpr> results(factors);
  llvm::append_range(results, write.map.getResults());
  AffineMap map =
      AffineMap::get(write.map.getNumDims(), write.map.getNumSymbols(), results,
                     compute.getContext());
  polyhedral::Context context;
  llvm::Expected<polyhedral::Map> footprint =
      getParts(context, tile, compute, write.array, map, factors.size());
  if (!footprint)
    return footprint.takeError();
  llvm::Expected<TileArray> local =
      makeLocalArray(tile, write.array, context, *footprint, options);
  if (!local)
    return local.takeError();
  llvm::Expected<SmallVector<IntegerSet>> domain =
      getCopyDomain(tile, *local, context, *footprint);
  if (!domain)
    return domain.takeError();

  OpBuilder builder(compute.getContext());
  CopyAccesses accesses =
      getCopyAccesses(tile, write.array, *local, factors.size());
  setInsertionPoint(builder, compute, TileSide::Before);
  ComputeOp init =
      createInit(builder, compute, *domain, update->neutral, accesses.local);
  setInsertionPoint(builder, compute, TileSide::After);
  ComputeOp combine =
      createCombine(builder, compute, *domain, *update, accesses);
  AffineMap part = local->getMap(tile.maps[tile.getNumber(compute)], map);
  unsigned numSymbols =
      compute.getReadAccesses()[update->read].map.getNumSymbols();
  setAccess(compute, TileAccess::Read, update->read, local->op,
            AffineMap::get(part.getNumDims(), numSymbols, part.getResults(),
                           part.getContext()));
  setAccess(compute, TileAccess::Write, 0, local->op, part);
  nameDims(tile, init, names);
  nameDims(tile, combine, names);
  addToTile(tile, init, compute, TileSide::Before);
  addToTile(tile, combine, compute, TileSide::After);
  return LocalCopy{local->op, init, combine};
}
