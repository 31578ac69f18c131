//===- Unify.cpp - Brings one term to the variables of another ------------===//
//
// sum(t in T) f(t) is a part of sum(r) g(r) if a map from T to values of r is
// defined everywhere on T, takes no value twice, and f(t) = g(r) where it maps
// t to r. The map comes from the indices of equal factors: they are linear, and
// solving them for t in terms of r, and for r in terms of t, shows all three.
//
//===----------------------------------------------------------------------===//

#include "Prove.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace espalier;
using namespace espalier::substitution;

/// Ways to pair equal factors, and inner variables, that are tried.
static constexpr unsigned kMaxPairings = 120;
static constexpr unsigned kMaxPermuted = 4;

/// Solves linear equations for variables, by those with unit coefficients.
/// Returns the solutions in an order in which they can be substituted.
static llvm::SmallVector<std::pair<Var, Linear>>
solve(Constraints &equations, llvm::SmallVectorImpl<Var> &unknowns) {
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

std::optional<Prover::Image>
Prover::unifyFactors(const Term &into, const Term &term,
                     llvm::ArrayRef<unsigned> pairing, const Assumed &assumed) {
  Constraints equations;
  for (auto [number, atom] : llvm::enumerate(into.factors)) {
    const Atom &other = term.factors[pairing[number]];
    for (auto [lhs, rhs] : llvm::zip(atom.indices, other.indices)) {
      Constraint equation{assumed.facts->simplify(rhs - lhs), true};
      if (equation.normalize() == false)
        return std::nullopt;
      if (!equation.expr.getTerms().empty())
        equations.push_back(equation);
    }
  }
  // Variables that no index determines are paired in some order.
  auto isMentioned = [&](Var var) {
    return llvm::any_of(equations, [&](const Constraint &equation) {
      return equation.expr.contains(var);
    });
  };
  llvm::SmallVector<Var, 4> ours, theirs;
  llvm::copy_if(into.bound, std::back_inserter(ours), std::not_fn(isMentioned));
  llvm::copy_if(term.bound, std::back_inserter(theirs),
                std::not_fn(isMentioned));
  if (ours.size() != theirs.size() || ours.size() > kMaxPermuted)
    return std::nullopt;
  llvm::SmallVector<unsigned, 4> order(ours.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    Constraints all = equations;
    for (auto [number, var] : llvm::enumerate(ours))
      all.push_back(Constraint::equal(Linear::var(theirs[order[number]]),
                                      Linear::var(var)));
    if (auto image = unifyBy(into, term, pairing, std::move(all), assumed))
      return image;
  } while (std::next_permutation(order.begin(), order.end()) && budget.check());
  if (!ours.empty())
    return std::nullopt;
  return unifyByRelation(into, term, pairing, equations, assumed);
}

/// Simplifies what is left of equations; false if one of them does not hold.
static bool reduceResiduals(Constraints &residuals, const Facts &facts) {
  Constraints left;
  for (Constraint residual : residuals) {
    residual.expr = facts.simplify(residual.expr);
    std::optional<bool> decided = residual.normalize();
    if (decided == false)
      return false;
    if (!decided)
      left.push_back(residual);
  }
  residuals = std::move(left);
  return true;
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
  if (!unknowns.empty() || !term.bases.empty() ||
      !reduceResiduals(forward, *assumed.facts))
    return std::nullopt;
  // For r in terms of t: what is left over must hold on all of T.
  llvm::SmallVector<Var, 4> ours(into.bound);
  solve(backward, ours);
  if (!ours.empty() || !reduceResiduals(backward, *assumed.facts))
    return std::nullopt;
  Assumed onDomain = assumed.with(domain);
  for (const Constraint &residual : backward)
    if (!onDomain.implies(residual))
      return std::nullopt;
  image.domain = term.constraints;
  llvm::append_range(image.domain, forward);
  Assumed inside = assumed.with(image.domain).with(image.facts);
  for (auto [number, atom] : llvm::enumerate(into.factors))
    if (atom.kind != Atom::Kind::Read &&
        !areEqual(atom, term.factors[pairing[number]], inside))
      return std::nullopt;
  return image;
}

std::optional<Prover::Image>
Prover::unifyByRelation(const Term &into, const Term &term,
                        llvm::ArrayRef<unsigned> pairing,
                        const Constraints &equations, const Assumed &assumed) {
  if (!into.bases.empty() || !term.bases.empty() || equations.empty())
    return std::nullopt;
  // Pairs of points of `term` and of `into`, over outer variables.
  Constraints known(assumed.conditions), pairs(equations);
  for (Constraint &condition : known)
    condition = assumed.facts->simplify(condition);
  llvm::append_range(known, assumed.facts->getRest());
  llvm::append_range(pairs, term.constraints);
  llvm::append_range(pairs, into.constraints);
  for (Constraint &constraint : pairs)
    constraint = assumed.facts->simplify(constraint);
  auto all = getConnected(known, pairs);
  llvm::SmallVector<Var> vars = getVars(all);
  auto isBound = [&](Var var) {
    return llvm::is_contained(into.bound, var) ||
           llvm::is_contained(term.bound, var);
  };
  llvm::erase_if(vars, isBound);
  unsigned numOuter = vars.size(), numTheirs = term.bound.size();
  llvm::append_range(vars, term.bound);
  // The domain of `term` alone: neither equations nor the other's conditions.
  llvm::SmallVector<Constraint, 16> theirs;
  for (const Constraint &constraint : term.constraints)
    theirs.push_back(assumed.facts->simplify(constraint));
  llvm::append_range(theirs, llvm::drop_begin(all, pairs.size()));
  const Integers &integers = assumed.facts->getIntegers();
  polyhedral::Set domain = makeSet(integers, vars, theirs);
  llvm::append_range(vars, into.bound);
  polyhedral::Set relation = makeSet(integers, vars, all);
  unsigned numOurs = into.bound.size();
  bool isTotal =
      domain.isSubset(relation.project(numOuter + numTheirs, numOurs)) == true;
  bool isSingle =
      isTotal &&
      polyhedral::Map::get(relation, numOuter + numTheirs).isSingleValued() ==
          true;
  // The other way around, with our variables first.
  llvm::SmallVector<Var> swapped(vars.begin(), vars.begin() + numOuter);
  llvm::append_range(swapped, into.bound);
  llvm::append_range(swapped, term.bound);
  bool isOneToOne =
      isSingle &&
      polyhedral::Map::get(makeSet(integers, swapped, all), numOuter + numOurs)
              .isSingleValued() == true;
  if (!isOneToOne)
    return std::nullopt;
  auto rows = relation.project(numOuter, numTheirs).getConstraints();
  if (!rows)
    return std::nullopt;
  Image image{term.coefficient, {}, {}};
  vars.erase(vars.begin() + numOuter, vars.begin() + numOuter + numTheirs);
  for (const polyhedral::LinearConstraint &row : *rows) {
    Constraint constraint{Linear(row.constant), row.isEquality};
    for (auto [var, factor] : llvm::zip_equal(vars, row.coefficients))
      constraint.expr += Linear::var(var, factor);
    image.domain.push_back(constraint);
  }
  Assumed inside = assumed.with(pairs);
  for (auto [number, atom] : llvm::enumerate(into.factors))
    if (atom.kind != Atom::Kind::Read &&
        !areEqual(atom, term.factors[pairing[number]], inside))
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
  Constraints known(assumed.conditions);
  for (Constraint &condition : known)
    condition = assumed.facts->simplify(condition);
  llvm::append_range(known, assumed.facts->getRest());
  // The positions that are read get variables of their own.
  unsigned rank = reads[0]->indices.size();
  Var position = nextVar;
  nextVar += rank;
  llvm::SmallVector<Constraint, 16> domains[2];
  llvm::SmallVector<Var> outer;
  for (unsigned side : {0, 1}) {
    Constraints own = maxima[side]->constraints;
    for (Constraint &constraint : own)
      constraint = assumed.facts->simplify(constraint);
    for (unsigned dim = 0; dim < rank; ++dim)
      own.push_back(Constraint::equal(
          Linear::var(position + dim),
          assumed.facts->simplify(reads[side]->indices[dim])));
    domains[side] = getConnected(known, own);
    for (Var var : getVars(domains[side]))
      if (!llvm::is_contained(maxima[side]->bound, var) &&
          !llvm::is_contained(outer, var))
        outer.push_back(var);
  }
  polyhedral::Set images[2];
  for (unsigned side : {0, 1}) {
    llvm::SmallVector<Var> vars = outer;
    llvm::append_range(vars, maxima[side]->bound);
    images[side] = makeSet(assumed.facts->getIntegers(), vars, domains[side])
                       .project(outer.size(), maxima[side]->bound.size());
  }
  // Both are cut to what is known, which one side alone may be connected to.
  llvm::SmallVector<Constraint> common;
  for (const Constraint &constraint : known)
    if (!constraint.expr.any(
            [&](Var var) { return !llvm::is_contained(outer, var); }))
      common.push_back(constraint);
  polyhedral::Set limit = makeSet(assumed.facts->getIntegers(), outer, common);
  return images[0].intersect(limit).isEqual(images[1].intersect(limit)) == true;
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
