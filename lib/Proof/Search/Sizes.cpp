//===- Sizes.cpp - Names for quotients of sizes ---------------------------===//
//
// Where a size is a multiple of another, as in grouped convolutions, the factor
// gets a name, and quotients become polynomials. Of products, lemmas then say
// what linear arithmetic does not see: whether a group lies before another.
//
//===----------------------------------------------------------------------===//

#include "Search.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::proof;

static constexpr unsigned kMaxSteps = 40;

static SExpr text(const Index &index) {
  return parseSExprs(index.str())->front();
}

/// `index` as a multiple of a variable, or of a number of it, and the rest.
static std::pair<Index, Index> divide(const Index &index, const Index &by) {
  Index quotient;
  if (!(by.getParts().size() == 1 && by.getConstant() == 0))
    return {quotient, index};
  const std::string &name = by.getParts().begin()->first.text;
  const llvm::DynamicAPInt &number = by.getParts().begin()->second;
  Index rest = index;
  for (const auto &[part, factor] : index.getParts()) {
    if (part.fn != "*" || factor % number != 0)
      continue;
    auto found = llvm::find_if(
        *part.args, [&](const Index &arg) { return arg.str() == name; });
    if (found == part.args->end())
      continue;
    Index others(1);
    for (auto arg = part.args->begin(); arg != part.args->end(); ++arg)
      if (arg != found)
        others = others * *arg;
    Index multiple = Index(int64_t(factor / number)) * others;
    quotient = quotient + multiple;
    rest = rest - multiple * by;
  }
  return {quotient, rest};
}

namespace {
/// Steps that a goal is prepared with.
class SizeNamer {
public:
  SizeNamer(Steps &steps, Goal &goal, std::vector<SExpr> &list)
      : steps(steps), goal(goal), list(list) {}

  void run() {
    if (listQuotients(/*inGiven=*/false).empty())
      return;
    while (list.size() < kMaxSteps &&
           (replaceEqual() || rewriteQuotients() || nameFactor())) {
    }
    if (!names.empty())
      addLemmas();
  }

private:
  std::map<std::string, Part> listQuotients(bool inGiven) const {
    std::map<std::string, Part> parts;
    auto collect = [&](const Index &index) {
      index.walk([&](const Part &part) {
        if (part.fn == "quotient")
          parts.try_emplace(part.text, part);
      });
    };
    walk(goal.sum, collect);
    if (inGiven)
      for (const Clause &clause : goal.given)
        for (const Conditions &conditions : clause)
          for (const Condition &condition : conditions)
            collect(condition.value);
    return parts;
  }

  bool replace(const std::string &name, const Index &value) {
    Index variable = Index::variable(name);
    if (!steps.replace(goal, variable, value))
      return false;
    list.push_back(SExpr({"replace", text(variable), text(value)}));
    return true;
  }

  /// Sizes and names that are linear in others.
  bool replaceEqual() {
    Conditions equations;
    for (const Clause &clause : goal.given)
      for (const Condition &condition : clause.front())
        if (clause.size() == 1 && condition.isEquality)
          equations.push_back(condition);
    for (const Condition &equation : equations) {
      bool isLinear = true;
      std::vector<std::string> variables;
      for (const auto &[part, factor] : equation.value.getParts()) {
        isLinear &= part.isVariable();
        variables.push_back(part.text);
      }
      for (const std::string &name : llvm::reverse(variables))
        if (isLinear)
          if (auto value = solve(equation.value, name))
            if (replace(name, *value))
              return true;
    }
    return false;
  }

  /// Quotients that are polynomials, or have a simpler dividend.
  bool rewriteQuotients() {
    for (const auto &[name, part] : listQuotients(/*inGiven=*/true)) {
      const Index &lhs = (*part.args)[0], &rhs = (*part.args)[1];
      auto [quotient, rest] = divide(lhs, rhs);
      std::vector<Index> values;
      if (!(quotient == Index(0)))
        values.push_back(quotient + Index::quotient(rest, rhs));
      if (rest == Index(0))
        values = {quotient};
      for (const std::string &factor : names)
        if (lhs == rhs * Index::variable(factor))
          values.push_back(Index::variable(factor));
      for (const Index &value : values) {
        Index whole = Index::quotient(lhs, rhs);
        if (!steps.rewrite(goal, whole, value))
          continue;
        list.push_back(SExpr({"rewrite", text(whole), text(value)}));
        return true;
      }
    }
    return false;
  }

  /// X = B * K, where K gets a name.
  bool nameFactor() {
    for (const auto &[name, part] : listQuotients(/*inGiven=*/true)) {
      const Index &lhs = (*part.args)[0], &rhs = (*part.args)[1];
      Index whole = Index::quotient(lhs, rhs);
      for (const auto &[size, factor] : lhs.getParts()) {
        bool isSize = size.isVariable() && factor == 1 &&
                      llvm::is_contained(size.text, '.') &&
                      !rhs.mentions(size.text);
        Index variable = Index::variable(size.text);
        auto [multiple, rest] = divide(lhs - variable, rhs);
        if (!isSize || !(rest == Index(0)) ||
            !tried.insert(name + size.text).second)
          continue;
        Index value = whole - multiple;
        if (!steps.implies(goal.given, {},
                           Condition::equal(variable, rhs * value)))
          continue;
        std::string factorName = "v" + std::to_string(goal.next);
        if (!steps.name(goal, value))
          continue;
        list.push_back(SExpr({"name", text(value)}));
        names.push_back(factorName);
        factors.insert(rhs.str());
        replace(size.text, rhs * Index::variable(factorName));
        return true;
      }
    }
    return false;
  }

  /// What lies before a group and what does not.
  void addLemmas() {
    for (const auto &[name, part] : listQuotients(/*inGiven=*/false)) {
      const Index &rhs = (*part.args)[1];
      Index whole = Index::quotient((*part.args)[0], rhs);
      std::set<std::string> others = factors;
      others.insert(rhs.str());
      for (const std::string &cut : names)
        for (const std::string &factor : others) {
          Index other = *Index::parse(parseSExprs(factor)->front());
          Index from = whole - Index::variable(cut);
          if (rhs == Index::variable(cut) || other == Index::variable(cut) ||
              !other.getParts().begin()->first.isVariable())
            continue;
          for (const Index &distance : {from, -from - 1}) {
            SExpr lemma({"product", text(distance), text(other)});
            if (list.size() >= 2 * kMaxSteps)
              return;
            goal.give(*getLemma(lemma));
            list.push_back(SExpr({"lemma", lemma}));
          }
        }
    }
  }

  Steps &steps;
  Goal &goal;
  std::vector<SExpr> &list;
  std::vector<std::string> names;
  std::set<std::string> factors, tried;
};
} // namespace

std::vector<SExpr> Search::nameSizes(Goal &goal) {
  std::vector<SExpr> list;
  SizeNamer(steps, goal, list).run();
  return list;
}
