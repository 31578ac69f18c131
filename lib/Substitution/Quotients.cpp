//===- Quotients.cpp - Reciprocals of sums --------------------------------===//
//
// What is divided by is not 0, so reciprocals of products are products, and
// what all terms have in common can be taken out:
//
//   1 / (sum(j) exp(x[j] - m))  =  exp(m) / (sum(j) exp(x[j]))
//
//===----------------------------------------------------------------------===//

#include "Expand.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::substitution;
using espalier::definition::ScalarFn;

static bool isFunction(const Atom &atom, ScalarFn fn) {
  return atom.kind == Atom::Kind::Function && atom.fn == fn &&
         atom.args.size() == 1;
}

static Atom makeFunctionAtom(ScalarFn fn, Sum arg) {
  Atom atom;
  atom.kind = Atom::Kind::Function;
  atom.fn = fn;
  atom.args.push_back(std::move(arg));
  return atom;
}

/// Whether a factor or a summand depends on what some term is summed over.
template <typename PartT>
static bool mentionsBound(const PartT &part, const Sum &sum) {
  bool result = false;
  forEachVar(part, [&](Var var) {
    result |= llvm::any_of(sum, [&](const Term &term) {
      return llvm::is_contained(term.bound, var);
    });
  });
  return result;
}

/// Takes out factors that each term has.
static void takeCommonAtoms(Sum &sum, std::vector<Atom> &common) {
  std::vector<Atom> candidates = sum[0].factors;
  for (const Atom &atom : candidates) {
    bool isShared =
        !mentionsBound(atom, sum) && llvm::all_of(sum, [&](const Term &term) {
          return llvm::is_contained(term.factors, atom);
        });
    if (!isShared)
      continue;
    for (Term &term : sum)
      term.factors.erase(llvm::find(term.factors, atom));
    common.push_back(atom);
  }
}

/// Inside of exp, summands are factors.
static Sum *getExponent(Term &term) {
  for (Atom &atom : term.factors)
    if (isFunction(atom, ScalarFn::Exp))
      return &atom.args[0];
  return nullptr;
}

static bool areSame(const Term &lhs, const Term &rhs) {
  Sum difference{lhs, rhs};
  difference[1].coefficient = -difference[1].coefficient;
  mergeAlike(difference);
  return difference.empty();
}

/// Takes out summands that each term has in its exponent.
static void takeCommonPowers(Sum &sum, std::vector<Atom> &common) {
  Sum *first = getExponent(sum[0]);
  Sum candidates = first ? *first : Sum();
  for (const Term &summand : candidates) {
    auto isSame = [&](const Term &other) { return areSame(summand, other); };
    bool isShared =
        !mentionsBound(summand, sum) && llvm::all_of(sum, [&](Term &term) {
          Sum *exponent = getExponent(term);
          return exponent && llvm::any_of(*exponent, isSame);
        });
    if (!isShared)
      continue;
    for (Term &term : sum) {
      Sum *exponent = getExponent(term);
      exponent->erase(llvm::find_if(*exponent, isSame));
      llvm::erase_if(term.factors, [](const Atom &atom) {
        return isFunction(atom, ScalarFn::Exp) && atom.args[0].empty();
      });
    }
    common.push_back(makeFunctionAtom(ScalarFn::Exp, {summand}));
  }
}

/// 1 / atom: of exp(a) it is exp(-a), and of 1 / a it is a.
static Sum invert(const Atom &atom) {
  if (isFunction(atom, ScalarFn::Exp))
    return makeAtom(makeFunctionAtom(ScalarFn::Exp,
                                     scale(atom.args[0], Rational::get(-1))));
  // What is bound in a sum may have the name of something around it.
  bool isPlain = llvm::all_of(atom.args, [](const Sum &arg) {
    return llvm::all_of(arg, [](const Term &term) {
      return term.bound.empty() && term.bases.empty();
    });
  });
  if (isFunction(atom, ScalarFn::Div) && isPlain)
    return atom.args[0];
  return makeAtom(makeFunctionAtom(ScalarFn::Div, makeAtom(atom)));
}

Sum espalier::substitution::makeReciprocal(Sum inner) {
  mergeAlike(inner);
  bool isUsable = llvm::all_of(inner, [](const Term &term) {
    return term.bases.empty() && !term.coefficient.poisoned;
  });
  if (inner.empty() || !isUsable)
    return makeAtom(makeFunctionAtom(ScalarFn::Div, std::move(inner)));
  std::vector<Atom> common;
  takeCommonAtoms(inner, common);
  takeCommonPowers(inner, common);
  Sum result;
  const Term &term = inner[0];
  bool isNumber = inner.size() == 1 && term.bound.empty() &&
                  term.constraints.empty() && term.factors.empty();
  if (isNumber) {
    result = makeConstant(term.coefficient.inverse());
  } else {
    Rational factor = takeScale(inner);
    result = scale(makeAtom(makeFunctionAtom(ScalarFn::Div, std::move(inner))),
                   factor.inverse());
  }
  for (const Atom &atom : common)
    result = multiply(result, invert(atom));
  return result;
}
