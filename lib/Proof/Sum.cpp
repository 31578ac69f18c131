//===- Sum.cpp - Sums of products over integer points ---------------------===//

#include "Sum.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::proof;

Sum espalier::proof::makeConstant(const Fraction &value) {
  Term term;
  term.coefficient = value;
  return value == Fraction(0, 1) ? Sum() : Sum{term};
}

Sum espalier::proof::makeAtom(Atom atom) {
  Term term;
  term.factors.push_back(std::move(atom));
  return {term};
}

Atom espalier::proof::makeFunction(llvm::StringRef name, Sum arg) {
  Atom atom;
  atom.kind = Atom::Kind::Function;
  atom.name = name.str();
  atom.args.push_back(std::move(arg));
  return atom;
}

Sum espalier::proof::add(Sum lhs, const Sum &rhs) {
  llvm::append_range(lhs, rhs);
  return lhs;
}

Sum espalier::proof::scale(Sum sum, const Fraction &factor) {
  for (Term &term : sum)
    term.coefficient = term.coefficient * factor;
  return sum;
}

Sum espalier::proof::multiply(const Sum &lhs, const Sum &rhs) {
  Sum result;
  for (const Term &left : lhs)
    for (const Term &right : rhs) {
      Term term = left;
      term.coefficient = left.coefficient * right.coefficient;
      llvm::append_range(term.bound, right.bound);
      llvm::append_range(term.conditions, right.conditions);
      llvm::append_range(term.factors, right.factors);
      result.push_back(std::move(term));
    }
  return result;
}

void espalier::proof::substitute(Conditions &conditions, llvm::StringRef part,
                                 const Index &value) {
  for (Condition &condition : conditions)
    condition.value = condition.value.substitute(part, value);
}

void espalier::proof::substitute(Atom &atom, llvm::StringRef part,
                                 const Index &value) {
  for (Index &index : atom.indices)
    index = index.substitute(part, value);
  substitute(atom.conditions, part, value);
  for (Sum &arg : atom.args)
    substitute(arg, part, value);
}

void espalier::proof::substitute(Term &term, llvm::StringRef part,
                                 const Index &value) {
  substitute(term.conditions, part, value);
  for (Atom &atom : term.factors)
    substitute(atom, part, value);
}

void espalier::proof::substitute(Sum &sum, llvm::StringRef part,
                                 const Index &value) {
  for (Term &term : sum)
    substitute(term, part, value);
}

/// Renames the bound variables of a term or a maximum.
template <typename T>
static void rename(T &binder, unsigned &next) {
  for (std::string &name : binder.bound) {
    std::string fresh = "v" + std::to_string(next++);
    substitute(binder, name, Index::variable(fresh));
    name = fresh;
  }
}

void espalier::proof::freshen(Atom &atom, unsigned &next) {
  rename(atom, next);
  for (Sum &arg : atom.args)
    freshen(arg, next);
}

void espalier::proof::freshen(Term &term, unsigned &next) {
  rename(term, next);
  for (Atom &atom : term.factors)
    freshen(atom, next);
}

void espalier::proof::freshen(Sum &sum, unsigned &next) {
  for (Term &term : sum)
    freshen(term, next);
}

void espalier::proof::walk(const Atom &atom,
                           llvm::function_ref<void(const Index &)> visit) {
  llvm::for_each(atom.indices, visit);
  for (const Condition &condition : atom.conditions)
    visit(condition.value);
  for (const Sum &arg : atom.args)
    walk(arg, visit);
}

void espalier::proof::walk(const Term &term,
                           llvm::function_ref<void(const Index &)> visit) {
  for (const Condition &condition : term.conditions)
    visit(condition.value);
  for (const Atom &atom : term.factors)
    walk(atom, visit);
}

void espalier::proof::walk(const Sum &sum,
                           llvm::function_ref<void(const Index &)> visit) {
  for (const Term &term : sum)
    walk(term, visit);
}

static SExpr word(const std::string &text) { return SExpr(text); }

/// A text that holds parentheses, as lists.
static SExpr parseOne(const std::string &text) {
  return (*parseSExprs(text)).front();
}

/// `over NAME.. where CONDITION..`
static void printPoints(const Names &bound, const Conditions &conditions,
                        std::vector<SExpr> &list) {
  if (!bound.empty()) {
    list.push_back("over");
    for (const std::string &name : bound)
      list.push_back(word(name));
  }
  if (!conditions.empty())
    list.push_back("where");
  for (const Condition &condition : conditions)
    list.push_back(parseOne(condition.str()));
}

SExpr espalier::proof::print(const Atom &atom) {
  std::vector<SExpr> list;
  if (atom.kind == Atom::Kind::Max) {
    list.push_back("max");
    printPoints(atom.bound, atom.conditions, list);
    list.push_back("of");
  } else {
    list.push_back(word(atom.name));
  }
  for (const Index &index : atom.indices)
    list.push_back(parseOne(index.str()));
  for (const Sum &arg : atom.args)
    list.push_back(print(arg));
  return list;
}

SExpr espalier::proof::print(Sum sum, bool isCanonical) {
  unsigned next = 0;
  if (isCanonical) {
    // Names that nothing else has first: new ones must not meet old ones.
    unsigned apart = kMaxVariable;
    freshen(sum, apart);
    freshen(sum, next);
  }
  std::vector<SExpr> list{"sum"};
  for (const Term &term : sum) {
    const Fraction &factor = term.coefficient;
    std::vector<SExpr> parts{parseOne(printNumber(factor.num))};
    if (factor.den != 1)
      parts.push_back(parseOne("(/ " + printNumber(factor.den) + ")"));
    printPoints(term.bound, term.conditions, parts);
    if (!term.isPlain())
      parts.push_back("of");
    for (const Atom &atom : term.factors)
      parts.push_back(print(atom));
    list.push_back(parts);
  }
  return list;
}

std::string Demand::str() const {
  static constexpr const char *kNames[] = {"not zero", "not negative",
                                           "positive", "over something"};
  return std::string(kNames[static_cast<int>(kind)]) + ": " +
         print(makeAtom(at), /*isCanonical=*/true).str();
}
