//===- FullTiles.cpp - Tiles that no domain cuts --------------------------===//

#include "FullTiles.h"
#include "llvm/ADT/SmallBitVector.h"

using namespace mlir;
using namespace espalier::polyhedral;

/// Marks the dimensions that a division in `expr` keeps together.
static void addTiledDims(AffineExpr expr, llvm::SmallBitVector &dims) {
  expr.walk([&](AffineExpr part) {
    if (part.getKind() != AffineExprKind::FloorDiv)
      return;
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      if (part.isFunctionOfDim(dim))
        dims.set(dim);
  });
}

/// Marks the dimensions that loops tie to those marked: where `j + 2 * i` is
/// given, and `i` varies in its tile, so does `j`.
static void addTiedDims(llvm::ArrayRef<AffineExpr> loops,
                        llvm::SmallBitVector &dims) {
  auto getDims = [&](AffineExpr loop) {
    llvm::SmallBitVector own(dims.size());
    for (unsigned dim = 0; dim < dims.size(); ++dim)
      own[dim] = loop.isFunctionOfDim(dim);
    return own;
  };
  for (llvm::SmallBitVector before; before != dims;) {
    before = dims;
    for (AffineExpr loop : loops)
      if (llvm::SmallBitVector own = getDims(loop); own.anyCommon(dims))
        dims |= own;
  }
}

/// From a point to those that differ from it at most in `dims`.
static isl::MapPtr getNeighbours(const isl::Space &space,
                                 const llvm::SmallBitVector &dims) {
  isl::MapPtr result(isl_map_universe(isl_space_map_from_set(space.copy())));
  for (unsigned dim = 0; dim < dims.size(); ++dim)
    if (!dims.test(dim))
      result = isl::MapPtr(
          isl_map_equate(result.take(), isl_dim_in, dim, isl_dim_out, dim));
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
    // What leaves the domain within its tile.
    llvm::SmallBitVector tiled(statement.numDims);
    for (AffineExpr loop : own)
      addTiledDims(loop, tiled);
    addTiedDims(own, tiled);
    isl_map *leaves = getNeighbours(space, tiled).take();
    leaves = isl_map_intersect(
        leaves,
        isl_map_apply_range(tileOf.copy(), isl_map_reverse(tileOf.copy())));
    // Tiles of one point each are neither.
    isl::MapPtr same(isl_map_identity(isl_space_map_from_set(space.copy())));
    if (isl_map_is_subset(leaves, same.get()) == isl_bool_true) {
      isl_map_free(leaves);
      continue;
    }
    collect(all, isl_set_apply(domain.copy(), tileOf.copy()));
    leaves = isl_map_intersect_domain(leaves, domain.copy());
    leaves = isl_map_intersect_range(leaves, isl_set_complement(domain.copy()));
    collect(partial, isl_set_apply(isl_map_domain(leaves), tileOf.copy()));
  }
  if (!all)
    return isl::SetPtr();
  isl_set *full = isl_set_subtract(all.take(), partial.take());
  return isl::coalesce(isl::SetPtr(full));
}
