//===- Verify.cpp - Proves or refutes substitution rules ------------------===//
//
// A rule is typed: ranks first, then extents, with those of the outputs equal.
// Numbers come before proofs, since they are cheap and settle what is false.
// Where a rule is not true in general, assumptions are tried, weak ones first.
//
//===----------------------------------------------------------------------===//

#include "espalier/Substitution/Verify.h"
#include "Prove.h"
#include "RankGuards.h"
#include "Sample.h"
#include "espalier/Proof/Proof.h"
#include "espalier/Substitution/RuleTensors.h"
#include "espalier/Substitution/Shapes.h"
#include "espalier/Support/OutputFile.h"
#include "mlir/IR/Builders.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MemoryBuffer.h"
#include "llvm/Support/Path.h"

using namespace espalier;
using namespace espalier::substitution;

/// Shapes at which a rule is evaluated before a proof is tried, and after it
/// was not found.
static constexpr unsigned kQuickSamples = 8;
static constexpr unsigned kMoreSamples = 60;
/// Assumptions are made about no more convolutions than this.
static constexpr unsigned kMaxConvs = 4;

llvm::raw_ostream &espalier::substitution::operator<<(llvm::raw_ostream &os,
                                                      const Verdict &verdict) {
  static constexpr llvm::StringLiteral kWords[] = {"proved", "proved-if",
                                                   "refuted", "unknown"};
  os << kWords[static_cast<unsigned>(verdict.kind)];
  if (!verdict.detail.empty())
    os << ' ' << verdict.detail;
  return os;
}

using Assumptions = llvm::SmallVector<Assumption, 4>;

struct Verifier::State {
  explicit State(const VerifyOptions &options)
      : options(options),
        integers{polyhedral::Context({/*maxOperations=*/500'000,
                                      /*isPerQuestion=*/false})},
        semantics(context, options.rounds) {}

  /// Under the rule's own condition, if that helps.
  Verdict decide(const Rule &rule, Budget &budget);
  /// Where a hypothesis holds; it is part of the condition that is found.
  Verdict decide(const Rule &rule, const Guard &hypothesis, Budget &budget);
  /// Whether a graph has a meaning where its tensors have these ranks, for some
  /// sizes.
  bool isTyped(const Rule &src, llvm::ArrayRef<unsigned> ranks);
  mlir::Type getElementType() { return mlir::Builder(&context).getF64Type(); }

  VerifyOptions options;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  Integers integers;
  SemanticsCache semantics;
  proof::ProofFinder finder;
};

namespace {
/// Decides a rule whose ranks are known.
class RankedVerifier {
public:
  RankedVerifier(const Instances &instances, const RuleTensors &uses,
                 const Guard &hypothesis, SemanticsCache &semantics,
                 const Integers &integers, mlir::Type elementType,
                 const VerifyOptions &options, Budget &budget)
      : instances(instances), uses(uses), hypothesis(hypothesis),
        semantics(semantics), integers(integers), elementType(elementType),
        options(options), budget(budget) {}

  Verdict run() {
    std::string error;
    auto typing =
        typeRule(instances, semantics, integers, {}, error, hypothesis);
    if (!typing)
      return {Verdict::Kind::Unknown, "ill-typed: " + error, true};
    auto cases = typing->sizes.getCases();
    auto srcCases = typing->srcSizes->getCases();
    if (srcCases && srcCases->empty())
      return {Verdict::Kind::Unknown, "ill-typed: no shapes fit src", true};
    if (cases && cases->empty())
      return refuteShapes(*typing, /*least=*/1, "no shapes fit both sides");
    std::string difference;
    if (auto verdict = attempt(*typing, cases, {}, difference))
      return *verdict;
    for (const Assumptions &assumptions : listAssumptions()) {
      std::string ignored;
      auto narrowed = typeRule(instances, semantics, integers, assumptions,
                               error, hypothesis);
      if (!narrowed || !budget.check())
        continue;
      auto narrowedCases = narrowed->sizes.getCases();
      if (narrowedCases && narrowedCases->empty())
        continue;
      if (auto verdict =
              attempt(*narrowed, narrowedCases, assumptions, ignored))
        return *verdict;
    }
    if (difference.empty())
      difference =
          Sampler(typing->instances, typing->sizes, elementType, getSeed(1))
              .findDifference(kMoreSamples, budget);
    if (!difference.empty()) {
      // A smaller one says more.
      std::string small =
          Sampler(typing->instances, typing->sizes, elementType, getSeed(2))
              .findDifference(kMoreSamples, budget,
                              /*limit=*/2);
      return {Verdict::Kind::Refuted, small.empty() ? difference : small};
    }
    if (holdsForOnes)
      return refuteShapes(*typing, /*least=*/2,
                          "fits only where an extent is 1");
    return {Verdict::Kind::Unknown, budget.check()
                                        ? (reason.empty() ? "no match" : reason)
                                        : "timeout"};
  }

private:
  /// A seed for each use of numbers.
  uint64_t getSeed(unsigned use) const { return options.seed * 4 + use; }

  /// A verdict if the rule is proved under the assumptions.
  std::optional<Verdict> attempt(const Typing &typing,
                                 const std::optional<std::vector<Sizes>> &cases,
                                 llvm::ArrayRef<Assumption> assumptions,
                                 std::string &difference) {
    difference =
        Sampler(typing.instances, typing.sizes, elementType, getSeed(0))
            .findDifference(kQuickSamples, budget);
    if (!difference.empty())
      return std::nullopt;
    if (!cases) {
      reason = "too many cases";
      return std::nullopt;
    }
    if (isDegenerate(typing, *cases)) {
      holdsForOnes = true;
      return std::nullopt;
    }
    for (const Sizes &sizes : *cases)
      if (!prove(typing.instances, sizes))
        return std::nullopt;
    std::optional<Guard> guard =
        getGuard(typing, *cases, assumptions, &semantics.getContext());
    if (!guard || !budget.check())
      return std::nullopt;
    bool isKnown = llvm::all_of(guard->clauses, [&](const GuardClause &clause) {
      return llvm::is_contained(hypothesis.clauses, clause);
    });
    if (isKnown)
      guard = hypothesis;
    else
      guard->add(hypothesis);
    Verdict verdict;
    verdict.kind =
        guard->isEmpty() ? Verdict::Kind::Proved : Verdict::Kind::ProvedIf;
    verdict.guard = std::move(*guard);
    verdict.isWeakest = assumptions.empty() && hypothesis.isEmpty();
    if (options.numRechecks != 0)
      verdict.contradiction = recheck(typing, verdict);
    return verdict;
  }

  /// Evaluates at shapes that fit what was proved; those that fit `src` and the
  /// condition must fit `dst` too.
  std::string recheck(const Typing &typing, const Verdict &verdict) {
    Sampler sampler(typing.instances, typing.sizes, elementType, getSeed(3));
    std::string difference =
        sampler.findDifference(options.numRechecks, budget);
    if (difference.empty())
      return sampler.findMisfit(*typing.srcSizes, verdict.guard, uses,
                                options.numRechecks);
    return difference;
  }

  bool prove(const Instances &typed, Sizes sizes) {
    Expander expander(typed, sizes, budget);
    Prover prover(sizes, expander.getNextVar(), budget);
    std::vector<Demand> given, demands;
    for (auto [src, dst] : llvm::zip_equal(typed.src, typed.dst)) {
      Assumed assumed{&sizes.facts, &sizes, {}};
      llvm::SmallVector<Linear> indices;
      for (const Linear &extent : typed.list[src].shape) {
        indices.push_back(Linear::var(expander.makeVar()));
        assumed.conditions.push_back(Constraint::atLeast(indices.back(), 0));
        assumed.conditions.push_back(Constraint::less(indices.back(), extent));
      }
      Sum lhs = expander.expand(src, indices, assumed);
      llvm::append_range(given, expander.takeDemands());
      Sum rhs = expander.expand(dst, indices, assumed);
      llvm::append_range(demands, expander.takeDemands());
      if (!expander.getError().empty()) {
        reason = expander.getError();
        return false;
      }
      Sum difference = add(std::move(lhs), scale(rhs, Rational::get(-1)));
      if (!prover.isZero(std::move(difference), assumed))
        return false;
    }
    return options.rounds || areMet(std::move(demands), std::move(given), sizes,
                                    expander, prover);
  }

  /// Whether `dst` is made of numbers where `src` is. What is rounded is so if
  /// what is not is.
  bool areMet(std::vector<Demand> demands, std::vector<Demand> given,
              const Sizes &sizes, const Expander &expander, Prover &prover) {
    given = splitDemands(std::move(given));
    // Where a point has no name, it cannot be chosen.
    llvm::erase_if(given, [&](const Demand &demand) {
      return llvm::any_of(expander.getBaseVars(), [&](Var var) {
        return llvm::any_of(demand.conditions, [&](const Constraint &c) {
          return c.expr.contains(var);
        });
      });
    });
    Assumed assumed{&sizes.facts, &sizes, {}};
    for (const Demand &demand : splitDemands(std::move(demands)))
      if (!prover.isMet(demand, given, assumed)) {
        reason = "dst may ";
        reason += demand.kind == Demand::Kind::NotZero
                      ? "divide by zero"
                      : "take a root of a negative number";
        return false;
      }
    return true;
  }

  /// Shapes of `src`, with extents of at least `least`, that `dst` does not
  /// fit.
  Verdict refuteShapes(const Typing &typing, int64_t least,
                       llvm::StringRef why) {
    Instances srcOnly = typing.instances;
    srcOnly.list.resize(srcOnly.numSrc);
    Sampler sampler(srcOnly, *typing.srcSizes, elementType, 0);
    for (int64_t limit : {4, 8, 16})
      if (auto values = sampler.drawSizes(limit, least))
        return {Verdict::Kind::Refuted,
                sampler.describe(*values) + ": " + why.str()};
    return {Verdict::Kind::Unknown, why.str()};
  }

  /// What to assume, in the order in which it is tried.
  std::vector<Assumptions> listAssumptions() {
    llvm::SmallVector<unsigned> convs;
    Assumptions ties, squares;
    for (auto [number, instance] : llvm::enumerate(instances.list)) {
      if (instance.node->has(kGroups))
        convs.push_back(number);
      bool tiesConstant =
          !instance.node->isVariable() &&
          instance.node->getInfo().isProduct() &&
          llvm::any_of(instance.operands, [&](unsigned operand) {
            const RuleNode &node = *instances.list[operand].node;
            return !node.isVariable() && node.getInfo().isConstant();
          });
      if (tiesConstant)
        ties.push_back(
            {Assumption::Kind::SquareUse, static_cast<unsigned>(number)});
      bool isSquare = instance.node->has(kSquare);
      if (isSquare)
        squares.push_back(
            {Assumption::Kind::SquareConst, static_cast<unsigned>(number)});
    }
    std::vector<Assumptions> result;
    auto addWithTies = [&](const Assumptions &assumptions) {
      if (!assumptions.empty())
        result.push_back(assumptions);
      for (const Assumptions &more : {ties, squares}) {
        if (more.empty())
          continue;
        result.push_back(assumptions);
        llvm::append_range(result.back(), more);
      }
    };
    addWithTies({});
    if (convs.size() > kMaxConvs)
      convs.resize(kMaxConvs);
    for (unsigned i = 0; i < convs.size(); ++i)
      for (unsigned j = i + 1; j < convs.size(); ++j) {
        if (instances.list[convs[i]].isInSrc !=
            instances.list[convs[j]].isInSrc)
          continue;
        Assumption sameIn{Assumption::Kind::SameIn, convs[i], convs[j]};
        Assumption sameOut{Assumption::Kind::SameOut, convs[i], convs[j]};
        addWithTies({sameOut});
        addWithTies({sameIn});
        addWithTies({sameOut, sameIn});
      }
    std::vector<unsigned> subsets;
    for (unsigned subset = 1; subset < 1u << convs.size(); ++subset)
      subsets.push_back(subset);
    llvm::stable_sort(subsets, [](unsigned lhs, unsigned rhs) {
      return llvm::popcount(lhs) < llvm::popcount(rhs);
    });
    for (unsigned subset : subsets) {
      Assumptions assumptions;
      for (auto [position, conv] : llvm::enumerate(convs))
        if (subset >> position & 1)
          assumptions.push_back({Assumption::Kind::OneGroup, conv});
      addWithTies(assumptions);
    }
    return result;
  }

  const Instances &instances;
  const RuleTensors &uses;
  const Guard &hypothesis;
  SemanticsCache &semantics;
  const Integers &integers;
  mlir::Type elementType;
  const VerifyOptions &options;
  Budget &budget;
  std::string reason;
  bool holdsForOnes = false;
};
} // namespace

Verifier::Verifier(const VerifyOptions &options)
    : state(std::make_unique<State>(options)) {}
Verifier::~Verifier() = default;

/// Has the proof of a verdict found.
static void findProof(const Rule &rule, Verdict &verdict,
                      proof::ProofFinder &finder) {
  std::vector<std::string> sides[2];
  for (bool isDst : {false, true})
    for (NodeId root : isDst ? rule.dst : rule.src) {
      llvm::raw_string_ostream os(sides[isDst].emplace_back());
      print(rule.graph, root, os);
    }
  std::string condition = toString(verdict.guard, listTensors(rule));
  if (auto proof = finder.find(rule.name, sides[0], sides[1], condition,
                               verdict.missing))
    verdict.proof = std::move(*proof);
}

Verdict Verifier::verify(const Rule &rule) {
  Budget budget(state->options.deadline);
  Verdict verdict = state->decide(rule, budget);
  if (verdict.kind == Verdict::Kind::ProvedIf)
    verdict.detail = toString(verdict.guard, listTensors(rule));
  if (verdict.isProved() && state->options.writesProofs)
    findProof(rule, verdict, state->finder);
  return verdict;
}

Verdict Verifier::State::decide(const Rule &rule, Budget &budget) {
  if (!rule.where.isEmpty()) {
    Verdict verdict = decide(rule, rule.where, budget);
    if (verdict.isProved())
      return verdict;
  }
  return decide(rule, Guard(), budget);
}

/// Combinations of more open ranks are too many.
static constexpr unsigned kMaxOpenRanks = 3;

bool Verifier::State::isTyped(const Rule &src, llvm::ArrayRef<unsigned> ranks) {
  std::string error;
  auto instances = makeInstances(src, error, /*open=*/{}, /*known=*/ranks);
  if (!instances)
    return false;
  auto typing = typeRule(*instances, semantics, integers, {}, error);
  if (!typing)
    return false;
  auto cases = typing->sizes.getCases();
  return !cases || !cases->empty();
}

Verdict Verifier::State::decide(const Rule &rule, const Guard &hypothesis,
                                Budget &budget) {
  std::string error;
  auto known = makeInstances(rule, error);
  if (!known)
    return {Verdict::Kind::Unknown, "ill-typed: " + error, true};
  if (known->openRanks.size() > kMaxOpenRanks)
    return {Verdict::Kind::Unknown, "too many open ranks"};
  RuleTensors uses = listTensors(rule);
  Rule src = rule;
  src.dst = src.src;
  RankGuards guards(*known);
  Verdict result{Verdict::Kind::Unknown, "ill-typed", true};
  for (const auto &ranks : listRanks(known->openRanks.size())) {
    auto instances = makeInstances(rule, error, ranks);
    if (!instances)
      return {Verdict::Kind::Unknown, "ill-typed: " + error, true};
    auto getRank = [&](unsigned use) -> std::optional<int64_t> {
      return instances->list[use].rank;
    };
    auto noExtent = [](unsigned, unsigned) { return std::nullopt; };
    if (holdsForUses(hypothesis, uses, noExtent, getRank) == false)
      continue;
    Verdict verdict =
        RankedVerifier(*instances, uses, hypothesis, semantics, integers,
                       getElementType(), options, budget)
            .run();
    if (ranks.empty() || verdict.kind == Verdict::Kind::Refuted)
      return verdict;
    // An axis may ask for a larger rank; of `src` too, or of `dst` alone.
    if (verdict.isIllTyped) {
      // Larger ones have more to say about it.
      if (result.isIllTyped && !llvm::is_contained(ranks, 0))
        result = verdict;
      llvm::SmallVector<unsigned> srcRanks;
      for (unsigned use = 0; use < uses.numSrc; ++use)
        srcRanks.push_back(instances->list[use].rank);
      if (isTyped(src, srcRanks))
        guards.exclude(ranks);
      continue;
    }
    if (verdict.kind == Verdict::Kind::Unknown)
      return verdict;
    guards.add(ranks, verdict.guard);
    verdict.isWeakest &= result.isIllTyped || result.isWeakest;
    result = verdict;
  }
  if (!result.isProved())
    return result;
  result.guard = guards.join();
  result.guard.add(hypothesis);
  result.kind =
      result.guard.isEmpty() ? Verdict::Kind::Proved : Verdict::Kind::ProvedIf;
  return result;
}

/// Writes a proof into `folder`; false, and a message, if that fails.
static bool writeProof(llvm::StringRef folder, const Rule &rule,
                       const Verdict &verdict, llvm::raw_ostream &errors) {
  std::string name = rule.name;
  for (char &c : name)
    if (!llvm::isAlnum(c) && c != '-' && c != '.')
      c = '_';
  llvm::SmallString<128> path(folder);
  llvm::sys::path::append(path, name + ".proof");
  llvm::Error failure =
      llvm::errorCodeToError(llvm::sys::fs::create_directories(folder));
  if (!failure)
    failure = espalier::writeFile(
        path, [&](llvm::raw_ostream &os) { os << verdict.proof; });
  bool isWritten = !failure;
  if (!isWritten)
    errors << path << ": error: " << llvm::toString(std::move(failure)) << '\n';
  return isWritten;
}

int espalier::substitution::verifyFile(llvm::StringRef path,
                                       llvm::StringRef proofs,
                                       llvm::raw_ostream &os,
                                       llvm::raw_ostream &errors) {
  auto file = llvm::MemoryBuffer::getFileOrSTDIN(path, /*IsText=*/true);
  if (!file) {
    errors << path << ": error: " << file.getError().message() << '\n';
    return 2;
  }
  std::vector<Rule> rules;
  bool isFaulty =
      failed(parseRules((*file)->getBuffer(), rules,
                        [&](unsigned line, const llvm::Twine &message) {
                          errors << path << ':' << line
                                 << ": error: " << message << '\n';
                        }));
  VerifyOptions options;
  options.writesProofs = !proofs.empty();
  Verifier verifier(options);
  unsigned counts[4] = {};
  std::vector<std::string> unfound;
  for (const Rule &rule : rules) {
    Verdict verdict = verifier.verify(rule);
    ++counts[static_cast<unsigned>(verdict.kind)];
    os << rule.name << ": " << verdict << '\n';
    if (proofs.empty() || !verdict.isProved())
      continue;
    if (verdict.proof.empty()) {
      errors << rule.name
             << ": no proof that can be checked: " << verdict.missing << '\n';
      unfound.push_back(rule.name);
    } else if (!writeProof(proofs, rule, verdict, errors)) {
      isFaulty = true;
    }
  }
  os << rules.size() << " rules: " << counts[0] << " proved, " << counts[1]
     << " proved-if, " << counts[2] << " refuted, " << counts[3]
     << " unknown\n";
  if (!unfound.empty())
    os << unfound.size()
       << " without a proof that can be checked: " << llvm::join(unfound, ", ")
       << '\n';
  if (isFaulty)
    return 2;
  return counts[2] + counts[3] == 0 && unfound.empty() ? 0 : 1;
}
