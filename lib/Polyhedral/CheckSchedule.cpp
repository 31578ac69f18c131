//===- CheckSchedule.cpp - Does a schedule keep the dependences? ----------===//
//
// For two accesses to one array and two paths through the tree, the pairs of
// points that touch the same element are a set over the dimensions of both.
// The levels of the paths are taken from the outside in:
//
//   pairs whose sink has the smaller coordinate   -> violation
//   pairs whose sink has the larger coordinate    -> in order, forgotten
//   pairs with equal coordinates                  -> on to the next level
//
// Most levels need no integer programming: the equalities of the set are
// substituted into the difference of the coordinates, which then usually folds
// to a constant.
//
//===----------------------------------------------------------------------===//

#include "AccessPairs.h"
#include "Isl.h"
#include "Paths.h"
#include "espalier/Polyhedral/Dependence.h"
#include <isl/constraint.h>
#include <isl/point.h>

using namespace mlir;
using namespace espalier::polyhedral;

namespace {
/// The pairs of points that a dependence joins, as a convex set over the
/// source's dimensions, then the sink's.
class PairSet {
public:
  PairSet(const Context &context, const Program &program, unsigned numDims)
      : program(program), numDims(numDims),
        space(isl::makeSpace(context.get(), program.numParams, numDims)),
        points(isl_basic_set_universe(space.copy())) {
    for (unsigned i = 0; i < program.numParams; ++i)
      add(getAffineSymbolExpr(i, program.context), false);
    if (IntegerSet assumptions = program.assumptions)
      add(assumptions, 0);
  }

  /// Adds `expr` == 0 or `expr` >= 0, if it is affine.
  void add(AffineExpr expr, bool isEquality);
  /// Adds the constraints of `set`, on the dimensions from `offset` on. What is
  /// not affine makes the set unknown.
  void add(IntegerSet set, unsigned offset);
  PairSet with(AffineExpr expr, bool isEquality) const {
    PairSet result = *this;
    result.add(expr, isEquality);
    return result;
  }

  /// Empty, not empty, or unknown.
  std::optional<bool> isEmpty() const {
    isl_bool answer = isl_basic_set_is_empty(points.get());
    if (answer == isl_bool_error)
      return std::nullopt;
    return answer == isl_bool_true;
  }
  /// Rewrites `expr` by the equalities that hold in the set.
  AffineExpr simplify(AffineExpr expr);
  /// Parameters and dimensions of a small point.
  std::optional<llvm::SmallVector<int64_t>> sample() const;
  bool isAffine(AffineExpr expr) const {
    return isl::isAffine(expr, program.numParams);
  }

private:
  void detectEqualities();

  const Program &program;
  unsigned numDims;
  isl::Space space;
  isl::BasicSet points;
  /// For each dimension its value in terms of others; filled on demand.
  std::optional<llvm::SmallVector<AffineExpr>> substitution;
};
} // namespace

void PairSet::add(AffineExpr expr, bool isEquality) {
  isl::Aff aff = isl::toAff(space, expr);
  isl_constraint *constraint = isEquality ? isl_equality_from_aff(aff.take())
                                          : isl_inequality_from_aff(aff.take());
  points =
      isl::BasicSet(isl_basic_set_add_constraint(points.take(), constraint));
  substitution.reset();
}

void PairSet::add(IntegerSet set, unsigned offset) {
  for (auto [expr, isEquality] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags()))
    add(expr.shiftDims(set.getNumDims(), offset), isEquality);
}

/// The value of dimension `dim` as an equality without divisions gives it, if
/// its coefficient is 1 or -1.
static AffineExpr solveFor(isl_constraint *equality, unsigned dim,
                           unsigned numParams, unsigned numDims,
                           MLIRContext *context) {
  auto getCoefficient = [&](isl_dim_type type, unsigned position) {
    return isl::toInt(
        isl::Val(isl_constraint_get_coefficient_val(equality, type, position)));
  };
  auto own = getCoefficient(isl_dim_set, dim);
  if (own != 1 && own != -1)
    return {};
  auto constant =
      isl::toInt(isl::Val(isl_constraint_get_constant_val(equality)));
  if (!constant)
    return {};
  AffineExpr sum = getAffineConstantExpr(*constant, context);
  for (unsigned i = 0; i < numDims + numParams; ++i) {
    if (i == dim)
      continue;
    bool isDim = i < numDims;
    auto coefficient = isDim ? getCoefficient(isl_dim_set, i)
                             : getCoefficient(isl_dim_param, i - numDims);
    if (!coefficient)
      return {};
    if (*coefficient != 0)
      sum = sum + (isDim ? getAffineDimExpr(i, context)
                         : getAffineSymbolExpr(i - numDims, context)) *
                      *coefficient;
  }
  return *own == 1 ? -sum : sum;
}

void PairSet::detectEqualities() {
  points = isl::BasicSet(isl_basic_set_detect_equalities(points.take()));
  substitution.emplace();
  for (unsigned i = 0; i < numDims; ++i)
    substitution->push_back(getAffineDimExpr(i, program.context));
  isl_constraint_list *list = isl_basic_set_get_constraint_list(points.get());
  for (isl_size i = 0, e = isl_constraint_list_n_constraint(list); i < e; ++i) {
    isl_constraint *constraint = isl_constraint_list_get_constraint(list, i);
    isl_size numDivs = isl_constraint_dim(constraint, isl_dim_div);
    if (isl_constraint_is_equality(constraint) == isl_bool_true &&
        (numDivs == 0 ||
         isl_constraint_involves_dims(constraint, isl_dim_div, 0, numDivs) ==
             isl_bool_false)) {
      // The last dimension that can be solved for: the sink's, in terms of the
      // source's. What is solved already is replaced on both sides.
      for (unsigned dim = numDims; dim-- > 0;) {
        AffineExpr value = solveFor(constraint, dim, program.numParams, numDims,
                                    program.context);
        if (!value ||
            (*substitution)[dim] != getAffineDimExpr(dim, program.context))
          continue;
        value = value.replaceDims(*substitution);
        if (value.isFunctionOfDim(dim))
          continue;
        llvm::SmallVector<AffineExpr> step;
        for (unsigned i = 0; i < numDims; ++i)
          step.push_back(i == dim ? value
                                  : getAffineDimExpr(i, program.context));
        for (AffineExpr &expr : *substitution)
          expr = expr.replaceDims(step);
        break;
      }
    }
    isl_constraint_free(constraint);
  }
  isl_constraint_list_free(list);
}

AffineExpr PairSet::simplify(AffineExpr expr) {
  expr = simplifyAffineExpr(expr, numDims, program.numParams);
  if (isa<AffineConstantExpr>(expr))
    return expr;
  if (!substitution)
    detectEqualities();
  return simplifyAffineExpr(expr.replaceDims(*substitution), numDims,
                            program.numParams);
}

std::optional<llvm::SmallVector<int64_t>> PairSet::sample() const {
  isl_basic_set *all = isl_basic_set_move_dims(
      points.copy(), isl_dim_set, 0, isl_dim_param, 0, program.numParams);
  Set least(isl_basic_set_lexmin(isl_basic_set_copy(all)));
  if (auto point = least.samplePoint()) {
    isl_basic_set_free(all);
    return point;
  }
  return Set(isl_set_from_basic_set(all)).samplePoint();
}

namespace {
/// Checks one schedule; stops at the first violation or doubt.
class ScheduleChecker {
public:
  ScheduleChecker(const Context &context, const Program &program,
                  const ScheduleNode *root)
      : context(context), program(program), paths(getPaths(program, root)) {}

  Legality check();

private:
  /// False as soon as the answer is known.
  bool checkCoverage(unsigned statement);
  bool checkPair(const AccessPair &pair);
  bool checkPaths(const AccessPair &pair, const Path &source, const Path &sink);
  bool checkLevels(const AccessPair &pair, const Path &source, const Path &sink,
                   PairSet points);
  bool checkLoop(const AccessPair &pair, const BandMember &member,
                 AffineExpr difference, PairSet &points, bool &isDone);
  bool refuse(const AccessPair &pair, const PairSet &points,
              const BandMember *loop);
  bool doubt();

  const Context &context;
  const Program &program;
  std::vector<Path> paths;
  Legality legality;
};
} // namespace

bool ScheduleChecker::doubt() {
  legality.verdict = Legality::Verdict::Unknown;
  legality.reason = context.getError();
  if (legality.reason.empty())
    legality.reason = "a set or a map is not affine";
  return false;
}

/// Reports a violation, unless `points` is empty.
bool ScheduleChecker::refuse(const AccessPair &pair, const PairSet &points,
                             const BandMember *loop) {
  std::optional<bool> isEmpty = points.isEmpty();
  if (!isEmpty)
    return doubt();
  if (*isEmpty)
    return true;
  std::optional<llvm::SmallVector<int64_t>> sample = points.sample();
  if (!sample)
    return doubt();
  Violation violation;
  violation.kind = pair.kind;
  violation.array = pair.sourceAccess.array;
  violation.source = pair.source;
  violation.sink = pair.sink;
  violation.loop = loop;
  llvm::ArrayRef<int64_t> values = *sample;
  unsigned numSource = program.statements[pair.source].numDims;
  llvm::append_range(violation.parameters,
                     values.take_front(program.numParams));
  values = values.drop_front(program.numParams);
  llvm::append_range(violation.sourcePoint, values.take_front(numSource));
  llvm::append_range(violation.sinkPoint, values.drop_front(numSource));
  legality.verdict = Legality::Verdict::Illegal;
  legality.violation = violation;
  return false;
}

/// One loop of a band that both paths share. Leaves in `points` what has equal
/// coordinates; `isDone` says that nothing has.
bool ScheduleChecker::checkLoop(const AccessPair &pair,
                                const BandMember &member, AffineExpr difference,
                                PairSet &points, bool &isDone) {
  AffineExpr delta = points.simplify(difference);
  if (auto constant = dyn_cast<AffineConstantExpr>(delta))
    if (constant.getValue() == 0)
      return true;

  bool isConcurrent =
      member.concurrency == Concurrency::Parallel ||
      (member.concurrency == Concurrency::Lanes && !pair.isReduction);
  if (isConcurrent && !refuse(pair, points.with(delta - 1, false), &member))
    return false;
  // Where the source has the larger coordinate.
  if ((isConcurrent || !pair.isReduction) &&
      !refuse(pair, points.with(-delta - 1, false),
              isConcurrent ? &member : nullptr))
    return false;
  points.add(delta, true);
  std::optional<bool> isEmpty = points.isEmpty();
  if (!isEmpty)
    return doubt();
  isDone = *isEmpty;
  return true;
}

bool ScheduleChecker::checkLevels(const AccessPair &pair, const Path &source,
                                  const Path &sink, PairSet points) {
  unsigned numSource = program.statements[pair.source].numDims;
  unsigned numSink = program.statements[pair.sink].numDims;
  for (auto [here, there] : llvm::zip(source.levels, sink.levels)) {
    if (!here.isBand()) {
      if (here.position == there.position)
        continue;
      if (here.position < there.position || pair.isReduction)
        return true;
      return refuse(pair, points, nullptr);
    }
    bool isDone = false;
    AffineExpr difference =
        there.expr.shiftDims(numSink, numSource) - here.expr;
    if (!points.isAffine(difference))
      return doubt();
    if (!checkLoop(pair, here.getMember(), difference, points, isDone))
      return false;
    if (isDone)
      return true;
  }
  // A leaf keeps the order of one statement's points, and none between two.
  return pair.source == pair.sink || refuse(pair, points, nullptr);
}

bool ScheduleChecker::checkPaths(const AccessPair &pair, const Path &source,
                                 const Path &sink) {
  // The order of a reduction matters only to loops that share memory.
  auto isParallel = [](const Level &level) {
    return level.isBand() &&
           level.getMember().concurrency == Concurrency::Parallel;
  };
  if (pair.isReduction && llvm::none_of(source.levels, isParallel))
    return true;

  const Statement &first = program.statements[pair.source];
  const Statement &second = program.statements[pair.sink];
  unsigned numSource = first.numDims;
  PairSet common(context, program, numSource + second.numDims);
  for (IntegerSet filter : source.filters)
    common.add(filter, 0);
  for (IntegerSet filter : sink.filters)
    common.add(filter, numSource);
  // The same element. A subscript that is not affine may be any.
  for (auto [here, there] : llvm::zip_equal(pair.sourceAccess.map.getResults(),
                                            pair.sinkAccess.map.getResults())) {
    AffineExpr difference = there.shiftDims(second.numDims, numSource) - here;
    if (common.isAffine(here) && common.isAffine(there))
      common.add(difference, true);
  }

  for (IntegerSet sourceSet : first.domain)
    for (IntegerSet sinkSet : second.domain) {
      PairSet points = common;
      points.add(sourceSet, 0);
      points.add(sinkSet, numSource);
      if (pair.source != pair.sink) {
        if (!checkLevels(pair, source, sink, points))
          return false;
        continue;
      }
      // The source comes first in lexicographic order.
      for (unsigned dim = 0; dim < numSource; ++dim) {
        AffineExpr difference =
            getAffineDimExpr(numSource + dim, program.context) -
            getAffineDimExpr(dim, program.context);
        PairSet part = points.with(difference - 1, false);
        std::optional<bool> isEmpty = part.isEmpty();
        if (!isEmpty)
          return doubt();
        if (!*isEmpty && !checkLevels(pair, source, sink, part))
          return false;
        points.add(difference, true);
      }
    }
  return true;
}

bool ScheduleChecker::checkPair(const AccessPair &pair) {
  for (const Path &source : paths)
    for (const Path &sink : paths)
      if (source.statement == pair.source && sink.statement == pair.sink &&
          !checkPaths(pair, source, sink))
        return false;
  return true;
}

/// The filters must pass each point of the statement exactly once.
bool ScheduleChecker::checkCoverage(unsigned statement) {
  isl::Space space = isl::makeSpace(context.get(), program.numParams,
                                    program.statements[statement].numDims);
  Set rest(isl_set_intersect(
      isl::toDomain(space, program.statements[statement]).take(),
      isl::getAssumptions(space, program).take()));
  Set seen(isl_set_empty(space.copy()));
  bool isFiltered = false;
  auto refuseFor = [&](const char *what) {
    legality.verdict = Legality::Verdict::Illegal;
    legality.reason = what + program.statements[statement].name;
    return false;
  };
  for (const Path &path : paths) {
    if (path.statement != statement)
      continue;
    if (path.filters.empty())
      return true; // The only path; the tree's verifier sees to that.
    isFiltered = true;
    Set part(isl_set_universe(space.copy()));
    for (IntegerSet filter : path.filters)
      part = part.intersect(Set(isl::toSet(space, filter).take()));
    std::optional<bool> isDisjoint =
        seen.intersect(part).intersect(rest).isEmpty();
    if (!isDisjoint)
      return doubt();
    if (!*isDisjoint)
      return refuseFor("filters pass a point twice, of ");
    seen = seen.unite(part);
  }
  std::optional<bool> isCovered = rest.isSubset(seen);
  if (!isCovered)
    return doubt();
  if (!*isCovered)
    return refuseFor(isFiltered ? "filters drop a point, of "
                                : "nothing schedules the points of ");
  return true;
}

Legality ScheduleChecker::check() {
  for (unsigned i = 0; i < program.statements.size(); ++i)
    if (!checkCoverage(i))
      return legality;
  forEachAccessPair(program,
                    [&](const AccessPair &pair) { return checkPair(pair); });
  return legality;
}

Legality espalier::polyhedral::checkSchedule(const Program &program,
                                             const ScheduleNode *schedule,
                                             const Limits &limits) {
  Context context(limits);
  return ScheduleChecker(context, program, schedule).check();
}
