//===- Goal.cpp - Steps that prove goals ----------------------------------===//

#include "Goal.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::proof;

/// Of a variable that becomes numbers.
static constexpr int64_t kMaxValues = 64;

Goal Goal::with(const Conditions &more) const {
  Goal result = *this;
  for (const Condition &condition : more)
    result.give({{condition}});
  return result;
}

void Goal::give(const Clause &clause) {
  bool isKnown = llvm::any_of(given, [&](const Clause &other) {
    return clause.size() == 1 && other.size() == 1 &&
           llvm::all_of(clause[0], [&](const Condition &condition) {
             return llvm::is_contained(other[0], condition);
           });
  });
  if (!isKnown)
    given.push_back(clause);
}

Clause espalier::proof::getQuotientLemma(const Index &a, const Index &b,
                                         const Index &k) {
  return Clause{{Condition::less(b, 1)},
                {Condition::less(a, k * b)},
                {Condition::atLeast(a, k * b + b)},
                {Condition::equal(Index::quotient(a, b), k)}};
}

std::optional<Clause> espalier::proof::getLemma(const SExpr &list) {
  std::vector<Index> args;
  for (const SExpr &part :
       llvm::drop_begin(list.list, list.list.empty() ? 0 : 1))
    if (auto arg = Index::parse(part))
      args.push_back(*arg);
    else
      return std::nullopt;
  if (list.is("product") && args.size() == 2)
    return Clause{{Condition::less(args[0], 0)},
                  {Condition::less(args[1], 0)},
                  {Condition::atLeast(args[0] * args[1], 0)}};
  if (!list.is("quotient") || args.size() != 3)
    return std::nullopt;
  return getQuotientLemma(args[0], args[1], args[2]);
}

std::vector<Goal> Steps::distinguish(const Goal &goal,
                                     const Condition &condition) {
  // What sums bind gets names that the condition does not mention.
  Goal apart = goal;
  condition.value.walk([&](const Part &part) {
    unsigned number;
    llvm::StringRef name = part.text;
    if (name.consume_front("v") && !name.getAsInteger(10, number) &&
        number < kMaxVariable)
      apart.next = std::max(apart.next, number + 1);
  });
  freshen(apart.sum, apart.next);
  for (Fact &fact : apart.facts)
    freshen(fact.sum, apart.next);
  std::vector<Goal> result{apart.with({condition})};
  for (const Condition &option : condition.negate())
    result.push_back(apart.with({option}));
  return result;
}

static void collectBound(const Sum &sum, std::set<std::string> &names);

static void collectBound(const Atom &atom, std::set<std::string> &names) {
  names.insert(atom.bound.begin(), atom.bound.end());
  for (const Sum &arg : atom.args)
    collectBound(arg, names);
}

static void collectBound(const Sum &sum, std::set<std::string> &names) {
  for (const Term &term : sum) {
    names.insert(term.bound.begin(), term.bound.end());
    for (const Atom &atom : term.factors)
      collectBound(atom, names);
  }
}

bool espalier::proof::isClear(const Goal &goal, const Names &own,
                              const Index &index) {
  std::set<std::string> bound;
  collectBound(goal.sum, bound);
  for (const Fact &fact : goal.facts)
    collectBound(fact.sum, bound);
  bool result = true;
  index.walk([&](const Part &part) {
    unsigned number;
    llvm::StringRef name = part.text;
    bool isNew = name.consume_front("v") && !name.getAsInteger(10, number) &&
                 number >= goal.next;
    bool isFree = !isNew && !bound.count(part.text);
    result &=
        !part.isVariable() || isFree || llvm::is_contained(own, part.text);
  });
  return result;
}

static bool areClear(const Goal &goal, const Names &own,
                     const std::vector<Index> &indices) {
  return llvm::all_of(
      indices, [&](const Index &index) { return isClear(goal, own, index); });
}

bool Steps::split(Goal &goal, unsigned number, const Condition &condition) {
  if (number >= goal.sum.size() ||
      !isClear(goal, goal.sum[number].bound, condition.value))
    return false;
  Term term = goal.sum[number];
  goal.sum[number].conditions.push_back(condition);
  for (const Condition &option : condition.negate()) {
    goal.sum.push_back(term);
    goal.sum.back().conditions.push_back(option);
  }
  return true;
}

bool Steps::expand(Goal &goal, unsigned number, unsigned variable,
                   int64_t least, int64_t most) {
  bool isHere = number < goal.sum.size() &&
                variable < goal.sum[number].bound.size() && least <= most &&
                most - least < kMaxValues;
  if (!isHere)
    return false;
  Term term = goal.sum[number];
  std::string name = term.bound[variable];
  Index index = Index::variable(name);
  if (!implyAll(
          goal.given, term.conditions,
          {Condition::atLeast(index, least), Condition::atLeast(most, index)}))
    return false;
  goal.sum.erase(goal.sum.begin() + number);
  term.bound.erase(term.bound.begin() + variable);
  for (int64_t value = least; value <= most; ++value) {
    goal.sum.push_back(term);
    substitute(goal.sum.back(), name, value);
  }
  freshen(goal.sum, goal.next);
  return true;
}

bool Steps::cancelFactors(Goal &goal, unsigned number, unsigned first,
                          unsigned second, Goal &equal, Goal &defined,
                          Demand::Kind &kind) {
  if (number >= goal.sum.size() || first == second)
    return false;
  Term &term = goal.sum[number];
  if (std::max(first, second) >= term.factors.size())
    return false;
  Atom lhs = term.factors[first], rhs = term.factors[second];
  bool isRoot = lhs.isFunction("sqrt") && rhs.isFunction("sqrt");
  if (!isRoot && !rhs.isFunction("div"))
    return false;
  kind = isRoot ? Demand::Kind::NotNegative : Demand::Kind::NotZero;
  defined = equal = goal.with(term.conditions);
  defined.sum = isRoot ? lhs.args[0] : makeAtom(lhs);
  equal.sum = add(defined.sum, scale(rhs.args[0], Fraction(-1, 1)));
  term.factors.erase(term.factors.begin() + std::max(first, second));
  term.factors.erase(term.factors.begin() + std::min(first, second));
  if (isRoot) {
    Sum product = multiply({term}, lhs.args[0]);
    goal.sum.erase(goal.sum.begin() + number);
    llvm::append_range(goal.sum, product);
    freshen(goal.sum, goal.next);
  }
  return true;
}

bool Steps::name(Goal &goal, const Index &value) {
  if (!isClear(goal, {}, value))
    return false;
  Index variable = Index::variable("v" + std::to_string(goal.next++));
  goal.give({{Condition::equal(variable, value)}});
  return true;
}

/// Puts `value` in the place of the part that `text` is.
static void substituteEverywhere(Goal &goal, const std::string &text,
                                 const Index &value) {
  for (Clause &clause : goal.given)
    for (Conditions &conditions : clause)
      substitute(conditions, text, value);
  substitute(goal.sum, text, value);
  for (Fact &fact : goal.facts)
    substitute(fact.sum, text, value);
}

bool Steps::replace(Goal &goal, const Index &variable, const Index &value) {
  bool isVariable =
      variable.getParts().size() == 1 &&
      variable.getParts().begin()->first.isVariable() &&
      variable == Index::variable(variable.getParts().begin()->first.text);
  if (!isVariable || !isClear(goal, {}, variable) ||
      !isClear(goal, {}, value) ||
      !implies(goal.given, {}, Condition::equal(variable, value)))
    return false;
  substituteEverywhere(goal, variable.str(), value);
  return true;
}

bool Steps::rewrite(Goal &goal, const Index &part, const Index &value) {
  // What a sum or a maximum is over is not known here.
  Names own;
  part.walk([&](const Part &inner) { own.push_back(inner.text); });
  if (part.getParts().size() != 1 || part.getConstant() != 0 ||
      !isClear(goal, own, value))
    return false;
  std::vector<Clause> given = goal.given;
  const Part &only = part.getParts().begin()->first;
  if (only.fn == "quotient")
    given.push_back(getQuotientLemma((*only.args)[0], (*only.args)[1], value));
  if (!implies(given, {}, Condition::equal(part, value)))
    return false;
  substituteEverywhere(goal, part.str(), value);
  return true;
}

//===----------------------------------------------------------------------===//
// Sums over equal points
//===----------------------------------------------------------------------===//

/// Puts `values` in the place of variables, all at once.
template <typename T>
static void substituteAll(T &where, const Names &names,
                          const std::vector<Index> &values) {
  for (size_t number = 0; number < names.size(); ++number)
    substitute(where, names[number],
               Index::variable("tmp." + std::to_string(number)));
  for (size_t number = 0; number < names.size(); ++number)
    substitute(where, "tmp." + std::to_string(number), values[number]);
}

Member Steps::getMember(const Term &term) {
  return {term.coefficient, term.conditions};
}

/// Whether a map and one back have a value for each variable, which is made of
/// the variables of the other term.
static bool isMap(const Goal &goal, const Merge &map, const Names &into,
                  const Names &bound) {
  return map.to.size() == into.size() && map.from.size() == bound.size() &&
         areClear(goal, bound, map.to) && areClear(goal, into, map.from);
}

/// That values in the variables `inner` return the names when those become
/// `outer`.
static Conditions listReturns(const Names &names,
                              const std::vector<Index> &values,
                              const Names &inner,
                              const std::vector<Index> &outer) {
  Conditions result;
  for (auto [name, value] : llvm::zip_equal(names, values)) {
    Conditions image{{value, true}};
    substituteAll(image, inner, outer);
    image[0].value = image[0].value - Index::variable(name);
    if (!(image[0].value == Index(0)))
      result.push_back(image[0]);
  }
  return result;
}

/// The points of `into` that `term` is mapped to.
static Conditions listImage(const Term &term, const Names &into,
                            const Merge &map) {
  Conditions result = term.conditions;
  substituteAll(result, term.bound, map.from);
  llvm::append_range(result, listReturns(into, map.to, term.bound, map.from));
  return result;
}

std::optional<Member> Steps::merge(const Goal &goal, const Merge &merge,
                                   std::vector<Goal> &goals) {
  if (merge.term >= goal.sum.size() || merge.into >= goal.sum.size() ||
      merge.term == merge.into)
    return std::nullopt;
  const Term &term = goal.sum[merge.term];
  const Term &into = goal.sum[merge.into];
  size_t count = into.factors.size();
  std::vector<unsigned> sorted = merge.pairing;
  llvm::sort(sorted);
  bool fits = term.factors.size() == count && sorted.size() == count &&
              isMap(goal, merge, into.bound, term.bound);
  for (size_t number = 0; fits && number < count; ++number)
    fits = sorted[number] == number;
  if (!fits)
    return std::nullopt;
  // At each point of `term`: the map back returns, and what is read is equal.
  Term there = into;
  substituteAll(there, into.bound, merge.to);
  Conditions equations =
      listReturns(term.bound, merge.from, into.bound, merge.to);
  for (size_t number = 0; number < count; ++number) {
    const Atom &lhs = there.factors[number];
    const Atom &rhs = term.factors[merge.pairing[number]];
    if (lhs.kind != rhs.kind || lhs.name != rhs.name ||
        lhs.indices.size() != rhs.indices.size() ||
        lhs.args.size() != rhs.args.size())
      return std::nullopt;
    for (auto [left, right] : llvm::zip_equal(lhs.indices, rhs.indices))
      equations.push_back(Condition::equal(left, right));
    if (lhs.kind == Atom::Kind::Read)
      continue;
    Goal inner = goal.with(term.conditions);
    auto equate = [&](const Sum &left, const Sum &right) {
      inner.sum = add(left, scale(right, Fraction(-1, 1)));
      goals.push_back(inner);
    };
    if (lhs.kind == Atom::Kind::Max)
      equate(makeAtom(lhs), makeAtom(rhs));
    else
      for (auto [left, right] : llvm::zip_equal(lhs.args, rhs.args))
        equate(left, right);
  }
  llvm::erase_if(equations, [](const Condition &equation) {
    return equation.value == Index(0);
  });
  if (!implyAll(goal.given, term.conditions, equations))
    return std::nullopt;
  return Member{term.coefficient, listImage(term, into.bound, merge)};
}

bool Steps::gather(Goal &goal, unsigned base, const std::vector<Merge> &maps,
                   Goal &inner) {
  if (base >= goal.sum.size())
    return false;
  std::set<unsigned> gathered{base};
  inner = goal;
  const Term into = goal.sum[base];
  Sum sum{into};
  for (const Merge &map : maps) {
    if (map.term >= goal.sum.size() || !gathered.insert(map.term).second)
      return false;
    Term term = goal.sum[map.term];
    if (!isMap(goal, map, into.bound, term.bound) ||
        !implyAll(goal.given, term.conditions,
                  listReturns(term.bound, map.from, into.bound, map.to)))
      return false;
    term.conditions = listImage(term, into.bound, map);
    for (Atom &atom : term.factors)
      substituteAll(atom, term.bound, map.from);
    sum.push_back(std::move(term));
  }
  for (Term &term : sum)
    term.bound.clear();
  inner.sum = std::move(sum);
  for (unsigned number : llvm::reverse(gathered))
    goal.sum.erase(goal.sum.begin() + number);
  return true;
}

bool Steps::cancel(const Goal &goal, const std::vector<Member> &members) {
  Fraction whole(0, 1);
  bool isSame = true;
  auto contains = [](const Member &lhs, const Member &rhs) {
    return llvm::all_of(rhs.domain, [&](const Condition &condition) {
      return llvm::is_contained(lhs.domain, condition);
    });
  };
  for (const Member &member : members) {
    whole += member.coefficient;
    isSame &=
        contains(member, members.front()) && contains(members.front(), member);
  }
  if (isSame)
    return whole == Fraction(0, 1);
  Question question;
  for (const Clause &clause : goal.given)
    question.assume(clause);
  std::string total = "(+ 0.0";
  for (const Member &member : members) {
    std::string number = printNumber(member.coefficient.num);
    total += " (ite " + question.print(member.domain) + " (/ " + number + " " +
             printNumber(member.coefficient.den) + ") 0.0)";
  }
  question.assume("(not (= 0.0 " + total + ")))");
  return solver.isImpossible(question);
}
