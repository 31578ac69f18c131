//===- Check.cpp - Checks the steps of a certificate ----------------------===//

#include "Certificate.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::proof;

/// Adds the indices of a list; false if one is none.
static bool fill(const SExpr &list, std::vector<Index> &values) {
  for (const SExpr &part : list.list)
    if (auto value = Index::parse(part))
      values.push_back(*value);
    else
      return false;
  return true;
}

bool Checker::fail(const llvm::Twine &reason) {
  if (error.empty())
    error = reason.str();
  return false;
}

std::string Checker::check(Certificate &certificate) {
  error.clear();
  const Statement &statement = certificate.statement;
  auto all = listRanks(statement);
  if (!all)
    return "expects ranks of src that fit, and at most " +
           std::to_string(kMaxOpenRanks) + " open ones";
  size_t next = 0;
  for (const Ranks &ranks : *all) {
    Typing typing = type(statement, ranks, {}, semantics);
    if (!typing.fault.empty())
      return typing.fault;
    if (typing.isVoid)
      continue;
    std::string name = print(statement, ranks).str();
    if (next == certificate.cases.size())
      return "expects steps for " + name + ", but got none";
    if (!checkAt(statement, ranks, certificate.cases[next++]))
      return name + ": " + (error.empty() ? "a step does not hold" : error);
  }
  if (next != certificate.cases.size())
    return "expects steps for " + std::to_string(next) + " ranks, but got " +
           std::to_string(certificate.cases.size());
  return next != 0 ? ""
                   : "expects ranks at which src has a meaning and the "
                     "condition may hold";
}

bool Checker::checkAt(const Statement &statement, const Ranks &ranks,
                      const SExpr &proof) {
  auto expected = [&](const llvm::Twine &what) {
    return fail("expects " + what);
  };
  SExpr header = print(statement, ranks);
  if (!proof.is("at") || proof.list.size() < 3 ||
      proof.list[1].str() != header.str())
    return expected("(at " + header.str() + " ...)");
  const SExpr &sizes = proof.list[2];
  Choices choices;
  for (const SExpr &size : sizes.list) {
    if (&size == &sizes.list.front())
      continue;
    auto value =
        size.list.size() == 2 ? Index::parse(size.list[1]) : std::nullopt;
    bool isOfSizes = value.has_value();
    if (value)
      value->walk([&](const Part &part) {
        isOfSizes &= !part.isVariable() || llvm::is_contained(part.text, '.');
      });
    if (!isOfSizes || !choices.try_emplace(size.list[0].word, *value).second)
      return expected("(NAME SIZE), but got " + size.str());
  }
  auto obligation = unfold(statement, ranks, choices, semantics, error);
  if (!obligation)
    return false;
  const Typing &typing = obligation->typing;
  std::set<std::string> chosen(typing.chosen.begin(), typing.chosen.end());
  for (const auto &[name, value] : choices)
    if (!chosen.count(name))
      return expected("no choice of " + name);
  bool fits = sizes.is("choose") && choices.size() == chosen.size() &&
              proof.list.size() ==
                  4 + obligation->goals.size() + obligation->demanded.size() &&
              proof.list[3].is("claims");
  if (!fits)
    return expected("(choose ...), (claims ...), each output, and each "
                    "demand");
  offered = obligation->offered;
  // Sizes of dst follow from those of src. Lemmas help to see that.
  std::vector<Clause> given = typing.given;
  std::vector<Clause> lemmas;
  for (const SExpr &part : llvm::drop_begin(proof.list[3].list)) {
    auto lemma = getLemma(part);
    if (!lemma)
      return expected("a lemma, but got " + part.str());
    lemmas.push_back(*lemma);
  }
  llvm::append_range(given, lemmas);
  for (const Condition &claim : typing.claims) {
    if (!steps.implies(given, {}, claim))
      return expected("that sizes of dst fit: " + claim.str());
    given.push_back({{claim}});
  }
  for (auto [number, goal] : llvm::enumerate(obligation->goals)) {
    const SExpr &output = proof.list[4 + number];
    if (!output.is("output") || output.list.size() != 4 ||
        output.list[1].str() != obligation->src[number].str() ||
        output.list[2].str() != obligation->dst[number].str())
      return expected("what output " + llvm::Twine(number) + " unfolds to");
    for (const Clause &lemma : lemmas)
      goal.give(lemma);
    for (const Condition &claim : typing.claims)
      goal.give({{claim}});
    if (!check(goal, output.list[3]))
      return expected("a proof of output " + llvm::Twine(number));
  }
  size_t first = 4 + obligation->goals.size();
  for (auto [number, demand] : llvm::enumerate(obligation->demanded)) {
    const SExpr &part = proof.list[first + number];
    if (!part.is("met") || part.list.size() != 2 ||
        !checkDemand(pose(given, demand), demand.kind, part.list[1]))
      return expected("that dst has values where src has: " + demand.str());
  }
  return true;
}

bool Checker::checkDemand(const Goal &goal, Demand::Kind kind,
                          const SExpr &proof) {
  size_t size = proof.list.size();
  if (proof.is("none") && size == 1)
    return steps.isImpossible(goal.given, {});
  if (proof.is("sign") && size == 1)
    return steps.hasSign(goal, kind);
  if (proof.is("case") && size > 2) {
    auto condition = Condition::parse(proof.list[1]);
    if (!condition)
      return false;
    std::vector<Goal> goals = steps.distinguish(goal, *condition);
    bool holds = size == 2 + goals.size();
    for (size_t number = 0; holds && number < goals.size(); ++number)
      holds = checkDemand(goals[number], kind, proof.list[2 + number]);
    return holds;
  }
  if (!proof.is("by") || size != 6)
    return false;
  auto number = getNumber(proof.list[1]), den = getNumber(proof.list[3]);
  auto num = Index::parse(proof.list[2]);
  std::vector<Index> map;
  Goal rest = goal;
  return fill(proof.list[4], map) && number && *number < offered.size() &&
         num && num->getNumber() && den && *den != 0 &&
         steps.meet(rest, kind, offered[*number],
                    Fraction(*num->getNumber(), *den), map) &&
         check(std::move(rest), proof.list[5]);
}

bool Checker::checkAll(const std::vector<Goal> &goals, const SExpr &proof,
                       size_t first) {
  if (proof.list.size() != first + goals.size())
    return false;
  for (auto [number, goal] : llvm::enumerate(goals))
    if (!check(goal, proof.list[first + number]))
      return false;
  return true;
}

bool Checker::changeSizes(Goal &goal, const SExpr &step) {
  size_t size = step.list.size();
  auto value = size > 1 ? Index::parse(step.list.back()) : std::nullopt;
  if (step.is("lemma") && size == 2) {
    auto lemma = getLemma(step.list[1]);
    if (lemma)
      goal.give(*lemma);
    return lemma.has_value();
  }
  if (step.is("name") && size == 2)
    return value && steps.name(goal, *value);
  auto part = size == 3 ? Index::parse(step.list[1]) : std::nullopt;
  return part && value &&
         ((step.is("rewrite") && steps.rewrite(goal, *part, *value)) ||
          (step.is("replace") && steps.replace(goal, *part, *value)));
}

bool Checker::check(Goal goal, const SExpr &proof) {
  // All at once, before anything is asked about the sum.
  if (proof.is("sizes")) {
    bool isChanged = proof.list.size() == 3;
    for (size_t k = 0; isChanged && k < proof.list[1].list.size(); ++k)
      isChanged = changeSizes(goal, proof.list[1].list[k]);
    return isChanged ? check(std::move(goal), proof.list[2])
                     : fail("expects changes of sizes");
  }
  steps.simplify(goal);
  size_t size = proof.list.size();
  if (proof.is("zero"))
    return size == 1 && goal.sum.empty();
  if (proof.is("match"))
    return checkMatch(goal, proof);
  if (proof.is("scalar"))
    return checkScalar(goal, proof);
  if (size < 3)
    return fail("expects a step, but got " + proof.str());
  if (proof.is("case")) {
    auto condition = Condition::parse(proof.list[1]);
    return condition && checkAll(steps.distinguish(goal, *condition), proof, 2);
  }
  if (proof.is("rewrite") && size == 4)
    return changeSizes(goal,
                       SExpr({"rewrite", proof.list[1], proof.list[2]})) &&
           check(std::move(goal), proof.list[3]);
  auto number = getNumber(proof.list[1]);
  if (!number)
    return fail("expects a step, but got " + proof.list[0].str());
  if (proof.is("split") && size == 4) {
    auto condition = Condition::parse(proof.list[2]);
    return condition && steps.split(goal, *number, *condition) &&
           check(std::move(goal), proof.list[3]);
  }
  if (proof.is("cancel")) {
    auto first = size == 7 ? getNumber(proof.list[2]) : std::nullopt;
    auto second = size == 7 ? getNumber(proof.list[3]) : std::nullopt;
    Goal equal, defined;
    Demand::Kind kind;
    return first && second &&
           steps.cancelFactors(goal, *number, *first, *second, equal, defined,
                               kind) &&
           check(std::move(equal), proof.list[4]) &&
           checkDemand(defined, kind, proof.list[5]) &&
           check(std::move(goal), proof.list[6]);
  }
  if (proof.is("gather") && size == 5) {
    std::vector<Merge> maps;
    for (const SExpr &part : proof.list[2].list) {
      auto term =
          part.list.size() == 3 ? getNumber(part.list[0]) : std::nullopt;
      Merge &map = maps.emplace_back();
      if (!term || !fill(part.list[1], map.to) || !fill(part.list[2], map.from))
        return fail("expects (TERM (TO) (FROM)), but got " + part.str());
      map.term = *term;
    }
    Goal inner;
    return steps.gather(goal, *number, maps, inner) &&
           check(std::move(inner), proof.list[3]) &&
           check(std::move(goal), proof.list[4]);
  }
  if (proof.is("expand") && size == 6) {
    auto variable = getNumber(proof.list[2]);
    std::vector<Index> range;
    return variable && fill({{proof.list[3], proof.list[4]}}, range) &&
           range[0].getNumber() && range[1].getNumber() &&
           steps.expand(goal, *number, *variable, *range[0].getNumber(),
                        *range[1].getNumber()) &&
           check(std::move(goal), proof.list[5]);
  }
  if (proof.is("use") && size == 4) {
    std::vector<Index> map;
    return *number < offered.size() && fill(proof.list[2], map) &&
           steps.use(goal, offered[*number], map) &&
           check(std::move(goal), proof.list[3]);
  }
  Units units = Steps::getUnits(goal);
  if (*number >= units.size())
    return fail("expects a unit, but got " + proof.list[1].str());
  if (proof.is("attain") && size == 3)
    return steps.attain(goal, units[*number]) &&
           check(std::move(goal), proof.list[2]);
  if (!proof.is("compare") || size != 4)
    return fail("expects a step, but got " + proof.list[0].str());
  Conditions conditions;
  for (const SExpr &part : proof.list[2].list)
    if (auto condition = Condition::parse(part))
      conditions.push_back(*condition);
    else
      return fail("expects a condition, but got " + part.str());
  return steps.compare(goal, units[*number], conditions) &&
         check(std::move(goal), proof.list[3]);
}

bool Checker::checkMatch(const Goal &goal, const SExpr &proof) {
  // What each term is a part of: itself, unless it is merged.
  std::map<unsigned, std::vector<Member>> buckets;
  for (auto [number, term] : llvm::enumerate(goal.sum))
    buckets[number] = {Steps::getMember(term)};
  std::set<unsigned> merged;
  for (const SExpr &step : llvm::drop_begin(proof.list)) {
    Merge merge;
    if (!step.is("merge") || step.list.size() < 6)
      return fail("expects (merge ...), but got " + step.str());
    auto term = getNumber(step.list[1]), into = getNumber(step.list[2]);
    for (const SExpr &part : step.list[3].list)
      merge.pairing.push_back(getNumber(part).value_or(~0u));
    if (!term || !into || !fill(step.list[4], merge.to) ||
        !fill(step.list[5], merge.from) || !merged.insert(*term).second)
      return fail("expects (merge ...), but got " + step.str());
    merge.term = *term;
    merge.into = *into;
    std::vector<Goal> goals;
    auto member = steps.merge(goal, merge, goals);
    if (!member || !checkAll(goals, step, 6))
      return fail("expects terms that match: " + step.str());
    buckets[*into].push_back(*member);
  }
  for (const auto &[number, members] : buckets) {
    bool isMerged = merged.count(number) != 0;
    if (isMerged && members.size() > 1)
      return fail("expects no merge into what is merged");
    if (!isMerged && !steps.cancel(goal, members))
      return fail("expects terms that cancel");
  }
  return true;
}

bool Checker::checkScalar(const Goal &goal, const SExpr &proof) {
  Units units = Steps::getUnits(goal);
  std::vector<unsigned> numbers;
  for (size_t number = 0; number < units.size(); ++number)
    numbers.push_back(number);
  for (const SExpr &step : llvm::drop_begin(proof.list)) {
    if (!step.is("same") || step.list.size() != 4)
      return fail("expects (same ...), but got " + step.str());
    auto lhs = getNumber(step.list[1]), rhs = getNumber(step.list[2]);
    if (!lhs || !rhs || *lhs >= units.size() || *rhs >= units.size() ||
        !check(Steps::equate(goal, units[*lhs], units[*rhs]), step.list[3]))
      return fail("expects equal units: " + step.str());
    unsigned from = numbers[*rhs];
    for (unsigned &number : numbers)
      if (number == from)
        number = numbers[*lhs];
  }
  return steps.decide(goal, units, numbers);
}
