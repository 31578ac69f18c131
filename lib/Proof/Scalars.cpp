//===- Scalars.cpp - Steps by arithmetic of real numbers ------------------===//

#include "Goal.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::proof;

const Atom *espalier::proof::getMaximum(const Sum &unit) {
  bool isMaximum = unit.size() == 1 && unit[0].isPlain() &&
                   unit[0].factors.size() == 1 &&
                   unit[0].coefficient == Fraction(1, 1) &&
                   unit[0].factors[0].kind == Atom::Kind::Max;
  return isMaximum ? &unit[0].factors[0] : nullptr;
}

namespace {
/// Translates sums to real numbers.
class ScalarWriter {
public:
  ScalarWriter(Question &question, llvm::function_ref<std::string(Sum)> name)
      : question(question), name(name) {}

  std::string print(const Sum &sum) {
    std::string text = "(+ 0.0";
    for (const Term &term : sum)
      text += " " + print(term);
    return text + ")";
  }

  /// What is known of the functions that were printed.
  void addFacts() {
    for (const auto &[fn, args] : applications)
      for (const std::string &x : args) {
        std::string y = "(" + fn + " " + x + ")";
        if (fn == "fn.div")
          question.assume("(ite (= 0.0 " + x + ") (= 0.0 " + y +
                          ") (= 1.0 (* " + x + " " + y + ")))");
        else if (fn == "fn.sqrt")
          question.assume("(=> (<= 0.0 " + x + ") (and (<= 0.0 " + y +
                          ") (= " + x + " (* " + y + " " + y + "))))");
        else if (fn == "fn.exp")
          question.assume("(and (< 0.0 " + y + ") (=> (= 0.0 " + x +
                          ") (= 1.0 " + y + ")))");
        else if (fn == "fn.tanh")
          question.assume("(and (< (- 1.0) " + y + ") (< " + y +
                          " 1.0) (= (< 0.0 " + x + ") (< 0.0 " + y +
                          ")) (= (= 0.0 " + x + ") (= 0.0 " + y + ")))");
        if (fn == "fn.exp" || fn == "fn.tanh")
          for (const std::string &other : args)
            question.assume("(=> (< " + x + " " + other + ") (< " + y + " (" +
                            fn + " " + other + ")))");
      }
  }

private:
  std::string print(const Term &term) {
    std::string factor = "(/ " + printNumber(term.coefficient.num) + " " +
                         printNumber(term.coefficient.den) + ")";
    std::string text = "(* " + factor;
    if (!term.isPlain()) {
      Term whole = term;
      whole.coefficient = Fraction(1, 1);
      return text + " " + name({whole}) + ")";
    }
    for (const Atom &atom : term.factors)
      text += " " + print(atom);
    return text + " 1.0)";
  }

  std::string print(const Atom &atom) {
    if (atom.kind != Atom::Kind::Function)
      return name(makeAtom(atom));
    std::string arg = print(atom.args[0]);
    if (atom.name == "relu")
      return "(ite (<= 0.0 " + arg + ") " + arg + " 0.0)";
    std::string fn = "fn." + atom.name;
    question.declareReal(fn, 1);
    applications[fn].insert(arg);
    return "(" + fn + " " + arg + ")";
  }

  Question &question;
  llvm::function_ref<std::string(Sum)> name;
  std::map<std::string, std::set<std::string>> applications;
};
} // namespace

Units Steps::getUnits(const Goal &goal) {
  Units units;
  std::set<std::string> known;
  Question ignored;
  auto collect = [&](const Sum &unit) {
    if (known.insert(espalier::proof::print(unit, /*isCanonical=*/true).str())
            .second)
      units.push_back(unit);
    return std::string();
  };
  ScalarWriter writer(ignored, collect);
  writer.print(goal.sum);
  for (const Fact &fact : goal.facts)
    writer.print(fact.sum);
  return units;
}

bool Steps::hasPoints(const std::vector<Clause> &given, const Names &bound,
                      const Conditions &conditions) {
  // Most often the least of each variable is one.
  Conditions least = conditions;
  for (const std::string &name : bound) {
    Index variable = Index::variable(name);
    std::optional<Index> value;
    for (const Condition &condition : least) {
      Index below = variable - condition.value;
      bool isBound = !below.mentions(name) &&
                     llvm::none_of(bound, [&](const std::string &other) {
                       return below.mentions(other);
                     });
      if (isBound)
        value = value ? Index::larger(*value, below) : below;
    }
    substitute(least, name, value.value_or(Index(0)));
  }
  auto holds = [&](const Names &names, const Conditions &points) {
    Question question;
    for (const Clause &clause : given)
      question.assume(clause);
    question.assume(
        question.forAll(names, "(not " + question.print(points) + ")"));
    return solver.isImpossible(question);
  };
  return holds({}, least) || holds(bound, conditions);
}

bool Steps::attain(Goal &goal, const Sum &unit) {
  const Atom *max = getMaximum(unit);
  if (!max)
    return false;
  Atom atom = *max;
  freshen(atom, goal.next);
  if (!hasPoints(goal.given, atom.bound, atom.conditions))
    return false;
  goal = goal.with(atom.conditions);
  goal.facts.push_back({add(unit, scale(atom.args[0], Fraction(-1, 1))), true});
  return true;
}

bool Steps::compare(Goal &goal, const Sum &unit, const Conditions &conditions) {
  const Atom *max = getMaximum(unit);
  if (!max)
    return false;
  for (const Condition &condition : conditions)
    if (!isClear(goal, max->bound, condition.value))
      return false;
  // Under names that nothing else has.
  Atom atom = *max;
  Conditions where = conditions;
  for (std::string &name : atom.bound) {
    std::string fresh = "v" + std::to_string(goal.next++);
    substitute(atom, name, Index::variable(fresh));
    substitute(where, name, Index::variable(fresh));
    name = fresh;
  }
  for (Sum &arg : atom.args)
    freshen(arg, goal.next);
  llvm::append_range(atom.conditions, where);
  if (!eliminate(atom))
    return false;
  if (!hasPoints(goal.given, atom.bound, atom.conditions))
    return false;
  goal = goal.with(atom.conditions);
  goal.facts.push_back(
      {add(unit, scale(atom.args[0], Fraction(-1, 1))), false});
  return true;
}

Goal Steps::equate(const Goal &goal, const Sum &lhs, const Sum &rhs) {
  Goal result = goal;
  result.facts.clear();
  result.sum = add(lhs, scale(rhs, Fraction(-1, 1)));
  return result;
}

bool Steps::decide(const Goal &goal, const Units &units,
                   const std::vector<unsigned> &numbers) {
  std::map<std::string, unsigned> known;
  for (auto [unit, number] : llvm::zip_equal(units, numbers))
    known[espalier::proof::print(unit, /*isCanonical=*/true).str()] = number;
  Question question;
  auto getName = [&](const Sum &unit) {
    std::string name =
        "u" + std::to_string(known.at(
                  espalier::proof::print(unit, /*isCanonical=*/true).str()));
    question.declareReal(name);
    return name;
  };
  ScalarWriter writer(question, getName);
  for (const Fact &fact : goal.facts)
    question.assume((fact.isEquality ? "(= 0.0 " : "(<= 0.0 ") +
                    writer.print(fact.sum) + ")");
  question.assume("(not (= 0.0 " + writer.print(goal.sum) + "))");
  writer.addFacts();
  return solver.isImpossible(question);
}

bool Steps::hasSign(Goal goal, Demand::Kind kind) {
  if (kind == Demand::Kind::NotEmpty) {
    const Atom *max = getMaximum(goal.sum);
    return max && hasPoints(goal.given, max->bound, max->conditions);
  }
  simplify(goal);
  Question question;
  std::map<std::string, std::string> known;
  auto getName = [&](const Sum &unit) {
    auto [entry, isNew] = known.try_emplace(
        espalier::proof::print(unit, /*isCanonical=*/true).str(),
        "u" + std::to_string(known.size()));
    const std::string &name = entry->second;
    if (!isNew)
      return name;
    question.declareReal(name);
    const Term &term = unit[0];
    bool isPositive = llvm::all_of(
        term.factors, [](const Atom &atom) { return atom.isFunction("exp"); });
    if (isPositive && hasPoints(goal.given, term.bound, term.conditions))
      question.assume("(< 0.0 " + name + ")");
    else if (isNonnegative(unit))
      question.assume("(<= 0.0 " + name + ")");
    return name;
  };
  ScalarWriter writer(question, getName);
  std::string value = writer.print(goal.sum);
  question.assume(kind == Demand::Kind::NotZero    ? "(= 0.0 " + value + ")"
                  : kind == Demand::Kind::Positive ? "(<= " + value + " 0.0)"
                                                   : "(< " + value + " 0.0)");
  writer.addFacts();
  return solver.isImpossible(question);
}
