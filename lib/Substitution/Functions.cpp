//===- Functions.cpp - relu, max and others of sums -----------------------===//
//
// Conditions that do not depend on what is inside are moved outside, so that
// relu of a concatenation is a concatenation of relu. What can be said of the
// sign, of monotone functions and of positions that do not matter is said here,
// once, so that equal functions look equal.
//
//===----------------------------------------------------------------------===//

#include "Expand.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier;
using namespace espalier::substitution;
using definition::ScalarFn;

//===----------------------------------------------------------------------===//
// Conditions
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

void espalier::substitution::forEachCell(
    Sum sum, const Assumed &assumed,
    llvm::function_ref<void(Sum, const Assumed &)> visit) {
  distribute(std::move(sum), {}, {}, assumed,
             [&](Sum cell, const Assumed &inside) {
               visit(std::move(cell), inside);
               return Sum();
             });
}

//===----------------------------------------------------------------------===//
// Signs and scales
//===----------------------------------------------------------------------===//

static bool isNonnegativeAtom(const Atom &atom) {
  switch (atom.kind) {
  case Atom::Kind::Relu:
    return true;
  case Atom::Kind::Function:
    return atom.fn == ScalarFn::Exp || atom.fn == ScalarFn::Abs ||
           atom.fn == ScalarFn::Sqrt ||
           (atom.fn == ScalarFn::Div && isNonnegative(atom.args[0]));
  case Atom::Kind::Max:
    return isNonnegative(atom.args[0]);
  case Atom::Kind::Read:
    return false;
  }
  llvm_unreachable("every kind is handled above");
}
/// Squares are not negative, whatever is squared.
static bool hasNonnegativeFactors(const Term &term) {
  llvm::SmallVector<const Atom *> signedAtoms;
  for (const Atom &atom : term.factors) {
    if (isNonnegativeAtom(atom))
      continue;
    auto *same = llvm::find_if(
        signedAtoms, [&](const Atom *other) { return *other == atom; });
    if (same == signedAtoms.end())
      signedAtoms.push_back(&atom);
    else
      signedAtoms.erase(same);
  }
  return signedAtoms.empty();
}
bool espalier::substitution::isNonnegative(const Sum &sum) {
  return llvm::all_of(sum, [](const Term &term) {
    return !term.coefficient.poisoned && term.coefficient.isPositive() &&
           hasNonnegativeFactors(term);
  });
}

/// Whether an atom is more than 0 for sure.
static bool isPositiveAtom(const Atom &atom) {
  auto isPositiveSum = [](const Sum &sum) {
    return isNonnegative(sum) && llvm::any_of(sum, [](const Term &term) {
             return term.bound.empty() && term.constraints.empty() &&
                    term.bases.empty() &&
                    llvm::all_of(term.factors, isPositiveAtom);
           });
  };
  switch (atom.kind) {
  case Atom::Kind::Function:
    return atom.fn == ScalarFn::Exp ||
           ((atom.fn == ScalarFn::Div || atom.fn == ScalarFn::Sqrt) &&
            isPositiveSum(atom.args[0]));
  case Atom::Kind::Relu:
  case Atom::Kind::Max:
    return isPositiveSum(atom.args[0]);
  case Atom::Kind::Read:
    return false;
  }
  llvm_unreachable("every kind is handled above");
}

bool espalier::substitution::isPositive(const Sum &sum,
                                        const Assumed &assumed) {
  return isNonnegative(sum) && llvm::any_of(sum, [&](const Term &term) {
           return term.bases.empty() &&
                  llvm::all_of(term.factors, isPositiveAtom) &&
                  isNeverEmpty(term.bound, term.constraints, assumed);
         });
}

static bool isNonpositive(const Sum &sum) {
  return llvm::all_of(sum, [](const Term &term) {
    return !term.coefficient.poisoned && !term.coefficient.isPositive() &&
           hasNonnegativeFactors(term);
  });
}

Rational espalier::substitution::takeScale(Sum &sum) {
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

//===----------------------------------------------------------------------===//
// Functions
//===----------------------------------------------------------------------===//

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
        // tanh never decreases, and is 0 at 0.
        if (isSingleAtom(inner, Atom::Kind::Function) &&
            inner[0].coefficient.isPositive() &&
            inner[0].factors[0].fn == ScalarFn::Tanh)
          return scale(
              makeFunction(ScalarFn::Tanh,
                           {makeRelu(inner[0].factors[0].args[0], assumed)},
                           assumed),
              factor * inner[0].coefficient);
        Atom relu;
        relu.kind = Atom::Kind::Relu;
        std::vector<Atom> outside;
        if (inner.size() == 1 && inner[0].bound.empty() &&
            inner[0].bases.empty())
          for (const Atom &atom : inner[0].factors)
            if (isNonnegativeAtom(atom))
              outside.push_back(atom);
        if (!outside.empty())
          llvm::erase_if(inner[0].factors, [](const Atom &atom) {
            return isNonnegativeAtom(atom);
          });
        relu.args.push_back(std::move(inner));
        Sum result = scale(makeAtom(std::move(relu)), factor);
        llvm::append_range(result[0].factors, outside);
        return result;
      });
}

namespace {
/// Functions of one element: whether they never decrease as it grows, and what
/// they are of something else.
class ElementFunction {
public:
  /// Whether `sum` is certainly one of a single element, and never decreases.
  bool neverDecreases(const Sum &sum) {
    // t and relu(t) together: the slopes on both sides of 0 count.
    Rational plain = Rational::get(0), relu = Rational::get(0);
    for (const Term &term : sum) {
      bool isElement = isSingle(term, Atom::Kind::Read);
      bool isRelu = isSingle(term, Atom::Kind::Relu) &&
                    isPlainElement(term.factors[0].args[0]);
      if (!isElement && !isRelu) {
        if (!(getDirections(term) & Up))
          return false;
        continue;
      }
      if (isElement && getDirections(term.factors[0]) == None)
        return false;
      Rational &slope = isElement ? plain : relu;
      slope = slope + term.coefficient;
    }
    return isNotNegative(plain) && isNotNegative(plain + relu) && isKnown;
  }

  const Atom &getElement() const { return element; }

  /// The same function of `value`.
  Sum replace(const Sum &sum, const Sum &value, const Assumed &assumed) const {
    Sum result;
    for (const Term &term : sum) {
      Sum product = makeConstant(term.coefficient);
      for (const Atom &atom : term.factors)
        product = multiply(product, replace(atom, value, assumed));
      result = add(std::move(result), std::move(product));
    }
    return result;
  }

private:
  enum Directions : unsigned { None = 0, Up = 1, Down = 2, Both = 3 };

  static Directions reverse(unsigned directions) {
    return static_cast<Directions>((directions & Up ? Down : None) |
                                   (directions & Down ? Up : None));
  }
  static bool isNotNegative(const Rational &number) {
    return !number.poisoned && (number.isPositive() || number.isZero());
  }
  static bool isPlain(const Term &term) {
    return term.bound.empty() && term.constraints.empty() &&
           term.bases.empty() && !term.coefficient.poisoned;
  }
  static bool isSingle(const Term &term, Atom::Kind kind) {
    return isPlain(term) && term.factors.size() == 1 &&
           term.factors[0].kind == kind;
  }
  bool isPlainElement(const Sum &sum) {
    return sum.size() == 1 && isSingle(sum[0], Atom::Kind::Read) &&
           sum[0].coefficient.numerator == 1 &&
           sum[0].coefficient.denominator == 1 &&
           getDirections(sum[0].factors[0]) != None;
  }

  unsigned getDirections(const Sum &sum) {
    unsigned directions = Both;
    for (const Term &term : sum)
      directions &= getDirections(term);
    return directions;
  }

  unsigned getDirections(const Term &term) {
    if (!isPlain(term))
      return None;
    unsigned directions = Both;
    if (term.factors.size() == 1)
      directions = getDirections(term.factors[0]);
    // Beside relu(t), t counts where it is positive only.
    bool hasRelu = llvm::any_of(term.factors, [&](const Atom &atom) {
      return atom.kind == Atom::Kind::Relu && isPlainElement(atom.args[0]);
    });
    if (term.factors.size() > 1)
      for (const Atom &atom : term.factors) {
        bool counts = isNonnegativeAtom(atom) ||
                      (hasRelu && atom.kind == Atom::Kind::Read);
        directions &= counts ? getDirections(atom) & Up : None;
      }
    return term.coefficient.isPositive() ? directions : reverse(directions);
  }

  unsigned getDirections(const Atom &atom) {
    switch (atom.kind) {
    case Atom::Kind::Read:
      if (!std::exchange(isKnown, true))
        element = atom;
      return element.leaf == atom.leaf && element.indices == atom.indices
                 ? Up
                 : None;
    case Atom::Kind::Relu:
      return getDirections(atom.args[0]);
    case Atom::Kind::Function:
      if (atom.args.size() == 1 &&
          (atom.fn == ScalarFn::Exp || atom.fn == ScalarFn::Tanh))
        return getDirections(atom.args[0]);
      if (atom.args.size() == 1 && atom.fn == ScalarFn::Div &&
          isPositiveAtom(atom))
        return reverse(getDirections(atom.args[0]));
      return None;
    case Atom::Kind::Max:
      return None;
    }
    llvm_unreachable("every kind is handled above");
  }

  Sum replace(const Atom &atom, const Sum &value,
              const Assumed &assumed) const {
    if (atom.kind == Atom::Kind::Read)
      return value;
    Sum inner = replace(atom.args[0], value, assumed);
    return atom.kind == Atom::Kind::Relu
               ? makeRelu(std::move(inner), assumed)
               : makeFunction(atom.fn, {std::move(inner)}, assumed);
  }

  bool isKnown = false;
  Atom element;
};
} // namespace

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
    // max(h(f)) = h(max(f)), where h never decreases.
    ElementFunction function;
    bool isAtom = isSingleAtom(varying, Atom::Kind::Read) ||
                  isSingleAtom(varying, Atom::Kind::Relu);
    if (!isAtom && function.neverDecreases(varying) &&
        isNeverEmpty(bound, constraints, assumed)) {
      Sum plain = makeMaxOver(bound, constraints,
                              makeAtom(function.getElement()), assumed);
      return add(function.replace(varying, plain, assumed),
                 std::move(constant));
    }
    // exp and tanh never decrease either.
    if (isSingleAtom(varying, Atom::Kind::Function) &&
        varying[0].coefficient.isPositive() &&
        (varying[0].factors[0].fn == ScalarFn::Exp ||
         varying[0].factors[0].fn == ScalarFn::Tanh) &&
        isNeverEmpty(bound, constraints, assumed)) {
      Sum below = makeMaxOver(bound, constraints, varying[0].factors[0].args[0],
                              assumed);
      Sum result =
          makeFunction(varying[0].factors[0].fn, {std::move(below)}, assumed);
      return add(scale(std::move(result), varying[0].coefficient),
                 std::move(constant));
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
  // If it is empty it stays as it is: nothing equals its maximum.
  eliminateDetermined(domain, *assumed.facts);
  return makeMaxOver(domain.bound, domain.constraints,
                     std::move(domain.factors[0].args[0]), assumed);
}

/// The value at 0 of functions that have a simple one.
static std::optional<Sum> evaluateAtZero(ScalarFn fn) {
  if (fn == ScalarFn::Exp)
    return makeConstant(Rational::get(1));
  if (fn == ScalarFn::Tanh || fn == ScalarFn::Abs)
    return Sum();
  return std::nullopt;
}

Sum espalier::substitution::makeFunction(ScalarFn fn, std::vector<Sum> args,
                                         const Assumed &assumed) {
  return distribute(
      std::move(args[0]), {}, {}, assumed, [&](Sum inner, const Assumed &) {
        if (auto value = evaluateAtZero(fn); value && inner.empty())
          return *value;
        if (fn == ScalarFn::Div)
          return makeReciprocal(std::move(inner));
        Atom atom;
        atom.kind = Atom::Kind::Function;
        atom.fn = fn;
        atom.args.push_back(std::move(inner));
        return makeAtom(std::move(atom));
      });
}
