//===- Meet.cpp - Finds why dst has values where src has ------------------===//
//
// What both read says at which points of `src` to look.
//
//===----------------------------------------------------------------------===//

#include "Search.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::proof;

/// Questions about one point of `src`.
static constexpr unsigned kMaxQuestions = 100;
/// How often conditions are decided.
static constexpr unsigned kMaxCases = 4;

/// The elements that a sum reads, however deep.
static void collectReads(const Sum &sum, std::vector<Atom> &reads) {
  for (const Term &term : sum)
    for (const Atom &atom : term.factors) {
      if (atom.kind == Atom::Kind::Read)
        reads.push_back(atom);
      for (const Sum &arg : atom.args)
        collectReads(arg, reads);
    }
}

std::vector<Conditions> espalier::proof::listEquations(const Sum &sum,
                                                       const Sum &other) {
  std::vector<Atom> ours, theirs;
  collectReads(sum, ours);
  collectReads(other, theirs);
  std::vector<Conditions> result(1);
  for (const Atom &here : ours)
    for (const Atom &there : theirs) {
      if (here.name != there.name)
        continue;
      result.emplace_back();
      for (auto [lhs, rhs] : llvm::zip_equal(here.indices, there.indices))
        result.back().push_back(Condition::equal(rhs, lhs));
      llvm::append_range(result.front(), result.back());
    }
  return result;
}

/// A point that fulfils equations, and lies at a boundary otherwise.
static std::vector<Index> solvePoint(Conditions equations, const Atom &at,
                                     unsigned numKnown) {
  llvm::append_range(equations, at.conditions);
  std::vector<Index> map;
  for (size_t number = 0; number < at.bound.size(); ++number) {
    const std::string &name = at.bound[number];
    Index value(0);
    for (const Condition &equation : equations) {
      auto solved = solve(equation.value, name);
      if (!solved)
        continue;
      bool isKnown = true;
      solved->walk([&](const Part &inner) {
        unsigned id;
        bool isInner =
            llvm::StringRef(inner.text).starts_with("v") &&
            !llvm::StringRef(inner.text).drop_front().getAsInteger(10, id) &&
            id >= numKnown;
        isKnown &= !isInner;
      });
      if (!isKnown)
        continue;
      value = *solved;
      break;
    }
    for (Condition &equation : equations)
      equation.value = equation.value.substitute(name, value);
    map.push_back(value);
  }
  return map;
}

/// The number by which the sum may be a multiple of `other`.
static Fraction getRatio(Steps &steps, Goal goal, const Sum &other) {
  steps.simplify(goal);
  Goal theirs = goal;
  theirs.sum = other;
  steps.simplify(theirs);
  return goal.sum.empty() || theirs.sum.empty()
             ? Fraction(1, 1)
             : goal.sum[0].coefficient / theirs.sum[0].coefficient;
}

std::optional<SExpr> Search::meet(const Goal &goal, Demand::Kind kind,
                                  unsigned depth) {
  if (steps.isImpossible(goal.given, {}))
    return SExpr(std::vector<SExpr>{"none"});
  if (steps.hasSign(goal, kind))
    return SExpr(std::vector<SExpr>{"sign"});
  if (kind == Demand::Kind::NotEmpty)
    return std::nullopt;
  std::optional<Condition> open;
  for (auto [number, demand] : llvm::enumerate(offered)) {
    Demand other = demand;
    unsigned next = goal.next;
    freshen(other.at, next);
    const Sum &value = other.at.args[0];
    Fraction factor = getRatio(steps, goal, value);
    for (const Conditions &equations : listEquations(goal.sum, value)) {
      std::vector<Index> map = solvePoint(equations, other.at, goal.next);
      Goal rest = goal;
      if (!steps.meet(rest, kind, demand, factor, map)) {
        Conditions there = other.at.conditions;
        for (auto [name, index] : llvm::zip_equal(other.at.bound, map))
          substitute(there, name, index);
        for (const Condition &condition : there)
          if (!open && !equations.empty() &&
              !steps.implies(goal.given, {}, condition) &&
              !steps.isImpossible(goal.given, {condition}))
            open = condition;
        continue;
      }
      auto proof = prove(rest, kMaxQuestions);
      if (!proof)
        continue;
      std::vector<SExpr> list;
      for (const Index &index : map)
        list.push_back(parseSExprs(index.str())->front());
      return SExpr({"by", SExpr(std::to_string(number)),
                    parseSExprs(printNumber(factor.num))->front(),
                    parseSExprs(printNumber(factor.den))->front(), list,
                    *proof});
    }
  }
  if (!open || depth == kMaxCases)
    return std::nullopt;
  std::vector<SExpr> list{"case", parseSExprs(open->str())->front()};
  for (const Goal &option : steps.distinguish(goal, *open)) {
    auto proof = meet(option, kind, depth + 1);
    if (!proof)
      return std::nullopt;
    list.push_back(*proof);
  }
  return SExpr(list);
}

std::optional<SExpr> Search::use(const Goal &goal, Limits limits) {
  if (limits.hasUsed)
    return std::nullopt;
  limits.hasUsed = true;
  Goal next = goal;
  std::vector<SExpr> used;
  for (auto [number, demand] : llvm::enumerate(offered)) {
    Demand other = demand;
    unsigned apart = goal.next;
    freshen(other.at, apart);
    for (const Conditions &equations :
         listEquations(goal.sum, other.at.args[0])) {
      std::vector<Index> map = solvePoint(equations, other.at, goal.next);
      Goal more = next;
      if (isSpent() || !steps.use(more, demand, map))
        continue;
      next = more;
      std::vector<SExpr> list;
      for (const Index &index : map)
        list.push_back(parseSExprs(index.str())->front());
      used.push_back(SExpr({"use", SExpr(std::to_string(number)), list}));
      break;
    }
  }
  auto proof = used.empty() ? std::nullopt : prove(next, limits);
  for (SExpr &step : llvm::reverse(used))
    if (proof) {
      step.list.push_back(*proof);
      proof = step;
    }
  return proof;
}
