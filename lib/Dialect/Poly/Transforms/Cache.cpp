//===- Cache.cpp - Local copies of what a tile touches --------------------===//

#include "Tile.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "mlir/IR/Builders.h"
#include "llvm/Support/ScopedPrinter.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// The memref of an access of `compute`, or a refusal that lists them.
static llvm::Expected<Value> getAccessed(ComputeOp compute, OperandRange arrays,
                                         StringRef what, unsigned number) {
  if (number < arrays.size())
    return arrays[number];
  std::string legal;
  llvm::raw_string_ostream os(legal);
  for (auto [position, array] : llvm::enumerate(arrays))
    os << (position ? ", " : "") << what << " " << position << " ("
       << describeArray(array) << ")";
  return refuse("expects a " + what + " of " + quote(compute) + ", one of [" +
                legal + "], but got " + Twine(number));
}

/// A computation that copies one element at each point.
static ComputeOp createCopy(OpBuilder &builder, Location loc, const Twine &name,
                            ArrayRef<IntegerSet> domain,
                            const ComputeAccess &from,
                            const ComputeAccess &to) {
  KernelOp kernel = cast<KernelOp>(builder.getInsertionBlock()->getParentOp());
  return ComputeOp::create(
      builder, loc, getFreeName(kernel, name), domain, from, to, std::nullopt,
      [](OpBuilder &body, Location loc, ValueRange values) {
        YieldOp::create(body, loc, values);
      });
}

/// The elements of `array` that the tile's computations read, per tile.
static llvm::Expected<polyhedral::Map>
getReadFootprint(const polyhedral::Context &context, const Tile &tile,
                 Value array) {
  polyhedral::Map footprint;
  for (ComputeOp compute : tile.computes)
    for (auto [number, access] : llvm::enumerate(compute.getReadAccesses())) {
      if (access.array != array)
        continue;
      polyhedral::Map own = getFootprint(context, tile, compute, access.map);
      if (!own)
        return refuse("expects affine accesses to " + describeArray(array) +
                      ", but read " + Twine(number) + " of " + quote(compute) +
                      " is " + llvm::to_string(access.map));
      footprint = footprint ? footprint.unite(own) : own;
    }
  return footprint;
}

/// Lets `compute` read the local array where it reads `array`.
static void redirectReads(const Tile &tile, ComputeOp compute, Value array,
                          const LocalArray &local) {
  AffineMap loops = tile.maps[tile.getNumber(compute)];
  for (auto [number, access] : llvm::enumerate(compute.getReadAccesses()))
    if (access.array == array)
      setAccess(compute, AccessKind::Read, number, local.op,
                local.getMap(loops, access.map));
}

/// Refuses if a computation writes elements of `array` after a copy before
/// `readers` would take them, and before `readers` use them.
static llvm::Error checkUnchanged(KernelOp kernel, Value array,
                                  ArrayRef<ComputeOp> readers) {
  KernelModel model = buildModel(kernel);
  unsigned number = llvm::find(model.arrays, array) - model.arrays.begin();
  for (polyhedral::Statement &statement : model.program.statements)
    for (auto *accesses : {&statement.reads, &statement.writes})
      llvm::erase_if(*accesses, [&](const polyhedral::Access &access) {
        return access.array != number;
      });
  polyhedral::Context context;
  llvm::Expected<std::vector<polyhedral::Dependence>> dependences =
      polyhedral::computeDependences(context, model.program);
  if (!dependences)
    return dependences.takeError();
  ComputeOp begin = getGroupBegin(readers.front());
  for (const polyhedral::Dependence &dependence : *dependences) {
    ComputeOp writer = model.computes[dependence.source];
    ComputeOp reader = model.computes[dependence.sink];
    if (dependence.kind == polyhedral::DependenceKind::Flow &&
        llvm::is_contained(readers, reader) && !writer->isBeforeInBlock(begin))
      return refuse("expects " + describeArray(array) +
                    " to stay as it is from the copy to its uses, but " +
                    quote(writer) + " writes what " + quote(reader) + " reads");
  }
  return llvm::Error::success();
}

static llvm::Expected<LocalCopy> cacheReadIn(ComputeOp compute, unsigned read,
                                             StringRef loop,
                                             const LocalOptions &options) {
  KernelOp kernel = compute.getKernel();
  llvm::Expected<Value> array =
      getAccessed(compute, compute.getReads(), "read", read);
  if (!array)
    return array.takeError();
  llvm::Expected<Tile> tile = getTile(compute, loop);
  if (!tile)
    return tile.takeError();
  SmallVector<ComputeOp> readers =
      llvm::filter_to_vector(tile->computes, [&](ComputeOp op) {
        return llvm::is_contained(op.getReads(), *array);
      });
  if (llvm::Error error = checkUnchanged(kernel, *array, readers))
    return error;
  polyhedral::Context context;
  llvm::Expected<polyhedral::Map> footprint =
      getReadFootprint(context, *tile, *array);
  if (!footprint)
    return footprint.takeError();
  llvm::Expected<LocalArray> local =
      makeLocalArray(*tile, *array, context, *footprint, options);
  if (!local)
    return local.takeError();
  llvm::Expected<SmallVector<IntegerSet>> domain =
      getCopyDomain(*tile, *local, context, polyhedral::fillHoles(*footprint));
  if (!domain)
    return domain.takeError();

  OpBuilder builder(kernel.getContext());
  setInsertionPoint(builder, readers, Side::Before);
  CopyAccesses accesses = getCopyAccesses(*tile, *array, *local);
  ComputeOp copy = createCopy(builder, compute.getLoc(),
                              compute.getSymName() + "_in" + Twine(read),
                              *domain, accesses.global, accesses.local);
  nameDims(*tile, copy);
  for (ComputeOp reader : readers)
    redirectReads(*tile, reader, *array, *local);
  addToTile(*tile, copy, readers, Side::Before);
  return LocalCopy{local->op, copy, {}};
}

llvm::Expected<LocalCopy>
espalier::poly::cacheRead(ComputeOp compute, unsigned read, StringRef loop,
                          const LocalOptions &options) {
  LocalCopy result;
  llvm::Error error = applyTo(compute, [&](ComputeOp target) -> llvm::Error {
    return cacheReadIn(target, read, loop, options).moveInto(result);
  });
  if (error)
    return std::move(error);
  return result;
}
