//===- Simplify.cpp - Simplifies sums of products -------------------------===//

#include "Expand.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier;
using namespace espalier::substitution;

//===----------------------------------------------------------------------===//
// Terms
//===----------------------------------------------------------------------===//

/// Brings constraints to lowest terms without repetitions. False if one cannot
/// hold.
static bool normalize(Constraints &constraints, const Facts &facts) {
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
  for (const polyhedral::LinearConstraint &row : *equalities) {
    Linear expr(row.constant);
    bool determines = false;
    for (auto [var, coefficient] : llvm::zip_equal(vars, row.coefficients)) {
      expr += Linear::var(var, coefficient);
      determines |= (coefficient == 1 || coefficient == -1) &&
                    llvm::is_contained(term.bound, var);
    }
    if (determines) {
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
    do {
      if (!normalize(term.constraints, *assumed.facts))
        return false;
    } while (eliminateOne(term));
    simplifyBases(term, assumed);
  } while (thorough && addImpliedEqualities(term, assumed));
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

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

/// A condition that mentions no variable bound in its term or in `bound`, with
/// the bases that it mentions.
struct OuterCondition {
  Constraint constraint;
  llvm::SmallVector<Base, 1> bases;
};

static std::optional<OuterCondition>
findOuterCondition(const Sum &sum, llvm::ArrayRef<Var> bound) {
  for (const Term &term : sum) {
    auto isInner = [&](Var var) {
      return llvm::is_contained(term.bound, var) ||
             llvm::is_contained(bound, var);
    };
    for (const Constraint &constraint : term.constraints) {
      OuterCondition condition{constraint, {}};
      bool isOuter = !constraint.expr.any(isInner);
      for (const Base &base : term.bases) {
        if (!constraint.expr.contains(base.var))
          continue;
        // The argument may mention further bases; those are left inside.
        isOuter &= !base.argument.any([&](Var var) {
          return isInner(var) ||
                 llvm::any_of(term.bases, [&](const Base &other) {
                   return other.var == var;
                 });
        });
        condition.bases.push_back(base);
      }
      if (isOuter && !constraint.expr.isPoisoned())
        return condition;
    }
  }
  return std::nullopt;
}

/// Makes a function of `inner` where all its conditions are decided, and puts
/// these conditions on the result.
static Sum distribute(Sum inner, llvm::ArrayRef<Var> bound,
                      const Constraints &within, const Assumed &assumed,
                      llvm::function_ref<Sum(Sum, const Assumed &)> make) {
  simplify(inner, assumed.with(within));
  std::optional<OuterCondition> condition = findOuterCondition(inner, bound);
  if (!condition)
    return make(std::move(inner), assumed);
  // Bases that the condition mentions go outside with it. Of facts about them,
  // only what always holds.
  Assumed outside = assumed;
  for (const Base &base : condition->bases) {
    if (base.size == base.scale)
      llvm::append_range(outside.conditions, getRemainderFacts(base));
    for (Term &term : inner)
      llvm::erase_if(term.bases,
                     [&](const Base &other) { return other.var == base.var; });
  }
  Constraints options{condition->constraint};
  llvm::append_range(options, negate(condition->constraint));
  Sum result;
  for (const Constraint &option : options) {
    if (outside.isImpossible(option))
      continue;
    Sum part = distribute(inner, bound, within, outside.with(option), make);
    for (Term &term : part) {
      term.constraints.push_back(option);
      llvm::append_range(term.bases, condition->bases);
    }
    result = add(std::move(result), std::move(part));
  }
  return result;
}

static bool isNonnegative(const Sum &sum);
static bool isNonnegative(const Atom &atom) {
  switch (atom.kind) {
  case Atom::Kind::Relu:
    return true;
  case Atom::Kind::Function:
    return atom.fn == definition::ScalarFn::Exp ||
           atom.fn == definition::ScalarFn::Abs;
  case Atom::Kind::Max:
    return isNonnegative(atom.args[0]);
  case Atom::Kind::Read:
    return false;
  }
  llvm_unreachable("every kind is handled above");
}
static bool hasNonnegativeFactors(const Term &term) {
  return llvm::all_of(term.factors,
                      [](const Atom &atom) { return isNonnegative(atom); });
}
static bool isNonnegative(const Sum &sum) {
  return llvm::all_of(sum, [](const Term &term) {
    return !term.coefficient.poisoned && term.coefficient.isPositive() &&
           hasNonnegativeFactors(term);
  });
}
static bool isNonpositive(const Sum &sum) {
  return llvm::all_of(sum, [](const Term &term) {
    return !term.coefficient.poisoned && !term.coefficient.isPositive() &&
           hasNonnegativeFactors(term);
  });
}

/// Takes out a positive number, the same for multiples of one sum.
static Rational takeScale(Sum &sum) {
  Rational largest = Rational::get(0);
  for (const Term &term : sum) {
    Rational size =
        term.coefficient.isPositive() ? term.coefficient : -term.coefficient;
    Rational difference = size + -largest;
    if (size.poisoned || difference.poisoned)
      return Rational::get(1);
    if (difference.isPositive())
      largest = size;
  }
  if (!largest.isPositive())
    return Rational::get(1);
  sum = scale(std::move(sum), largest.inverse());
  return largest;
}

/// Whether the sum is one factor, times a number.
static bool isSingleAtom(const Sum &sum, Atom::Kind kind) {
  return sum.size() == 1 && sum[0].factors.size() == 1 &&
         sum[0].bound.empty() && sum[0].bases.empty() &&
         sum[0].constraints.empty() && sum[0].factors[0].kind == kind;
}

/// Whether the domain of a maximum has a point wherever `assumed` holds.
static bool isNeverEmpty(llvm::ArrayRef<Var> bound,
                         const Constraints &constraints,
                         const Assumed &assumed) {
  Constraints conditions, domain;
  for (const Constraint &condition : assumed.conditions)
    conditions.push_back(assumed.facts->simplify(condition));
  llvm::append_range(conditions, assumed.facts->getRest());
  for (const Constraint &constraint : constraints)
    domain.push_back(assumed.facts->simplify(constraint));
  auto all = getConnected(conditions, domain);
  llvm::SmallVector<Var> outer = getVars(all);
  llvm::erase_if(outer,
                 [&](Var var) { return llvm::is_contained(bound, var); });
  llvm::SmallVector<Var> vars = outer;
  llvm::append_range(vars, bound);
  const Integers &integers = assumed.facts->getIntegers();
  llvm::SmallVector<Constraint> known;
  for (const Constraint &constraint : all)
    if (!constraint.expr.any(
            [&](Var var) { return llvm::is_contained(bound, var); }))
      known.push_back(constraint);
  polyhedral::Set possible = makeSet(integers, outer, known);
  polyhedral::Set covered =
      makeSet(integers, vars, all).project(outer.size(), bound.size());
  return possible.isSubset(covered) == true;
}

Sum espalier::substitution::makeRelu(Sum inner, const Assumed &assumed) {
  return distribute(
      std::move(inner), {}, {}, assumed, [](Sum inner, const Assumed &assumed) {
        if (isNonpositive(inner))
          return Sum();
        if (isNonnegative(inner))
          return inner;
        Rational factor = takeScale(inner);
        if (isSingleAtom(inner, Atom::Kind::Max) &&
            inner[0].coefficient.isPositive()) {
          Atom &max = inner[0].factors[0];
          if (isNeverEmpty(max.bound, max.constraints, assumed)) {
            Sum below = makeRelu(max.args[0], assumed.with(max.constraints));
            return scale(
                makeMax(max.bound, max.constraints, std::move(below), assumed),
                factor);
          }
        }
        Atom relu;
        relu.kind = Atom::Kind::Relu;
        std::vector<Atom> outside;
        if (inner.size() == 1 && inner[0].bound.empty() &&
            inner[0].bases.empty())
          for (const Atom &atom : inner[0].factors)
            if (isNonnegative(atom))
              outside.push_back(atom);
        if (!outside.empty())
          llvm::erase_if(inner[0].factors,
                         [](const Atom &atom) { return isNonnegative(atom); });
        relu.args.push_back(std::move(inner));
        Sum result = scale(makeAtom(std::move(relu)), factor);
        llvm::append_range(result[0].factors, outside);
        return result;
      });
}

static Sum makeMaxOver(llvm::ArrayRef<Var> bound,
                       const Constraints &constraints, Sum inner,
                       const Assumed &assumed) {
  auto make = [&](Sum inner, const Assumed &assumed) {
    // max(f + c) = max(f) + c, where c does not depend on the position.
    Sum constant, varying;
    for (Term &term : inner) {
      bool varies = false;
      forEachVar(term,
                 [&](Var var) { varies |= llvm::is_contained(bound, var); });
      (varies ? varying : constant).push_back(std::move(term));
    }
    bool isSplit = !constant.empty() || varying.empty();
    if (isSplit && !isNeverEmpty(bound, constraints, assumed)) {
      varying = add(std::move(varying), std::move(constant));
      constant.clear();
    } else if (varying.empty()) {
      return constant;
    }
    Atom max;
    max.kind = Atom::Kind::Max;
    max.bound.assign(bound.begin(), bound.end());
    max.constraints = constraints;
    Rational factor = takeScale(varying);
    if (isSingleAtom(varying, Atom::Kind::Max) &&
        varying[0].coefficient.isPositive()) {
      Atom nested = varying[0].factors[0];
      llvm::append_range(max.bound, nested.bound);
      llvm::append_range(max.constraints, nested.constraints);
      varying = nested.args[0];
    }
    max.args.push_back(std::move(varying));
    return add(scale(makeAtom(std::move(max)), factor), std::move(constant));
  };
  return distribute(std::move(inner), bound, constraints, assumed, make);
}

Sum espalier::substitution::makeMax(llvm::ArrayRef<Var> bound,
                                    const Constraints &constraints, Sum inner,
                                    const Assumed &assumed) {
  // Positions with one value only are no positions.
  Term domain;
  domain.bound.assign(bound.begin(), bound.end());
  domain.constraints = constraints;
  Atom body;
  body.kind = Atom::Kind::Max;
  body.args.push_back(std::move(inner));
  domain.factors.push_back(std::move(body));
  do {
    // An empty domain stays as it is: nothing equals its maximum.
    if (!normalize(domain.constraints, *assumed.facts))
      break;
  } while (eliminateOne(domain));
  return makeMaxOver(domain.bound, domain.constraints,
                     std::move(domain.factors[0].args[0]), assumed);
}

Sum espalier::substitution::makeFunction(definition::ScalarFn fn,
                                         std::vector<Sum> args,
                                         const Assumed &assumed) {
  return distribute(std::move(args[0]), {}, {}, assumed,
                    [&](Sum inner, const Assumed &) {
                      Atom atom;
                      atom.kind = Atom::Kind::Function;
                      atom.fn = fn;
                      atom.args.push_back(std::move(inner));
                      return makeAtom(std::move(atom));
                    });
}
