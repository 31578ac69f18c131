//===- Lifetimes.cpp - Elements in use at the same time -------------------===//
//
// Two elements may share a place if all uses of one run before all uses of the
// other. With
//
//   late(x, y)  if some use of x does not run before some use of y,
//
// they conflict if late(x, y) and late(y, x). The points of two uses that are
// not in order are a union over the levels of the schedule: those that agree in
// the levels above, and have the larger coordinate in this one (or, if its
// iterations run at the same time, another one).
//
//===----------------------------------------------------------------------===//

#include "Lifetimes.h"
#include "espalier/Polyhedral/Union.h"

using namespace mlir;
using namespace espalier::polyhedral;

namespace {
/// Collects the pairs of elements for which `late` holds.
class LateElements {
public:
  LateElements(const Program &program, size_t numLevels,
               std::optional<AffineMap> places)
      : program(program), numLevels(numLevels), places(places) {}

  /// Adds those of two uses, whose points are in `points`. False if a level or
  /// an access is not affine.
  bool add(const ArrayAccess &first, const ArrayAccess &second, PairSet points);
  const Union<Map> &get() const { return late; }

private:
  bool addLevels(const ArrayAccess &first, const ArrayAccess &second,
                 PairSet &points);
  /// Adds the pairs where `delta` (there minus here) is negative.
  bool addUnordered(const ArrayAccess &first, const ArrayAccess &second,
                    const PairSet &points, AffineExpr delta);
  void addElements(const ArrayAccess &first, const ArrayAccess &second,
                   const PairSet &points);

  const Program &program;
  size_t numLevels;
  std::optional<AffineMap> places;
  Union<Map> late;
};
} // namespace

void LateElements::addElements(const ArrayAccess &first,
                               const ArrayAccess &second,
                               const PairSet &points) {
  if (points.isEmpty().value_or(false))
    return;
  late.add(points.toPairs(first.map, second.map));
}

bool LateElements::addUnordered(const ArrayAccess &first,
                                const ArrayAccess &second,
                                const PairSet &points, AffineExpr delta) {
  if (!points.isAffine(delta))
    return false;
  addElements(first, second, points.with(-delta - 1, false));
  return true;
}

/// Adds what the levels leave out of order; `points` are then those that have
/// all levels in common. False if one is not affine.
bool LateElements::addLevels(const ArrayAccess &first,
                             const ArrayAccess &second, PairSet &points) {
  for (auto [here, there] :
       llvm::zip(llvm::drop_begin(first.path->levels, numLevels),
                 llvm::drop_begin(second.path->levels, numLevels))) {
    if (!here.isBand()) {
      if (here.position == there.position)
        continue;
      if (here.position > there.position)
        addElements(first, second, points);
      points.add(getAffineConstantExpr(-1, program.context), false);
      return true;
    }
    AffineExpr delta =
        points.simplify(points.getDifference(here.expr, there.expr));
    if (isZero(delta))
      continue;
    bool isConcurrent = here.getMember().concurrency != Concurrency::Sequential;
    if (!addUnordered(first, second, points, delta) ||
        (isConcurrent && !addUnordered(first, second, points, -delta)))
      return false;
    points.add(delta, true);
  }
  return true;
}

bool LateElements::add(const ArrayAccess &first, const ArrayAccess &second,
                       PairSet points) {
  for (bool isSink : {false, true})
    for (AffineExpr index : (isSink ? second : first).map.getResults())
      if (!points.isAffine(points.at(index, isSink)))
        return false;
  for (size_t depth = 0; depth < numLevels; ++depth)
    if (first.path->levels[depth].isBand()) {
      AffineExpr delta = points.getDifference(first.path->levels[depth].expr,
                                              second.path->levels[depth].expr);
      if (!points.isAffine(delta))
        return false;
      points.add(delta, true);
    }
  if (places)
    points.addEqual(places->compose(first.map), places->compose(second.map));
  if (!addLevels(first, second, points))
    return false;
  // A leaf, where the points of one statement run in lexicographic order.
  if (first.path != second.path)
    return true;
  for (unsigned dim = 0; dim < first.map.getNumDims(); ++dim) {
    AffineExpr self = getAffineDimExpr(dim, program.context);
    AffineExpr delta = points.getDifference(self, self);
    addElements(first, second, points.with(-delta - 1, false));
    points.add(delta, true);
  }
  // One point reads before it writes.
  if (first.writes || second.reads)
    addElements(first, second, points);
  return true;
}

Map espalier::polyhedral::getConflicts(const Context &context,
                                       const Program &program,
                                       const ArrayAccesses &uses,
                                       size_t numLevels,
                                       std::optional<AffineMap> places) {
  LateElements elements(program, numLevels, places);
  bool isKnown = forEachPair(
      context, program, uses,
      [&](const ArrayAccess &first, const ArrayAccess &second,
          PairSet &points) { return elements.add(first, second, points); });
  const Union<Map> &late = elements.get();
  if (!isKnown || late.isUnknown())
    return {};
  unsigned rank = uses.front().map.getNumResults();
  isl_space *space =
      isl::makeSpace(context.get(), program.numParams, rank).take();
  Map less(isl_map_lex_lt(space));
  if (late.isNothing())
    return Map(isl_map_empty(isl_map_get_space(less.get())));
  Map forward = late.get().intersect(less);
  return forward.intersect(late.get().intersect(less.inverse()).inverse());
}
