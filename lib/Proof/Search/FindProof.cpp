//===- FindProof.cpp - Finds certificates ---------------------------------===//

#include "../Certificate.h"
#include "Search.h"
#include "espalier/Proof/Proof.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::proof;

/// For one output; enough for seconds.
static constexpr unsigned kMaxQuestions = 1000;

/// For a question that z3 does not stop by what it counts itself; others do not
/// depend on how fast the machine is.
static constexpr unsigned kMaxSeconds = 4;

struct ProofFinder::State {
  Solver solver{kMaxSeconds};
  Steps steps{solver};
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  espalier::substitution::SemanticsCache semantics{context};

  std::optional<SExpr> find(const Statement &statement, const Ranks &ranks,
                            const Typing &open, std::string &error);
};

ProofFinder::ProofFinder() : state(std::make_unique<State>()) {}
ProofFinder::~ProofFinder() = default;

/// Sizes of constants that equations between extents determine, or that must be
/// a multiple of something; otherwise 1.
static Choices choose(const Typing &typing) {
  Choices choices;
  Conditions equations;
  for (const Condition &claim : typing.claims)
    if (claim.isEquality)
      equations.push_back(claim);
  for (const std::string &name : typing.chosen) {
    std::optional<Index> value, multiple;
    for (const Condition &equation : equations) {
      if (!value)
        value = solve(equation.value, name);
      equation.value.walk([&](const Part &part) {
        if (part.fn == "quotient" && !multiple)
          multiple = solve((*part.args)[0] - (*part.args)[1], name);
      });
    }
    if (!value)
      value = multiple.value_or(Index(1));
    for (Condition &equation : equations)
      equation.value = equation.value.substitute(name, *value);
    for (auto &entry : choices)
      entry.second = entry.second.substitute(name, *value);
    choices[name] = *value;
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
        const Index &divisor = (*whole.second.args)[1];
        auto add = [&](const Index &value) {
          lemmas.push_back(std::vector<SExpr>{"quotient", toList(sum),
                                              toList(divisor), toList(value)});
        };
        add(toIndex(first.second) + toIndex(second.second));
        // Where divisors are added, too, all quotients may be equal.
        if (llvm::any_of(divisor.getParts(), [](const auto &entry) {
              return entry.first.fn == "quotient";
            }))
          add(toIndex(first.second));
      }
  return lemmas;
}

std::optional<SExpr> ProofFinder::State::find(const Statement &statement,
                                              const Ranks &ranks,
                                              const Typing &open,
                                              std::string &error) {
  std::vector<SExpr> list{"at", print(statement, ranks)};
  Choices choices = choose(open);
  auto obligation = unfold(statement, ranks, choices, semantics, error);
  if (!obligation)
    return std::nullopt;
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
  Search search(steps, solver, obligation->offered);
  for (auto [number, goal] : llvm::enumerate(obligation->goals)) {
    for (const SExpr &lemma : llvm::drop_begin(lemmas))
      goal.give(*getLemma(lemma));
    for (const Condition &claim : obligation->typing.claims)
      goal.give({{claim}});
    auto proof = search.prove(goal, kMaxQuestions);
    if (!proof) {
      error = "no steps found for output " + std::to_string(number);
      return std::nullopt;
    }
    list.push_back(std::vector<SExpr>{"output", obligation->src[number],
                                      obligation->dst[number], *proof});
  }
  for (const Demand &demand : obligation->demanded) {
    auto proof = search.meet(pose(given, demand), demand.kind);
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
  auto all = error.empty() ? listRanks(statement) : std::nullopt;
  if (!all)
    return std::nullopt;
  for (const Ranks &ranks : *all) {
    Typing typing = type(statement, ranks, {}, state->semantics);
    error = typing.fault;
    if (!error.empty())
      return std::nullopt;
    if (typing.isVoid)
      continue;
    auto steps = state->find(statement, ranks, typing, error);
    if (!steps)
      return std::nullopt;
    certificate.cases.push_back(std::move(*steps));
  }
  return certificate.str();
}
