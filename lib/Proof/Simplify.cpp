//===- Simplify.cpp - The simple form of sums -----------------------------===//

#include "Goal.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::proof;

bool Steps::isImpossible(const std::vector<Clause> &given,
                         const Conditions &conditions) {
  Question question;
  for (const Clause &clause : given)
    question.assume(clause);
  question.assume(conditions);
  return solver.isImpossible(question);
}

bool Steps::implies(const std::vector<Clause> &given,
                    const Conditions &conditions, const Condition &conclusion) {
  if (conclusion.value.isNumber())
    return !isFalse(conclusion);
  return implyAll(given, conditions, {conclusion});
}

bool Steps::implyAll(const std::vector<Clause> &given,
                     const Conditions &conditions,
                     const Conditions &conclusions) {
  if (llvm::all_of(conclusions, [](const Condition &conclusion) {
        return conclusion.value.isNumber() && !isFalse(conclusion);
      }))
    return true;
  Question question;
  for (const Clause &clause : given)
    question.assume(clause);
  question.assume(conditions);
  question.assume("(not " + question.print(conclusions) + ")");
  return solver.isImpossible(question);
}

static bool mentionsAny(const Index &index, const Names &names) {
  return llvm::any_of(
      names, [&](const std::string &name) { return index.mentions(name); });
}

/// Drops conditions on numbers and repeated ones; false if one cannot hold.
static bool tidy(Conditions &conditions) {
  Conditions result;
  for (Condition &condition : conditions) {
    if (isFalse(condition))
      return false;
    if (condition.value.isNumber())
      continue;
    if (llvm::is_contained(result, condition))
      continue;
    // At least and at most 0 is 0.
    Condition opposite{-condition.value, false};
    if (!condition.isEquality && llvm::is_contained(result, opposite)) {
      llvm::erase(result, opposite);
      condition.isEquality = true;
    }
    result.push_back(condition);
  }
  conditions = std::move(result);
  return true;
}

/// Replaces bound variables that an equation determines; false if there are no
/// points.
template <typename T>
static bool eliminateFrom(T &binder) {
  for (bool changed = true; changed;) {
    changed = false;
    if (!tidy(binder.conditions))
      return false;
    for (const Condition &condition : binder.conditions) {
      if (!condition.isEquality)
        continue;
      for (const std::string &name : binder.bound) {
        auto value = solve(condition.value, name);
        if (!value)
          continue;
        std::string eliminated = name;
        llvm::erase(binder.bound, eliminated);
        substitute(binder, eliminated, *value);
        changed = true;
        break;
      }
      if (changed)
        break;
    }
  }
  return true;
}

bool espalier::proof::eliminate(Atom &atom) { return eliminateFrom(atom); }
bool espalier::proof::eliminate(Term &term) { return eliminateFrom(term); }

static bool isNonnegative(const Atom &atom) {
  return atom.isFunction("relu") || atom.isFunction("exp") ||
         atom.isFunction("abs") || atom.isFunction("sqrt");
}

bool espalier::proof::isNonnegative(const Sum &sum) {
  return llvm::all_of(sum, [](const Term &term) {
    // Factors of unknown sign that are not there twice.
    std::set<std::string> single;
    for (const Atom &atom : term.factors)
      if (std::string text = print(makeAtom(atom), /*isCanonical=*/true).str();
          !::isNonnegative(atom) && !single.insert(text).second)
        single.erase(text);
    return term.coefficient >= Fraction(0, 1) && single.empty();
  });
}

void Steps::simplifyAtom(Atom &atom, const std::vector<Clause> &given,
                         const Conditions &outer) {
  if (atom.kind == Atom::Kind::Max) {
    eliminate(atom);
    llvm::erase_if(atom.conditions, [&](const Condition &condition) {
      return !mentionsAny(condition.value, atom.bound) &&
             implies(given, outer, condition);
    });
    Conditions inside = outer;
    llvm::append_range(inside, atom.conditions);
    simplify(atom.args[0], given, inside);
    // A maximum of maxima is one.
    Sum &body = atom.args[0];
    bool isNested = body.size() == 1 && body[0].isPlain() &&
                    body[0].factors.size() == 1 &&
                    body[0].coefficient > Fraction(0, 1) &&
                    body[0].factors[0].kind == Atom::Kind::Max;
    if (isNested) {
      Atom inner = body[0].factors[0];
      llvm::append_range(atom.bound, inner.bound);
      llvm::append_range(atom.conditions, inner.conditions);
      body = scale(std::move(inner.args[0]), body[0].coefficient);
    }
    return;
  }
  for (Sum &arg : atom.args)
    simplify(arg, given, outer);
}

Sum Steps::simplifyTerm(Term term, const std::vector<Clause> &given,
                        const Conditions &outer) {
  if (term.coefficient == Fraction(0, 1) || !eliminate(term))
    return {};
  if (!term.conditions.empty()) {
    Conditions all = outer;
    llvm::append_range(all, term.conditions);
    if (isImpossible(given, all))
      return {};
    llvm::erase_if(term.conditions, [&](const Condition &condition) {
      return !mentionsAny(condition.value, term.bound) &&
             implies(given, outer, condition);
    });
  }
  Conditions inside = outer;
  llvm::append_range(inside, term.conditions);
  mergeExponentials(term);
  std::vector<Atom> factors = std::move(term.factors);
  term.factors.clear();
  Sum result{term};
  for (Atom &atom : factors) {
    simplifyAtom(atom, given, inside);
    Sum replaced;
    bool isRelu = atom.isFunction("relu"), isMax = atom.kind == Atom::Kind::Max;
    bool isSingle = isMax && atom.bound.empty() && atom.conditions.empty();
    if (isSingle || (isRelu && isNonnegative(atom.args[0]))) {
      replaced = atom.args[0];
    } else if (isRelu || isMax) {
      replaced = makeConstant(takeScale(atom.args[0]));
      if (isRelu)
        for (Atom &factor : takeCommon(atom.args[0], ::isNonnegative))
          replaced = multiply(replaced, makeAtom(std::move(factor)));
      replaced = multiply(replaced, makeAtom(std::move(atom)));
    } else if (atom.isFunction("div")) {
      replaced = invert(std::move(atom.args[0]));
    } else if (atom.isFunction("exp") && atom.args[0].empty()) {
      replaced = makeConstant(Fraction(1, 1));
    } else if (!atom.isFunction("tanh") || !atom.args[0].empty()) {
      replaced = makeAtom(std::move(atom));
    }
    result = multiply(result, replaced);
  }
  // What functions were replaced by may have more exponentials.
  Sum merged;
  for (Term &product : result)
    if (mergeExponentials(product))
      llvm::append_range(merged, simplifyTerm(product, given, outer));
    else
      merged.push_back(std::move(product));
  return merged;
}

void Steps::simplify(Sum &sum, const std::vector<Clause> &given,
                     const Conditions &outer) {
  std::map<std::string, unsigned> places;
  Sum result;
  for (Term &term : sum)
    for (Term &simple : simplifyTerm(std::move(term), given, outer)) {
      // Terms that look alike are one.
      Term key = simple;
      key.coefficient = Fraction(1, 1);
      auto [place, isNew] = places.try_emplace(
          print({key}, /*isCanonical=*/true).str(), result.size());
      if (isNew)
        result.push_back(std::move(simple));
      else
        result[place->second].coefficient += simple.coefficient;
    }
  llvm::erase_if(result, [](const Term &term) {
    return term.coefficient == Fraction(0, 1);
  });
  sum = std::move(result);
}

void Steps::simplify(Goal &goal) {
  // What cannot be is proved.
  if (isImpossible(goal.given, {})) {
    goal.sum.clear();
    return;
  }
  simplify(goal.sum, goal.given, {});
  freshen(goal.sum, goal.next);
  for (Fact &fact : goal.facts) {
    simplify(fact.sum, goal.given, {});
    freshen(fact.sum, goal.next);
  }
}
