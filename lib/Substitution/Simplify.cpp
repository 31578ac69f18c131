//===- Simplify.cpp - Simplifies sums of products -------------------------===//

#include "Expand.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/MathExtras.h"

using namespace espalier;
using namespace espalier::substitution;

/// Beyond these, numbers are not counted with.
static constexpr int64_t kMaxCounted = int64_t(1) << 40;

/// Brings constraints to lowest terms without repetitions. False if one cannot
/// hold.
static bool normalize(Constraints &constraints, const ConstraintStore &facts) {
  Constraints result;
  for (const Constraint &constraint : constraints) {
    Constraint simple = facts.simplify(constraint);
    std::optional<bool> decided = simple.normalize();
    if (decided && !*decided)
      return false;
    if (decided || llvm::is_contained(result, simple))
      continue;
    // At least and at most 0 is 0.
    Constraint opposite{simple.expr * -1, false};
    if (!simple.isEquality && llvm::is_contained(result, opposite))
      llvm::erase(result, opposite), simple.isEquality = true;
    result.push_back(simple);
  }
  constraints = std::move(result);
  return true;
}

/// Replaces a bound variable that an equality determines.
static bool eliminateOne(Term &term) {
  for (const Constraint &constraint : term.constraints) {
    if (!constraint.isEquality || constraint.expr.isPoisoned())
      continue;
    for (auto [var, coefficient] : constraint.expr.getTerms()) {
      if ((coefficient != 1 && coefficient != -1) ||
          !llvm::is_contained(term.bound, var))
        continue;
      Linear value =
          (constraint.expr - Linear::var(var, coefficient)) * -coefficient;
      Var eliminated = var;
      llvm::erase(term.bound, eliminated);
      substitute(term, eliminated, value);
      return true;
    }
  }
  return false;
}

bool espalier::substitution::eliminateDetermined(Term &term,
                                                 const ConstraintStore &facts) {
  do {
    if (!normalize(term.constraints, facts))
      return false;
  } while (eliminateOne(term));
  return true;
}

/// Whether a variable occurs in what a term adds up, or where.
static bool isUsed(const Term &term, Var var) {
  bool used = llvm::any_of(term.constraints, [&](const Constraint &constraint) {
    return constraint.expr.contains(var);
  });
  for (const Base &base : term.bases)
    used |= base.argument.contains(var);
  for (const Atom &atom : term.factors)
    forEachVar(atom, [&](Var other) { used |= other == var; });
  return used;
}

/// Of constraints on one variable alone: how many values it has. Nothing if one
/// mentions others, or there is no end to them.
static std::optional<int64_t> countValues(const Term &term, Var var) {
  std::optional<int64_t> least, most;
  for (const Constraint &constraint : term.constraints) {
    const Linear &expr = constraint.expr;
    int64_t coefficient = expr.getCoefficient(var);
    if (coefficient == 0)
      continue;
    if (expr.isPoisoned() || expr.getTerms().size() != 1 ||
        constraint.isEquality || coefficient < -kMaxCounted ||
        coefficient > kMaxCounted || expr.getConstant() < -kMaxCounted ||
        expr.getConstant() > kMaxCounted)
      return std::nullopt;
    if (coefficient > 0) {
      int64_t limit = llvm::divideCeilSigned(-expr.getConstant(), coefficient);
      least = std::max(least.value_or(limit), limit);
    } else {
      int64_t limit = llvm::divideFloorSigned(expr.getConstant(), -coefficient);
      most = std::min(most.value_or(limit), limit);
    }
  }
  if (!least || !most)
    return std::nullopt;
  return std::max<int64_t>(*most - *least + 1, 0);
}

/// Drops constraints on a variable and others that follow from the rest.
static void dropImplied(Term &term, Var var, const Assumed &assumed) {
  for (unsigned number = 0; number < term.constraints.size();) {
    Constraint constraint = term.constraints[number];
    Constraints others = term.constraints;
    others.erase(others.begin() + number);
    bool isAlone = constraint.expr.getTerms().size() == 1;
    if (!isAlone && constraint.expr.contains(var) &&
        assumed.with(others).implies(constraint))
      term.constraints = std::move(others);
    else
      ++number;
  }
}

/// Adding up the same thing is a product.
static void countUnused(Term &term, const Assumed &assumed) {
  for (unsigned number = 0; number < term.bound.size();) {
    Var var = term.bound[number];
    bool isRead = llvm::any_of(term.bases, [&](const Base &base) {
      return base.argument.contains(var);
    });
    for (const Atom &atom : term.factors)
      forEachVar(atom, [&](Var other) { isRead |= other == var; });
    std::optional<int64_t> count;
    if (!isRead) {
      dropImplied(term, var, assumed);
      count = countValues(term, var);
    }
    if (!count) {
      ++number;
      continue;
    }
    term.coefficient = term.coefficient * Rational::get(*count);
    term.bound.erase(term.bound.begin() + number);
    llvm::erase_if(term.constraints, [&](const Constraint &constraint) {
      return constraint.expr.contains(var);
    });
  }
}

/// Makes equal bases one, and drops those that nothing depends on.
static void simplifyBases(Term &term, const Assumed &assumed) {
  for (unsigned i = 0; i < term.bases.size(); ++i)
    for (unsigned j = i + 1; j < term.bases.size(); ++j) {
      const Base &first = term.bases[i];
      Base second = term.bases[j];
      if (!(assumed.facts->simplify(first.argument - second.argument) ==
            Linear(0)) ||
          !assumed.areEqual(first.size, second.size) ||
          !assumed.areEqual(first.scale, second.scale))
        continue;
      term.bases.erase(term.bases.begin() + j--);
      llvm::append_range(term.bases[i].facts, second.facts);
      substitute(term, second.var, Linear::var(term.bases[i].var));
    }
  llvm::erase_if(term.bases,
                 [&](const Base &base) { return !isUsed(term, base.var); });
}

/// Adds equalities that hold everywhere in the term's domain.
static bool addImpliedEqualities(Term &term, const Assumed &assumed) {
  Constraints domain = getDomain(term);
  Constraints conditions;
  for (const Constraint &condition : assumed.conditions)
    conditions.push_back(assumed.facts->simplify(condition));
  llvm::append_range(conditions, assumed.facts->getRest());
  auto all = getConnected(conditions, domain);
  llvm::SmallVector<Var> vars = getVars(all);
  auto equalities =
      makeSet(assumed.facts->getIntegers(), vars, all).getEqualities();
  if (!equalities)
    return false;
  bool added = false;
  Assumed inside = assumed.with(domain);
  for (const polyhedral::LinearConstraint &row : *equalities) {
    Linear expr(row.constant);
    bool determines = false;
    for (auto [var, coefficient] : llvm::zip_equal(vars, row.coefficients)) {
      expr += Linear::var(var, coefficient);
      determines |= (coefficient == 1 || coefficient == -1) &&
                    llvm::is_contained(term.bound, var);
    }
    if (determines && inside.implies({expr, true})) {
      term.constraints.push_back({expr, true});
      added = true;
    }
  }
  return added;
}

/// Learns more of bases from the conditions of their term; those whose value
/// these determine are replaced by it.
static void refineBases(Term &term, const Assumed &assumed) {
  Assumed inside = assumed.with(term.constraints);
  for (unsigned number = 0; number < term.bases.size();) {
    Base &base = term.bases[number];
    // limit <= argument < limit + size, where limit is v * size.
    auto limits = getShifts(base.size, base.scale, *assumed.sizes);
    for (int64_t k = 0; k < kMaxMultiples; ++k)
      limits.push_back({base.size * k, base.scale * k});
    std::optional<Linear> value;
    for (const auto &[limit, image] : limits)
      if (!value && inside.implies(Constraint::atLeast(base.argument, limit)) &&
          inside.implies(Constraint::less(base.argument, limit + base.size)))
        value = image;
    if (value) {
      Var var = base.var;
      term.bases.erase(term.bases.begin() + number);
      substitute(term, var, *value);
      continue;
    }
    for (const Constraint &fact : getBaseFacts(base, *assumed.sizes, inside))
      if (!llvm::is_contained(base.facts, fact))
        base.facts.push_back(fact);
    ++number;
  }
}

/// Returns false if the term is over nothing.
static bool simplifyTerm(Term &term, const Assumed &assumed, bool thorough) {
  do {
    if (!eliminateDetermined(term, *assumed.facts))
      return false;
    simplifyBases(term, assumed);
  } while (thorough && addImpliedEqualities(term, assumed));
  countUnused(term, assumed);
  if (term.coefficient.isZero())
    return false;
  if (term.constraints.empty())
    return true;
  refineBases(term, assumed);
  Constraints domain = getDomain(term);
  if (assumed.isImpossible(domain))
    return false;
  // What holds anyway, and does not limit what is added over, says nothing.
  // Of bases only what holds without conditions may be used here.
  Assumed always = assumed;
  for (const Base &base : term.bases)
    if (base.size == base.scale)
      llvm::append_range(always.conditions, getRemainderFacts(base));
  llvm::erase_if(term.constraints, [&](const Constraint &constraint) {
    return !constraint.expr.any([&](Var var) {
      return llvm::is_contained(term.bound, var);
    }) && always.implies(constraint);
  });
  simplifyBases(term, assumed);
  return true;
}

void espalier::substitution::simplify(Sum &sum, const Assumed &assumed,
                                      bool thorough) {
  llvm::erase_if(sum, [&](Term &term) {
    return term.coefficient.isZero() || !simplifyTerm(term, assumed, thorough);
  });
}
