//===- Box.cpp - Boxes that hold what tiles touch -------------------------===//
//
// One dimension of the images at a time: the constraints of the hull give lower
// and upper bounds over the tile and the parameters. A pair of bounds whose
// difference does not depend on the tile is a side of the box:
//
//   32 t <= x,  0 <= x,  x <= 32 t + 33,  x <= N - 1      ->  [32 t, +34)
//
//===----------------------------------------------------------------------===//

#include "espalier/Polyhedral/Box.h"
#include "Isl.h"
#include "Question.h"
#include <isl/constraint.h>

using namespace mlir;
using namespace espalier::polyhedral;

namespace {
/// Bounds of the last dimension of a set, over the others.
struct Bounds {
  llvm::SmallVector<AffineExpr> lower, upper;
};
} // namespace

static void addBound(MLIRContext *context, isl_constraint *constraint,
                     unsigned dim, Bounds &bounds) {
  isl::Aff aff(isl_constraint_get_aff(constraint));
  auto factor = isl::toInt(isl::Val(
      isl_constraint_get_coefficient_val(constraint, isl_dim_set, dim)));
  AffineExpr all = isl::toExpr(aff, context);
  if (!factor || *factor == 0 || !all)
    return;
  // factor * x + rest >= 0
  AffineExpr self = getAffineDimExpr(dim, context);
  AffineExpr rest = all.replace(self, getAffineConstantExpr(0, context));
  if (rest.isFunctionOfDim(dim))
    return;
  bool isEquality = isl_constraint_is_equality(constraint) == isl_bool_true;
  AffineExpr least =
      *factor > 0 ? (-rest).ceilDiv(*factor) : rest.ceilDiv(-*factor);
  AffineExpr most =
      *factor > 0 ? (-rest).floorDiv(*factor) : rest.floorDiv(-*factor);
  if (*factor > 0 || isEquality)
    bounds.lower.push_back(least);
  if (*factor < 0 || isEquality)
    bounds.upper.push_back(most);
}

/// Bounds of dimension `dim`, the last one, that constraints of `hull` give.
static Bounds getBounds(MLIRContext *context, const isl::BasicSet &hull,
                        unsigned dim) {
  Bounds bounds;
  isl_constraint_list *list = isl_basic_set_get_constraint_list(hull.get());
  for (isl_size i = 0, e = isl_constraint_list_size(list); i < e; ++i) {
    isl_constraint *constraint = isl_constraint_list_get_constraint(list, i);
    addBound(context, constraint, dim, bounds);
    isl_constraint_free(constraint);
  }
  isl_constraint_list_free(list);
  return bounds;
}

/// Chooses the pair of bounds that makes the best side: the shortest of
/// constant length, else one whose length the parameters give.
static bool addSide(const Bounds &bounds, unsigned numDims, unsigned numParams,
                    Box &box) {
  AffineExpr bestOffset, bestExtent;
  for (AffineExpr lower : bounds.lower)
    for (AffineExpr upper : bounds.upper) {
      AffineExpr extent =
          simplifyAffineExpr(upper - lower + 1, numDims, numParams);
      if (!extent.isSymbolicOrConstant())
        continue;
      auto number = dyn_cast<AffineConstantExpr>(extent);
      auto best = dyn_cast_or_null<AffineConstantExpr>(bestExtent);
      if (bestExtent &&
          (!number || (best && best.getValue() <= number.getValue())))
        continue;
      bestOffset = simplifyAffineExpr(lower, numDims, numParams);
      bestExtent = extent;
    }
  if (!bestExtent)
    return false;
  box.offsets.push_back(bestOffset);
  box.extents.push_back(bestExtent);
  return true;
}

/// A convex set around `points`, without existentials.
static isl::BasicSet getHull(const Set &points) {
  isl::Question question(isl_set_get_ctx(points.get()));
  Set simple = points.simplify();
  return isl::BasicSet(
      isl_set_simple_hull(isl_set_remove_divs(isl_set_copy(simple.get()))));
}

/// The images' coordinates in one dimension.
static Map getSide(const Map &map, unsigned dim) {
  unsigned numOut = isl_map_dim(map.get(), isl_dim_out);
  isl_map *single = isl_map_project_out(isl_map_copy(map.get()), isl_dim_out,
                                        dim + 1, numOut - dim - 1);
  return Map(isl_map_project_out(single, isl_dim_out, 0, dim));
}

std::optional<Box> espalier::polyhedral::getBoundingBox(MLIRContext *context,
                                                        const Map &map) {
  if (!map)
    return std::nullopt;
  unsigned numIn = isl_map_dim(map.get(), isl_dim_in);
  unsigned numOut = isl_map_dim(map.get(), isl_dim_out);
  unsigned numParams = isl_map_dim(map.get(), isl_dim_param);
  Box box;
  for (unsigned dim = 0; dim < numOut; ++dim) {
    Map side = getSide(map, dim);
    Bounds moving = getBounds(context, getHull(side.toSet()), numIn);
    if (addSide(moving, numIn + 1, numParams, box))
      continue;
    // The same for all tiles.
    Bounds fixed = getBounds(context, getHull(side.range()), 0);
    if (!addSide(fixed, 1, numParams, box))
      return std::nullopt;
  }
  return box;
}

std::optional<Box> espalier::polyhedral::getBoundingBox(MLIRContext *context,
                                                        const Set &set) {
  return getBoundingBox(context,
                        Map(isl_map_from_range(isl_set_copy(set.get()))));
}

Map espalier::polyhedral::fillHoles(const Map &map) {
  if (!map)
    return map;
  isl::Question question(isl_map_get_ctx(map.get()));
  isl_map *known = isl_map_coalesce(isl_map_copy(map.get()));
  if (isl_map_n_basic_map(known) == 1) {
    isl_map_free(known);
    return map;
  }
  Map hull(
      isl_map_from_basic_map(isl_map_simple_hull(isl_map_remove_divs(known))));
  hull = hull.intersectDomain(map.domain().simplify());
  for (unsigned dim = 0; dim < unsigned(isl_map_dim(map.get(), isl_dim_out));
       ++dim) {
    // Between the images of the same point, in each dimension.
    Map own = getSide(map, dim);
    isl_space *space = isl_space_range(isl_map_get_space(own.get()));
    Map above = own.compose(Map(isl_map_lex_le(isl_space_copy(space))));
    Map below = own.compose(Map(isl_map_lex_ge(space)));
    if (!getSide(hull, dim).isSubset(above.intersect(below)).value_or(false))
      return map;
  }
  return hull;
}
