//===- ToAffine.cpp - isl's sets and functions in MLIR's language ---------===//

#include "Isl.h"
#include "Question.h"
#include <isl/constraint.h>

using namespace mlir;
using namespace espalier::polyhedral;

namespace {
using BasicSetList = isl::Ptr<isl_basic_set_list, isl_basic_set_list_copy,
                              isl_basic_set_list_free>;
using ConstraintList = isl::Ptr<isl_constraint_list, isl_constraint_list_copy,
                                isl_constraint_list_free>;
} // namespace

/// Bringing a set to a form is several questions: for each of its parts, which
/// constraints follow from others.
static constexpr double kFormFactor = 4;

/// The values of parameters that are nonnegative.
static isl_set *getNonnegative(isl_space *space) {
  isl_set *known = isl_set_universe(isl_space_params(space));
  for (isl_size i = 0, e = isl_set_dim(known, isl_dim_param); i < e; ++i)
    known = isl_set_lower_bound_si(known, isl_dim_param, i, 0);
  return known;
}

Set Set::assumeNonnegativeParameters() const {
  return Set(isl_set_intersect_params(
      isl_set_copy(get()), getNonnegative(isl_set_get_space(get()))));
}

Set Set::simplify() const {
  isl::Question question(isl_set_get_ctx(get()), kFormFactor);
  isl_set *known = getNonnegative(isl_set_get_space(get()));
  isl_set *result = isl_set_copy(get());
  result = isl_set_detect_equalities(isl_set_compute_divs(result));
  result = isl_set_gist_params(result, known);
  return Set(
      isl_set_remove_redundancies(isl::coalesce(isl::SetPtr(result)).take()));
}

std::optional<llvm::SmallVector<IntegerSet>>
Set::toIntegerSets(MLIRContext *context) const {
  isl::Question question(isl_set_get_ctx(get()), kFormFactor);
  isl::SetPtr whole(isl_set_compute_divs(isl_set_copy(get())));
  if (!whole)
    return std::nullopt;
  unsigned numDims = isl_set_dim(whole.get(), isl_dim_set);
  unsigned numParams = isl_set_dim(whole.get(), isl_dim_param);
  BasicSetList parts(isl_set_get_basic_set_list(whole.get()));
  if (!parts)
    return std::nullopt;
  llvm::SmallVector<IntegerSet> sets;
  for (isl_size i = 0, e = isl_basic_set_list_size(parts.get()); i < e; ++i) {
    isl::BasicSet part(isl_basic_set_list_get_basic_set(parts.get(), i));
    ConstraintList list(isl_basic_set_get_constraint_list(part.get()));
    if (!list)
      return std::nullopt;
    llvm::SmallVector<AffineExpr> constraints;
    llvm::SmallVector<bool> isEqual;
    for (isl_size c = 0, n = isl_constraint_list_size(list.get()); c < n; ++c) {
      isl_constraint *constraint =
          isl_constraint_list_get_constraint(list.get(), c);
      isl::Aff aff(isl_constraint_get_aff(constraint));
      isEqual.push_back(isl_constraint_is_equality(constraint));
      isl_constraint_free(constraint);
      AffineExpr expr = isl::toExpr(aff, context);
      if (!expr)
        return std::nullopt;
      constraints.push_back(simplifyAffineExpr(expr, numDims, numParams));
    }
    // Without any constraint, MLIR wants one that always holds.
    if (constraints.empty()) {
      constraints.push_back(getAffineConstantExpr(0, context));
      isEqual.push_back(true);
    }
    sets.push_back(IntegerSet::get(numDims, numParams, constraints, isEqual));
  }
  if (sets.empty())
    sets.push_back(IntegerSet::getEmptySet(numDims, numParams, context));
  return sets;
}

Set Map::toSet() const {
  return Set(isl_set_flatten(isl_map_wrap(isl_map_copy(get()))));
}

/// The functions that give the images of a single-valued map, piece by piece.
static llvm::SmallVector<isl_multi_aff *> getPieces(isl_map *map) {
  llvm::SmallVector<isl_multi_aff *> pieces;
  isl_set *domain = isl_map_domain(isl_map_copy(map));
  isl_pw_multi_aff *function = isl_pw_multi_aff_gist(
      isl_pw_multi_aff_coalesce(isl_pw_multi_aff_from_map(isl_map_copy(map))),
      domain);
  isl_pw_multi_aff_foreach_piece(
      function,
      [](isl_set *set, isl_multi_aff *piece, void *user) {
        isl_set_free(set);
        static_cast<llvm::SmallVector<isl_multi_aff *> *>(user)->push_back(
            piece);
        return isl_stat_ok;
      },
      &pieces);
  isl_pw_multi_aff_free(function);
  return pieces;
}

/// `piece` as a map; null if its values are not whole numbers.
static AffineMap toMap(MLIRContext *context, isl_multi_aff *piece) {
  llvm::SmallVector<AffineExpr> results;
  for (isl_size i = 0, e = isl_multi_aff_dim(piece, isl_dim_out); i < e; ++i) {
    isl::Aff aff(isl_multi_aff_get_aff(piece, i));
    results.push_back(isl::toExpr(aff, context));
    if (!results.back())
      return {};
  }
  return simplifyAffineMap(AffineMap::get(
      isl_multi_aff_dim(piece, isl_dim_in),
      isl_multi_aff_dim(piece, isl_dim_param), results, context));
}

std::optional<AffineMap> Map::toAffineMap(MLIRContext *context) const {
  isl::Question question(isl_map_get_ctx(get()));
  if (!isSingleValued().value_or(false))
    return std::nullopt;
  std::optional<AffineMap> result;
  for (isl_multi_aff *piece : getPieces(get())) {
    Map graph(isl_map_from_multi_aff(isl_multi_aff_copy(piece)));
    if (!result && isSubset(graph).value_or(false))
      if (AffineMap map = toMap(context, piece))
        result = map;
    isl_multi_aff_free(piece);
  }
  return result;
}
