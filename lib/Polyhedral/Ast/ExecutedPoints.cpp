//===- ExecutedPoints.cpp - What loops execute ----------------------------===//

#include "ExecutedPoints.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace espalier::polyhedral;

bool espalier::polyhedral::hasSteps(const AstNode &loops) {
  return (loops.kind == AstNode::Kind::For && loops.step != 1) ||
         llvm::any_of(loops.children,
                      [](const Ast &child) { return hasSteps(*child); });
}

namespace {
/// Follows the loops with the set of values that iterators have there.
class PointCollector {
public:
  PointCollector(isl_ctx *ctx, const Program &program, unsigned numIterators)
      : program(program),
        space(isl::makeSpace(ctx, program.numParams, numIterators)),
        points(isl_union_set_empty_ctx(ctx)) {}

  void run(const AstNode &loops) {
    isl_set *values = isl_set_universe(space.copy());
    for (isl_size i = 0, e = isl_space_dim(space.get(), isl_dim_set); i < e;
         ++i)
      values = isl_set_fix_si(values, isl_dim_set, i, 0);
    collect(loops,
            isl::SetPtr(isl_set_intersect_params(
                values,
                isl_set_params(isl::getAssumptions(space, program).take()))));
  }
  const isl::UnionSet &getPoints() const { return points; }
  /// Whether none of them is executed twice.
  isl_bool isOnce() const { return once; }

private:
  isl_pw_aff *toFunction(const AstExpr &expr) const;
  isl_set *toSet(const AstCondition &condition) const;
  isl_pw_aff *getIterator(const AstNode &loop) const;
  /// Where the iterator of a loop is at least `bound`, or less.
  isl_set *getHalf(const AstNode &loop, const AstExpr &bound,
                   bool isLower) const;
  isl_set *getValues(const AstNode &loop) const;
  void collect(const AstNode &node, isl::SetPtr values);
  /// What is left of a call when the iterators of other loops, which are 0, are
  /// no dimensions: most of a kernel's loops are around few of its calls.
  isl_map *dropOthers(isl_map *call) const;
  /// Adds the points that a call executes for values of iterators.
  void addPoints(isl::MapPtr call);

  const Program &program;
  isl::Space space; ///< Of all iterators.
  isl::UnionSet points;
  llvm::SmallVector<unsigned> around; ///< The iterators of loops around.
  isl_bool once = isl_bool_true;
};
} // namespace

isl_pw_aff *PointCollector::toFunction(const AstExpr &expr) const {
  if (expr.kind == AstExpr::Kind::Affine)
    return isl_pw_aff_from_aff(isl::toAff(space, expr.affine).take());
  isl_pw_aff *result = toFunction(expr.operands.front());
  if (expr.kind == AstExpr::Kind::Select)
    return isl_pw_aff_cond(isl_set_indicator_function(toSet(*expr.condition)),
                           result, toFunction(expr.operands.back()));
  for (const AstExpr &operand : llvm::drop_begin(expr.operands))
    result = expr.kind == AstExpr::Kind::Max
                 ? isl_pw_aff_max(result, toFunction(operand))
                 : isl_pw_aff_min(result, toFunction(operand));
  return result;
}

isl_set *PointCollector::toSet(const AstCondition &condition) const {
  using Kind = AstCondition::Kind;
  switch (condition.kind) {
  case Kind::NonNegative:
    return isl_pw_aff_nonneg_set(toFunction(condition.value));
  case Kind::Zero:
    return isl_pw_aff_zero_set(toFunction(condition.value));
  case Kind::Not:
    return isl_set_complement(toSet(condition.operands.front()));
  case Kind::True:
  case Kind::And:
  case Kind::Or:
    break;
  }
  bool isOr = condition.kind == Kind::Or;
  isl_set *result =
      isOr ? isl_set_empty(space.copy()) : isl_set_universe(space.copy());
  for (const AstCondition &operand : condition.operands)
    result = isOr ? isl_set_union(result, toSet(operand))
                  : isl_set_intersect(result, toSet(operand));
  return result;
}

isl_pw_aff *PointCollector::getIterator(const AstNode &loop) const {
  return isl_pw_aff_from_aff(
      isl::toAff(space, getAffineDimExpr(loop.iterator, program.context))
          .take());
}

isl_set *PointCollector::getHalf(const AstNode &loop, const AstExpr &bound,
                                 bool isLower) const {
  // Without cases: a maximum bounds from below as all of its operands do.
  if (bound.kind == (isLower ? AstExpr::Kind::Max : AstExpr::Kind::Min)) {
    isl_set *result = isl_set_universe(space.copy());
    for (const AstExpr &operand : bound.operands)
      result = isl_set_intersect(result, getHalf(loop, operand, isLower));
    return result;
  }
  return isLower ? isl_pw_aff_ge_set(getIterator(loop), toFunction(bound))
                 : isl_pw_aff_lt_set(getIterator(loop), toFunction(bound));
}

isl_set *PointCollector::getValues(const AstNode &loop) const {
  isl_set *values = isl_set_intersect(getHalf(loop, loop.lower, true),
                                      getHalf(loop, loop.upper, false));
  if (loop.step == 1)
    return values;
  isl_pw_aff *rest = isl_pw_aff_mod_val(
      isl_pw_aff_sub(getIterator(loop), toFunction(loop.lower)),
      isl_val_int_from_si(isl_space_get_ctx(space.get()), loop.step));
  return isl_set_intersect(values, isl_pw_aff_zero_set(rest));
}

isl_map *PointCollector::dropOthers(isl_map *call) const {
  for (unsigned iterator = isl_map_dim(call, isl_dim_in); iterator-- > 0;)
    if (!llvm::is_contained(around, iterator))
      call = isl_map_project_out(call, isl_dim_in, iterator, 1);
  return call;
}

void PointCollector::addPoints(isl::MapPtr call) {
  isl::UnionSet own(isl_union_set_from_set(isl_map_range(call.copy())));
  if (once == isl_bool_true)
    once = isl_map_is_injective(call.get());
  if (once == isl_bool_true)
    once = isl_union_set_is_disjoint(points.get(), own.get());
  points = isl::UnionSet(isl_union_set_union(points.take(), own.take()));
}

void PointCollector::collect(const AstNode &node, isl::SetPtr values) {
  switch (node.kind) {
  case AstNode::Kind::For:
    // Outside of its loop, an iterator is 0.
    values = isl::SetPtr(isl_set_drop_constraints_involving_dims(
        values.take(), isl_dim_set, node.iterator, 1));
    values = isl::SetPtr(isl_set_intersect(values.take(), getValues(node)));
    around.push_back(node.iterator);
    break;
  case AstNode::Kind::If: {
    isl::SetPtr holds(toSet(node.condition));
    collect(*node.children.front(),
            isl::SetPtr(isl_set_intersect(values.copy(), holds.copy())));
    if (node.children.size() > 1)
      collect(*node.children.back(),
              isl::SetPtr(isl_set_subtract(values.copy(), holds.copy())));
    return;
  }
  case AstNode::Kind::Call: {
    isl::Space statement = isl::makeStatementSpace(
        isl_space_get_ctx(space.get()), program, node.statement);
    isl_multi_aff *point = isl_multi_aff_zero(
        isl_space_map_from_domain_and_range(space.copy(), statement.copy()));
    for (auto [number, value] : llvm::enumerate(node.values))
      point =
          isl_multi_aff_set_aff(point, number, isl::toAff(space, value).take());
    addPoints(isl::MapPtr(dropOthers(isl_map_intersect_domain(
        isl_map_from_multi_aff(point), values.take()))));
    return;
  }
  case AstNode::Kind::Block:
  case AstNode::Kind::Mark:
    break;
  }
  for (const Ast &child : node.children)
    collect(*child, values);
  if (node.kind == AstNode::Kind::For)
    around.pop_back();
}

isl_bool espalier::polyhedral::executesOnce(const Program &program,
                                            const AstNode &loops,
                                            const isl::UnionSet &domain) {
  PointCollector collector(isl_union_set_get_ctx(domain.get()), program,
                           loops.countIterators());
  collector.run(loops);
  if (collector.isOnce() != isl_bool_true)
    return collector.isOnce();
  return isl_union_set_is_equal(collector.getPoints().get(), domain.get());
}
