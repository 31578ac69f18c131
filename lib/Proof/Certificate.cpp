//===- Certificate.cpp - A statement and the steps that prove it ----------===//

#include "Certificate.h"
#include "Unfold.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier;
using namespace espalier::proof;
using llvm::StringRef;

static std::string getHeader() {
  return "espalier-proof " + std::to_string(kVersion);
}

std::string Certificate::str() const {
  std::string text = getHeader() + "\n" + statement.str();
  for (const SExpr &part : cases)
    text += part.strIndented() + "\n";
  return text + "end\n";
}

std::optional<Certificate>
espalier::proof::parseCertificate(StringRef text, std::string &error) {
  auto fail = [&](const llvm::Twine &reason) -> std::optional<Certificate> {
    error = reason.str();
    return std::nullopt;
  };
  auto takeLine = [&] {
    auto [line, rest] = text.split('\n');
    text = rest;
    return line.rtrim('\r');
  };
  StringRef header = takeLine();
  if (header != getHeader())
    return fail("expects '" + getHeader() + "', but got '" +
                header.take_front(80) + "'");
  Certificate result;
  StringRef name = takeLine();
  if (!name.consume_front("rule ") || name.empty() ||
      name.find_first_of(" \t:") != StringRef::npos)
    return fail("expects 'rule NAME', but got '" + name.take_front(80) + "'");
  result.statement.name = name.str();
  StringRef line = takeLine();
  for (; line.starts_with("src "); line = takeLine())
    result.statement.src.push_back(line.drop_front(4).str());
  for (; line.starts_with("dst "); line = takeLine())
    result.statement.dst.push_back(line.drop_front(4).str());
  StringRef verdict = line;
  if (verdict.consume_front("proved-if ") && !verdict.empty())
    result.statement.guard = verdict.str();
  else if (line != "proved")
    return fail("expects 'proved' or 'proved-if CONDITION', but got '" +
                line.take_front(80) + "'");
  auto lists = parseSExprs(text);
  if (!lists || lists->empty() || lists->back().word != "end")
    return fail("expects steps in balanced parentheses, and 'end'");
  lists->pop_back();
  result.cases = std::move(*lists);
  error = resolve(result.statement);
  return error.empty() ? std::optional(std::move(result)) : std::nullopt;
}

SExpr espalier::proof::print(const Statement &statement, const Ranks &ranks) {
  std::vector<SExpr> list{"ranks"};
  for (auto [use, rank] : llvm::zip(statement.uses, ranks))
    if (use.node.isVariable())
      list.push_back(
          std::vector<SExpr>{SExpr(use.name), SExpr(std::to_string(rank))});
  return list;
}

/// Adds the demands that are new, at all positions of an output.
static void addDemands(std::vector<Demand> demands, const Names &position,
                       const Conditions &box, std::set<std::string> &known,
                       std::vector<Demand> &result) {
  for (Demand &demand : demands) {
    llvm::append_range(demand.at.bound, position);
    llvm::append_range(demand.at.conditions, box);
    if (!eliminate(demand.at))
      continue;
    // Names that goals do not have, so that new ones never meet old ones.
    unsigned apart = kMaxVariable;
    freshen(demand.at, apart);
    if (known.insert(demand.str()).second)
      result.push_back(std::move(demand));
  }
}

std::optional<Obligation> espalier::proof::unfold(
    const Statement &statement, const Ranks &ranks, const Choices &choices,
    substitution::SemanticsCache &semantics, std::string &error) {
  Obligation result;
  result.typing = type(statement, ranks, choices, semantics);
  if (!result.typing.error.empty()) {
    error = "expects a meaning of dst: " + result.typing.error;
    return std::nullopt;
  }
  std::set<std::string> knownOfSrc, knownOfDst;
  for (auto [src, dst] :
       llvm::zip_equal(statement.srcOutputs, statement.dstOutputs)) {
    Goal goal;
    for (const Clause &clause : result.typing.given)
      goal.give(clause);
    std::vector<Index> position;
    Names names;
    Conditions box;
    for (const Index &extent : result.typing.instances[src].shape) {
      names.push_back("i" + std::to_string(position.size()));
      Index index = Index::variable(names.back());
      box.push_back(Condition::atLeast(index, 0));
      box.push_back(Condition::less(index, extent));
      position.push_back(index);
    }
    goal = goal.with(box);
    Unfolder unfolder(statement, result.typing, goal.next);
    Sum lhs = unfolder.unfold(src, position);
    addDemands(unfolder.takeDemands(), names, box, knownOfSrc, result.offered);
    Sum rhs = unfolder.unfold(dst, position);
    addDemands(unfolder.takeDemands(), names, box, knownOfDst, result.demanded);
    error = unfolder.getError();
    if (!error.empty())
      return std::nullopt;
    result.src.push_back(print(lhs, /*isCanonical=*/true));
    result.dst.push_back(print(rhs, /*isCanonical=*/true));
    goal.sum = add(std::move(lhs), scale(std::move(rhs), Fraction(-1, 1)));
    result.goals.push_back(std::move(goal));
  }
  // Maxima are numbers on both sides.
  for (const Demand &demand : result.offered)
    if (demand.kind == Demand::Kind::NotEmpty)
      result.demanded.push_back(demand);
  return result;
}
