//===- Privatize.cpp - Arrays for one iteration of a loop -----------------===//
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
// each writes all that it reads before it does. Where data decides which points
// run, a writer with the reader's conditions has run if the reader does. Where
// it decides which element is meant, as in t[v - level[l]], an iteration has
// all that may be, by what is stated of the data.
//
//===----------------------------------------------------------------------===//

#include "../Hints.h"
#include "../TileFacts.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

static llvm::Error privatizeIn(ComputeOp compute, Value array, StringRef loop,
                               const LocalOptions &options) {
  llvm::Expected<Tile> tile = getTileOfLoop(compute, loop);
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
  const TileAccess both[] = {TileAccess::Read, TileAccess::Write};
  polyhedral::Context context;
  TileFacts uses(context, *tile, array, users);
  llvm::Expected<polyhedral::Map> elements = uses.getElements(both);
  if (!elements)
    return elements.takeError();
  if (!elements->inverse().isSingleValued().value_or(false) &&
      !uses.useElementsOnce()) {
    if (llvm::Error error = uses.checkReads())
      return error;
    if (!uses.runTileByTile())
      return refuse("expects iterations of \"" + loop +
                    "\" that use the same elements of " + describeArray(array) +
                    " to come one after the other in program order");
  }
  llvm::Expected<TileArray> local =
      makeLocalArray(*tile, array, context, *elements, options);
  if (!local)
    return local.takeError();
  replaceArray(array.getDefiningOp<ArrayOp>(), *local);
  for (ComputeOp user : users)
    redirect(*tile, user, array, *local, both);
  return llvm::Error::success();
}

llvm::Error espalier::poly::privatize(ComputeOp compute, uint64_t write,
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
    return privatizeIn(compute, array, loop, options);
  };
  return applyAt(compute, loop, edit);
}
