//===- Guards.cpp - Conditions on sizes, as text --------------------------===//
//
//   condition := clause ('and' clause)*
//   clause    := atom | '(' atom ('and' atom)* ('or' atom ('and' atom)*)* ')'
//   atom      := sum ('==' | '>=' | '<=' | 'divides') sum
//
//===----------------------------------------------------------------------===//

#include "Guards.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"

using namespace espalier::proof;
using llvm::StringRef;

static constexpr unsigned kMaxDepth = 64;

void GuardReader::split(StringRef text) {
  tokens.clear();
  next = 0;
  while (!(text = text.ltrim()).empty()) {
    size_t size = std::min(text.find_first_of("()+*/, \t\n"), text.size());
    size = std::max<size_t>(size, 1);
    tokens.push_back(text.take_front(size).str());
    text = text.drop_front(size);
  }
  tokens.push_back("");
}

bool GuardReader::consume(StringRef token) {
  bool isHere = tokens[next] == token && !token.empty();
  next += isHere;
  return isHere;
}

/// A parenthesis here may belong to a sum.
bool GuardReader::opensAlternatives() const {
  if (tokens[next] != "(")
    return false;
  int nesting = 0;
  for (size_t i = next; i < tokens.size(); ++i) {
    nesting += (tokens[i] == "(") - (tokens[i] == ")");
    if (nesting == 0)
      return false;
    if (nesting == 1 && tokens[i] == "or")
      return true;
  }
  return false;
}

std::optional<std::vector<Clause>> GuardReader::read(StringRef text) {
  std::vector<Clause> clauses;
  split(text);
  if (tokens.size() == 1)
    return clauses;
  do {
    auto clause = readClause();
    if (!clause)
      return std::nullopt;
    clauses.push_back(std::move(*clause));
  } while (consume("and"));
  if (!tokens[next].empty())
    return std::nullopt;
  return clauses;
}

std::optional<Clause> GuardReader::readClause() {
  if (!opensAlternatives()) {
    auto atom = readAtom();
    return atom ? std::optional(Clause{*atom}) : std::nullopt;
  }
  ++next;
  Clause clause;
  do {
    Conditions all;
    do {
      auto atom = readAtom();
      if (!atom)
        return std::nullopt;
      llvm::append_range(all, *atom);
    } while (consume("and"));
    clause.push_back(std::move(all));
  } while (consume("or"));
  return consume(")") ? std::optional(clause) : std::nullopt;
}

std::optional<Conditions> GuardReader::readAtom() {
  defined.clear();
  isMissing = false;
  auto lhs = readSum();
  std::string relation = tokens[next];
  if (!lhs || relation.empty())
    return std::nullopt;
  ++next;
  auto rhs = readSum();
  if (!rhs)
    return std::nullopt;
  if (relation == "==")
    defined.push_back(Condition::equal(*lhs, *rhs));
  else if (relation == ">=")
    defined.push_back(Condition::atLeast(*lhs, *rhs));
  else if (relation == "<=")
    defined.push_back(Condition::atLeast(*rhs, *lhs));
  else if (relation != "divides" || !divide(*rhs, *lhs, /*isExact=*/true))
    return std::nullopt;
  return isMissing ? Conditions{Condition::less(0, 0)} : defined;
}

std::optional<Index> GuardReader::readSum() {
  auto result = readProduct();
  while (result && consume("+")) {
    auto more = readProduct();
    result = more ? std::optional(*result + *more) : std::nullopt;
  }
  return result;
}

std::optional<Index> GuardReader::readProduct() {
  auto result = readFactor();
  while (result && consume("*")) {
    auto more = readFactor();
    result = more ? std::optional(*result * *more) : std::nullopt;
  }
  return result;
}

std::optional<Index> GuardReader::divide(const Index &lhs, const Index &rhs,
                                         bool isExact) {
  defined.push_back(Condition::atLeast(rhs, 1));
  Index quotient = Index::quotient(lhs, rhs);
  if (isExact)
    defined.push_back(Condition::equal(quotient * rhs, lhs));
  return quotient;
}

std::optional<Index> GuardReader::readFactor() {
  if (depth > kMaxDepth || next + 1 >= tokens.size())
    return std::nullopt;
  StringRef token = tokens[next];
  int64_t number;
  if (!token.getAsInteger(10, number)) {
    ++next;
    return Index(number);
  }
  std::string word = token.str();
  bool isPair = word == "floor" || word == "max";
  if (word != "(" && !isPair) {
    ++next;
    return readTerm(word);
  }
  next += isPair;
  if (!consume("("))
    return std::nullopt;
  ++depth;
  auto result = readSum();
  if (isPair) {
    if (!consume(word == "max" ? "," : "/"))
      return std::nullopt;
    auto other = readSum();
    if (!result || !other)
      return std::nullopt;
    result = word == "max" ? Index::larger(*result, *other)
                           : divide(*result, *other, /*isExact=*/false);
  }
  --depth;
  return result && consume(")") ? result : std::nullopt;
}

std::optional<Index> GuardReader::readTerm(StringRef kind) {
  if (!consume("("))
    return std::nullopt;
  auto found = llvm::find_if(
      statement.uses, [&](const Use &use) { return use.name == tokens[next]; });
  if (found == statement.uses.end())
    return std::nullopt;
  unsigned number = found - statement.uses.begin();
  ++next;
  auto extent = [&](unsigned use, unsigned dim) -> Index {
    bool isHere = use < instances.size() && dim < instances[use].shape.size();
    isMissing |= !isHere;
    return isHere ? instances[use].shape[dim] : Index(1);
  };
  std::optional<Index> result;
  if (kind == "dim") {
    unsigned dim;
    if (!consume(",") || StringRef(tokens[next]).getAsInteger(10, dim))
      return std::nullopt;
    ++next;
    result = extent(number, dim);
  } else if (kind == "rank") {
    isMissing |= number >= instances.size();
    result = number < instances.size() ? instances[number].rank : 0;
  } else if (found->node.has(substitution::kGroups)) {
    Index in = extent(found->operands[0], 1),
          out = extent(found->operands[1], 0);
    Index perGroup = extent(found->operands[1], 1);
    if (kind == "in_per_group")
      result = perGroup;
    else if (kind == "out_channels")
      result = out;
    else if (kind == "in_channels")
      result = in;
    else if (kind == "groups" || kind == "out_per_group")
      result = divide(in, perGroup, /*isExact=*/true);
    if (kind == "out_per_group")
      result = divide(out, *result, /*isExact=*/true);
  }
  return consume(")") ? result : std::nullopt;
}

std::optional<Index> GuardReader::getDefinition(StringRef text,
                                                StringRef extent) {
  // Clauses are told apart by `and` outside of parentheses.
  split(text);
  std::vector<std::string> all = tokens;
  std::string name = extent.str();
  std::vector<std::string> clause;
  int nesting = 0;
  auto join = [](llvm::ArrayRef<std::string> words) {
    return llvm::join(words, " ");
  };
  for (const std::string &token : all) {
    nesting += (token == "(") - (token == ")");
    if ((token != "and" || nesting != 0) && !token.empty()) {
      clause.push_back(token);
      continue;
    }
    size_t position = llvm::find(clause, "==") - clause.begin();
    if (position < clause.size())
      for (bool isLeft : {true, false}) {
        llvm::ArrayRef<std::string> words(clause);
        auto lhs = words.take_front(position);
        auto rhs = words.drop_front(position + 1);
        if (join(isLeft ? lhs : rhs) != name)
          continue;
        GuardReader reader(statement, instances);
        reader.split(join(isLeft ? rhs : lhs));
        auto value = reader.readSum();
        if (value && !reader.isMissing && reader.tokens[reader.next].empty())
          return value;
      }
    clause.clear();
  }
  return std::nullopt;
}
