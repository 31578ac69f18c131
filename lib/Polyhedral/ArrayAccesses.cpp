//===- ArrayAccesses.cpp - How a schedule reaches the elements of an array ===//

#include "ArrayAccesses.h"
#include "espalier/Polyhedral/QuasiAffine.h"
#include <map>

using namespace mlir;
using namespace espalier::polyhedral;

ArrayAccesses espalier::polyhedral::getArrayAccesses(const Program &program,
                                                     llvm::ArrayRef<Path> paths,
                                                     unsigned array) {
  ArrayAccesses uses;
  auto add = [&](const Path &path, const Access &access, bool isWrite) {
    if (access.array != array)
      return;
    auto known = llvm::find_if(uses, [&](const ArrayAccess &use) {
      return use.path == &path && use.map == access.map;
    });
    if (known == uses.end())
      known = uses.insert(uses.end(), {&path, access.map, false, false});
    (isWrite ? known->writes : known->reads) = true;
  };
  for (const Path &path : paths) {
    const Statement &statement = program.statements[path.statement];
    for (const Access &access : statement.reads)
      add(path, access, false);
    for (const Access &access : statement.writes)
      add(path, access, true);
  }
  return uses;
}

bool espalier::polyhedral::forEachPair(
    const Context &context, const Program &program, const ArrayAccesses &uses,
    llvm::function_ref<bool(const ArrayAccess &, const ArrayAccess &,
                            PairSet &)>
        visit) {
  for (const ArrayAccess &first : uses)
    for (const ArrayAccess &second : uses) {
      ReadValues values(context, program,
                        {{first.path->statement, first.map.getResults()},
                         {second.path->statement, second.map.getResults()}});
      ValueCases cases = values.getCases();
      for (IntegerSet source : program.statements[first.path->statement].domain)
        for (IntegerSet sink :
             program.statements[second.path->statement].domain)
          for (llvm::ArrayRef<AffineExpr> constraints : cases) {
            PairSet points(context, program, *first.path, *second.path,
                           &values);
            points.addDomains(source, sink);
            for (AffineExpr constraint : constraints)
              points.add(constraint, /*isEquality=*/false);
            if (cases.size() > 1 && points.isEmptyForRationals())
              continue;
            if (!visit(first, second, points))
              return false;
          }
    }
  return true;
}

AffineExpr espalier::polyhedral::getElementLevel(const ArrayAccesses &uses,
                                                 size_t depth) {
  AffineExpr common;
  for (const ArrayAccess &use : uses) {
    const Level &level = use.path->levels[depth];
    AffineExpr own = level.isBand()
                         ? expressIn(level.expr, use.map.getResults())
                         : AffineExpr();
    if (!own || (common && own != common))
      return {};
    common = own;
  }
  return common;
}

/// The constraints of a use's filters on the element; whether each is an
/// equality goes with it.
static llvm::SmallVector<std::pair<AffineExpr, bool>>
getFilters(const ArrayAccess &use) {
  llvm::SmallVector<std::pair<AffineExpr, bool>> filters;
  for (IntegerSet filter : use.path->filters)
    for (auto [expr, isEquality] :
         llvm::zip_equal(filter.getConstraints(), filter.getEqFlags()))
      if (AffineExpr own = expressIn(expr, use.map.getResults()))
        filters.push_back({own, isEquality});
  return filters;
}

IntegerSet espalier::polyhedral::getElementFilter(const Program &program,
                                                  const ArrayAccesses &uses) {
  auto common = getFilters(uses.front());
  for (const ArrayAccess &use : llvm::drop_begin(uses)) {
    auto own = getFilters(use);
    llvm::erase_if(common, [&](const auto &filter) {
      return !llvm::is_contained(own, filter);
    });
  }
  llvm::SmallVector<AffineExpr> exprs(llvm::make_first_range(common));
  llvm::SmallVector<bool> isEquality(llvm::make_second_range(common));
  return exprs.empty() ? IntegerSet()
                       : IntegerSet::get(uses.front().map.getNumResults(),
                                         program.numParams, exprs, isEquality);
}

/// Whether the uses of each element agree in a level of one node.
static std::optional<bool> agreeIn(const Context &context,
                                   const Program &program,
                                   const ArrayAccesses &uses, size_t depth) {
  if (getElementLevel(uses, depth))
    return true;
  bool isKnown = true;
  bool agree =
      forEachPair(context, program, uses,
                  [&](const ArrayAccess &first, const ArrayAccess &second,
                      PairSet &points) {
                    const Level &here = first.path->levels[depth];
                    const Level &there = second.path->levels[depth];
                    if (!here.isBand() && here.position == there.position)
                      return true;
                    points.addEqual(first.map, second.map);
                    if (here.isBand()) {
                      AffineExpr delta = points.simplify(
                          points.getDifference(here.expr, there.expr));
                      if (isZero(delta))
                        return true;
                      if (!points.isAffine(delta))
                        return isKnown = false;
                      // The other sign belongs to the pair in the other order.
                      points.add(delta - 1, false);
                    }
                    std::optional<bool> isEmpty = points.isEmpty();
                    isKnown = isEmpty.has_value();
                    return isEmpty.value_or(false);
                  });
  return isKnown ? std::optional(agree) : std::nullopt;
}

namespace {
/// The recursion of `forEachTiling`.
struct Descent {
  const Context &context;
  const Program &program;
  llvm::function_ref<bool(const ArrayAccesses &, size_t)> visit;
  bool isKnown = true;

  /// Visits the parts of uses that have the levels above `depth` in common.
  bool descend(const ArrayAccesses &uses, size_t depth) {
    const Path &model = *uses.front().path;
    bool isCommon = llvm::all_of(uses, [&](const ArrayAccess &use) {
      return use.path->levels.size() > depth && model.levels.size() > depth &&
             use.path->levels[depth].node == model.levels[depth].node;
    });
    if (!isCommon)
      return visit(uses, depth);
    std::optional<bool> agree = agreeIn(context, program, uses, depth);
    if (!agree)
      return isKnown = false;
    if (!*agree)
      return visit(uses, depth);
    // Children of a sequence have elements of their own.
    std::map<unsigned, ArrayAccesses> parts;
    for (const ArrayAccess &use : uses)
      parts[use.path->levels[depth].position].push_back(use);
    return llvm::all_of(parts, [&](const auto &part) {
      return descend(part.second, depth + 1);
    });
  }
};
} // namespace

std::optional<bool> espalier::polyhedral::forEachTiling(
    const Context &context, const Program &program, const ArrayAccesses &uses,
    llvm::function_ref<bool(const ArrayAccesses &, size_t)> visit) {
  Descent descent{context, program, visit};
  bool answer = uses.empty() || descent.descend(uses, 0);
  return descent.isKnown ? std::optional(answer) : std::nullopt;
}
