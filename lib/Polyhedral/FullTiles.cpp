//===- FullTiles.cpp - Tiles that no domain cuts --------------------------===//

#include "FullTiles.h"

using namespace mlir;
using namespace espalier::polyhedral;

namespace {
/// Dimension `dim` is cut into pieces of `size`.
struct TileDim {
  unsigned dim;
  int64_t size;
};
} // namespace

/// Recognizes `d floordiv c` and `(d mod n * c) floordiv c`.
static std::optional<TileDim> getTileDim(AffineExpr expr) {
  auto quotient = dyn_cast<AffineBinaryOpExpr>(expr);
  if (!quotient || expr.getKind() != AffineExprKind::FloorDiv)
    return std::nullopt;
  auto size = dyn_cast<AffineConstantExpr>(quotient.getRHS());
  if (!size || size.getValue() < 2)
    return std::nullopt;
  AffineExpr inner = quotient.getLHS();
  if (auto rest = dyn_cast<AffineBinaryOpExpr>(inner);
      rest && inner.getKind() == AffineExprKind::Mod) {
    auto outerSize = dyn_cast<AffineConstantExpr>(rest.getRHS());
    if (!outerSize || outerSize.getValue() % size.getValue() != 0)
      return std::nullopt;
    inner = rest.getLHS();
  }
  auto dim = dyn_cast<AffineDimExpr>(inner);
  if (!dim)
    return std::nullopt;
  return TileDim{dim.getPosition(), size.getValue()};
}

/// From a point of `space` to the points of the same tile.
static isl::MapPtr getSameTile(const isl::Space &space, unsigned numDims,
                               llvm::ArrayRef<TileDim> tiles,
                               MLIRContext *context) {
  isl::MapPtr result(isl_map_universe(isl_space_map_from_set(space.copy())));
  for (unsigned dim = 0; dim < numDims; ++dim) {
    const auto *tile = llvm::find_if(
        tiles, [&](const TileDim &tile) { return tile.dim == dim; });
    if (tile == tiles.end()) {
      result = isl::MapPtr(
          isl_map_equate(result.take(), isl_dim_in, dim, isl_dim_out, dim));
      continue;
    }
    AffineExpr number = getAffineDimExpr(dim, context).floorDiv(tile->size);
    isl::MapPtr tileOf(isl_map_from_aff(isl::toAff(space, number).take()));
    result = isl::MapPtr(isl_map_intersect(
        result.take(),
        isl_map_apply_range(tileOf.copy(), isl_map_reverse(tileOf.copy()))));
  }
  return result;
}

/// From the points of a statement to the values of some loops.
static isl::MapPtr getSchedule(const isl::Space &space,
                               llvm::ArrayRef<AffineExpr> loops) {
  isl_map *result = isl_map_from_domain_and_range(
      isl_set_universe(space.copy()),
      isl_set_universe(isl_space_add_dims(
          isl_space_set_from_params(isl_space_params(space.copy())),
          isl_dim_set, 0)));
  for (AffineExpr loop : loops)
    result = isl_map_flat_range_product(
        result, isl_map_from_aff(isl::toAff(space, loop).take()));
  return isl::MapPtr(result);
}

isl::SetPtr espalier::polyhedral::getFullTiles(const Context &context,
                                               const Program &program,
                                               llvm::ArrayRef<Path> paths,
                                               const ScheduleNode *band) {
  isl::SetPtr all, partial;
  auto collect = [](isl::SetPtr &into, isl_set *tiles) {
    into = isl::SetPtr(into ? isl_set_union(into.take(), tiles) : tiles);
  };
  for (const Path &path : paths) {
    llvm::SmallVector<AffineExpr> outer, own;
    for (const Level &level : path.levels) {
      if (level.node == band)
        own.push_back(level.expr);
      else if (own.empty() && level.isBand())
        outer.push_back(level.expr);
    }
    if (own.empty())
      continue;

    const Statement &statement = program.statements[path.statement];
    isl::Space space =
        isl::makeSpace(context.get(), program.numParams, statement.numDims);
    isl::SetPtr domain(
        isl_set_intersect(isl::toDomain(space, statement).take(),
                          isl::getAssumptions(space, program).take()));
    for (IntegerSet filter : path.filters)
      domain = isl::SetPtr(
          isl_set_intersect(domain.take(), isl::toSet(space, filter).take()));
    isl::MapPtr tileOf(isl_map_range_product(getSchedule(space, outer).take(),
                                             getSchedule(space, own).take()));
    collect(all, isl_set_apply(domain.copy(), tileOf.copy()));

    llvm::SmallVector<TileDim> tiles;
    for (AffineExpr loop : own)
      if (std::optional<TileDim> tile = getTileDim(loop))
        tiles.push_back(*tile);
    isl_map *leaves =
        getSameTile(space, statement.numDims, tiles, program.context).take();
    leaves = isl_map_intersect_domain(leaves, domain.copy());
    leaves = isl_map_intersect_range(leaves, isl_set_complement(domain.copy()));
    collect(partial, isl_set_apply(isl_map_domain(leaves), tileOf.copy()));
  }
  isl_set *full = isl_set_subtract(all.take(), partial.take());
  return isl::SetPtr(isl_set_coalesce(full));
}
