//===- Match.cpp - Finds terms that are parts of others -------------------===//

#include "Search.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace espalier::proof;

static constexpr unsigned kMaxPairings = 48;
static constexpr unsigned kMaxPermuted = 4;

bool espalier::proof::solveAll(Conditions equations, const Names &unknowns,
                               std::vector<Index> &solutions) {
  std::map<std::string, Index> known;
  for (bool changed = true; changed;) {
    changed = false;
    for (const Condition &equation : equations) {
      for (const std::string &name : unknowns) {
        auto value = solve(equation.value, name);
        if (known.count(name) || !value)
          continue;
        for (Condition &other : equations)
          other.value = other.value.substitute(name, *value);
        for (auto &entry : known)
          entry.second = entry.second.substitute(name, *value);
        known[name] = *value;
        changed = true;
        break;
      }
      if (changed)
        break;
    }
  }
  for (const std::string &name : unknowns) {
    auto found = known.find(name);
    if (found == known.end())
      return false;
    solutions.push_back(found->second);
  }
  return true;
}

std::optional<SExpr> Search::match(const Goal &goal, Limits limits) {
  std::vector<std::vector<Member>> buckets;
  std::vector<unsigned> representatives;
  std::vector<SExpr> list{"match"};
  for (unsigned number = 0; number < goal.sum.size(); ++number) {
    bool isMerged = false;
    for (unsigned bucket = 0; bucket < buckets.size() && !isMerged; ++bucket) {
      Member member;
      auto step = unify(goal, representatives[bucket], number, limits, member);
      if (!step)
        continue;
      buckets[bucket].push_back(member);
      list.push_back(*step);
      isMerged = true;
    }
    if (isSpent())
      return std::nullopt;
    if (isMerged)
      continue;
    representatives.push_back(number);
    buckets.push_back({Steps::getMember(goal.sum[number])});
  }
  for (const auto &bucket : buckets) {
    bool hasSign[2] = {false, false};
    for (const Member &member : bucket)
      hasSign[member.coefficient < Fraction(0, 1)] = true;
    if (!hasSign[0] || !hasSign[1] || !steps.cancel(goal, bucket))
      return std::nullopt;
  }
  return SExpr(list);
}

/// The variables that an atom reads.
static void collectNames(const Atom &atom, std::set<std::string> &names) {
  if (atom.kind == Atom::Kind::Read)
    names.insert(atom.name);
  for (const Sum &arg : atom.args)
    for (const Term &term : arg)
      for (const Atom &inner : term.factors)
        collectNames(inner, names);
}

/// Whether two atoms may be equal.
static bool areAlike(const Atom &lhs, const Atom &rhs) {
  std::set<std::string> names[2];
  collectNames(lhs, names[0]);
  collectNames(rhs, names[1]);
  return lhs.kind == rhs.kind && lhs.name == rhs.name && names[0] == names[1];
}

std::optional<SExpr> Search::unify(const Goal &goal, unsigned intoNumber,
                                   unsigned number, Limits limits,
                                   Member &member) {
  const Term &into = goal.sum[intoNumber], &term = goal.sum[number];
  size_t count = into.factors.size();
  // Of two maxima alone, that is no help.
  bool isMaximum = term.isPlain() && into.isPlain() && count == 1 &&
                   into.factors[0].kind == Atom::Kind::Max;
  if (term.factors.size() != count || isMaximum)
    return std::nullopt;
  Merge merge;
  merge.term = number;
  merge.into = intoNumber;
  merge.pairing.resize(count);
  std::iota(merge.pairing.begin(), merge.pairing.end(), 0);
  unsigned tried = 0;
  do {
    bool fits = llvm::all_of(llvm::seq<size_t>(0, count), [&](size_t k) {
      const Atom &lhs = into.factors[k], &rhs = term.factors[merge.pairing[k]];
      return areAlike(lhs, rhs);
    });
    if (!fits)
      continue;
    if (auto step = unifyBy(goal, merge, limits, member))
      return step;
    if (++tried == kMaxPairings || isSpent())
      return std::nullopt;
  } while (count <= 7 &&
           std::next_permutation(merge.pairing.begin(), merge.pairing.end()));
  return std::nullopt;
}

/// The variables that no index mentions.
static Names listUnmentioned(const Names &names, const Conditions &equations) {
  Names result;
  for (const std::string &name : names)
    if (llvm::none_of(equations, [&](const Condition &equation) {
          return equation.value.mentions(name);
        }))
      result.push_back(name);
  return result;
}

std::optional<SExpr> Search::unifyBy(const Goal &goal, Merge merge,
                                     Limits limits, Member &member) {
  const Term &into = goal.sum[merge.into], &term = goal.sum[merge.term];
  Conditions equations;
  Term inside, otherInside; // The functions.
  for (auto [number, atom] : llvm::enumerate(into.factors)) {
    const Atom &other = term.factors[merge.pairing[number]];
    for (auto [lhs, rhs] : llvm::zip(atom.indices, other.indices)) {
      Condition equation = Condition::equal(lhs, rhs);
      if (!equation.value.isNumber())
        equations.push_back(equation);
      else if (!(equation.value == Index(0)))
        return std::nullopt;
    }
    if (atom.kind != Atom::Kind::Read) {
      inside.factors.push_back(atom);
      otherInside.factors.push_back(other);
    }
  }
  if (auto step = unifyInOrder(goal, merge, equations, limits, member))
    return step;
  // What only functions read says where they may be equal.
  if (listUnmentioned(into.bound, equations).empty())
    return std::nullopt;
  for (Conditions all : listEquations({inside}, {otherInside})) {
    size_t count = all.size();
    llvm::append_range(all, equations);
    if (count == 0 || isSpent())
      continue;
    if (auto step = unifyInOrder(goal, merge, all, limits, member))
      return step;
  }
  return std::nullopt;
}

std::optional<SExpr> Search::unifyInOrder(const Goal &goal, Merge merge,
                                          const Conditions &equations,
                                          Limits limits, Member &member) {
  const Term &into = goal.sum[merge.into], &term = goal.sum[merge.term];
  Names ours = listUnmentioned(into.bound, equations);
  Names theirs = listUnmentioned(term.bound, equations);
  if (ours.size() != theirs.size() || ours.size() > kMaxPermuted)
    return std::nullopt;
  llvm::sort(theirs);
  std::vector<unsigned> order(ours.size());
  std::iota(order.begin(), order.end(), 0);
  ++limits.nesting;
  do {
    Conditions all = equations;
    for (auto [number, name] : llvm::enumerate(ours))
      all.push_back(Condition::equal(Index::variable(theirs[order[number]]),
                                     Index::variable(name)));
    merge.to.clear();
    merge.from.clear();
    if (!solveAll(all, into.bound, merge.to) ||
        !solveAll(all, term.bound, merge.from))
      return std::nullopt;
    std::vector<Goal> goals;
    auto found = steps.merge(goal, merge, goals);
    if (!found)
      continue;
    std::vector<SExpr> pairing, to, from;
    for (unsigned factor : merge.pairing)
      pairing.push_back(SExpr(std::to_string(factor)));
    for (const Index &index : merge.to)
      to.push_back(parseSExprs(index.str())->front());
    for (const Index &index : merge.from)
      from.push_back(parseSExprs(index.str())->front());
    std::vector<SExpr> list{"merge",
                            SExpr(std::to_string(merge.term)),
                            SExpr(std::to_string(merge.into)),
                            pairing,
                            to,
                            from};
    bool isProved = llvm::all_of(goals, [&](const Goal &inner) {
      auto proof = prove(inner, limits);
      if (proof)
        list.push_back(*proof);
      return proof.has_value();
    });
    if (isProved) {
      member = *found;
      return SExpr(list);
    }
  } while (std::next_permutation(order.begin(), order.end()) && !isSpent());
  return std::nullopt;
}

std::optional<SExpr> Search::gather(const Goal &goal, Limits limits) {
  auto toList = [](const std::vector<Index> &values) {
    std::vector<SExpr> list;
    for (const Index &index : values)
      list.push_back(parseSExprs(index.str())->front());
    return SExpr(list);
  };
  if (limits.hasGathered || limits.nesting != 0)
    return std::nullopt;
  limits.hasGathered = true;
  for (unsigned base = 0; base < goal.sum.size(); ++base) {
    const Term &into = goal.sum[base];
    std::vector<Merge> maps;
    for (unsigned number = 0; number < goal.sum.size(); ++number) {
      const Term &term = goal.sum[number];
      if (into.bound.empty() || number == base ||
          term.bound.size() != into.bound.size())
        continue;
      std::vector<Conditions> candidates = listEquations({into}, {term});
      for (const Conditions &equations : candidates) {
        Merge map;
        map.term = number;
        Goal ignored = goal, inner;
        if (!solveAll(equations, into.bound, map.to) ||
            !solveAll(equations, term.bound, map.from) ||
            !steps.gather(ignored, base, {map}, inner))
          continue;
        maps.push_back(map);
        break;
      }
    }
    Goal rest = goal, inner;
    if (maps.empty() || !steps.gather(rest, base, maps, inner))
      continue;
    auto proof = prove(inner, limits);
    auto others = proof ? prove(rest, limits) : std::nullopt;
    if (!others)
      continue;
    std::vector<SExpr> list;
    for (const Merge &map : maps)
      list.push_back(std::vector<SExpr>{SExpr(std::to_string(map.term)),
                                        toList(map.to), toList(map.from)});
    return SExpr(
        {"gather", SExpr(std::to_string(base)), list, *proof, *others});
  }
  return std::nullopt;
}
