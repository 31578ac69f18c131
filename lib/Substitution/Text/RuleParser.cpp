//===- RuleParser.cpp - Parses the text form of rules ---------------------===//

#include "Scalars.h"
#include "espalier/Substitution/RuleTensors.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/JSON.h"
#include <optional>

using namespace mlir;
using namespace espalier::substitution;

/// The names of all operators, for messages.
static std::string listOperators() {
  return llvm::join(llvm::map_range(getOperators(),
                                    [](const OperatorInfo &info) {
                                      return std::string(info.name);
                                    }),
                    ", ");
}

namespace {
/// Texts beyond these limits are refused, so that no text exhausts the stack.
constexpr unsigned kMaxDepth = 100;
constexpr unsigned kMaxNodes = 1000;

/// Parses one S-expression. Methods return nothing after the first fault.
class ExprParser {
public:
  ExprParser(RuleGraph &graph, StringRef text,
             llvm::function_ref<void(const Twine &)> error)
      : graph(graph), rest(text), error(error) {
    advance();
  }

  std::optional<NodeId> parse() {
    std::optional<NodeId> node = parseNode(/*depth=*/0);
    if (node && !token.empty())
      return expected("the end of the line");
    return node;
  }

private:
  void advance() {
    rest = rest.ltrim();
    size_t length = rest.find_first_of("() \t\r");
    token = rest.take_front(rest.empty() ? 0 : std::max<size_t>(length, 1));
    rest = rest.drop_front(token.size());
  }

  std::nullopt_t fail(const Twine &message) {
    error(message);
    return std::nullopt;
  }
  std::nullopt_t expected(const Twine &what) {
    return fail("expects " + what + ", but got " +
                (token.empty() ? std::string("the end of the line")
                               : ("'" + token + "'").str()));
  }

  std::optional<NodeId> parseNode(unsigned depth) {
    if (depth > kMaxDepth)
      return fail("expects at most " + Twine(kMaxDepth) +
                  " nested operators, but got more");
    if (graph.size() > kMaxNodes)
      return fail("expects at most " + Twine(kMaxNodes) +
                  " operators, but got more");
    if (token.starts_with("?"))
      return parseVariable();
    if (token != "(")
      return expected("'(' or a variable");
    advance();
    std::optional<OpKind> op = lookupOperator(token);
    if (!op)
      return expected("an operator (" + listOperators() + ")");
    advance();
    const OperatorInfo &info = getInfo(*op);
    SmallVector<Param> params;
    SmallVector<NodeId> operands;
    if (!parseParams(info, params) || !parseOperands(info, operands, depth))
      return std::nullopt;
    return graph.addOperator(*op, params, operands);
  }

  std::optional<NodeId> parseVariable() {
    bool isTensor = token.starts_with("?i");
    unsigned number;
    if ((!isTensor && !token.starts_with("?s")) ||
        !llvm::all_of(token.drop_front(2), llvm::isDigit) ||
        token.drop_front(2).getAsInteger(10, number))
      return expected("a variable like ?i0 or ?s0");
    advance();
    return isTensor ? graph.addTensor(number) : graph.addScalar(number);
  }

  bool parseOperands(const OperatorInfo &info,
                     SmallVectorImpl<NodeId> &operands, unsigned depth) {
    while (token != ")") {
      if (operands.size() >= info.numOperands &&
          !info.takes(operands.size() + 1)) {
        expected("')' behind the " + Twine(info.numOperands) +
                 " operands of '" + info.name + "'");
        return false;
      }
      if (token.empty() || token.starts_with(":")) {
        expected("operand " + Twine(operands.size() + 1) + " of '" + info.name +
                 "'");
        return false;
      }
      std::optional<NodeId> operand = parseNode(depth + 1);
      if (!operand)
        return false;
      bool isScalar = espalier::substitution::isScalar(graph, *operand);
      bool isProduct = isScalar && info.has(kScalarProduct);
      if (isScalar != info.isScalarOperand(operands.size()) && !isProduct) {
        fail(Twine("expects a ") + (isScalar ? "tensor" : "scalar") +
             " as operand " + Twine(operands.size() + 1) + " of '" + info.name +
             "', but got a " + (isScalar ? "scalar" : "tensor"));
        return false;
      }
      operands.push_back(*operand);
    }
    if (!info.takes(operands.size())) {
      fail("expects " + Twine(info.numOperands) + " operands of '" + info.name +
           "', but got " + Twine(operands.size()));
      return false;
    }
    advance();
    return true;
  }

  bool parseParams(const OperatorInfo &info, SmallVectorImpl<Param> &params) {
    SmallVector<std::optional<Param>> found(info.params.size());
    while (token.consume_front(":")) {
      const auto *param = llvm::find_if(
          info.params, [&](const ParamInfo &p) { return p.name == token; });
      if (param == info.params.end()) {
        fail("expects a parameter of '" + info.name + "', but got ':" + token +
             "'");
        return false;
      }
      std::optional<Param> &value = found[param - info.params.begin()];
      if (value) {
        fail("expects ':" + token + "' once, but got it again");
        return false;
      }
      advance();
      if (!(value = parseParam(*param)))
        return false;
    }
    for (auto [param, value] : llvm::zip_equal(info.params, found)) {
      if (!value) {
        fail("expects ':" + param.name + "' of '" + info.name +
             "', but got none");
        return false;
      }
      params.push_back(*value);
    }
    std::string complaint = checkParams(info.kind, params);
    if (!complaint.empty())
      fail(complaint);
    return complaint.empty();
  }

  std::optional<Param> parseParam(const ParamInfo &info) {
    std::optional<Param> value = readParam(info.kind);
    if (!value)
      return expected(describe(info.kind) + " for ':" + info.name + "'");
    advance();
    return value;
  }

  static std::string describe(ParamKind kind) {
    switch (kind) {
    case ParamKind::Pair:
      return "two numbers 'h,w' from 1 to " + llvm::utostr(kMaxExtent);
    case ParamKind::Padding:
      return "'same' or 'valid' or four numbers 't,l,b,r' up to " +
             llvm::utostr(kMaxExtent);
    case ParamKind::Border:
      return "four numbers 't,l,b,r' up to " + llvm::utostr(kMaxExtent);
    case ParamKind::Activation:
      return "'none' or 'relu'";
    case ParamKind::Axis:
      return "a number below " + llvm::utostr(kMaxRank);
    case ParamKind::Rank:
      return "a number from 1 to " + llvm::utostr(kMaxRank);
    case ParamKind::Part:
      return "'0' or '1'";
    case ParamKind::Axes:
      return "two numbers 'a,b' below " + llvm::utostr(kMaxRank);
    case ParamKind::Ranks:
      return "two numbers 'n,m' from 2 to " + llvm::utostr(kMaxRank);
    case ParamKind::Offset:
      return "a number up to " + llvm::utostr(kMaxExtent);
    case ParamKind::Count:
      return "a number from 1 to " + llvm::utostr(kMaxExtent);
    }
    llvm_unreachable("every kind is handled above");
  }

  static std::optional<int64_t> readNumber(StringRef text, int64_t least,
                                           int64_t limit) {
    int64_t number;
    if (text.empty() || !llvm::all_of(text, llvm::isDigit) ||
        text.getAsInteger(10, number) || number < least || number > limit)
      return std::nullopt;
    return number;
  }

  std::optional<Param> readBorder() const {
    SmallVector<StringRef> parts;
    token.split(parts, ',');
    SmallVector<int64_t> numbers;
    for (StringRef part : parts)
      if (auto number = readNumber(part, 0, kMaxExtent))
        numbers.push_back(*number);
    if (parts.size() != 4 || numbers.size() != 4)
      return std::nullopt;
    return Border{numbers[0], numbers[1], numbers[2], numbers[3]}.getParam();
  }

  std::optional<Param> readParam(ParamKind kind) const {
    auto choose = [&](StringRef zero, StringRef one) -> std::optional<Param> {
      if (token != zero && token != one)
        return std::nullopt;
      return Param{token == one};
    };
    auto readOne = [&](int64_t least, int64_t most) -> std::optional<Param> {
      if (auto number = readNumber(token, least, most))
        return Param{*number};
      return std::nullopt;
    };
    auto readTwo = [&](int64_t least, int64_t most) -> std::optional<Param> {
      auto [left, right] = token.split(',');
      auto first = readNumber(left, least, most);
      auto second = readNumber(right, least, most);
      if (first && second)
        return Param{*first, *second};
      return std::nullopt;
    };
    switch (kind) {
    case ParamKind::Padding:
      if (auto choice = choose("same", "valid"))
        return choice;
      return readBorder();
    case ParamKind::Border:
      return readBorder();
    case ParamKind::Activation:
      return choose("none", "relu");
    case ParamKind::Part:
      return choose("0", "1");
    case ParamKind::Axis:
      return readOne(0, kMaxRank - 1);
    case ParamKind::Rank:
      return readOne(1, kMaxRank);
    case ParamKind::Offset:
      return readOne(0, kMaxExtent);
    case ParamKind::Count:
      return readOne(1, kMaxExtent);
    case ParamKind::Pair:
      return readTwo(1, kMaxExtent);
    case ParamKind::Axes:
      return readTwo(0, kMaxRank - 1);
    case ParamKind::Ranks:
      return readTwo(2, kMaxRank);
    }
    llvm_unreachable("every kind is handled above");
  }

  RuleGraph &graph;
  StringRef rest, token;
  llvm::function_ref<void(const Twine &)> error;
};

/// The words that begin a line of a rule.
constexpr StringRef kWords[] = {"src", "dst", "where", "arithmetic"};

/// Returns which of `kWords` is misspelt as `word`: the letters are in another
/// order, or up to two letters of a long word are wrong. Empty for none.
StringRef findMisspelt(StringRef word) {
  std::string lower = word.lower(), sorted = lower;
  llvm::sort(sorted);
  for (StringRef right : kWords) {
    std::string letters = right.str();
    llvm::sort(letters);
    bool isClose = right.size() > 3 && right.edit_distance(lower) <= 2;
    if (word != right && (isClose || sorted == letters))
      return right;
  }
  return "";
}

/// Whether `line` is text, and not what some other file contains.
bool isText(StringRef line) {
  auto isControl = [](char c) {
    return (static_cast<unsigned char>(c) < 32 && c != '\t') || c == 127;
  };
  return llvm::json::isUTF8(line) && llvm::none_of(line, isControl);
}

class FileParser {
public:
  FileParser(std::vector<Rule> &rules,
             llvm::function_ref<void(unsigned, const Twine &)> error)
      : rules(rules), error(error) {}

  LogicalResult run(StringRef text) {
    while (!text.empty()) {
      StringRef line;
      std::tie(line, text) = text.split('\n');
      ++number;
      parseLine(line.trim());
    }
    finish();
    if (!version && numRules == 0 && !anyFault)
      failAt(number, "expects 'rule NAME' and its lines, but there is no rule");
    if (version && !end)
      failAt(number, "expects 'end N' behind the rules of a file with a "
                     "version, but got the end of the file");
    return success(!anyFault);
  }

private:
  void parseLine(StringRef line) {
    size_t space = std::min(line.find_first_of(" \t"), line.size());
    StringRef word = line.take_front(space), rest = line.drop_front(space);
    if (line.empty())
      return finish();
    if (!isText(line))
      return fail("expects text, but got other bytes");
    if (word == "rule")
      return begin(rest.trim());
    if (word == "version" && !rule)
      return parseVersion(rest.trim());
    if (word == "end" && version)
      return parseEnd(rest.trim());
    if (word == "arithmetic" && rule)
      return parseArithmetic(rest.trim());
    if (word == "where" && rule)
      return guards.push_back({number, rest});
    if (!rule && llvm::is_contained(kWords, word))
      return fail("expects 'rule NAME' before '" + word + "', but got none");
    if (word != "src" && word != "dst")
      return skipRemark(word, rest.trim());
    auto &side = word == "src" ? rule->src : rule->dst;
    if (auto node = ExprParser(rule->graph, rest, [&](const Twine &message) {
                      fail(message);
                    }).parse())
      side.push_back(*node);
  }

  /// Skips a line that begins with another word, unless it was meant to be a
  /// part of the rule.
  void skipRemark(StringRef word, StringRef text) {
    if (!rule)
      return;
    StringRef meant = findMisspelt(word);
    if (!meant.empty())
      return fail("expects '" + meant + "', but got '" + word + "'");
    if (text.starts_with("("))
      fail("expects 'src' or 'dst' before an expression, but got '" + word +
           "'");
  }

  void parseVersion(StringRef text) {
    if (version || numRules != 0)
      return fail("expects one version, before the rules, but got '" + text +
                  "'");
    version = true;
    if (text != Twine(kRulesVersion).str())
      fail("expects rules of version " + Twine(kRulesVersion) + ", but got '" +
           text + "'");
  }

  void parseEnd(StringRef text) {
    finish();
    end = true;
    unsigned expected;
    if (text.getAsInteger(10, expected) || expected != numRules)
      fail("expects 'end " + Twine(numRules) +
           "' behind that many rules, but got '" + text + "'");
  }

  void parseArithmetic(StringRef text) {
    if (text != "exact" && text != "reassociates")
      return fail("expects 'exact' or 'reassociates' arithmetic, but got '" +
                  text + "'");
    rule->arithmetic =
        text == "exact" ? Arithmetic::Exact : Arithmetic::Reassociates;
  }

  void begin(StringRef name) {
    finish();
    ++numRules;
    if (end)
      fail("expects no rule behind 'end', but got '" + name + "'");
    rule.emplace();
    rule->name = name.str();
    rule->line = number;
    guards.clear();
    isFaulty = false;
    if (name.empty() || name.find_first_of(" \t:") != StringRef::npos)
      fail("expects a name without spaces or colons, but got '" + name + "'");
    else if (!names.try_emplace(rule->name, number).second)
      fail("expects a new name, but line " + Twine(names[rule->name]) +
           " has it too");
  }

  void finish() {
    if (rule && !isFaulty) {
      std::string complaint = check(*rule);
      if (!complaint.empty())
        failAt(rule->line, complaint);
      else if (parseGuards())
        rules.push_back(std::move(*rule));
    }
    rule.reset();
  }

  /// Guards name what may stand in lines behind them, so they come last.
  bool parseGuards() {
    RuleTensors uses = listTensors(*rule);
    for (auto [line, text] : guards) {
      auto guard =
          parseGuard(text, *rule, uses, [&, line = line](auto &message) {
            failAt(line, message);
          });
      if (!guard)
        return false;
      rule->where.add(*guard);
    }
    return true;
  }

  void fail(const Twine &message) { failAt(number, message); }
  void failAt(unsigned line, const Twine &message) {
    isFaulty = anyFault = true;
    if (rule)
      error(line, "rule '" + rule->name + "': " + message);
    else
      error(line, message);
  }

  std::vector<Rule> &rules;
  llvm::function_ref<void(unsigned, const Twine &)> error;
  unsigned number = 0, numRules = 0;
  bool version = false, end = false;
  std::optional<Rule> rule;
  SmallVector<std::pair<unsigned, StringRef>, 1> guards;
  std::map<std::string, unsigned> names;
  bool isFaulty = false, anyFault = false;
};
} // namespace

LogicalResult espalier::substitution::parseRules(
    StringRef text, std::vector<Rule> &rules,
    llvm::function_ref<void(unsigned, const Twine &)> error) {
  return FileParser(rules, error).run(text);
}
