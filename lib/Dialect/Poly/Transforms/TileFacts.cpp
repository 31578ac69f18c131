//===- TileFacts.cpp - What data decides about tiles ----------------------===//

#include "TileFacts.h"
#include "Hints.h"
#include "espalier/Polyhedral/ReadValues.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

TileFacts::TileFacts(const polyhedral::Context &context, const Tile &tile,
                     Value array, ArrayRef<ComputeOp> users)
    : context(context), tile(tile), array(array), users(users),
      model(buildModel(ComputeOp(users.front()).getKernel())) {}

static constexpr TileAccess kBothKinds[] = {TileAccess::Read,
                                            TileAccess::Write};

bool TileFacts::forEachUseOf(ComputeOp compute, ArrayRef<TileAccess> kinds,
                             llvm::function_ref<bool(AffineMap)> visit) const {
  return llvm::all_of(kinds, [&](TileAccess kind) {
    return llvm::all_of(getAccesses(compute, kind),
                        [&](const ComputeAccess &access) {
                          return access.array != array || visit(access.map);
                        });
  });
}

bool TileFacts::forEachUse(
    llvm::function_ref<bool(ComputeOp, AffineMap)> visit) const {
  return llvm::all_of(users, [&](ComputeOp user) {
    return forEachUseOf(user, kBothKinds,
                        [&](AffineMap map) { return visit(user, map); });
  });
}

bool TileFacts::isIndexedByData(ComputeOp compute,
                                ArrayRef<TileAccess> kinds) const {
  return !forEachUseOf(compute, kinds, [&](AffineMap map) {
    return map.getNumSymbols() <= model.program.numParams ||
           bool(getFootprint(context, tile, compute, map));
  });
}

polyhedral::Map TileFacts::getElementsOfData(ComputeOp compute,
                                             AffineMap map) const {
  unsigned numDims = compute.getNumDims();
  polyhedral::ReadValues values(context, model.program,
                                {{getNumber(compute), map.getResults()}});
  polyhedral::Set running = values.getSet().intersect(
      getDomain(context, compute).insertDims(numDims, values.size()));
  polyhedral::Map elements =
      polyhedral::Map::get(context, model.program.numParams, values.get(map, 0))
          .intersectDomain(running);
  polyhedral::Map points = polyhedral::Map::get(
      elements.toSet().project(numDims, values.size()), numDims);
  return getTiles(compute).inverse().compose(points);
}

llvm::Expected<polyhedral::Map>
TileFacts::getElements(ArrayRef<TileAccess> kinds) const {
  polyhedral::Union<polyhedral::Map> elements;
  ComputeOp unknown;
  llvm::all_of(users, [&](ComputeOp user) {
    return forEachUseOf(user, kinds, [&](AffineMap map) {
      polyhedral::Map own = getFootprint(context, tile, user, map);
      if (!own && context.getError().empty())
        own = getElementsOfData(user, map);
      if (!own)
        unknown = user;
      else
        elements.add(own);
      return bool(own);
    });
  });
  if (unknown && context.getError().empty())
    return refuse("expects accesses to " + describeArray(array) +
                  " that are affine in what is read in arrays that nobody "
                  "writes, but those of " +
                  quote(unknown) + " are not");
  if (unknown || elements.isUnknown())
    return refuseUnknown(context);
  return elements.get();
}

polyhedral::Map TileFacts::getTilesOf(ComputeOp compute, AffineMap map) const {
  polyhedral::Union<polyhedral::Map> tiles;
  forEachUse([&](ComputeOp user, AffineMap use) {
    tiles.add(polyhedral::getMeetings(context, model.program,
                                      getNumber(compute), map, getNumber(user),
                                      use)
                  .compose(getTiles(user)));
    return true;
  });
  return tiles.get();
}

bool TileFacts::useElementsOnce() const {
  return forEachUse([&](ComputeOp first, AffineMap here) {
    return forEachUse([&](ComputeOp second, AffineMap there) {
      polyhedral::Map same =
          polyhedral::getMeetings(context, model.program, getNumber(first),
                                  here, getNumber(second), there);
      polyhedral::Map tiles =
          getTiles(first).inverse().compose(same).compose(getTiles(second));
      SmallVector<AffineExpr> loops;
      for (unsigned loop = 0; loop < tile.getNumLoops(); ++loop)
        loops.push_back(getAffineDimExpr(loop, first->getContext()));
      polyhedral::Map equal = polyhedral::Map::get(
          context, model.program.numParams,
          AffineMap::get(loops.size(), model.program.numParams, loops,
                         first->getContext()));
      return tiles.isSubset(equal).value_or(false);
    });
  });
}

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

bool TileFacts::runTileByTile() const {
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

polyhedral::Map TileFacts::getExposed(ComputeOp reader, unsigned number) const {
  AffineMap read = reader.getReadAccesses()[number].map;
  unsigned numDims = reader.getNumDims();
  polyhedral::ReadValues values(context, model.program,
                                {{getNumber(reader), read.getResults()}});
  polyhedral::Set running = values.getSet().intersect(
      getDomain(context, reader).insertDims(numDims, values.size()));
  polyhedral::Map exposed = polyhedral::Map::get(
      context, model.program.numParams, values.get(read, 0));
  exposed = exposed.intersectDomain(running);
  for (ComputeOp writer : users)
    for (const ComputeAccess &write : writer.getWriteAccesses()) {
      if (write.array != array)
        continue;
      polyhedral::Map before = getTiles(writer)
                                   .compose(getTiles(reader).inverse())
                                   .intersect(getOrder(writer, reader))
                                   .inverse();
      polyhedral::Map written = getMap(writer, write.map);
      if (!written) {
        // Data says which element is written: that which is read.
        for (AffineMap point :
             values.findSources(getNumber(writer), write.map, read))
          exposed = exposed.subtract(
              exposed.intersectDomain(getMap(reader, point)
                                          .intersect(before)
                                          .domain()
                                          .insertDims(numDims, values.size())));
        continue;
      }
      before = polyhedral::Map::get(
          before.toSet().insertDims(numDims, values.size()),
          numDims + values.size());
      before = before.intersect(values.getImplied(getNumber(writer)));
      exposed = exposed.subtract(before.compose(written));
    }
  return exposed;
}

llvm::Error TileFacts::checkReads() const {
  for (ComputeOp reader : users)
    for (auto [number, read] : llvm::enumerate(reader.getReadAccesses()))
      if (read.array == array &&
          !getExposed(reader, number).isEmpty().value_or(false))
        return refuse("expects each iteration of \"" +
                      tile.loops.back().getValue() +
                      "\" to write what it reads of " + describeArray(array) +
                      " before, but read " + Twine(number) + " of " +
                      quote(reader) + " takes what others wrote");
  return llvm::Error::success();
}
