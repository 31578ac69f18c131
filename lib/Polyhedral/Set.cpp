//===- Set.cpp - Integer sets and relations -------------------------------===//

#include "espalier/Polyhedral/Set.h"
#include "Isl.h"
#include "Question.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include <isl/constraint.h>
#include <isl/ilp.h>
#include <isl/local_space.h>
#include <isl/point.h>
#include <isl/val.h>

using namespace mlir;
using namespace espalier::polyhedral;

/// isl's three-valued answers.
static std::optional<bool> toOptional(isl_bool answer) {
  if (answer == isl_bool_error)
    return std::nullopt;
  return answer == isl_bool_true;
}

static std::string toString(char *owned) {
  std::string text = owned ? owned : "<null>";
  free(owned);
  return text;
}

//===----------------------------------------------------------------------===//
// Context
//===----------------------------------------------------------------------===//

Context::Context(const Limits &limits)
    : ctx(isl::makeContext(limits), isl_ctx_free),
      answers(std::make_shared<Answers>()) {
  isl_options_set_on_error(ctx.get(), ISL_ON_ERROR_CONTINUE);
}

isl_ctx *Context::get() const { return ctx.get(); }

void Context::restart(unsigned long maxOperations) const {
  if (maxOperations != 0)
    isl_ctx_set_max_operations(ctx.get(), maxOperations);
  isl_ctx_reset_error(ctx.get());
  isl_ctx_reset_operations(ctx.get());
}

std::string Context::getError() const {
  switch (isl_ctx_last_error(ctx.get())) {
  case isl_error_none:
    return "";
  case isl_error_quota:
    return "too many operations on integer sets";
  default:
    const char *message = isl_ctx_last_error_msg(ctx.get());
    return message ? message : "unknown error";
  }
}

//===----------------------------------------------------------------------===//
// Set
//===----------------------------------------------------------------------===//

Set::Set(isl_set *owned) {
  if (owned)
    set.reset(owned, isl_set_free);
}

Set Set::getUnion(const Context &context, unsigned numDims, unsigned numParams,
                  llvm::ArrayRef<IntegerSet> sets) {
  isl::Space space = isl::makeSpace(context.get(), numParams, numDims);
  Statement statement;
  statement.domain.assign(sets.begin(), sets.end());
  return Set(isl::toDomain(space, statement).take());
}

Set Set::get(const Context &context, unsigned numDims,
             llvm::ArrayRef<LinearConstraint> constraints) {
  isl::Space space = isl::makeSpace(context.get(), /*numParams=*/0, numDims);
  isl_basic_set *set = isl_basic_set_universe(space.copy());
  isl_local_space *local = isl_local_space_from_space(space.take());
  for (const LinearConstraint &row : constraints) {
    isl_constraint *constraint =
        row.isEquality
            ? isl_constraint_alloc_equality(isl_local_space_copy(local))
            : isl_constraint_alloc_inequality(isl_local_space_copy(local));
    for (auto [dim, coefficient] : llvm::enumerate(row.coefficients))
      if (coefficient != 0)
        constraint = isl_constraint_set_coefficient_val(
            constraint, isl_dim_set, static_cast<int>(dim),
            isl_val_int_from_si(context.get(), coefficient));
    constraint = isl_constraint_set_constant_val(
        constraint, isl_val_int_from_si(context.get(), row.constant));
    set = isl_basic_set_add_constraint(set, constraint);
  }
  isl_local_space_free(local);
  return Set(isl_set_from_basic_set(set));
}

/// The constraints of a basic set without parameters; nothing if it has
/// existential variables or numbers beyond 64 bits. Takes `set`.
static std::optional<llvm::SmallVector<LinearConstraint>>
takeConstraints(isl_basic_set *set, bool equalitiesOnly) {
  isl::BasicSet owner(set);
  if (!set)
    return std::nullopt;
  llvm::SmallVector<LinearConstraint> rows;
  isl_constraint_list *list = isl_basic_set_get_constraint_list(set);
  isl_size numDims = isl_basic_set_dim(set, isl_dim_set);
  bool isExact = list;
  for (isl_size i = 0, e = isl_constraint_list_n_constraint(list); i < e; ++i) {
    isl_constraint *constraint = isl_constraint_list_get_constraint(list, i);
    LinearConstraint row;
    row.isEquality = isl_constraint_is_equality(constraint) == isl_bool_true;
    bool isPlain =
        isl_constraint_involves_dims(
            constraint, isl_dim_div, 0,
            isl_constraint_dim(constraint, isl_dim_div)) == isl_bool_false;
    for (isl_size dim = 0; dim < numDims; ++dim) {
      auto value = isl::toInt(isl::Val(isl_constraint_get_coefficient_val(
          constraint, isl_dim_set, static_cast<int>(dim))));
      isPlain &= value.has_value();
      row.coefficients.push_back(value.value_or(0));
    }
    auto constant =
        isl::toInt(isl::Val(isl_constraint_get_constant_val(constraint)));
    isPlain &= constant.has_value();
    row.constant = constant.value_or(0);
    isl_constraint_free(constraint);
    if (isPlain && (row.isEquality || !equalitiesOnly))
      rows.push_back(std::move(row));
    isExact &= isPlain;
  }
  isl_constraint_list_free(list);
  if (!isExact && !equalitiesOnly)
    return std::nullopt;
  return rows;
}

std::optional<llvm::SmallVector<LinearConstraint>> Set::getEqualities() const {
  isl::Question question(isl_set_get_ctx(get()));
  return takeConstraints(isl_set_affine_hull(isl_set_copy(get())),
                         /*equalitiesOnly=*/true);
}

std::optional<llvm::SmallVector<LinearConstraint>> Set::getConstraints() const {
  isl::Question question(isl_set_get_ctx(get()));
  isl::SetPtr coalesced = isl::coalesce(isl::SetPtr(isl_set_copy(get())));
  if (isl_set_n_basic_set(coalesced.get()) != 1)
    return std::nullopt;
  isl_basic_set_list *pieces = isl_set_get_basic_set_list(coalesced.get());
  isl_basic_set *only = isl_basic_set_list_get_basic_set(pieces, 0);
  isl_basic_set_list_free(pieces);
  return takeConstraints(only, /*equalitiesOnly=*/false);
}

Set Set::parse(const Context &context, llvm::StringRef text) {
  return Set(isl_set_read_from_str(context.get(), text.str().c_str()));
}

std::optional<bool> Set::isEmpty() const {
  isl::Question question(isl_set_get_ctx(get()));
  return toOptional(isl_set_is_empty(get()));
}
std::optional<bool> Set::isSubset(const Set &other) const {
  isl::Question question(isl_set_get_ctx(get()));
  return toOptional(isl_set_is_subset(get(), other.get()));
}
std::optional<bool> Set::isEqual(const Set &other) const {
  isl::Question question(isl_set_get_ctx(get()));
  return toOptional(isl_set_is_equal(get(), other.get()));
}
Set Set::intersect(const Set &other) const {
  isl::Question question(isl_set_get_ctx(get()));
  return Set(isl_set_intersect(isl_set_copy(get()), isl_set_copy(other.get())));
}
Set Set::unite(const Set &other) const {
  return Set(isl_set_union(isl_set_copy(get()), isl_set_copy(other.get())));
}
Set Set::subtract(const Set &other) const {
  isl::Question question(isl_set_get_ctx(get()));
  return Set(isl_set_subtract(isl_set_copy(get()), isl_set_copy(other.get())));
}
Set Set::project(unsigned first, unsigned count) const {
  isl::Question question(isl_set_get_ctx(get()));
  return Set(
      isl_set_project_out(isl_set_copy(get()), isl_dim_set, first, count));
}
Set Set::insertDims(unsigned first, unsigned count) const {
  return Set(
      isl_set_insert_dims(isl_set_copy(get()), isl_dim_set, first, count));
}
Set Set::gist(const Set &context) const {
  isl::Question question(isl_set_get_ctx(get()));
  return Set(isl_set_gist(isl_set_copy(get()), isl_set_copy(context.get())));
}
Set Set::makeDisjoint() const {
  isl::Question question(isl_set_get_ctx(get()));
  return Set(isl_set_make_disjoint(isl_set_copy(get())));
}
Set Set::lexMin() const {
  isl::Question question(isl_set_get_ctx(get()));
  return Set(isl_set_lexmin(isl_set_copy(get())));
}

std::optional<llvm::SmallVector<int64_t>> Set::samplePoint() const {
  isl::Question question(isl_set_get_ctx(get()));
  isl_point *point = isl_set_sample_point(isl_set_copy(get()));
  std::optional<llvm::SmallVector<int64_t>> coordinates;
  bool isExact = true;
  if (point && isl_point_is_void(point) == isl_bool_false) {
    coordinates.emplace();
    for (isl_dim_type type : {isl_dim_param, isl_dim_set})
      for (isl_size i = 0, e = isl_set_dim(get(), type); i < e; ++i) {
        auto value =
            isl::toInt(isl::Val(isl_point_get_coordinate_val(point, type, i)));
        isExact &= value.has_value();
        coordinates->push_back(value.value_or(0));
      }
  }
  isl_point_free(point);
  if (!isExact)
    return std::nullopt;
  return coordinates;
}

std::optional<int64_t> Set::getMin(unsigned dim) const {
  isl::Question question(isl_set_get_ctx(get()));
  return isl::toInt(isl::Val(
      isl_set_dim_min_val(isl_set_copy(get()), static_cast<int>(dim))));
}
std::optional<int64_t> Set::getMax(unsigned dim) const {
  isl::Question question(isl_set_get_ctx(get()));
  return isl::toInt(isl::Val(
      isl_set_dim_max_val(isl_set_copy(get()), static_cast<int>(dim))));
}
std::optional<bool> Set::isBounded() const {
  isl::Question question(isl_set_get_ctx(get()));
  return toOptional(isl_set_is_bounded(get()));
}

std::string Set::getCondition(llvm::ArrayRef<std::string> names) const {
  isl_set *condition =
      isl_set_move_dims(isl::coalesce(isl::SetPtr(isl_set_copy(get()))).take(),
                        isl_dim_param, 0, isl_dim_set, 0, names.size());
  for (auto [number, name] : llvm::enumerate(names))
    condition = isl_set_set_dim_name(
        condition, isl_dim_param, static_cast<unsigned>(number), name.c_str());
  std::string text = toString(isl_set_to_str(condition));
  isl_set_free(condition);
  // "[names] -> { [] : condition }"
  llvm::StringRef rest(text);
  size_t start = rest.find(" : ");
  if (start == llvm::StringRef::npos || !rest.ends_with(" }"))
    return text;
  return rest.substr(start + 3).drop_back(2).str();
}

std::string Set::str() const { return toString(isl_set_to_str(get())); }

//===----------------------------------------------------------------------===//
// Map
//===----------------------------------------------------------------------===//

Map::Map(isl_map *owned) {
  if (owned)
    map.reset(owned, isl_map_free);
}

Map Map::get(const Context &context, unsigned numParams, AffineMap map,
             Inexact inexact) {
  isl::Space space = isl::makeSpace(context.get(), numParams, map.getNumDims());
  isl::MapPtr result(isl_map_from_domain_and_range(
      isl_set_universe(space.copy()),
      isl_set_universe(
          isl::makeSpace(context.get(), numParams, map.getNumResults())
              .take())));
  for (auto [number, expr] : llvm::enumerate(map.getResults())) {
    isl_aff *aff = isl::toAff(space, expr).take();
    if (!aff && inexact == Inexact::Any)
      continue; // Unconstrained.
    isl_map *single = isl_map_from_aff(aff);
    single = isl_map_insert_dims(single, isl_dim_out, 0, number);
    single =
        isl_map_add_dims(single, isl_dim_out, map.getNumResults() - number - 1);
    result = isl::MapPtr(isl_map_intersect(result.take(), single));
  }
  return Map(result.take());
}

Map Map::get(const Set &pairs, unsigned numIn) {
  isl_map *map = isl_map_from_range(isl_set_copy(pairs.get()));
  return Map(isl_map_move_dims(map, isl_dim_in, 0, isl_dim_out, 0, numIn));
}

Map Map::parse(const Context &context, llvm::StringRef text) {
  return Map(isl_map_read_from_str(context.get(), text.str().c_str()));
}

std::optional<bool> Map::isEmpty() const {
  isl::Question question(isl_map_get_ctx(get()));
  return toOptional(isl_map_is_empty(get()));
}
std::optional<bool> Map::isSubset(const Map &other) const {
  isl::Question question(isl_map_get_ctx(get()));
  return toOptional(isl_map_is_subset(get(), other.get()));
}
std::optional<bool> Map::isEqual(const Map &other) const {
  isl::Question question(isl_map_get_ctx(get()));
  return toOptional(isl_map_is_equal(get(), other.get()));
}
std::optional<bool> Map::isSingleValued() const {
  isl::Question question(isl_map_get_ctx(get()));
  return toOptional(isl_map_is_single_valued(get()));
}
std::optional<bool> Map::isInjective() const {
  isl::Question question(isl_map_get_ctx(get()));
  return toOptional(isl_map_is_injective(get()));
}
Map Map::intersect(const Map &other) const {
  isl::Question question(isl_map_get_ctx(get()));
  return Map(isl_map_intersect(isl_map_copy(get()), isl_map_copy(other.get())));
}
Map Map::intersectDomain(const Set &domain) const {
  isl::Question question(isl_map_get_ctx(get()));
  return Map(isl_map_intersect_domain(isl_map_copy(get()),
                                      isl_set_copy(domain.get())));
}
Map Map::intersectRange(const Set &range) const {
  isl::Question question(isl_map_get_ctx(get()));
  return Map(
      isl_map_intersect_range(isl_map_copy(get()), isl_set_copy(range.get())));
}
Map Map::unite(const Map &other) const {
  return Map(isl_map_union(isl_map_copy(get()), isl_map_copy(other.get())));
}
Map Map::subtract(const Map &other) const {
  isl::Question question(isl_map_get_ctx(get()));
  return Map(isl_map_subtract(isl_map_copy(get()), isl_map_copy(other.get())));
}
Map Map::lexMin() const {
  isl::Question question(isl_map_get_ctx(get()));
  return Map(isl_map_lexmin(isl_map_copy(get())));
}
Map Map::inverse() const { return Map(isl_map_reverse(isl_map_copy(get()))); }
Map Map::compose(const Map &other) const {
  isl::Question question(isl_map_get_ctx(get()));
  return Map(
      isl_map_apply_range(isl_map_copy(get()), isl_map_copy(other.get())));
}
Set Map::apply(const Set &domain) const {
  isl::Question question(isl_map_get_ctx(get()));
  return Set(isl_set_apply(isl_set_copy(domain.get()), isl_map_copy(get())));
}
Set Map::domain() const {
  isl::Question question(isl_map_get_ctx(get()));
  return Set(isl_map_domain(isl_map_copy(get())));
}
Set Map::range() const {
  isl::Question question(isl_map_get_ctx(get()));
  return Set(isl_map_range(isl_map_copy(get())));
}
Set Map::deltas() const {
  isl::Question question(isl_map_get_ctx(get()));
  return Set(isl_map_deltas(isl_map_copy(get())));
}
AffineExpr Map::getMin(unsigned dim, MLIRContext *context) const {
  isl::Question question(isl_map_get_ctx(get()));
  return isl::toExpr(
      isl_map_dim_min(isl_map_copy(get()), static_cast<int>(dim)), context);
}
AffineExpr Map::getMax(unsigned dim, MLIRContext *context) const {
  isl::Question question(isl_map_get_ctx(get()));
  return isl::toExpr(
      isl_map_dim_max(isl_map_copy(get()), static_cast<int>(dim)), context);
}
std::string Map::str() const { return toString(isl_map_to_str(get())); }
