//===- Contract.cpp - Arrays for one iteration of a loop ------------------===//
//
//   for i: t[0] = a[i]; b[i] = t[0] + t[0]
//
// Each iteration uses what it has written itself, so each may have an array of
// its own: t[i, 0]. Its storage leaves i out, and holds the box of what one
// iteration uses. Then no dependence joins iterations any more, and a large
// array becomes a small one.
//
// That is so if each element is used in one iteration only. Elements may also
// be used in several, if these run one after the other in program order, and
// each writes all that it reads before it does.
//
//===----------------------------------------------------------------------===//

#include "../Hints.h"
#include "../Tile.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

namespace {
/// The uses of an array in tiles.
class TileUses {
public:
  TileUses(const Tile &tile, Value array, ArrayRef<ComputeOp> users)
      : tile(tile), array(array), users(users),
        kernel(ComputeOp(users.front()).getKernel()),
        model(buildModel(kernel)) {}

  /// Whether all uses of a tile come before those of later ones in program
  /// order.
  bool runTileByTile() const;
  /// Refuses if a tile reads elements that it has not written before, in
  /// program order.
  llvm::Error checkReads() const;

private:
  unsigned getNumber(ComputeOp compute) const {
    return llvm::find(model.computes, compute) - model.computes.begin();
  }
  polyhedral::Map getOrder(ComputeOp first, ComputeOp second) const {
    return polyhedral::getProgramOrder(context, model.program, getNumber(first),
                                       getNumber(second));
  }
  polyhedral::Map getMap(ComputeOp compute, AffineMap map) const {
    return polyhedral::Map::get(context, model.program.numParams, map)
        .intersectDomain(getDomain(context, compute));
  }
  polyhedral::Map getTiles(ComputeOp compute) const {
    return getMap(compute, tile.maps[tile.getNumber(compute)]);
  }

  polyhedral::Context context;
  const Tile &tile;
  Value array;
  ArrayRef<ComputeOp> users;
  mutable KernelOp kernel;
  KernelModel model;
};
} // namespace

/// Pairs of tiles, the first of which is later.
static polyhedral::Map getLater(const polyhedral::Context &context,
                                unsigned numLoops) {
  std::string from, to, text;
  llvm::raw_string_ostream os(text);
  for (unsigned i = 0; i < numLoops; ++i) {
    from += (i ? ", a" : "a") + std::to_string(i);
    to += (i ? ", b" : "b") + std::to_string(i);
  }
  os << "{ [" << from << "] -> [" << to << "] : ";
  for (unsigned i = 0; i < numLoops; ++i) {
    os << (i ? " or (" : "(");
    for (unsigned j = 0; j < i; ++j)
      os << "a" << j << " = b" << j << " and ";
    os << "a" << i << " > b" << i << ")";
  }
  os << " }";
  return polyhedral::Map::parse(context, text);
}

bool TileUses::runTileByTile() const {
  polyhedral::Map later = getLater(context, tile.getNumLoops());
  for (ComputeOp first : users)
    for (ComputeOp second : users) {
      polyhedral::Map wrong =
          getTiles(first).compose(later).compose(getTiles(second).inverse());
      if (!wrong.intersect(getOrder(first, second)).isEmpty().value_or(false))
        return false;
    }
  return true;
}

llvm::Error TileUses::checkReads() const {
  for (ComputeOp reader : users)
    for (auto [number, read] : llvm::enumerate(reader.getReadAccesses())) {
      if (read.array != array)
        continue;
      polyhedral::Map exposed = getMap(reader, read.map);
      for (ComputeOp writer : users)
        for (const ComputeAccess &write : writer.getWriteAccesses()) {
          // Data may keep it from writing.
          if (write.array != array || writer.getWhere())
            continue;
          polyhedral::Map before = getTiles(writer)
                                       .compose(getTiles(reader).inverse())
                                       .intersect(getOrder(writer, reader));
          exposed = exposed.subtract(
              before.inverse().compose(getMap(writer, write.map)));
        }
      if (!exposed.isEmpty().value_or(false))
        return refuse("expects each iteration of \"" +
                      tile.loops.back().getValue() +
                      "\" to write what it reads of " + describeArray(array) +
                      " before, but read " + Twine(number) + " of " +
                      quote(reader) + " takes what others wrote");
    }
  return llvm::Error::success();
}

static llvm::Error contractIn(ComputeOp compute, Value array, StringRef loop,
                              const LocalOptions &options) {
  llvm::Expected<LoopPosition> found = findLoop(compute, loop);
  if (!found)
    return found.takeError();
  llvm::Expected<Tile> tile = getTile(compute, loop);
  if (!tile)
    return tile.takeError();
  SmallVector<ComputeOp> users;
  for (ComputeOp op : compute.getKernel().getComputes()) {
    if (!llvm::is_contained(op.getReads(), array) &&
        !llvm::is_contained(op.getWrites(), array))
      continue;
    if (!llvm::is_contained(tile->computes, op))
      return refuse("expects all uses of " + describeArray(array) + " in \"" +
                    loop + "\", but " + quote(op) + " is outside");
    users.push_back(op);
  }
  const AccessKind both[] = {AccessKind::Read, AccessKind::Write};
  polyhedral::Context context;
  llvm::Expected<polyhedral::Map> elements =
      getElements(context, *tile, users, array, both);
  if (!elements)
    return elements.takeError();
  if (!elements->inverse().isSingleValued().value_or(false)) {
    TileUses uses(*tile, array, users);
    if (llvm::Error error = uses.checkReads())
      return error;
    if (!uses.runTileByTile())
      return refuse("expects iterations of \"" + loop +
                    "\" that use the same elements of " + describeArray(array) +
                    " to come one after the other in program order");
  }
  llvm::Expected<LocalArray> local =
      makeLocalArray(*tile, array, context, *elements, options);
  if (!local)
    return local.takeError();
  replaceArray(array.getDefiningOp<ArrayOp>(), *local);
  for (ComputeOp user : users)
    redirect(*tile, user, array, *local, both);
  return llvm::Error::success();
}

llvm::Error espalier::poly::contract(ComputeOp compute, uint64_t write,
                                     StringRef loop,
                                     const LocalOptions &options) {
  auto edit = [&](ComputeOp compute, StringRef loop) -> llvm::Error {
    if (write >= compute.getWrites().size())
      return refuse("expects one of the " + Twine(compute.getWrites().size()) +
                    " writes of " + quote(compute) + ", but got " +
                    Twine(write));
    Value array = compute.getWrites()[write];
    if (!array.getDefiningOp<ArrayOp>())
      return refuse("expects an array of the kernel, which nobody else sees, "
                    "but " +
                    describeArray(array) + " is an argument");
    return contractIn(compute, array, loop, options);
  };
  return applyAt(compute, loop, edit);
}
