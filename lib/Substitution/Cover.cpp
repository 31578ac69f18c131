//===- Cover.cpp - Whether some points are among others -------------------===//

#include "Expand.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier;
using namespace espalier::substitution;

/// Constraints without variables that they determine; nothing if they have no
/// solution.
static std::optional<Points> reduce(const Points &points,
                                    const ConstraintStore &facts) {
  Term term;
  term.bound = points.bound;
  term.constraints = points.constraints;
  if (!eliminateDetermined(term, facts))
    return std::nullopt;
  return Points{term.bound, term.constraints};
}

bool espalier::substitution::isCovered(llvm::ArrayRef<Constraint> points,
                                       llvm::ArrayRef<Points> pieces,
                                       const Assumed &assumed) {
  const ConstraintStore &facts = *assumed.facts;
  Constraints known;
  for (const Constraint &condition : assumed.conditions)
    known.push_back(facts.simplify(condition));
  llvm::append_range(known, facts.getRest());
  Constraints given;
  for (const Constraint &constraint : points)
    given.push_back(facts.simplify(constraint));
  std::vector<Points> others;
  for (const Points &piece : pieces)
    if (auto reduced = reduce(piece, facts))
      others.push_back(std::move(*reduced));
  Constraints query = given;
  for (const Points &piece : others)
    llvm::append_range(query, piece.constraints);
  llvm::append_range(
      given, llvm::drop_begin(getConnected(known, query), query.size()));
  llvm::append_range(query, given);

  auto isBound = [&](Var var) {
    return llvm::any_of(others, [&](const Points &piece) {
      return llvm::is_contained(piece.bound, var);
    });
  };
  llvm::SmallVector<Var> outer = getVars(query);
  llvm::erase_if(outer, isBound);
  const Integers &integers = facts.getIntegers();
  polyhedral::Set covered;
  for (const Points &piece : others) {
    llvm::SmallVector<Var> vars = outer;
    llvm::append_range(vars, piece.bound);
    polyhedral::Set set = makeSet(integers, vars, piece.constraints)
                              .project(outer.size(), piece.bound.size());
    covered = covered ? covered.unite(set) : set;
  }
  if (!covered)
    return assumed.isImpossible(points);
  return makeSet(integers, outer, given).isSubset(covered) == true;
}

bool espalier::substitution::isNeverEmpty(llvm::ArrayRef<Var> bound,
                                          const Constraints &constraints,
                                          const Assumed &assumed) {
  Points points;
  points.bound.assign(bound.begin(), bound.end());
  points.constraints = constraints;
  return isCovered({}, points, assumed);
}
