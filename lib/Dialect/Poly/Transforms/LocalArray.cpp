//===- LocalArray.cpp - Arrays that hold what a tile touches --------------===//

#include "KernelShape.h"
#include "Tile.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

//===----------------------------------------------------------------------===//
// What tiles touch
//===----------------------------------------------------------------------===//

polyhedral::Set espalier::poly::getDomain(const polyhedral::Context &context,
                                          ComputeOp compute) {
  return polyhedral::Set::getUnion(context, compute.getNumDims(),
                                   compute.getKernel().getNumParameters(),
                                   compute.getDomainSets())
      .assumeNonnegativeParameters();
}

polyhedral::Map espalier::poly::getFootprint(const polyhedral::Context &context,
                                             const Tile &tile,
                                             ComputeOp compute, AffineMap map,
                                             polyhedral::Map::Inexact inexact) {
  unsigned numParams = compute.getKernel().getNumParameters();
  polyhedral::Map tiles = polyhedral::Map::get(
      context, numParams, tile.maps[tile.getNumber(compute)]);
  polyhedral::Map elements =
      polyhedral::Map::get(context, numParams, map, inexact);
  if (!elements)
    return {};
  return tiles.intersectDomain(getDomain(context, compute))
      .inverse()
      .compose(elements);
}

SmallVector<ComputeAccess> espalier::poly::getAccesses(ComputeOp compute,
                                                       TileAccess kind) {
  return kind == TileAccess::Read ? compute.getReadAccesses()
                                  : compute.getWriteAccesses();
}

static StringRef getName(TileAccess kind) {
  return kind == TileAccess::Read ? "read" : "write";
}

llvm::Error espalier::poly::refuseUnknown(const polyhedral::Context &context) {
  return refuse("cannot compute what a tile touches: " + context.getError());
}

/// The elements of `array` that `compute` reads or writes, per tile; a null map
/// if it does not.
static llvm::Expected<polyhedral::Map>
getElementsOfOne(const polyhedral::Context &context, const Tile &tile,
                 ComputeOp compute, Value array, TileAccess kind) {
  polyhedral::Union<polyhedral::Map> elements;
  for (auto [number, access] : llvm::enumerate(getAccesses(compute, kind))) {
    if (access.array != array)
      continue;
    polyhedral::Map own = getFootprint(context, tile, compute, access.map);
    if (!own && !context.getError().empty())
      return refuseUnknown(context);
    if (!own)
      return refuse("expects affine accesses to " + describeArray(array) +
                    ", but " + getName(kind) + " " + Twine(number) + " of " +
                    quote(compute) + " is " + llvm::to_string(access.map));
    elements.add(own);
  }
  if (elements.isUnknown())
    return refuseUnknown(context);
  return elements.get();
}

llvm::Expected<polyhedral::Map>
espalier::poly::getElements(const polyhedral::Context &context,
                            const Tile &tile, ArrayRef<ComputeOp> computes,
                            Value array, ArrayRef<TileAccess> kinds) {
  polyhedral::Union<polyhedral::Map> elements;
  for (ComputeOp compute : computes)
    for (TileAccess kind : kinds) {
      llvm::Expected<polyhedral::Map> own =
          getElementsOfOne(context, tile, compute, array, kind);
      if (!own)
        return own.takeError();
      if (*own)
        elements.add(*own);
    }
  if (elements.isUnknown())
    return refuseUnknown(context);
  return elements.get();
}

//===----------------------------------------------------------------------===//
// Arrays
//===----------------------------------------------------------------------===//

AffineMap TileArray::getMap(AffineMap loops, AffineMap map) const {
  SmallVector<AffineExpr> results(loops.getResults());
  SmallVector<AffineExpr> symbols;
  for (unsigned s = 0; s < loops.getNumSymbols(); ++s)
    symbols.push_back(getAffineSymbolExpr(s, map.getContext()));
  for (auto [index, offset] : llvm::zip_equal(map.getResults(), box.offsets))
    results.push_back(
        index - offset.replaceDimsAndSymbols(loops.getResults(), symbols));
  return simplifyAffineMap(AffineMap::get(map.getNumDims(), map.getNumSymbols(),
                                          results, map.getContext()));
}

/// The points 0 <= x < extents.
static polyhedral::Set getBoxSet(const polyhedral::Context &context,
                                 unsigned numParams, MLIRContext *mlirContext,
                                 ArrayRef<AffineExpr> extents) {
  SmallVector<AffineExpr> constraints{getAffineConstantExpr(0, mlirContext)};
  for (auto [dim, extent] : llvm::enumerate(extents)) {
    AffineExpr self = getAffineDimExpr(dim, mlirContext);
    constraints.push_back(self);
    constraints.push_back(extent - 1 - self);
  }
  return polyhedral::Set::get(
      context, IntegerSet::get(extents.size(), numParams, constraints,
                               SmallVector<bool>(constraints.size())));
}

llvm::Expected<SmallVector<AffineExpr>> espalier::poly::getLayoutExtents(
    const polyhedral::Context &context, unsigned numParams,
    ArrayRef<AffineExpr> extents, AffineMap layout) {
  auto refuseFor = [&](const Twine &rule) {
    return refuse("expects a layout " + rule + ", but got " +
                  llvm::to_string(layout));
  };
  MLIRContext *mlirContext = layout.getContext();
  if (layout.getNumDims() != extents.size() || layout.getNumSymbols() != 0)
    return refuseFor("from " + Twine(extents.size()) + " indices");
  AffineMap widened = AffineMap::get(extents.size(), numParams,
                                     layout.getResults(), mlirContext);
  polyhedral::Map map = polyhedral::Map::get(context, numParams, widened);
  if (!map)
    return refuseFor("of affine functions");
  polyhedral::Set box = getBoxSet(context, numParams, mlirContext, extents);
  if (!map.intersectDomain(box).isInjective().value_or(false))
    return refuseFor("that gives each element a place of its own");
  std::optional<polyhedral::Box> places =
      polyhedral::getBoundingBox(mlirContext, map.apply(box));
  auto isZero = [](AffineExpr offset) {
    auto number = dyn_cast<AffineConstantExpr>(offset);
    return number && number.getValue() == 0;
  };
  if (!places || !llvm::all_of(places->offsets, isZero))
    return refuseFor("whose indices start at 0");
  return places->extents;
}

Storage espalier::poly::makeStorage(AffineMap map, ArrayRef<AffineExpr> extents,
                                    unsigned numParams, Type elementType) {
  SmallVector<int64_t> shape;
  SmallVector<AffineExpr> dynamic;
  for (AffineExpr extent : extents) {
    auto number = dyn_cast<AffineConstantExpr>(extent);
    shape.push_back(number ? std::max<int64_t>(number.getValue(), 0)
                           : ShapedType::kDynamic);
    if (!number)
      dynamic.push_back(extent);
  }
  AffineMapAttr dynamicExtents;
  if (!dynamic.empty())
    dynamicExtents = AffineMapAttr::get(
        AffineMap::get(0, numParams, dynamic, map.getContext()));
  return {map, MemRefType::get(shape, elementType), dynamicExtents};
}

llvm::Expected<TileArray> espalier::poly::makeLocalArray(
    const Tile &tile, Value array, const polyhedral::Context &context,
    const polyhedral::Map &footprint, const LocalOptions &options) {
  KernelOp kernel = tile.computes.front()->getParentOfType<KernelOp>();
  unsigned numLoops = tile.getNumLoops();
  unsigned numParams = kernel.getNumParameters();
  MLIRContext *mlirContext = kernel.getContext();
  std::optional<polyhedral::Box> box =
      polyhedral::getBoundingBox(mlirContext, footprint);
  if (!box)
    return refuse("expects what a tile touches of " + describeArray(array) +
                  " to have bounds that are affine in the parameters");
  unsigned rank = box->extents.size();
  AffineMap layout = options.layout.value_or(
      AffineMap::getMultiDimIdentityMap(rank, mlirContext));
  llvm::Expected<SmallVector<AffineExpr>> extents =
      getLayoutExtents(context, numParams, box->extents, layout);
  if (!extents)
    return extents.takeError();
  Storage storage = makeStorage(
      AffineMap::get(numLoops + rank, 0,
                     layout.shiftDims(numLoops).getResults(), mlirContext),
      *extents, numParams, cast<MemRefType>(array.getType()).getElementType());

  SmallVector<int64_t> shape(numLoops, ShapedType::kDynamic);
  for (AffineExpr extent : box->extents) {
    auto number = dyn_cast<AffineConstantExpr>(extent);
    shape.push_back(number ? number.getValue() : ShapedType::kDynamic);
  }
  MemorySpaceAttrInterface space = options.placement;
  if (!space)
    space = PlacementAttr::get(mlirContext, fitsStack(storage.type)
                                                ? Placement::Stack
                                                : Placement::Heap);
  SmallVector<ArrayOp> arrays = kernel.getArrays();
  OpBuilder builder = OpBuilder::atBlockBegin(&kernel.getBody().front());
  if (!arrays.empty())
    builder.setInsertionPointAfter(arrays.back());
  auto op =
      ArrayOp::create(builder, array.getLoc(),
                      MemRefType::get(shape, storage.type.getElementType()),
                      ValueRange(), space, AffineMapAttr::get(storage.map),
                      TypeAttr::get(storage.type), storage.extents);
  return TileArray{op, *box};
}

void espalier::poly::setStorage(ArrayOp array, const Storage &storage) {
  array.setStorageAttr(AffineMapAttr::get(storage.map));
  array.setStorageTypeAttr(TypeAttr::get(storage.type));
  if (storage.extents)
    array.setExtentsAttr(storage.extents);
  else
    array.removeExtentsAttr();
}

void espalier::poly::replaceArray(ArrayOp array, TileArray &local) {
  array.getArray().setType(local.op.getArray().getType());
  array.getSizesMutable().clear(); // The indices have other bounds.
  array.setPlacementAttr(local.op.getPlacement());
  setStorage(array, {*local.op.getStorage(),
                     cast<MemRefType>(*local.op.getStorageType()),
                     local.op.getExtentsAttr()});
  local.op.erase();
  local.op = array;
}

//===----------------------------------------------------------------------===//
// Copies
//===----------------------------------------------------------------------===//

CopyAccesses espalier::poly::getCopyAccesses(const Tile &tile, Value array,
                                             const TileArray &local,
                                             unsigned numFactors) {
  MLIRContext *context = array.getContext();
  KernelOp kernel = local.op->getParentOfType<KernelOp>();
  unsigned numLoops = tile.getNumLoops();
  unsigned numDims = numLoops + local.box.offsets.size();
  unsigned numParams = kernel.getNumParameters();
  SmallVector<AffineExpr> global;
  for (auto [index, offset] :
       llvm::drop_begin(llvm::enumerate(local.box.offsets), numFactors))
    global.push_back(offset + getAffineDimExpr(numLoops + index, context));
  AffineMap identity = AffineMap::get(
      numDims, numParams,
      AffineMap::getMultiDimIdentityMap(numDims, context).getResults(),
      context);
  return {{array, AffineMap::get(numDims, numParams, global, context), nullptr},
          {local.op.getArray(), identity, nullptr}};
}

llvm::Expected<SmallVector<IntegerSet>>
espalier::poly::getCopyDomain(const Tile &tile, const TileArray &local,
                              const polyhedral::Context &context,
                              const polyhedral::Map &footprint) {
  MLIRContext *mlirContext = local.op.getContext();
  unsigned numLoops = tile.getNumLoops();
  unsigned numParams = local.op->getParentOfType<KernelOp>().getNumParameters();
  unsigned numDims = numLoops + local.box.offsets.size();
  SmallVector<AffineExpr> indices;
  for (unsigned dim = 0; dim < numDims; ++dim) {
    AffineExpr self = getAffineDimExpr(dim, mlirContext);
    indices.push_back(
        dim < numLoops ? self : self - local.box.offsets[dim - numLoops]);
  }
  polyhedral::Map toLocal = polyhedral::Map::get(
      context, numParams,
      AffineMap::get(numDims, numParams, indices, mlirContext));
  polyhedral::Set points = toLocal.apply(footprint.toSet()).simplify();
  std::optional<SmallVector<IntegerSet>> sets =
      points ? points.toIntegerSets(mlirContext) : std::nullopt;
  if (!sets)
    return refuseUnknown(context);
  return *sets;
}

void espalier::poly::setAccess(ComputeOp compute, TileAccess kind,
                               unsigned number, ArrayOp array, AffineMap map) {
  bool isRead = kind == TileAccess::Read;
  ArrayAttr old = isRead ? compute.getReadMaps() : compute.getWriteMaps();
  SmallVector<Attribute> maps(old.begin(), old.end());
  maps[number] = AffineMapAttr::get(map);
  auto list = ArrayAttr::get(compute.getContext(), maps);
  if (isRead) {
    compute.getReadsMutable()[number].set(array.getArray());
    compute.setReadMapsAttr(list);
  } else {
    compute.getWritesMutable()[number].set(array.getArray());
    compute.setWriteMapsAttr(list);
  }
}

void espalier::poly::redirect(const Tile &tile, ComputeOp compute, Value array,
                              const TileArray &local,
                              ArrayRef<TileAccess> kinds) {
  AffineMap loops = tile.maps[tile.getNumber(compute)];
  for (TileAccess kind : kinds)
    for (auto [number, access] : llvm::enumerate(getAccesses(compute, kind)))
      if (access.array == array)
        setAccess(compute, kind, number, local.op,
                  local.getMap(loops, access.map));
}

void espalier::poly::nameDims(const Tile &tile, ComputeOp compute,
                              ArrayRef<StringAttr> others) {
  SmallVector<Attribute> names(tile.loops.begin(), tile.loops.end());
  names.append(others.begin(), others.end());
  for (unsigned number = 0; names.size() < compute.getNumDims(); ++number) {
    auto name = StringAttr::get(compute.getContext(), "e" + Twine(number));
    if (!llvm::is_contained(names, name))
      names.push_back(name);
  }
  compute.setDimsAttr(ArrayAttr::get(compute.getContext(), names));
}
