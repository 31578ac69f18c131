//===- FindProof.cpp - Finds certificates ---------------------------------===//

#include "../Certificate.h"
#include "Search.h"
#include "espalier/Proof/Proof.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::proof;

/// For one output; enough for seconds.
static constexpr unsigned kMaxQuestions = 600;

/// What z3 may take for one question; a proof by longer ones is not for
/// reading.
static constexpr unsigned kMaxSeconds = 4;

struct ProofFinder::State {
  Solver solver{kMaxSeconds};
  Steps steps{solver};
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  espalier::substitution::Meanings meanings{context};

  std::optional<SExpr> find(const Statement &statement,
                            const std::vector<unsigned> &ranks, unsigned rank,
                            std::string &error);
};

ProofFinder::ProofFinder() : state(std::make_unique<State>()) {}
ProofFinder::~ProofFinder() = default;

/// Sizes of constants that equations between extents determine; otherwise 1.
static Choices choose(const Typing &typing) {
  Choices choices;
  Conditions equations;
  for (const Condition &claim : typing.claims)
    if (claim.isEquality)
      equations.push_back(claim);
  for (const std::string &name : typing.chosen) {
    Index variable = Index::variable(name);
    const Part &part = variable.getParts().begin()->first;
    Index value(1);
    for (const Condition &equation : equations) {
      auto factor = equation.value.getCoefficient(part);
      if (factor != 1 && factor != -1)
        continue;
      Index solved =
          factor == 1 ? variable - equation.value : variable + equation.value;
      if (solved.mentions(name))
        continue;
      value = solved;
      break;
    }
    for (Condition &equation : equations)
      equation.value = equation.value.substitute(name, value);
    for (auto &entry : choices)
      entry.second = entry.second.substitute(name, value);
    choices[name] = value;
  }
  return choices;
}

/// Facts about products and quotients that may be of use.
static std::vector<SExpr> listLemmas(const Obligation &obligation) {
  // Quotients of sizes and of positions in results.
  std::map<std::string, Part> parts;
  auto collect = [&](const Index &index) {
    index.walk([&](const Part &part) {
      bool isOuter = part.fn == "quotient";
      if (isOuter)
        for (const Index &arg : *part.args)
          arg.walk([&](const Part &inner) { isOuter &= inner.text[0] != 'v'; });
      if (isOuter)
        parts.try_emplace(part.text, part);
    });
  };
  for (const Clause &clause : obligation.typing.given)
    for (const Conditions &conditions : clause)
      for (const Condition &condition : conditions)
        collect(condition.value);
  for (const Condition &claim : obligation.typing.claims)
    collect(claim.value);
  for (const Goal &goal : obligation.goals)
    walk(goal.sum, collect);
  std::vector<SExpr> lemmas;
  auto toList = [](const Index &index) {
    return parseSExprs(index.str())->front();
  };
  auto toIndex = [](const Part &part) {
    return *Index::parse(parseSExprs(part.text)->front());
  };
  for (const auto &first : parts)
    for (const auto &second : parts)
      for (const auto &whole : parts) {
        Index sum = (*first.second.args)[0] + (*second.second.args)[0];
        if (first.first > second.first || !(sum == (*whole.second.args)[0]))
          continue;
        lemmas.push_back(std::vector<SExpr>{
            "quotient", toList(sum), toList((*whole.second.args)[1]),
            toList(toIndex(first.second) + toIndex(second.second))});
      }
  return lemmas;
}

std::optional<SExpr>
ProofFinder::State::find(const Statement &statement,
                         const std::vector<unsigned> &ranks, unsigned rank,
                         std::string &error) {
  std::vector<SExpr> list{"rank", SExpr(std::to_string(rank))};
  Typing open = type(statement, ranks, {}, meanings);
  Choices choices = choose(open);
  auto obligation = unfold(statement, ranks, choices, meanings, error);
  if (!obligation)
    return std::nullopt;
  if (obligation->typing.isVoid || !obligation->typing.error.empty()) {
    list.push_back(obligation->typing.isVoid ? "void" : "impossible");
    return SExpr(list);
  }
  std::vector<SExpr> sizes{"choose"};
  for (const auto &[name, value] : choices)
    sizes.push_back(
        std::vector<SExpr>{SExpr(name), parseSExprs(value.str())->front()});
  list.push_back(sizes);
  std::vector<SExpr> lemmas = listLemmas(*obligation);
  lemmas.insert(lemmas.begin(), SExpr("claims"));
  list.push_back(lemmas);
  auto given = obligation->typing.given;
  for (const SExpr &lemma : llvm::drop_begin(lemmas))
    given.push_back(*getLemma(lemma));
  unsigned limit = solver.getEffort() + kMaxQuestions;
  for (const Condition &claim : obligation->typing.claims) {
    if (solver.getEffort() > limit || !steps.implies(given, {}, claim)) {
      error = "the claim " + claim.str() + " is not seen";
      return std::nullopt;
    }
    given.push_back({{claim}});
  }
  for (auto [number, goal] : llvm::enumerate(obligation->goals)) {
    for (const SExpr &lemma : llvm::drop_begin(lemmas))
      goal.give(*getLemma(lemma));
    for (const Condition &claim : obligation->typing.claims)
      goal.give({{claim}});
    auto proof = Search(steps, solver).prove(goal, kMaxQuestions);
    if (!proof) {
      error = "no steps found for output " + std::to_string(number);
      return std::nullopt;
    }
    list.push_back(std::vector<SExpr>{"output", obligation->src[number],
                                      obligation->dst[number], *proof});
  }
  for (const Demand &demand : obligation->demanded) {
    auto proof =
        Search(steps, solver)
            .meet(pose(given, demand), demand.kind, obligation->offered);
    if (!proof) {
      error = "dst may have no value: " + demand.str();
      return std::nullopt;
    }
    list.push_back(std::vector<SExpr>{"met", *proof});
  }
  return SExpr(list);
}

std::optional<std::string> ProofFinder::find(llvm::StringRef name,
                                             llvm::ArrayRef<std::string> src,
                                             llvm::ArrayRef<std::string> dst,
                                             llvm::StringRef condition,
                                             std::string &error) {
  Certificate certificate;
  Statement &statement = certificate.statement;
  statement.name = name.str();
  statement.src = src;
  statement.dst = dst;
  statement.guard = condition.str();
  error = resolve(statement);
  if (!error.empty() || !inferRanks(statement, 1))
    return std::nullopt;
  unsigned count = statement.hasOpenRank ? kMaxOpenRank : 1;
  for (unsigned rank = 1; rank <= count; ++rank) {
    auto steps =
        state->find(statement, *inferRanks(statement, rank), rank, error);
    if (!steps)
      return std::nullopt;
    certificate.ranks.push_back(std::move(*steps));
  }
  return certificate.str();
}
