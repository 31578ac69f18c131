//===- GuardParser.cpp - Parses the text form of guards -------------------===//

#include "espalier/Substitution/Guard.h"
#include "espalier/Substitution/RuleTensors.h"
#include "llvm/ADT/StringExtras.h"

using namespace espalier::substitution;
using llvm::StringRef;
using llvm::Twine;

namespace {
/// Texts beyond these limits are refused, so that no text exhausts the stack.
constexpr unsigned kMaxDepth = 20;
constexpr unsigned kMaxTokens = 5000;

/// Methods return nothing after the first fault.
class GuardParser {
public:
  GuardParser(StringRef text, const Rule &rule, const RuleTensors &uses,
              llvm::function_ref<void(const Twine &)> error)
      : rule(rule), uses(uses), error(error) {
    tokenize(text);
  }

  std::optional<Guard> parse() {
    if (tokens.size() > kMaxTokens)
      return fail("expects at most " + Twine(kMaxTokens) +
                  " words in a guard, but got more");
    Guard guard;
    do {
      std::optional<GuardClause> clause = parseClause();
      if (!clause)
        return std::nullopt;
      guard.clauses.push_back(std::move(*clause));
    } while (consume("and"));
    if (!peek().empty())
      return expected("'and' or the end of the guard");
    return guard;
  }

private:
  /// Words (with `?`, `#` and `_`), numbers, and signs.
  void tokenize(StringRef text) {
    auto isWord = [](char c) {
      return llvm::isAlnum(c) || c == '_' || c == '?' || c == '#';
    };
    while (!(text = text.ltrim()).empty() && tokens.size() <= kMaxTokens) {
      size_t length = 1;
      if (text.size() > 1 && text[0] == '-' && llvm::isDigit(text[1]))
        length = 1 + text.drop_front().take_while(llvm::isDigit).size();
      else if (isWord(text.front()))
        length = text.take_while(isWord).size();
      else if (text.starts_with("==") || text.starts_with(">=") ||
               text.starts_with("<="))
        length = 2;
      tokens.push_back(text.take_front(length));
      text = text.drop_front(length);
    }
  }

  StringRef peek() const {
    return next < tokens.size() ? tokens[next] : StringRef();
  }
  bool consume(StringRef token) {
    if (peek() != token)
      return false;
    ++next;
    return true;
  }
  std::nullopt_t fail(const Twine &message) {
    error(message);
    return std::nullopt;
  }
  std::nullopt_t expected(const Twine &what) {
    return fail("expects " + what + ", but got " +
                (peek().empty() ? std::string("the end of the guard")
                                : ("'" + peek() + "'").str()));
  }

  /// Whether the parenthesis that opens here has an `or` of its own. If not, it
  /// belongs to an expression.
  bool opensAlternatives() const {
    if (peek() != "(")
      return false;
    unsigned depth = 0;
    for (size_t i = next; i < tokens.size(); ++i) {
      depth += tokens[i] == "(";
      depth -= tokens[i] == ")";
      if (depth == 0)
        return false;
      if (depth == 1 && tokens[i] == "or")
        return true;
    }
    return false;
  }

  std::optional<GuardClause> parseClause() {
    GuardClause clause;
    if (!opensAlternatives()) {
      std::optional<GuardAtom> atom = parseAtom();
      if (!atom)
        return std::nullopt;
      clause.push_back({std::move(*atom)});
      return clause;
    }
    ++next;
    do {
      auto &atoms = clause.emplace_back();
      do {
        std::optional<GuardAtom> atom = parseAtom();
        if (!atom)
          return std::nullopt;
        atoms.push_back(std::move(*atom));
      } while (consume("and"));
    } while (consume("or"));
    if (!consume(")"))
      return expected("')', 'and' or 'or'");
    return clause;
  }

  std::optional<GuardAtom> parseAtom() {
    std::optional<SizeExpr> lhs = parseSum(0);
    if (!lhs)
      return std::nullopt;
    GuardAtom atom;
    bool isSwapped = false;
    if (consume("=="))
      atom.kind = GuardAtom::Kind::Equal;
    else if (consume("divides"))
      atom.kind = GuardAtom::Kind::Divides;
    else if (consume(">="))
      atom.kind = GuardAtom::Kind::AtLeast;
    else if ((isSwapped = consume("<=")))
      atom.kind = GuardAtom::Kind::AtLeast;
    else
      return expected("'==', '>=', '<=' or 'divides'");
    std::optional<SizeExpr> rhs = parseSum(0);
    if (!rhs)
      return std::nullopt;
    if (isSwapped)
      std::swap(lhs, rhs);
    atom.lhs = std::move(*lhs);
    atom.rhs = std::move(*rhs);
    return atom;
  }

  std::optional<SizeExpr> parseSum(unsigned depth) {
    std::optional<SizeExpr> result = parseProduct(depth);
    while (result && consume("+")) {
      std::optional<SizeExpr> more = parseProduct(depth);
      if (!more)
        return std::nullopt;
      result = SizeExpr::get(SizeExpr::Kind::Sum, std::move(*result),
                             std::move(*more));
    }
    return result;
  }

  std::optional<SizeExpr> parseProduct(unsigned depth) {
    std::optional<SizeExpr> result = parseFactor(depth);
    while (result && consume("*")) {
      std::optional<SizeExpr> more = parseFactor(depth);
      if (!more)
        return std::nullopt;
      result = SizeExpr::get(SizeExpr::Kind::Product, std::move(*result),
                             std::move(*more));
    }
    return result;
  }

  std::optional<SizeExpr> parseFactor(unsigned depth) {
    if (depth > kMaxDepth)
      return fail("expects at most " + Twine(kMaxDepth) +
                  " nested parentheses, but got more");
    if (consume("(")) {
      std::optional<SizeExpr> result = parseSum(depth + 1);
      if (result && !consume(")"))
        return expected("')'");
      return result;
    }
    bool isNumber = !peek().empty() && llvm::isDigit(peek().back()) &&
                    (llvm::isDigit(peek().front()) || peek().front() == '-');
    if (isNumber) {
      int64_t value;
      if (peek().getAsInteger(10, value))
        return expected("a number of 64 bits");
      ++next;
      return SizeExpr::get(value);
    }
    if (consume("floor"))
      return parsePair(SizeExpr::Kind::Floor, "/", depth);
    if (consume("max"))
      return parsePair(SizeExpr::Kind::Max, ",", depth);
    return parseTerm();
  }

  std::optional<SizeExpr> parsePair(SizeExpr::Kind kind, StringRef separator,
                                    unsigned depth) {
    if (!consume("("))
      return expected("'('");
    std::optional<SizeExpr> lhs = parseSum(depth + 1);
    if (!lhs)
      return std::nullopt;
    if (!consume(separator))
      return expected("'" + separator + "'");
    std::optional<SizeExpr> rhs = parseSum(depth + 1);
    if (!rhs)
      return std::nullopt;
    if (!consume(")"))
      return expected("')'");
    return SizeExpr::get(kind, std::move(*lhs), std::move(*rhs));
  }

  std::optional<SizeExpr> parseTerm() {
    using Kind = SizeTerm::Kind;
    static constexpr std::pair<llvm::StringLiteral, Kind> kKinds[] = {
        {"dim", Kind::Dim},
        {"rank", Kind::Rank},
        {"groups", Kind::Groups},
        {"out_per_group", Kind::OutPerGroup},
        {"in_per_group", Kind::InPerGroup},
        {"out_channels", Kind::OutChannels},
        {"in_channels", Kind::InChannels}};
    const auto *kind = llvm::find_if(
        kKinds, [&](const auto &entry) { return entry.first == peek(); });
    if (kind == std::end(kKinds))
      return expected("a size such as 'dim(?i0, 1)' or a number");
    ++next;
    SizeTerm term;
    term.kind = kind->second;
    if (!consume("("))
      return expected("'('");
    std::optional<unsigned> use = uses.lookup(peek());
    if (!use)
      return expected("a variable or an operator of the rule, such as '" +
                      uses.list.front().name + "'");
    term.use = *use;
    term.node = uses.list[*use].node;
    bool isOfConv = term.kind != Kind::Dim && term.kind != Kind::Rank;
    if (isOfConv && !rule.graph[term.node].has(kGroups))
      return expected("a convolution for '" + kind->first + "'");
    ++next;
    if (term.kind == Kind::Dim) {
      if (!consume(","))
        return expected("','");
      if (peek().empty() || !llvm::all_of(peek(), llvm::isDigit) ||
          peek().getAsInteger(10, term.axis) || term.axis >= kMaxRank)
        return expected("an axis below " + Twine(kMaxRank));
      ++next;
    }
    if (!consume(")"))
      return expected("')'");
    return SizeExpr::get(term);
  }

  const Rule &rule;
  const RuleTensors &uses;
  llvm::function_ref<void(const Twine &)> error;
  std::vector<StringRef> tokens;
  size_t next = 0;
};
} // namespace

std::optional<Guard> espalier::substitution::parseGuard(
    StringRef text, const Rule &rule, const RuleTensors &uses,
    llvm::function_ref<void(const Twine &)> error) {
  return GuardParser(text, rule, uses, error).parse();
}
