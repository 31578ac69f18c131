//===- Unify.cpp - Brings one term to the variables of another ------------===//
//
// sum(t in T) f(t) is a part of sum(r) g(r) if a map from T to values of r is
// defined everywhere on T, takes no value twice, and f(t) = g(r) where it maps
// t to r. The map comes from the indices of equal factors: they are linear, and
// solving them for t in terms of r, and for r in terms of t, shows all three.
//
//===----------------------------------------------------------------------===//

#include "../Prove.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace espalier;
using namespace espalier::substitution;

/// Ways to pair equal factors, and inner variables, that are tried.
static constexpr unsigned kMaxPairings = 120;
static constexpr unsigned kMaxPermuted = 4;

llvm::SmallVector<std::pair<Var, Linear>>
espalier::substitution::solve(Constraints &equations,
                              llvm::SmallVectorImpl<Var> &unknowns) {
  llvm::SmallVector<std::pair<Var, Linear>> solutions;
  for (bool changed = true; changed;) {
    changed = false;
    for (unsigned number = 0; number < equations.size() && !changed; ++number) {
      Linear expr = equations[number].expr;
      for (auto [var, coefficient] : expr.getTerms()) {
        if ((coefficient != 1 && coefficient != -1) || expr.isPoisoned() ||
            !llvm::is_contained(unknowns, var))
          continue;
        Var solved = var;
        Linear value = (expr - Linear::var(var, coefficient)) * -coefficient;
        equations.erase(equations.begin() + number);
        for (Constraint &other : equations)
          other.expr.substitute(solved, value);
        llvm::erase(unknowns, solved);
        solutions.push_back({solved, value});
        changed = true;
        break;
      }
    }
  }
  return solutions;
}

std::optional<Prover::Image> Prover::unify(const Term &into, const Term &term,
                                           const Assumed &assumed) {
  unsigned count = into.factors.size();
  if (term.factors.size() != count)
    return std::nullopt;
  llvm::SmallVector<unsigned> pairing(count);
  std::iota(pairing.begin(), pairing.end(), 0);
  unsigned tried = 0;
  do {
    bool fits = llvm::all_of(llvm::seq(count), [&](unsigned k) {
      return into.factors[k].getHead() == term.factors[pairing[k]].getHead();
    });
    if (!fits)
      continue;
    if (auto image = unifyFactors(into, term, pairing, assumed))
      return image;
    if (++tried == kMaxPairings || !budget.check())
      return std::nullopt;
  } while (count <= 6 && std::next_permutation(pairing.begin(), pairing.end()));
  return std::nullopt;
}

std::optional<Constraints>
espalier::substitution::simplifyEquations(const Constraints &equations,
                                          const ConstraintStore &facts) {
  Constraints left;
  for (Constraint equation : equations) {
    equation.expr = facts.simplify(equation.expr);
    std::optional<bool> decided = equation.normalize();
    if (decided == false)
      return std::nullopt;
    if (!decided)
      left.push_back(equation);
  }
  return left;
}

static llvm::SmallVector<Var, 4> listUnmentioned(llvm::ArrayRef<Var> vars,
                                                 const Constraints &equations) {
  llvm::SmallVector<Var, 4> result;
  llvm::copy_if(vars, std::back_inserter(result), [&](Var var) {
    return llvm::none_of(equations, [&](const Constraint &equation) {
      return equation.expr.contains(var);
    });
  });
  return result;
}

std::optional<Prover::Image>
Prover::unifyFactors(const Term &into, const Term &term,
                     llvm::ArrayRef<unsigned> pairing, const Assumed &assumed) {
  Constraints indices;
  Sum inside, otherInside; // The functions.
  for (auto [number, atom] : llvm::enumerate(into.factors)) {
    const Atom &other = term.factors[pairing[number]];
    for (auto [lhs, rhs] : llvm::zip(atom.indices, other.indices))
      indices.push_back(Constraint::equal(rhs, lhs));
    if (atom.kind == Atom::Kind::Read)
      continue;
    inside = add(std::move(inside), makeAtom(atom));
    otherInside = add(std::move(otherInside), makeAtom(other));
  }
  auto equations = simplifyEquations(indices, *assumed.facts);
  if (!equations)
    return std::nullopt;
  if (auto image = unifyInOrder(into, term, pairing, *equations, assumed))
    return image;
  // What only functions read says where they may be equal, as in a sum over
  // relu(a[k]) for one over relu(a[k - n]).
  if (listUnmentioned(into.bound, *equations).empty())
    return std::nullopt;
  for (Constraints partner : equateReads(inside, otherInside)) {
    llvm::append_range(partner, *equations);
    auto all = simplifyEquations(partner, *assumed.facts);
    if (!all || all->size() == equations->size())
      continue;
    if (auto image = unifyInOrder(into, term, pairing, *all, assumed))
      return image;
    if (!budget.check())
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<Prover::Image>
Prover::unifyInOrder(const Term &into, const Term &term,
                     llvm::ArrayRef<unsigned> pairing,
                     const Constraints &equations, const Assumed &assumed) {
  auto ours = listUnmentioned(into.bound, equations);
  auto theirs = listUnmentioned(term.bound, equations);
  auto tryPairings = [&](bool mustAgree) -> std::optional<Image> {
    if (ours.size() != theirs.size() || ours.size() > kMaxPermuted)
      return std::nullopt;
    llvm::SmallVector<unsigned, 4> order(ours.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      Constraints all = equations;
      bool agrees = true;
      for (auto [number, var] : llvm::enumerate(ours)) {
        Linear other = Linear::var(theirs[order[number]]);
        all.push_back(Constraint::equal(other, Linear::var(var)));
      }
      for (Constraint equation : equations) {
        for (auto [number, var] : llvm::enumerate(ours))
          equation.expr.substitute(theirs[order[number]], Linear::var(var));
        agrees &= assumed.facts->simplify(equation.expr) == Linear(0);
      }
      if (mustAgree && !agrees)
        continue;
      if (auto image = unifyBy(into, term, pairing, std::move(all), assumed))
        return image;
    } while (std::next_permutation(order.begin(), order.end()) &&
             budget.check());
    return std::nullopt;
  };
  if (auto image = tryPairings(/*mustAgree=*/false))
    return image;
  if (ours.empty() && theirs.empty())
    if (auto image = unifyByRelation(into, term, pairing, equations, assumed))
      return image;
  // An index may be made of several, as in a sum over a + b.
  if (into.bound.size() == ours.size() || equations.empty())
    return std::nullopt;
  ours = into.bound;
  theirs = term.bound;
  return tryPairings(/*mustAgree=*/true);
}

std::optional<Prover::Image> Prover::unifyBy(const Term &into, Term term,
                                             llvm::ArrayRef<unsigned> pairing,
                                             Constraints equations,
                                             const Assumed &assumed) {
  // For t in terms of r. Bases become those of `into` on the way: where the
  // arguments agree, the values do. Arguments may depend on other bases.
  Constraints forward = equations, backward = equations;
  Constraints domain = term.constraints; // In terms of t.
  Image image{term.coefficient, {}, {}};
  llvm::SmallVector<Var, 4> unknowns(term.bound);
  for (bool changed = true; changed;) {
    for (const auto &[var, value] : solve(forward, unknowns)) {
      substitute(term, var, value);
      for (Constraint &fact : image.facts)
        fact.expr.substitute(var, value);
    }
    auto links = linkBases(into, term, image.facts, assumed);
    changed = !links.empty();
    for (const auto &[var, value] : links) {
      substitute(term, var, value);
      for (Constraints *list : {&forward, &backward, &domain, &image.facts})
        for (Constraint &constraint : *list)
          constraint.expr.substitute(var, value);
    }
  }
  auto forwardLeft = simplifyEquations(forward, *assumed.facts);
  if (!unknowns.empty() || !term.bases.empty() || !forwardLeft)
    return std::nullopt;
  // For r in terms of t: what is left over must hold on all of T.
  llvm::SmallVector<Var, 4> ours(into.bound);
  solve(backward, ours);
  auto backwardLeft = simplifyEquations(backward, *assumed.facts);
  if (!ours.empty() || !backwardLeft)
    return std::nullopt;
  Assumed onDomain = assumed.with(domain);
  for (const Constraint &residual : *backwardLeft)
    if (!onDomain.implies(residual))
      return std::nullopt;
  image.domain = term.constraints;
  llvm::append_range(image.domain, *forwardLeft);
  Assumed inside = assumed.with(image.domain).with(image.facts);
  for (auto [number, atom] : llvm::enumerate(into.factors))
    if (atom.kind != Atom::Kind::Read &&
        !areEqual(atom, term.factors[pairing[number]], inside))
      return std::nullopt;
  return image;
}

/// Whether variables have one value at most, given the others.
static bool areDetermined(llvm::ArrayRef<Var> vars, const Constraints &pairs,
                          const Assumed &assumed, Var &nextVar) {
  Constraints both = pairs;
  llvm::append_range(both, pairs);
  llvm::SmallVector<Var> copies;
  for (Var var : vars) {
    copies.push_back(nextVar++);
    for (Constraint &constraint :
         llvm::MutableArrayRef(both).drop_front(pairs.size()))
      constraint.expr.substitute(var, Linear::var(copies.back()));
  }
  return llvm::all_of(llvm::zip_equal(vars, copies), [&](auto pair) {
    Constraints apart = both;
    apart.push_back(Constraint::less(Linear::var(std::get<0>(pair)),
                                     Linear::var(std::get<1>(pair))));
    return assumed.isImpossible(apart);
  });
}

std::optional<Prover::Image>
Prover::unifyByRelation(const Term &into, const Term &term,
                        llvm::ArrayRef<unsigned> pairing,
                        const Constraints &equations, const Assumed &assumed) {
  if (!into.bases.empty() || !term.bases.empty() || equations.empty())
    return std::nullopt;
  // Pairs of points of `term` and of `into`: each of `term` has one, and no two
  // the same.
  Constraints pairs(equations);
  llvm::append_range(pairs, term.constraints);
  llvm::append_range(pairs, into.constraints);
  if (!isCovered(term.constraints, Points{into.bound, pairs}, assumed) ||
      !areDetermined(into.bound, pairs, assumed, nextVar) ||
      !areDetermined(term.bound, pairs, assumed, nextVar))
    return std::nullopt;
  auto image = getImage(into, term, pairs, assumed);
  if (!image)
    return std::nullopt;
  Assumed inside = assumed.with(pairs);
  for (auto [number, atom] : llvm::enumerate(into.factors))
    if (atom.kind != Atom::Kind::Read &&
        !areEqual(atom, term.factors[pairing[number]], inside))
      return std::nullopt;
  return image;
}

std::optional<Prover::Image> Prover::getImage(const Term &into,
                                              const Term &term,
                                              const Constraints &pairs,
                                              const Assumed &assumed) {
  Constraints known(assumed.conditions), simple(pairs);
  for (Constraints *list : {&known, &simple})
    for (Constraint &constraint : *list)
      constraint = assumed.facts->simplify(constraint);
  llvm::append_range(known, assumed.facts->getRest());
  auto all = getConnected(known, simple);
  llvm::SmallVector<Var> vars = getVars(all);
  llvm::erase_if(vars, [&](Var var) {
    return llvm::is_contained(into.bound, var) ||
           llvm::is_contained(term.bound, var);
  });
  llvm::append_range(vars, into.bound);
  unsigned count = vars.size();
  llvm::append_range(vars, term.bound);
  auto rows = makeSet(assumed.facts->getIntegers(), vars, all)
                  .project(count, term.bound.size())
                  .getConstraints();
  if (!rows)
    return std::nullopt;
  Image image{term.coefficient, {}, {}};
  for (const polyhedral::LinearConstraint &row : *rows) {
    Constraint constraint{Linear(row.constant), row.isEquality};
    for (auto [var, factor] : llvm::zip_equal(
             llvm::ArrayRef(vars).take_front(count), row.coefficients))
      constraint.expr += Linear::var(var, factor);
    image.domain.push_back(constraint);
  }
  // These are the points of `into` that have a partner, no more and no less.
  Assumed onPairs = assumed.with(pairs);
  bool isExact = llvm::all_of(image.domain,
                              [&](const Constraint &row) {
                                return onPairs.implies(row);
                              }) &&
                 isCovered(image.domain, Points{term.bound, pairs}, assumed);
  if (!isExact)
    return std::nullopt;
  return image;
}

llvm::SmallVector<std::pair<Var, Linear>>
Prover::linkBases(const Term &into, Term &term, Constraints &facts,
                  const Assumed &assumed) {
  llvm::SmallVector<std::pair<Var, Linear>> links;
  // floor((a + v * size) / size) * scale = floor(a / size) * scale + v * scale.
  auto link = [&](const Base &base, const Base &other) {
    if (!assumed.areEqual(base.size, other.size) ||
        !assumed.areEqual(base.scale, other.scale))
      return false;
    Linear difference = assumed.facts->simplify(base.argument - other.argument);
    auto shifts = getShifts(base.size, base.scale, sizes);
    shifts.push_back({Linear(0), Linear(0)});
    for (const auto &[limit, image] : shifts)
      for (int64_t sign : {1, -1})
        if (assumed.facts->simplify(limit * sign - difference) == Linear(0)) {
          links.push_back({base.var, Linear::var(other.var) + image * sign});
          return true;
        }
    return false;
  };
  for (unsigned number = 0; number < term.bases.size(); ++number) {
    const Base &base = term.bases[number];
    if (!llvm::any_of(into.bases,
                      [&](const Base &other) { return link(base, other); }))
      continue;
    llvm::append_range(facts, base.facts);
    term.bases.erase(term.bases.begin() + number);
    break; // Others may depend on it.
  }
  return links;
}

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

bool Prover::areEqual(const Atom &lhs, const Atom &rhs,
                      const Assumed &assumed) {
  if (lhs.getHead() != rhs.getHead() || lhs.args.size() != rhs.args.size())
    return false;
  if (lhs.kind == Atom::Kind::Max)
    return areEqualMaxima(lhs, rhs, assumed);
  if (lhs.kind == Atom::Kind::Read)
    return llvm::all_of(
        llvm::zip_equal(lhs.indices, rhs.indices), [&](auto pair) {
          return assumed.areEqual(std::get<0>(pair), std::get<1>(pair));
        });
  for (auto [left, right] : llvm::zip_equal(lhs.args, rhs.args))
    if (!isZero(add(left, scale(right, Rational::get(-1))), assumed))
      return false;
  return true;
}

/// The variable that a maximum reads, perhaps through relu; null if it is more
/// than that.
static const Atom *getOnlyRead(const Sum &sum, bool &isRelu) {
  if (sum.size() != 1 || sum[0].factors.size() != 1 || !sum[0].bound.empty() ||
      !sum[0].bases.empty() || !sum[0].constraints.empty() ||
      sum[0].coefficient.poisoned || sum[0].coefficient.numerator != 1 ||
      sum[0].coefficient.denominator != 1)
    return nullptr;
  const Atom &atom = sum[0].factors[0];
  if (atom.kind == Atom::Kind::Read)
    return &atom;
  if (atom.kind != Atom::Kind::Relu || isRelu)
    return nullptr;
  isRelu = true;
  return getOnlyRead(atom.args[0], isRelu);
}

/// A maximum counts an element once, however often it is read: what is read
/// must be the same set.
bool Prover::haveEqualImages(const Atom &lhs, const Atom &rhs,
                             const Assumed &assumed) {
  const Atom *maxima[] = {&lhs, &rhs};
  const Atom *reads[2];
  bool relu[2] = {false, false};
  for (unsigned side : {0, 1})
    if (!(reads[side] = getOnlyRead(maxima[side]->args[0], relu[side])))
      return false;
  if (relu[0] != relu[1] || reads[0]->leaf != reads[1]->leaf)
    return false;
  for (unsigned side : {0, 1}) {
    // Each position of this side is one of the other.
    const Atom &from = *maxima[side], &to = *maxima[1 - side];
    Points others{to.bound, to.constraints};
    for (auto [lhs, rhs] :
         llvm::zip_equal(reads[side]->indices, reads[1 - side]->indices))
      others.constraints.push_back(Constraint::equal(lhs, rhs));
    if (!isCovered(from.constraints, others, assumed))
      return false;
  }
  return true;
}

bool Prover::areEqualMaxima(const Atom &lhs, const Atom &rhs,
                            const Assumed &assumed) {
  if (haveEqualImages(lhs, rhs, assumed))
    return true;
  if (lhs.bound.size() != rhs.bound.size() || lhs.bound.size() > kMaxPermuted)
    return false;
  llvm::SmallVector<unsigned, 4> order(lhs.bound.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    Atom other = rhs;
    // Bound variables of the two are different, so this captures none.
    for (auto [number, var] : llvm::enumerate(rhs.bound))
      substitute(other, var, Linear::var(lhs.bound[order[number]]));
    Assumed inLeft = assumed.with(lhs.constraints);
    Assumed inRight = assumed.with(other.constraints);
    bool sameDomain =
        llvm::all_of(other.constraints,
                     [&](const Constraint &c) { return inLeft.implies(c); }) &&
        llvm::all_of(lhs.constraints,
                     [&](const Constraint &c) { return inRight.implies(c); });
    if (sameDomain &&
        isZero(add(lhs.args[0], scale(other.args[0], Rational::get(-1))),
               inLeft))
      return true;
  } while (std::next_permutation(order.begin(), order.end()) && budget.check());
  return false;
}
