//===- Laws.cpp - Laws of functions, for the simple form ------------------===//
//
// 1 / (a * b) is 1 / a * 1 / b, where 1 / 0 is 0; exp(a) * exp(b) is
// exp(a + b). So what all terms of a sum have in common is taken out of its
// reciprocal, and 1 / exp(a) is exp(-a).
//
//===----------------------------------------------------------------------===//

#include "Goal.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::proof;

static std::string getKey(const Atom &atom) {
  return print(makeAtom(atom), /*isCanonical=*/true).str();
}

bool espalier::proof::mergeExponentials(Term &term) {
  Atom *first = nullptr;
  size_t count = term.factors.size();
  std::vector<Atom> factors = std::exchange(term.factors, {});
  term.factors.reserve(count);
  for (Atom &atom : factors)
    if (first && atom.isFunction("exp")) {
      first->args[0] = add(std::move(first->args[0]), atom.args[0]);
    } else {
      term.factors.push_back(std::move(atom));
      if (term.factors.back().isFunction("exp"))
        first = &term.factors.back();
    }
  return term.factors.size() != count;
}

static bool mentions(const Sum &sum, const Sum &binders) {
  bool found = false;
  for (const Term &term : binders)
    for (const std::string &name : term.bound)
      walk(sum, [&](const Index &index) { found |= index.mentions(name); });
  return found;
}

/// Removes an element with this key, if there is one.
template <typename T, typename Fn>
static bool take(std::vector<T> &list, const std::string &key, Fn getKeyOf) {
  auto found =
      llvm::find_if(list, [&](const T &part) { return getKeyOf(part) == key; });
  if (found == list.end())
    return false;
  list.erase(found);
  return true;
}

static Sum *getExponent(Term &term) {
  for (Atom &atom : term.factors)
    if (atom.isFunction("exp"))
      return &atom.args[0];
  return nullptr;
}

std::vector<Atom>
espalier::proof::takeCommon(Sum &sum,
                            llvm::function_ref<bool(const Atom &)> mayTake) {
  std::vector<Atom> result;
  if (sum.empty())
    return result;
  for (const Atom &atom : std::vector<Atom>(sum[0].factors)) {
    std::string key = getKey(atom);
    bool isCommon =
        mayTake(atom) && !mentions(makeAtom(atom), sum) &&
        llvm::all_of(sum, [&](const Term &term) {
          return llvm::is_contained(llvm::map_range(term.factors, getKey), key);
        });
    if (!isCommon)
      continue;
    for (Term &term : sum)
      take(term.factors, key, getKey);
    result.push_back(atom);
  }
  // Of exponentials, the terms that all exponents have.
  if (!llvm::all_of(sum, [](Term &term) { return getExponent(term); }))
    return result;
  auto getKeyOf = [](const Term &term) {
    return print({term}, /*isCanonical=*/true).str();
  };
  Sum common;
  for (const Term &part : Sum(*getExponent(sum[0]))) {
    std::string key = getKeyOf(part);
    bool isCommon =
        !mentions({part}, sum) && llvm::all_of(sum, [&](Term &term) {
          return llvm::is_contained(
              llvm::map_range(*getExponent(term), getKeyOf), key);
        });
    if (!isCommon)
      continue;
    for (Term &term : sum)
      take(*getExponent(term), key, getKeyOf);
    common.push_back(part);
  }
  for (Term &term : sum)
    llvm::erase_if(term.factors, [](const Atom &atom) {
      return atom.isFunction("exp") && atom.args[0].empty();
    });
  if (!common.empty())
    result.push_back(makeFunction("exp", common));
  return result;
}

Fraction espalier::proof::takeScale(Sum &sum) {
  Fraction largest(0, 1);
  for (const Term &term : sum)
    largest = std::max(largest, abs(term.coefficient));
  if (!(largest > Fraction(0, 1)))
    return Fraction(1, 1);
  sum = scale(std::move(sum), Fraction(largest.den, largest.num));
  return largest;
}

/// The same of either sign, so that opposite sums look alike.
static Fraction takeSignedScale(Sum &sum) {
  Fraction factor = takeScale(sum);
  auto getKeyOf = [](Term term) {
    term.coefficient = Fraction(1, 1);
    return print({term}, /*isCanonical=*/true).str();
  };
  const Term *first = &sum.front();
  for (const Term &term : sum)
    if (getKeyOf(term) < getKeyOf(*first))
      first = &term;
  if (first->coefficient > Fraction(0, 1))
    return factor;
  sum = scale(std::move(sum), Fraction(-1, 1));
  return Fraction(-1, 1) * factor;
}

Sum espalier::proof::invert(Sum sum) {
  if (sum.empty())
    return {};
  Fraction factor = takeSignedScale(sum);
  Sum result = makeConstant(Fraction(factor.den, factor.num));
  for (Atom &atom : takeCommon(sum, [](const Atom &) { return true; })) {
    if (atom.isFunction("div"))
      result = multiply(result, atom.args[0]);
    else if (atom.isFunction("exp"))
      result = multiply(
          result, makeAtom(makeFunction(
                      "exp", scale(std::move(atom.args[0]), Fraction(-1, 1)))));
    else
      result = multiply(result, makeAtom(makeFunction("div", makeAtom(atom))));
  }
  bool isOne = sum.size() == 1 && sum[0].isPlain() && sum[0].factors.empty();
  return isOne ? result : multiply(result, makeAtom(makeFunction("div", sum)));
}
