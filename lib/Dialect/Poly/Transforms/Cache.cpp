//===- Cache.cpp - Local copies of what a tile touches --------------------===//

#include "Edits.h"
#include "Hints.h"
#include "PartialReduction.h"
#include "TileFacts.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// The memref of an access of `compute`, or a refusal that lists them.
static llvm::Expected<Value> getAccessed(ComputeOp compute, OperandRange arrays,
                                         StringRef what, uint64_t number) {
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

static ArrayRef<TileAccess> getBothKinds() {
  static const TileAccess kinds[] = {TileAccess::Read, TileAccess::Write};
  return kinds;
}

/// The computations of the tile that use `array`.
static SmallVector<ComputeOp> getUsers(const Tile &tile, Value array,
                                       ArrayRef<TileAccess> kinds) {
  return llvm::filter_to_vector(tile.computes, [&](ComputeOp op) {
    return llvm::any_of(kinds, [&](TileAccess kind) {
      return llvm::any_of(
          getAccesses(op, kind),
          [&](const ComputeAccess &access) { return access.array == array; });
    });
  });
}

//===----------------------------------------------------------------------===//
// Reads
//===----------------------------------------------------------------------===//

/// `, as for @writer(0, 1) and @reader(0, 2)`: two points of a dependence.
static std::string describePair(const polyhedral::Dependence &dependence,
                                ComputeOp writer, ComputeOp reader) {
  std::optional<SmallVector<int64_t>> pair =
      dependence.relation.toSet().samplePoint();
  if (!pair)
    return "";
  std::string text;
  llvm::raw_string_ostream os(text);
  ArrayRef<int64_t> values =
      ArrayRef(*pair).take_back(writer.getNumDims() + reader.getNumDims());
  os << ", as for " << quote(writer) << "(";
  llvm::interleaveComma(values.take_front(writer.getNumDims()), os);
  os << ") and " << quote(reader) << "(";
  llvm::interleaveComma(values.drop_front(writer.getNumDims()), os);
  os << ")";
  return text;
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
                    quote(writer) + " writes what " + quote(reader) + " reads" +
                    describePair(dependence, writer, reader));
  }
  return llvm::Error::success();
}

/// Adds a computation that copies the elements of `footprint` to the local
/// array before `uses`, or back after them; in program order together with
/// others in `numShared` dimensions, or, if none, with nothing else.
static llvm::Expected<ComputeOp>
addCopy(const polyhedral::Context &context, const Tile &tile, Value array,
        const TileArray &local, const polyhedral::Map &footprint,
        ArrayRef<ComputeOp> uses, TileSide side, const Twine &name,
        int64_t numShared = 0) {
  llvm::Expected<SmallVector<IntegerSet>> domain =
      getCopyDomain(tile, local, context, footprint);
  if (!domain)
    return domain.takeError();
  ComputeOp first = uses.front();
  CopyAccesses accesses = getCopyAccesses(tile, array, local);
  OpBuilder builder(first.getContext());
  if (numShared == 0)
    setInsertionPoint(builder, uses, side);
  else if (side == TileSide::Before)
    builder.setInsertionPoint(first);
  else
    builder.setInsertionPointAfter(uses.back());
  bool isIn = side == TileSide::Before;
  ComputeOp copy = createCopy(builder, first.getLoc(), name, *domain,
                              isIn ? accesses.global : accesses.local,
                              isIn ? accesses.local : accesses.global);
  nameDims(tile, copy);
  if (numShared > 0) {
    copy.setInterleaved(isIn ? first.getInterleaved() : numShared);
    if (isIn)
      first.setInterleaved(numShared);
  }
  addToTile(tile, copy, uses, side);
  return copy;
}

static llvm::Expected<LocalCopy> cacheReadIn(ComputeOp compute, uint64_t read,
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
  SmallVector<ComputeOp> readers = getUsers(*tile, *array, TileAccess::Read);
  if (llvm::Error error = checkUnchanged(kernel, *array, readers))
    return error;
  polyhedral::Context context;
  llvm::Expected<polyhedral::Map> footprint =
      TileFacts(context, *tile, *array, readers).getElements(TileAccess::Read);
  if (!footprint)
    return footprint.takeError();
  llvm::Expected<TileArray> local =
      makeLocalArray(*tile, *array, context, *footprint, options);
  if (!local)
    return local.takeError();
  // Reading more of what nobody writes makes no dependence.
  bool isConstant = llvm::none_of(kernel.getComputes(), [&](ComputeOp op) {
    return llvm::is_contained(op.getWrites(), *array);
  });
  llvm::Expected<ComputeOp> copy = addCopy(
      context, *tile, *array, *local,
      isConstant ? polyhedral::fillHoles(*footprint) : *footprint, readers,
      TileSide::Before, compute.getSymName() + "_in" + Twine(read));
  if (!copy)
    return copy.takeError();
  for (ComputeOp reader : readers)
    redirect(*tile, reader, *array, *local, TileAccess::Read);
  return LocalCopy{local->op, *copy, {}};
}

llvm::Expected<LocalCopy>
espalier::poly::cacheRead(ComputeOp compute, uint64_t read, StringRef loop,
                          const LocalOptions &options) {
  LocalCopy result;
  llvm::Error error = applyAt(
      compute, loop, [&](ComputeOp target, StringRef loop) -> llvm::Error {
        return cacheReadIn(target, read, loop, options).moveInto(result);
      });
  if (error)
    return std::move(error);
  return result;
}

//===----------------------------------------------------------------------===//
// Writes
//===----------------------------------------------------------------------===//

/// The number of dimensions in which copies for the tiles run together with
/// computations outside that `users` are interleaved with: the tiles' first
/// loops are these dimensions. Zero if there are none, or if that is not so.
static int64_t getNumShared(const Tile &tile, ArrayRef<ComputeOp> users) {
  SmallVector<ComputeOp> all =
      ComputeOp(users.front()).getKernel().getComputes();
  auto next = std::next(llvm::find(all, users.back()));
  int64_t shared =
      std::max(ComputeOp(users.front()).getInterleaved().value_or(0),
               next != all.end() ? next->getInterleaved().value_or(0) : 0);
  for (ComputeOp user : users)
    for (int64_t dim = 0; dim < shared; ++dim)
      if (dim >= tile.getNumLoops() ||
          tile.maps[tile.getNumber(user)].getResult(dim) !=
              getAffineDimExpr(dim, user.getContext()))
        return 0;
  return shared;
}

/// Refuses if a computation that is not one of `users` uses `array` while, in
/// program order, they do; or `numShared` of their dimensions are those of the
/// tile, and one is among them.
static llvm::Error checkAlone(ArrayRef<ComputeOp> users, Value array,
                              int64_t numShared) {
  ComputeOp begin =
      numShared > 0 ? ComputeOp(users.front()) : getGroupBegin(users.front());
  for (ComputeOp other : begin.getKernel().getComputes()) {
    bool isBetween = !other->isBeforeInBlock(begin) &&
                     (other->isBeforeInBlock(users.back()) ||
                      (numShared == 0 &&
                       getGroupBegin(other) == getGroupBegin(users.back())));
    bool uses = llvm::is_contained(other.getReads(), array) ||
                llvm::is_contained(other.getWrites(), array);
    if (isBetween && uses && !llvm::is_contained(users, other))
      return refuse("expects all uses of " + describeArray(array) +
                    " in the loop until it is copied back, but " +
                    quote(other) + " is outside");
  }
  return llvm::Error::success();
}

/// What `users` read of `array` before they have written it, per tile; a null
/// map if nothing. Of what data may keep a computation from writing, the old
/// value is read: all that it may write is copied back.
static llvm::Expected<polyhedral::Map>
getExposedReads(const polyhedral::Context &context, const Tile &tile,
                ArrayRef<ComputeOp> users, Value array) {
  polyhedral::Union<polyhedral::Map> exposed;
  TileFacts facts(context, tile, array, users);
  auto mayLeaveOut = [&](ComputeOp compute) {
    return compute.getWhere() ||
           facts.isIndexedByData(compute, TileAccess::Write);
  };
  for (ComputeOp user : users) {
    SmallVector<TileAccess> kinds{TileAccess::Read};
    if (mayLeaveOut(user))
      kinds.push_back(TileAccess::Write);
    llvm::Expected<polyhedral::Map> reads =
        TileFacts(context, tile, array, user).getElements(kinds);
    // Those of one group take turns.
    auto before =
        llvm::to_vector(llvm::make_filter_range(users, [&](ComputeOp other) {
          return other->isBeforeInBlock(getGroupBegin(user)) &&
                 !mayLeaveOut(other);
        }));
    llvm::Expected<polyhedral::Map> writes =
        getElements(context, tile, before, array, TileAccess::Write);
    if (!reads || !writes)
      return llvm::joinErrors(reads.takeError(), writes.takeError());
    if (!*reads)
      continue;
    polyhedral::Map rest = *writes ? reads->subtract(*writes) : *reads;
    if (!rest.isEmpty().value_or(false))
      exposed.add(rest);
  }
  if (exposed.isUnknown())
    return refuseUnknown(context);
  return exposed.get();
}

/// `compute` alone updates the elements, in several tiles.
static llvm::Expected<LocalCopy>
cacheUpdates(const Tile &tile, ComputeOp compute, ArrayRef<ComputeOp> users,
             Value array, const LocalOptions &options) {
  if (users.size() > 1 || !compute.getReduction())
    return refuse("expects all uses of an element of " + describeArray(array) +
                  " in one iteration of \"" + tile.loops.back().getValue() +
                  "\", unless they are the updates of one reduction");
  return makePartial(tile, compute, {}, {}, options);
}

llvm::Expected<LocalCopy>
espalier::poly::cacheWriteOf(ComputeOp compute, uint64_t write, StringRef loop,
                             const LocalOptions &options) {
  llvm::Expected<Value> array =
      getAccessed(compute, compute.getWrites(), "write", write);
  if (!array)
    return array.takeError();
  llvm::Expected<Tile> tile = getTile(compute, loop);
  if (!tile)
    return tile.takeError();
  SmallVector<ComputeOp> users = getUsers(*tile, *array, getBothKinds());
  polyhedral::Context context;
  TileFacts facts(context, *tile, *array, users);
  llvm::Expected<polyhedral::Map> footprint = facts.getElements(getBothKinds());
  if (!footprint)
    return footprint.takeError();
  if (!footprint->inverse().isSingleValued().value_or(false) &&
      !facts.useElementsOnce())
    return cacheUpdates(*tile, compute, users, *array, options);
  int64_t numShared = getNumShared(*tile, users);
  if (llvm::Error error = checkAlone(users, *array, numShared))
    return error;
  llvm::Expected<polyhedral::Map> in =
      getExposedReads(context, *tile, users, *array);
  llvm::Expected<polyhedral::Map> out = facts.getElements(TileAccess::Write);
  if (!in || !out)
    return llvm::joinErrors(in.takeError(), out.takeError());
  llvm::Expected<TileArray> local =
      makeLocalArray(*tile, *array, context, *footprint, options);
  if (!local)
    return local.takeError();
  LocalCopy result{local->op, {}, {}};
  if (*in)
    if (llvm::Error error =
            addCopy(context, *tile, *array, *local, *in, users,
                    TileSide::Before, compute.getSymName() + "_in", numShared)
                .moveInto(result.in))
      return error;
  if (llvm::Error error =
          addCopy(context, *tile, *array, *local, *out, users, TileSide::After,
                  compute.getSymName() + "_out", numShared)
              .moveInto(result.out))
    return error;
  for (ComputeOp user : users)
    redirect(*tile, user, *array, *local, getBothKinds());
  return result;
}

llvm::Expected<LocalCopy>
espalier::poly::cacheWrite(ComputeOp compute, uint64_t write, StringRef loop,
                           const LocalOptions &options) {
  LocalCopy result;
  llvm::Error error = applyAt(
      compute, loop, [&](ComputeOp target, StringRef loop) -> llvm::Error {
        return cacheWriteOf(target, write, loop, options).moveInto(result);
      });
  if (error)
    return std::move(error);
  return result;
}
