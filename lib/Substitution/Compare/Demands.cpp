//===- Demands.cpp - Whether elements of dst are numbers ------------------===//
//
// A divisor of `dst` is not 0 and a root's argument not negative either by its
// sign, or because `src` asks for the same:
//
//   src  x[n, c] / y[c]       asks for y[c'] != 0 at all n', c'
//   dst  x[n, c] * (1 / y[c]) asks for y[c] != 0; so does src at c' = c
//
// What `src` asks for is asked for all of its outputs, and may be used at each
// element of `dst`. As in a comparison of maxima, equal elements say at which
// points of `src` to look.
//
//===----------------------------------------------------------------------===//

#include "../Prove.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::substitution;
using espalier::definition::ScalarFn;

/// Points of `src` beyond these are not looked at, for one demand.
static constexpr size_t kMaxPartners = 24;

static bool isPlain(const Term &term) {
  return term.bound.empty() && term.constraints.empty() && term.bases.empty() &&
         !term.coefficient.poisoned && !term.coefficient.isZero();
}

/// Takes demands on products apart. `a * b` is not 0 where neither is, and the
/// other way round; nor is sqrt(a) where a is positive.
static void split(Demand demand, std::vector<Demand> &parts) {
  using Kind = Demand::Kind;
  mergeAlike(demand.value);
  const Sum &value = demand.value;
  bool isProduct = value.size() == 1 && isPlain(value[0]) &&
                   !value[0].factors.empty() && demand.kind == Kind::NotZero;
  if (!isProduct) {
    parts.push_back(std::move(demand));
    return;
  }
  if (value[0].factors.size() > 1) {
    for (const Atom &atom : value[0].factors)
      split({Kind::NotZero, makeAtom(atom), demand.conditions}, parts);
    return;
  }
  const Atom &atom = value[0].factors[0];
  bool isFunction = atom.kind == Atom::Kind::Function;
  // What these ask for, they ask for beside.
  if (isFunction && (atom.fn == ScalarFn::Exp || atom.fn == ScalarFn::Div))
    return;
  if (isFunction && atom.fn == ScalarFn::Sqrt) {
    parts.push_back({Kind::Positive, atom.args[0], demand.conditions});
    return;
  }
  parts.push_back(
      {Kind::NotZero, makeAtom(atom), std::move(demand.conditions)});
}

std::vector<Demand>
espalier::substitution::splitDemands(std::vector<Demand> demands) {
  std::vector<Demand> parts;
  for (Demand &demand : demands)
    split(std::move(demand), parts);
  return parts;
}

namespace {
struct Element {
  const Atom *atom;
  llvm::SmallVector<Var> inner; ///< Bound around it.
};
} // namespace

/// The elements of variables that a sum reads, however deep.
static void collect(const Sum &sum, llvm::SmallVector<Var> inner,
                    std::vector<Element> &elements) {
  for (const Term &term : sum) {
    llvm::SmallVector<Var> within = inner;
    llvm::append_range(within, term.bound);
    for (const Base &base : term.bases)
      within.push_back(base.var);
    for (const Atom &atom : term.factors) {
      if (atom.kind == Atom::Kind::Read)
        elements.push_back({&atom, within});
      llvm::SmallVector<Var> below = within;
      llvm::append_range(below, atom.bound);
      for (const Sum &arg : atom.args)
        collect(arg, below, elements);
    }
  }
}

/// That two elements are one, as far as indices mention no inner variables.
static Constraints equateOutside(const Element &lhs, const Element &rhs) {
  auto isInner = [](const Linear &index, const Element &element) {
    return index.any(
        [&](Var var) { return llvm::is_contained(element.inner, var); });
  };
  Constraints equations;
  for (auto [left, right] :
       llvm::zip_equal(lhs.atom->indices, rhs.atom->indices))
    if (!isInner(left, lhs) && !isInner(right, rhs))
      equations.push_back(Constraint::equal(left, right));
  return equations;
}

std::vector<Constraints> espalier::substitution::equateReads(const Sum &sum,
                                                             const Sum &other) {
  std::vector<Element> ours, theirs;
  collect(sum, {}, ours);
  collect(other, {}, theirs);
  // All elements in order, then each for itself.
  std::vector<Constraints> partners(1);
  std::vector<bool> isTaken(theirs.size());
  for (const Element &here : ours) {
    bool isPaired = false;
    for (auto [number, there] : llvm::enumerate(theirs)) {
      if (here.atom->leaf != there.atom->leaf ||
          partners.size() >= kMaxPartners)
        continue;
      Constraints equations = equateOutside(here, there);
      if (!isPaired && !isTaken[number]) {
        isPaired = isTaken[number] = true;
        llvm::append_range(partners.front(), equations);
      }
      if (!llvm::is_contained(partners, equations))
        partners.push_back(std::move(equations));
    }
  }
  return partners;
}

/// Numbers by which `value` may be a multiple of `other`.
static std::vector<Rational> listFactors(const Sum &value, const Sum &other) {
  std::vector<Rational> factors;
  if (value.empty() && other.empty())
    factors.push_back(Rational::get(1));
  if (value.empty())
    return factors;
  for (const Term &term : other) {
    Rational factor = value[0].coefficient * term.coefficient.inverse();
    bool isKnown = llvm::any_of(factors, [&](const Rational &known) {
      return (known + -factor).isZero();
    });
    if (!factor.poisoned && !factor.isZero() && !isKnown)
      factors.push_back(factor);
  }
  return factors;
}

/// The same demand with variables of its own.
static Demand rename(const Demand &demand, Var &nextVar, Points &points) {
  Demand result = demand;
  for (Term &term : result.value)
    freshen(term, nextVar);
  for (Var var : getVars(demand.conditions)) {
    if (var < kFirstIndex)
      continue; // A size.
    points.bound.push_back(nextVar++);
    Linear renamed = Linear::var(points.bound.back());
    substitute(result.value, var, renamed);
    for (Constraint &condition : result.conditions)
      condition.expr.substitute(var, renamed);
  }
  points.constraints = result.conditions;
  return result;
}

/// Whether a positive or negative multiple of what fulfils `given` fulfils
/// `needed`.
static bool serves(Demand::Kind needed, Demand::Kind given, bool isPositive) {
  switch (needed) {
  case Demand::Kind::NotZero:
    return given != Demand::Kind::NotNegative;
  case Demand::Kind::NotNegative:
    return given != Demand::Kind::NotZero && isPositive;
  case Demand::Kind::Positive:
    return given == Demand::Kind::Positive && isPositive;
  }
  llvm_unreachable("every kind is handled above");
}

static bool isMetBySign(const Demand &demand, const Assumed &assumed) {
  auto isPositiveOrOpposite = [&] {
    return isPositive(demand.value, assumed) ||
           isPositive(scale(demand.value, Rational::get(-1)), assumed);
  };
  switch (demand.kind) {
  case Demand::Kind::NotZero:
    return isPositiveOrOpposite();
  case Demand::Kind::NotNegative:
    return isNonnegative(demand.value);
  case Demand::Kind::Positive:
    return isPositive(demand.value, assumed);
  }
  llvm_unreachable("every kind is handled above");
}

bool Prover::isMetBySource(const Demand &demand, llvm::ArrayRef<Demand> given,
                           const Assumed &assumed) {
  Assumed inside = assumed.with(demand.conditions);
  std::vector<Points> partners;
  for (const Demand &candidate : given) {
    Points points;
    Demand other = rename(candidate, nextVar, points);
    for (const Rational &factor : listFactors(demand.value, other.value)) {
      if (!serves(demand.kind, other.kind, factor.isPositive()))
        continue;
      Sum difference = add(demand.value, scale(other.value, -factor));
      for (const Constraints &equations :
           equateReads(demand.value, other.value)) {
        Points at = points;
        llvm::append_range(at.constraints, equations);
        Assumed there = inside.with(at.constraints);
        if (!budget.check() || there.isImpossible() ||
            !isZero(difference, there))
          continue;
        partners.push_back(std::move(at));
        if (isCovered(demand.conditions, partners, assumed))
          return true;
      }
    }
  }
  return false;
}

bool Prover::isMet(const Demand &demand, llvm::ArrayRef<Demand> given,
                   const Assumed &assumed) {
  Assumed inside = assumed.with(demand.conditions);
  if (inside.isImpossible() || isMetBySign(demand, inside) ||
      isMetBySource(demand, given, assumed))
    return true;
  if (demand.kind != Demand::Kind::Positive)
    return false;
  // Neither negative nor 0.
  Demand part = demand;
  for (Demand::Kind kind : {Demand::Kind::NotNegative, Demand::Kind::NotZero}) {
    part.kind = kind;
    if (!isMetBySign(part, inside) && !isMetBySource(part, given, assumed))
      return false;
  }
  return true;
}
