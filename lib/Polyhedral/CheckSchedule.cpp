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
#include "CheckStorage.h"
#include "PairSet.h"
#include "Paths.h"
#include "espalier/Polyhedral/QuasiAffine.h"
#include "llvm/ADT/DenseSet.h"

using namespace mlir;
using namespace espalier::polyhedral;

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
  /// `cases` is what is known of the pairs of points and their values.
  bool checkPaths(const AccessPair &pair, const ReadValues &values,
                  const ValueCases &cases, const Path &source,
                  const Path &sink);
  /// Checks pairs of a domain's points, the source first in program order.
  bool checkPoints(const AccessPair &pair, const Path &source, const Path &sink,
                   PairSet points);
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
  /// What tells pairs of accesses apart, but for their kind, of those that are
  /// in order: statements, array, maps, and whether it is a reduction's.
  llvm::DenseSet<
      std::tuple<unsigned, unsigned, unsigned, AffineMap, AffineMap, unsigned>>
      checked;
  Legality legality;
};
} // namespace

bool ScheduleChecker::doubt() {
  legality = makeUnknown(context);
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
  violation.sourceAccess = pair.sourceNumber;
  violation.sinkAccess = pair.sinkNumber;
  violation.loop = loop;
  llvm::ArrayRef<int64_t> values = *sample;
  unsigned numSource = program.statements[pair.source].numDims;
  unsigned numSink = program.statements[pair.sink].numDims;
  llvm::append_range(violation.parameters,
                     values.take_front(program.numParams));
  values = values.drop_front(program.numParams);
  llvm::append_range(violation.sourcePoint, values.take_front(numSource));
  llvm::append_range(violation.sinkPoint, values.slice(numSource, numSink));
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
      (member.concurrency == Concurrency::Parallel && !pair.isAtomic) ||
      (member.concurrency == Concurrency::Lanes && !pair.joinsLanes);
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

/// The levels that `pair` can violate: the order of a reduction matters only to
/// loops whose iterations share memory.
static size_t getNumRelevantLevels(const AccessPair &pair, const Path &path) {
  size_t number = path.levels.size();
  auto isRelevant = [&](const Level &level) {
    return (level.isParallel() && !pair.isAtomic) ||
           (level.isLanes() && !pair.joinsLanes);
  };
  if (pair.isReduction)
    while (number > 0 && !isRelevant(path.levels[number - 1]))
      --number;
  return number;
}

bool ScheduleChecker::checkLevels(const AccessPair &pair, const Path &source,
                                  const Path &sink, PairSet points) {
  llvm::ArrayRef<Level> levels = source.levels;
  for (auto [here, there] :
       llvm::zip(levels.take_front(getNumRelevantLevels(pair, source)),
                 sink.levels)) {
    if (!here.isBand()) {
      if (here.position == there.position)
        continue;
      if (here.position < there.position || pair.isReduction)
        return true;
      return refuse(pair, points, nullptr);
    }
    // Points with the same element agree in what that decides.
    AffineExpr own = expressIn(here.expr, pair.sourceAccess.map.getResults());
    if (own && own == expressIn(there.expr, pair.sinkAccess.map.getResults()))
      continue;
    bool isDone = false;
    AffineExpr difference = points.getDifference(here.expr, there.expr);
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

bool ScheduleChecker::checkPoints(const AccessPair &pair, const Path &source,
                                  const Path &sink, PairSet points) {
  unsigned numShared =
      getNumInterleaved(program, std::min(pair.source, pair.sink),
                        std::max(pair.source, pair.sink));
  // The source comes first: in a dimension that the statements share, or, where
  // these are equal, by its place in the program.
  for (unsigned dim = 0; dim < numShared; ++dim) {
    AffineExpr own = getAffineDimExpr(dim, program.context);
    AffineExpr difference = points.getDifference(own, own);
    PairSet part = points.with(difference - 1, false);
    std::optional<bool> isEmpty = part.isEmpty();
    if (!isEmpty)
      return doubt();
    if (!*isEmpty && !checkLevels(pair, source, sink, part))
      return false;
    points.add(difference, true);
  }
  return pair.source >= pair.sink || checkLevels(pair, source, sink, points);
}

bool ScheduleChecker::checkPaths(const AccessPair &pair,
                                 const ReadValues &values,
                                 const ValueCases &cases, const Path &source,
                                 const Path &sink) {
  if (pair.isReduction && getNumRelevantLevels(pair, source) == 0)
    return true;
  // A subscript that is not affine may be that of any element, but for what is
  // known of data.
  PairSet common(context, program, source, sink, &values);
  common.addEqual(pair.sourceAccess.map, pair.sinkAccess.map);
  for (IntegerSet sourceSet : program.statements[pair.source].domain)
    for (IntegerSet sinkSet : program.statements[pair.sink].domain)
      for (llvm::ArrayRef<AffineExpr> constraints : cases) {
        PairSet points = common;
        points.addDomains(sourceSet, sinkSet);
        for (AffineExpr constraint : constraints)
          points.add(constraint, false);
        // Data excludes most cases as they are.
        if (cases.size() > 1 && points.isEmptyForRationals())
          continue;
        if (!checkPoints(pair, source, sink, points))
          return false;
      }
  return true;
}

bool ScheduleChecker::checkPair(const AccessPair &pair) {
  // The accumulator is read and written at the same points.
  if (pair.isReduction && pair.kind != DependenceKind::Flow)
    return true;
  // Pairs that differ in nothing but their kind have the same points.
  if (!checked
           .insert({pair.source, pair.sink, pair.sourceAccess.array,
                    pair.sourceAccess.map, pair.sinkAccess.map,
                    pair.isReduction})
           .second)
    return true;
  ReadValues values(context, program,
                    {{pair.source, pair.sourceAccess.map.getResults()},
                     {pair.sink, pair.sinkAccess.map.getResults()}});
  ValueCases cases = values.getCases();
  for (const Path &source : paths)
    for (const Path &sink : paths)
      if (source.statement == pair.source && sink.statement == pair.sink &&
          !checkPaths(pair, values, cases, source, sink))
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
    legality.reason = "every point to run once, but " + std::string(what) +
                      program.statements[statement].name;
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
      return refuseFor("filters pass a point twice of @");
    seen = seen.unite(part);
  }
  std::optional<bool> isCovered = rest.isSubset(seen);
  if (!isCovered)
    return doubt();
  if (!*isCovered)
    return refuseFor(isFiltered ? "filters drop a point of @"
                                : "nothing schedules @");
  return true;
}

Legality ScheduleChecker::check() {
  for (unsigned i = 0; i < program.statements.size(); ++i)
    if (!checkCoverage(i))
      return legality;
  forEachAccessPair(program,
                    [&](const AccessPair &pair) { return checkPair(pair); });
  for (const Storage &storage : program.storages)
    if (legality.verdict == Legality::Verdict::Legal)
      legality = checkStorage(context, program, paths, storage).legality;
  return legality;
}

Legality espalier::polyhedral::checkSchedule(const Program &program,
                                             const ScheduleNode *schedule,
                                             const Limits &limits) {
  Context context(limits);
  return ScheduleChecker(context, program, schedule).check();
}
