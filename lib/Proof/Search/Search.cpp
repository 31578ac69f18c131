//===- Search.cpp - Finds the steps of a proof ----------------------------===//
//
// Terms are matched; where they do not, conditions are decided; where there are
// none, maxima get a point at which they are attained, and scalar arithmetic
// decides.
//
//===----------------------------------------------------------------------===//

#include "Search.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace espalier::proof;

static constexpr unsigned kMaxDepth = 40;
static constexpr unsigned kMaxNesting = 5;
static constexpr unsigned kMaxAttained = 6;
static constexpr unsigned kMaxCompared = 16;
static constexpr unsigned kMaxCancelled = 3;

static SExpr number(size_t value) { return SExpr(std::to_string(value)); }
static SExpr text(const std::string &value) {
  return parseSExprs(value)->front();
}

std::optional<SExpr> Search::prove(const Goal &goal, unsigned maxQuestions) {
  unsigned outer = std::exchange(limit, solver.getEffort() + maxQuestions);
  Goal named = goal;
  std::vector<SExpr> names = nameSizes(named);
  auto proof = prove(named, Limits());
  if (proof && !names.empty())
    proof = SExpr({"sizes", SExpr(names), *proof});
  if (!proof && !names.empty()) {
    limit = solver.getEffort() + maxQuestions;
    proof = prove(goal, Limits());
  }
  limit = outer;
  return proof;
}

//===----------------------------------------------------------------------===//
// Conditions
//===----------------------------------------------------------------------===//

namespace {
/// Conditions inside of sums, and over what they decide.
class ConditionFinder {
public:
  /// One that mentions no bound variable at all.
  std::optional<Condition> outer;
  /// One inside of a factor that mentions variables of its term alone.
  std::optional<Condition> inner;

  void visit(const Sum &sum, const Names &bound, const Names *ofTerm) {
    for (const Term &term : sum) {
      Names all = bound;
      llvm::append_range(all, term.bound);
      visit(term.conditions, all, ofTerm);
      for (const Atom &atom : term.factors) {
        Names within = all;
        llvm::append_range(within, atom.bound);
        const Names *own = ofTerm ? ofTerm : &term.bound;
        visit(atom.conditions, within, own);
        for (const Sum &arg : atom.args)
          visit(arg, within, own);
      }
    }
  }

private:
  void visit(const Conditions &conditions, const Names &bound,
             const Names *ofTerm) {
    for (const Condition &condition : conditions) {
      bool isBound = false, isOfTerm = true;
      for (const std::string &name : bound)
        if (condition.value.mentions(name)) {
          isBound = true;
          isOfTerm &= ofTerm && llvm::is_contained(*ofTerm, name);
        }
      if (!isBound && !outer)
        outer = condition;
      if (isBound && isOfTerm && ofTerm && !inner)
        inner = condition;
    }
  }
};
} // namespace

std::optional<SExpr> Search::distinguish(const Goal &goal,
                                         const Condition &condition,
                                         Limits limits) {
  std::vector<SExpr> list{"case", text(condition.str())};
  for (const Goal &option : steps.distinguish(goal, condition)) {
    auto proof = prove(option, limits);
    if (!proof)
      return std::nullopt;
    list.push_back(*proof);
  }
  return SExpr(list);
}

std::optional<SExpr> Search::split(const Goal &goal, Limits limits) {
  for (unsigned i = 0; i < goal.sum.size(); ++i) {
    ConditionFinder finder;
    finder.visit({goal.sum[i]}, {}, nullptr);
    if (!finder.inner)
      continue;
    Goal next = goal;
    steps.split(next, i, *finder.inner);
    auto proof = prove(next, limits);
    if (!proof)
      return std::nullopt;
    return SExpr({"split", number(i), text(finder.inner->str()), *proof});
  }
  return std::nullopt;
}

/// The numbers between which conditions say that a variable is.
static std::pair<std::optional<int64_t>, std::optional<int64_t>>
getRange(const Conditions &conditions, const std::string &name) {
  std::optional<int64_t> least, most;
  Index variable = Index::variable(name);
  for (const Condition &condition : conditions) {
    if (auto number = (variable - condition.value).getNumber())
      least = std::max(least.value_or(*number), *number);
    if (auto number = (variable + condition.value).getNumber())
      most = std::min(most.value_or(*number), *number);
  }
  return {least, most};
}

std::optional<SExpr> Search::expand(const Goal &goal, Limits limits) {
  for (auto [number, term] : llvm::enumerate(goal.sum))
    for (auto [position, name] : llvm::enumerate(term.bound)) {
      bool isRead = false;
      const std::string &variable = name;
      for (const Atom &atom : term.factors)
        walk(atom,
             [&](const Index &index) { isRead |= index.mentions(variable); });
      auto [least, most] = getRange(term.conditions, name);
      Goal next = goal;
      if (isRead || !least || !most ||
          !steps.expand(next, number, position, *least, *most))
        continue;
      auto proof = prove(next, limits);
      if (!proof)
        return std::nullopt;
      return SExpr({"expand", ::number(number), ::number(position),
                    text(Index(*least).str()), text(Index(*most).str()),
                    *proof});
    }
  return std::nullopt;
}

std::optional<SExpr> Search::cancel(const Goal &goal, Limits limits) {
  auto getText = [](const Sum &sum) {
    return print(sum, /*isCanonical=*/true).str();
  };
  for (auto [number, term] : llvm::enumerate(goal.sum))
    for (auto [second, rhs] : llvm::enumerate(term.factors))
      for (auto [first, lhs] : llvm::enumerate(term.factors)) {
        bool isRoot = lhs.isFunction("sqrt") && rhs.isFunction("sqrt");
        bool isPair = isRoot ? first < second : rhs.isFunction("div");
        if (!isPair || getText(isRoot ? lhs.args[0] : makeAtom(lhs)) !=
                           getText(rhs.args[0]))
          continue;
        Goal next = goal, equal, defined;
        Demand::Kind kind;
        if (!steps.cancelFactors(next, number, first, second, equal, defined,
                                 kind))
          continue;
        auto isEqual = prove(equal, limits);
        if (!isEqual || numCancelled == kMaxCancelled)
          return std::nullopt;
        ++numCancelled;
        auto isDefined = meet(defined, kind);
        --numCancelled;
        auto proof = isDefined ? prove(next, limits) : std::nullopt;
        if (proof)
          return SExpr({"cancel", ::number(number), ::number(first),
                        ::number(second), *isEqual, *isDefined, *proof});
      }
  return std::nullopt;
}

std::optional<SExpr> Search::rewrite(const Goal &goal, Limits limits) {
  std::map<std::string, Part> parts;
  auto collect = [&](const Index &index) {
    index.walk([&](const Part &part) {
      bool isUnknown = false;
      if (!part.isVariable())
        for (const Index &arg : *part.args)
          arg.walk([&](const Part &inner) {
            isUnknown |= inner.fn == "quotient" || inner.fn == "larger";
          });
      if (part.fn == "quotient" || part.fn == "larger" || isUnknown)
        parts.try_emplace(part.text, part);
    });
  };
  walk(goal.sum, collect);
  for (const auto &[name, part] : parts) {
    Index whole = *Index::parse(text(name));
    std::vector<Index> values{Index(0), Index(1)};
    for (const Index &arg : *part.args) {
      values.push_back(arg);
      for (const auto &entry : arg.getParts())
        if (entry.first.fn == "quotient")
          llvm::append_range(values, *entry.first.args);
    }
    for (const Index &value : values) {
      if (isSpent())
        return std::nullopt;
      Goal next = goal;
      if (value == whole || !steps.rewrite(next, whole, value))
        continue;
      auto proof = prove(next, limits);
      if (!proof)
        return std::nullopt;
      return SExpr({"rewrite", text(name), text(value.str()), *proof});
    }
  }
  return std::nullopt;
}

std::optional<SExpr> Search::prove(Goal goal, Limits limits) {
  if (isSpent() || limits.depth > kMaxDepth || limits.nesting > kMaxNesting)
    return std::nullopt;
  ++limits.depth;
  steps.simplify(goal);
  if (goal.sum.empty())
    return SExpr(std::vector<SExpr>{"zero"});
  if (auto proof = cancel(goal, limits))
    return proof;
  if (goal.facts.empty())
    if (auto proof = match(goal, limits))
      return proof;
  ConditionFinder finder;
  finder.visit(goal.sum, {}, nullptr);
  for (const Fact &fact : goal.facts)
    finder.visit(fact.sum, {}, nullptr);
  if (auto condition = finder.outer)
    return distinguish(goal, *condition, limits);
  if (auto proof = expand(goal, limits))
    return proof;
  if (auto proof = rewrite(goal, limits))
    return proof;
  if (finder.inner)
    if (auto proof = split(goal, limits))
      return proof;
  if (limits.onlyMatches)
    return std::nullopt;
  if (goal.facts.empty()) {
    if (auto proof = gather(goal, limits))
      return proof;
    if (auto proof = scalar(goal, limits))
      return proof;
    if (auto proof = use(goal, limits))
      return proof;
  }
  if (auto proof = attain(goal, limits))
    return proof;
  return compare(goal, limits);
}

//===----------------------------------------------------------------------===//
// Scalars and maxima
//===----------------------------------------------------------------------===//

/// Whether two units may be equal, and are no maxima.
static bool areAlike(const Sum &lhs, const Sum &rhs) {
  auto getHeads = [](const Sum &unit) {
    std::multiset<std::string> names;
    for (const Atom &atom : unit[0].factors)
      names.insert(std::to_string(static_cast<int>(atom.kind)) + atom.name);
    return names;
  };
  return !getMaximum(lhs) && getHeads(lhs) == getHeads(rhs);
}

std::optional<SExpr> Search::scalar(const Goal &goal, Limits limits) {
  Units units = Steps::getUnits(goal);
  std::vector<unsigned> numbers(units.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  std::vector<SExpr> list{"scalar"};
  limits.onlyMatches = true;
  for (unsigned i = 0; i < units.size(); ++i)
    for (unsigned j = i + 1; j < units.size(); ++j) {
      if (numbers[i] == numbers[j] || !areAlike(units[i], units[j]))
        continue;
      auto proof = prove(Steps::equate(goal, units[i], units[j]), limits);
      if (!proof)
        continue;
      list.push_back(SExpr({"same", number(i), number(j), *proof}));
      unsigned from = numbers[j];
      for (unsigned &other : numbers)
        if (other == from)
          other = numbers[i];
    }
  if (isSpent() || !steps.decide(goal, units, numbers))
    return std::nullopt;
  return SExpr(list);
}

std::optional<SExpr> Search::attain(const Goal &goal, Limits limits) {
  Units units = Steps::getUnits(goal);
  std::set<std::string> known;
  for (const Fact &fact : goal.facts)
    if (fact.isEquality)
      known.insert(print({fact.sum[0]}, /*isCanonical=*/true).str());
  for (unsigned i = 0; i < units.size(); ++i) {
    if (!getMaximum(units[i]) || limits.attained == kMaxAttained ||
        known.count(print(units[i], /*isCanonical=*/true).str()))
      continue;
    Goal next = goal;
    if (!steps.attain(next, units[i]))
      return std::nullopt;
    ++limits.attained;
    limits.points.emplace_back();
    for (size_t k = 0; k < getMaximum(units[i])->bound.size(); ++k)
      limits.points.back().push_back("v" + std::to_string(goal.next + k));
    auto proof = prove(next, limits);
    if (!proof)
      return std::nullopt;
    return SExpr({"attain", number(i), *proof});
  }
  return std::nullopt;
}

/// The elements that a sum reads, perhaps in functions, each with the variables
/// that are bound around it.
static void collectReads(const Sum &sum, std::vector<Atom> &reads,
                         Names bound = {}) {
  for (const Term &term : sum) {
    Names all = bound;
    llvm::append_range(all, term.bound);
    for (const Atom &atom : term.factors) {
      if (atom.kind == Atom::Kind::Function)
        for (const Sum &arg : atom.args)
          collectReads(arg, reads, all);
      if (atom.kind != Atom::Kind::Read)
        continue;
      reads.push_back(atom);
      reads.back().bound = all;
    }
  }
}

/// Where an element of a maximum is at a known place.
static Conditions listEquations(const Atom &read, const Atom &value) {
  Conditions result;
  auto isBound = [](const Index &index, const Names &names) {
    return llvm::any_of(
        names, [&](const std::string &name) { return index.mentions(name); });
  };
  for (auto [lhs, rhs] : llvm::zip_equal(read.indices, value.indices))
    if (Condition equation = Condition::equal(lhs, rhs);
        !equation.value.isNumber() && !isBound(lhs, read.bound) &&
        !isBound(rhs, value.bound))
      result.push_back(equation);
  return result;
}

namespace {
/// Points at which a maximum is compared with its value, and a name for each
/// that stays.
using Places = std::vector<std::pair<std::string, Conditions>>;
} // namespace

/// Where a maximum reads what something else does, below sums or not.
static Places listReads(const Atom &max, const std::vector<Atom> &values,
                        bool isBelowSums) {
  std::vector<Atom> reads;
  collectReads(max.args[0], reads);
  Places places;
  for (auto [number, read] : llvm::enumerate(reads))
    for (const Atom &value : values) {
      bool isBound = !read.bound.empty() || !value.bound.empty();
      if (read.name != value.name || isBound != isBelowSums)
        continue;
      std::string name = std::to_string(number);
      for (const Index &index : value.indices)
        if (llvm::none_of(value.bound, [&](const std::string &variable) {
              return index.mentions(variable);
            }))
          name += " " + index.str();
      places.emplace_back(name, listEquations(read, value));
    }
  return places;
}

/// Where a condition inside of a maximum holds, or does not, or at points at
/// which others are attained.
static Places listOthers(const Atom &max,
                         const std::vector<std::vector<std::string>> &points) {
  std::vector<Atom> reads;
  collectReads(max.args[0], reads);
  llvm::erase_if(reads, [](const Atom &read) { return !read.bound.empty(); });
  Places places;
  auto addNext = [&](const Conditions &conditions) {
    places.emplace_back("condition " + std::to_string(places.size()),
                        conditions);
  };
  for (const Term &term : max.args[0]) {
    if (reads.empty() && !term.conditions.empty())
      addNext(term.conditions);
    for (const Condition &condition : term.conditions)
      for (const Condition &option : condition.negate())
        addNext({option});
  }
  for (const auto &point : points) {
    if (point.size() != max.bound.size() || !reads.empty())
      continue;
    auto &[name, conditions] = places.emplace_back();
    for (auto [lhs, rhs] : llvm::zip_equal(max.bound, point)) {
      name += " " + rhs;
      conditions.push_back(
          Condition::equal(Index::variable(lhs), Index::variable(rhs)));
    }
  }
  return places;
}

std::optional<SExpr> Search::compare(const Goal &goal, Limits limits) {
  if (limits.compared == kMaxCompared)
    return scalar(goal, limits);
  Units units = Steps::getUnits(goal);
  std::vector<unsigned> numbers(units.size());
  std::iota(numbers.begin(), numbers.end(), 0);
  if (limits.compared++ != 0 && steps.decide(goal, units, numbers))
    return SExpr(std::vector<SExpr>{"scalar"});
  // Points that maxima may have in common: where they read the same.
  std::vector<Atom> values;
  collectReads(goal.sum, values);
  for (const Fact &fact : goal.facts)
    collectReads(fact.sum, values);
  for (unsigned round : {0, 1, 2})
    for (unsigned i = 0; i < units.size(); ++i) {
      const Atom *max = getMaximum(units[i]);
      if (!max)
        continue;
      std::string key = print(units[i], /*isCanonical=*/true).str();
      for (const auto &[name, conditions] :
           round == 1 ? listOthers(*max, limits.points)
                      : listReads(*max, values, round == 2)) {
        Goal next = goal;
        if (isSpent() || !limits.tried.insert(key + name).second ||
            !steps.compare(next, units[i], conditions))
          continue;
        std::vector<SExpr> list;
        for (const Condition &condition : conditions)
          list.push_back(text(condition.str()));
        auto proof = prove(next, limits);
        if (!proof)
          return std::nullopt;
        return SExpr({"compare", number(i), list, *proof});
      }
    }
  // There is nothing more to know.
  return scalar(goal, limits);
}
