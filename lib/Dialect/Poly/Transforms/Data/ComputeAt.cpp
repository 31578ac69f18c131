//===- ComputeAt.cpp - Computing an array in the loops that use it --------===//
//
//   b[i] = a[i] + a[i + 1]               for each tile t of c:
//   c[i] = b[i] * b[i + 1]       ->        p[t, i] = a[i] + a[i + 1]
//                                          c[i]    = p[t, i] * p[t, i + 1]
//
// What a tile uses is made in the tile: the points of a producer become pairs
// of a tile and a point that it needs, as many times as there are tiles that
// need it. The new kernel means the same because each tile makes its elements
// as the old one did: all writes of an element are there, in their order, and
// what they read is the same at the new place.
//
// An array that others see too stays where it is. Then the producer's points
// only move, each to the first tile that uses what it writes.
//
//===----------------------------------------------------------------------===//

#include "../Hints.h"
#include "../LoopNest.h"
#include "../TileFacts.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

namespace {
/// What is to happen.
struct Request {
  ComputeOp producer, consumer;
  StringRef loop;
  LocalOptions options;
  Value array; ///< That the producer writes.
};

/// Moves the computations that write an array into the tiles that read it.
class Localizer {
public:
  Localizer(const Request &request, ArrayRef<ComputeOp> writers,
            ArrayRef<ComputeOp> readers)
      : request(request), kernel(ComputeOp(request.producer).getKernel()),
        numParams(kernel.getNumParameters()), writers(writers),
        readers(readers) {}

  llvm::Error run();

private:
  llvm::Error checkWriters();
  /// Refuses if what the writers read changes before the readers run.
  llvm::Error checkInputs();
  /// The points that each tile needs of `writer`, if that reads no elements but
  /// those that the tile makes.
  llvm::Expected<polyhedral::Map> getPoints(ComputeOp writer);
  /// Gives `writer` the tiles' loops as its first dimensions.
  llvm::Error rewrite(ComputeOp writer, const polyhedral::Map &points);

  polyhedral::Map getMap(AffineMap map) const {
    return polyhedral::Map::get(context, numParams, map);
  }

  const Request &request;
  mutable KernelOp kernel;
  unsigned numParams;
  SmallVector<ComputeOp> writers, readers;
  polyhedral::Context context;
  Tile tile;
  polyhedral::Map elements; ///< That each tile reads.
  TileArray local;
};
} // namespace

//===----------------------------------------------------------------------===//
// Recomputation
//===----------------------------------------------------------------------===//

llvm::Error Localizer::checkWriters() {
  ComputeOp begin = getGroupBegin(readers.front()), before;
  for (ComputeOp writer : writers) {
    if (writer.getWrites().size() != 1)
      return refuse("expects " + quote(writer) + " to write nothing but " +
                    describeArray(request.array));
    if (!writer->isBeforeInBlock(begin))
      return refuse("expects all computations that write " +
                    describeArray(request.array) + " before those that read " +
                    "it, but " + quote(writer) + " comes after " +
                    quote(begin));
  }
  for (ComputeOp compute : kernel.getComputes()) {
    bool isWriter = llvm::is_contained(writers, compute);
    if (compute.getInterleaved() &&
        isWriter != llvm::is_contained(writers, before))
      return refuse("expects " + quote(isWriter ? compute : before) +
                    " not to be interleaved with " +
                    quote(isWriter ? before : compute) +
                    ", which does not write " + describeArray(request.array));
    before = compute;
  }
  return llvm::Error::success();
}

llvm::Error Localizer::checkInputs() {
  KernelModel model = buildModel(kernel);
  ComputeOp begin = getGroupBegin(readers.front());
  for (auto [compute, statement] :
       llvm::zip_equal(model.computes, model.program.statements)) {
    if (llvm::is_contained(writers, compute))
      llvm::erase_if(statement.reads, [&](const polyhedral::Access &access) {
        return model.arrays[access.array] == request.array;
      });
    else
      statement.reads.clear();
    if (!compute->isBeforeInBlock(begin))
      statement.writes.clear();
  }
  llvm::Expected<std::vector<polyhedral::Dependence>> dependences =
      polyhedral::computeDependences(context, model.program);
  if (!dependences)
    return dependences.takeError();
  for (const polyhedral::Dependence &dependence : *dependences)
    if (dependence.kind == polyhedral::DependenceKind::Anti)
      return refuse("expects what " + quote(model.computes[dependence.source]) +
                    " reads to stay as it is until " + quote(readers.front()) +
                    " uses the result, but " +
                    quote(model.computes[dependence.sink]) + " writes " +
                    describeArray(model.arrays[dependence.array]) +
                    " in between");
  return llvm::Error::success();
}

llvm::Expected<polyhedral::Map> Localizer::getPoints(ComputeOp writer) {
  polyhedral::Map make = getMap(writer.getWriteAccesses().front().map);
  if (!make)
    return refuse("expects write 0 of " + quote(writer) + " to be affine");
  polyhedral::Map points = elements.compose(
      make.intersectDomain(getDomain(context, writer)).inverse());
  for (auto [number, read] : llvm::enumerate(writer.getReadAccesses())) {
    if (read.array != request.array)
      continue;
    polyhedral::Map use = getMap(read.map);
    if (!use || !points.compose(use).isSubset(elements).value_or(false))
      return refuse("expects each tile to make all that it uses of " +
                    describeArray(request.array) + ", but read " +
                    Twine(number) + " of " + quote(writer) +
                    " takes elements that the tile does not need otherwise");
  }
  return points;
}

/// Names for loops over `compute`'s dimensions inside a tile: like these, but
/// for those of which the tile has a loop, or a part of one.
static SmallVector<StringAttr> getInnerNames(const Tile &tile,
                                             ComputeOp compute) {
  SmallVector<StringAttr> names;
  auto isTaken = [&](StringAttr name) {
    return llvm::is_contained(names, name) ||
           llvm::any_of(tile.loops, [&](StringAttr loop) {
             return (loop.getValue() + ".")
                        .str()
                        .rfind((name.getValue() + ".").str(), 0) == 0;
           });
  };
  for (unsigned dim = 0; dim < compute.getNumDims(); ++dim) {
    StringAttr name = compute.getDimName(dim);
    std::string base = (name.getValue() + "." + compute.getSymName()).str();
    for (unsigned number = 0; isTaken(name); ++number)
      name = StringAttr::get(compute.getContext(),
                             number == 0 ? base
                                         : base + "." + std::to_string(number));
    names.push_back(name);
  }
  return names;
}

llvm::Error Localizer::rewrite(ComputeOp writer,
                               const polyhedral::Map &points) {
  MLIRContext *mlirContext = writer.getContext();
  unsigned numLoops = tile.getNumLoops();
  std::optional<SmallVector<IntegerSet>> domain =
      points.toSet().simplify().toIntegerSets(mlirContext);
  if (!domain)
    return refuse("cannot compute which points of " + quote(writer) +
                  " a tile needs: " +
                  (context.getError().empty() ? "numbers beyond 64 bits"
                                              : context.getError()));
  SmallVector<StringAttr> names = getInnerNames(tile, writer);
  unsigned numDims = numLoops + writer.getNumDims();
  SmallVector<AffineExpr> dims;
  for (unsigned loop = 0; loop < numLoops; ++loop)
    dims.push_back(getAffineDimExpr(loop, mlirContext));
  AffineMap loops = AffineMap::get(numDims, numParams, dims, mlirContext);
  auto shift = [&](ArrayRef<ComputeAccess> accesses) {
    SmallVector<Attribute> maps;
    for (const ComputeAccess &access : accesses) {
      AffineMap map = access.map.shiftDims(numLoops);
      maps.push_back(AffineMapAttr::get(
          access.array == request.array ? local.getMap(loops, map) : map));
    }
    return ArrayAttr::get(mlirContext, maps);
  };
  writer.setReadMapsAttr(shift(writer.getReadAccesses()));
  writer.setWriteMapsAttr(shift(writer.getWriteAccesses()));
  writer.setDomainAttr(ArrayAttr::get(
      mlirContext, llvm::map_to_vector(*domain, [](IntegerSet set) {
        return Attribute(IntegerSetAttr::get(set));
      })));
  if (std::optional<IntegerSet> where = writer.getWhere()) {
    SmallVector<AffineExpr> own;
    for (unsigned dim = 0; dim < where->getNumDims(); ++dim)
      own.push_back(getAffineDimExpr(numLoops + dim, mlirContext));
    writer.setWhereAttr(IntegerSetAttr::get(where->replaceDimsAndSymbols(
        own, {}, numDims, where->getNumSymbols())));
  }
  nameDims(tile, writer, names);
  writer.getBody().walk(
      [&](IndexOp index) { index.setDim(index.getDim() + numLoops); });
  if (std::optional<int64_t> shared = writer.getInterleaved())
    writer.setInterleaved(*shared + numLoops);
  writer->moveBefore(getGroupBegin(readers.front()));
  addToTile(tile, writer, readers, TileSide::Before);
  return llvm::Error::success();
}

llvm::Error Localizer::run() {
  if (llvm::Error error = checkWriters())
    return error;
  if (llvm::Error error = checkInputs())
    return error;
  for (ComputeOp writer : writers)
    removeFromSchedule(writer);
  llvm::Expected<Tile> found = getTile(request.consumer, request.loop);
  if (!found)
    return found.takeError();
  tile = *found;
  llvm::Expected<polyhedral::Map> read =
      getElements(context, tile, readers, request.array, TileAccess::Read);
  if (!read)
    return read.takeError();
  elements = *read;
  SmallVector<polyhedral::Map> points;
  for (ComputeOp writer : writers) {
    llvm::Expected<polyhedral::Map> own = getPoints(writer);
    if (!own)
      return own.takeError();
    points.push_back(*own);
  }
  llvm::Expected<TileArray> made =
      makeLocalArray(tile, request.array, context, elements, request.options);
  if (!made)
    return made.takeError();
  local = *made;
  replaceArray(request.array.getDefiningOp<ArrayOp>(), local);
  for (ComputeOp reader : readers)
    redirect(tile, reader, request.array, local, TileAccess::Read);
  for (auto [writer, own] : llvm::zip_equal(writers, points))
    if (llvm::Error error = rewrite(writer, own))
      return error;
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// Moving only
//===----------------------------------------------------------------------===//

/// Runs each point of the producer in the first tile that uses what it writes.
/// `why` says why it is not computed in several.
static llvm::Error moveIntoTile(const Request &request, const Twine &why) {
  ComputeOp producer = request.producer;
  if (request.options.layout || request.options.placement)
    return refuse("expects no layout and no placement for " +
                  describeArray(request.array) + ", which stays as it is, " +
                  "since " + why);
  unsigned numParams = producer.getKernel().getNumParameters();
  removeFromSchedule(producer);
  llvm::Expected<Tile> tile = getTile(request.consumer, request.loop);
  if (!tile)
    return tile.takeError();
  // It is no longer in the whole kernel's schedule either.
  if (unsigned number = tile->getNumber(producer);
      number < tile->computes.size()) {
    tile->computes.erase(tile->computes.begin() + number);
    tile->maps.erase(tile->maps.begin() + number);
  }
  SmallVector<ComputeOp> users =
      llvm::filter_to_vector(tile->computes, [&](ComputeOp op) {
        return llvm::is_contained(op.getReads(), request.array) ||
               llvm::is_contained(op.getWrites(), request.array);
      });
  if (users.empty())
    return refuse("expects a computation in \"" + request.loop +
                  "\" that uses what " + quote(producer) + " writes");
  polyhedral::Context context;
  llvm::Expected<polyhedral::Map> elements =
      getElements(context, *tile, users, request.array,
                  {TileAccess::Read, TileAccess::Write});
  if (!elements)
    return elements.takeError();
  polyhedral::Map make = polyhedral::Map::get(
      context, numParams, producer.getWriteAccesses().front().map);
  if (!make)
    return refuse("expects write 0 of " + quote(producer) + " to be affine");
  bool isByData =
      producer.getWhere() || llvm::any_of(users, [](ComputeOp user) {
        return user.getWhere().has_value();
      });
  polyhedral::Map tiles =
      isByData
          ? TileFacts(context, *tile, request.array, users)
                .getTilesOf(producer, producer.getWriteAccesses().front().map)
          : make.intersectDomain(getDomain(context, producer))
                .compose(elements->inverse());
  tiles = tiles.lexMin();
  std::optional<AffineMap> loops = tiles.toAffineMap(producer.getContext());
  // Points that nobody uses run where the function puts them.
  if (!loops)
    return refuse("expects a first use in \"" + request.loop +
                  "\" of each element that " + quote(producer) +
                  " writes, at an affine function of it, since " + why);
  FilterOp filter = addToTile(*tile, producer, users, TileSide::Before, *loops);
  if (auto band = dyn_cast_or_null<BandOp>(filter.getChild())) {
    SmallVector<StringAttr> names = getInnerNames(*tile, producer);
    band.setNamesAttr(
        ArrayAttr::get(producer.getContext(),
                       SmallVector<Attribute>(names.begin(), names.end())));
  }
  return llvm::Error::success();
}

//===----------------------------------------------------------------------===//
// The command
//===----------------------------------------------------------------------===//

static llvm::Error computeIn(const Request &request) {
  ComputeOp producer = request.producer, consumer = request.consumer;
  SmallVector<ComputeOp> writers, readers;
  for (ComputeOp op : producer.getKernel().getComputes()) {
    if (llvm::is_contained(op.getWrites(), request.array))
      writers.push_back(op);
    else if (llvm::is_contained(op.getReads(), request.array))
      readers.push_back(op);
  }
  llvm::Expected<LoopPosition> loop = findLoop(consumer, request.loop);
  if (!loop)
    return loop.takeError();
  if (consumer == producer)
    return refuse("expects two computations, but got " + quote(producer) +
                  " twice");
  std::string array = describeArray(request.array);
  if (!request.array.getDefiningOp<ArrayOp>())
    return moveIntoTile(request, array + " is an argument");
  if (llvm::is_contained(writers, consumer))
    return moveIntoTile(request, quote(consumer) + " writes " + array + " too");
  if (readers.empty())
    return refuse("expects a computation that reads what " + quote(producer) +
                  " writes");
  for (ComputeOp reader : readers)
    if (!loop->band.getMap(reader.getSymName()))
      return moveIntoTile(request, quote(reader) + " reads " + array +
                                       " outside of that loop");
  // Of interleaved computations, none can be made anew for each tile.
  for (ComputeOp writer : writers)
    if (readers.front().getInterleaved() &&
        getGroupBegin(writer) == getGroupBegin(readers.front()))
      return moveIntoTile(request, quote(writer) + " is interleaved with " +
                                       quote(readers.front()));
  return Localizer(request, writers, readers).run();
}

llvm::Error espalier::poly::computeAt(ComputeOp producer, ComputeOp consumer,
                                      StringRef loop,
                                      const LocalOptions &options) {
  if (producer.getKernel() != consumer.getKernel())
    return refuse("expects computations of one kernel");
  StringAttr consumerName = consumer.getSymNameAttr();
  auto edit = [&](ComputeOp producer, StringRef loop) -> llvm::Error {
    if (producer.getWrites().size() != 1)
      return refuse("expects " + quote(producer) +
                    " to write one array, but got " +
                    Twine(producer.getWrites().size()));
    return computeIn({producer,
                      producer.getKernel().lookupCompute(consumerName), loop,
                      options, producer.getWrites().front()});
  };
  return applyWithHint(
      producer, [&](ComputeOp producer) { return edit(producer, loop); },
      [&] {
        StringAttr name = producer.getSymNameAttr();
        return findLoops(consumer, "around " + quote(producer),
                         [&](ComputeOp copy, StringRef other) {
                           return edit(copy.getKernel().lookupCompute(name),
                                       other);
                         });
      });
}

//===----------------------------------------------------------------------===//
// Initializations
//===----------------------------------------------------------------------===//

/// The computation that starts what `compute` updates, or null.
static ComputeOp findInit(ComputeOp compute, Value array) {
  ComputeOp init;
  for (ComputeOp op : compute.getKernel().getComputes()) {
    if (op == compute)
      return init;
    if (llvm::is_contained(op.getWrites(), array))
      init = llvm::is_contained(op.getReads(), array) ? ComputeOp() : op;
  }
  return init;
}

static llvm::Error decomposeIn(ComputeOp compute, StringRef loop) {
  if (compute.getWrites().size() != 1 ||
      !llvm::is_contained(compute.getReads(), compute.getWrites().front()))
    return refuse("expects a computation that updates one array, but " +
                  quote(compute) + " does not");
  Value array = compute.getWrites().front();
  ComputeOp init = findInit(compute, array);
  if (!init || init.getWrites().size() != 1)
    return refuse("expects a computation before " + quote(compute) +
                  " that writes " + describeArray(array) +
                  ", and nothing else, without reading it");
  llvm::Expected<Tile> tile = getTileOfLoop(compute, loop);
  if (!tile)
    return tile.takeError();
  StringRef above = tile->getNumLoops() == 1
                        ? StringRef()
                        : tile->loops[tile->getNumLoops() - 2].getValue();
  return moveIntoTile({init, compute, above, {}, array},
                      quote(init) + " runs before \"" + loop + "\" only");
}

llvm::Error espalier::poly::decompose(ComputeOp compute, StringRef loop) {
  return applyAt(compute, loop, decomposeIn);
}
