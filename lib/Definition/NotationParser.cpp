//===- NotationParser.cpp - Parses the index notation ---------------------===//

#include "NotationAst.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/StringSwitch.h"
#include "llvm/ADT/Twine.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;

namespace {
/// A recursive-descent parser. Methods return null, after the first error.
class Parser {
public:
  Parser(StringRef text, llvm::function_ref<bool(StringRef)> isAttribute,
         NotationError error)
      : rest(text), isAttribute(isAttribute), error(error) {
    advance();
  }

  FailureOr<std::vector<Equation>> parse() {
    std::vector<Equation> equations;
    while (!token.empty()) {
      Equation equation;
      if (failed(parseEquation(equation)))
        return failure();
      equations.push_back(std::move(equation));
      if (!consume(";") && !token.empty()) {
        expected("';'");
        return failure();
      }
    }
    if (equations.empty()) {
      expected("an equation");
      return failure();
    }
    return equations;
  }

private:
  //===--------------------------------------------------------------------===//
  // Tokens
  //===--------------------------------------------------------------------===//

  static bool isNameStart(char c) { return llvm::isAlpha(c) || c == '_'; }
  static bool isNamePart(char c) { return llvm::isAlnum(c) || c == '_'; }

  /// Splits the next token off `rest`; it is empty at the end.
  void advance() {
    previousEnd = token.end();
    rest = rest.ltrim();
    if (rest.empty()) {
      token = StringRef(rest.data(), 0);
      return;
    }
    size_t length = 1;
    if (isNameStart(rest[0]))
      length = rest.find_if_not(isNamePart);
    else if (llvm::isDigit(rest[0]))
      length = getNumberLength();
    else if (rest.starts_with("..") || rest.starts_with("//") ||
             rest.starts_with("==") || rest.starts_with("!=") ||
             rest.starts_with("<=") || rest.starts_with(">="))
      length = 2;
    token = rest.take_front(length);
    rest = rest.drop_front(token.size());
  }

  size_t getNumberLength() const {
    size_t end = rest.find_if_not(llvm::isDigit);
    if (end >= rest.size())
      return rest.size();
    // A fraction; `0..` is no fraction.
    if (rest[end] == '.' && !rest.substr(end).starts_with(".."))
      end = std::min(rest.find_if_not(llvm::isDigit, end + 1), rest.size());
    // An exponent has digits.
    if (end < rest.size() && (rest[end] == 'e' || rest[end] == 'E')) {
      StringRef exponent = rest.substr(end + 1);
      if (!exponent.consume_front("-"))
        exponent.consume_front("+");
      size_t digits =
          std::min(exponent.find_if_not(llvm::isDigit), exponent.size());
      if (digits > 0)
        end = exponent.data() + digits - rest.data();
    }
    return end;
  }

  bool consume(StringRef spelling) {
    if (token != spelling)
      return false;
    advance();
    return true;
  }

  LogicalResult expect(StringRef spelling) {
    if (consume(spelling))
      return success();
    expected("'" + spelling + "'");
    return failure();
  }

  void expected(const llvm::Twine &what) {
    error("expects " + what + " in a definition, but got " +
          (token.empty() ? std::string("its end") : ("'" + token + "'").str()));
  }

  StringRef getTextFrom(const char *begin) const {
    return StringRef(begin, previousEnd - begin);
  }

  bool atName() const { return !token.empty() && isNameStart(token[0]); }

  //===--------------------------------------------------------------------===//
  // Grammar
  //===--------------------------------------------------------------------===//

  /// Parses a list of new indices and the extents that some have.
  LogicalResult parseIndexNames(SmallVectorImpl<IndexName> &names,
                                StringRef end, std::vector<AstPtr> &extents) {
    while (token != end && token != "|") {
      if (!atName()) {
        expected("an index");
        return failure();
      }
      if (llvm::is_contained(scope, token)) {
        expected("a new index");
        return failure();
      }
      StringRef name = token;
      advance();
      names.push_back({name, consume("..")});
      scope.push_back(name);
      bool hasExtent = consume("<");
      extents.push_back(hasExtent ? parseSum() : nullptr);
      if (hasExtent && !extents.back())
        return failure();
      if (token != end && token != "|" && failed(expect(",")))
        return failure();
    }
    return success();
  }

  LogicalResult parseEquation(Equation &equation) {
    if (!atName()) {
      expected("a name");
      return failure();
    }
    equation.name = token;
    advance();
    scope.clear();
    if (failed(expect("[")) ||
        failed(parseIndexNames(equation.indices, "]", equation.extents)) ||
        failed(expect("]")) || failed(expect("=")))
      return failure();
    equation.value = parseExpr();
    return success(equation.value != nullptr);
  }

  AstPtr make(Ast::Kind kind, const char *begin) {
    auto node = std::make_unique<Ast>();
    node->kind = kind;
    node->text = getTextFrom(begin);
    return node;
  }

  AstPtr makeCall(ScalarFn fn, const char *begin, AstPtr lhs, AstPtr rhs) {
    if (!lhs || !rhs)
      return nullptr;
    AstPtr node = make(Ast::Kind::Call, begin);
    node->fn = fn;
    node->name = getName(fn);
    node->args.push_back(std::move(lhs));
    node->args.push_back(std::move(rhs));
    return node;
  }

  AstPtr parseExpr() {
    const char *begin = token.begin();
    AstPtr value = parseComparison();
    if (!value || !consume("if"))
      return value;
    AstPtr condition = parseExpr();
    if (!condition || failed(expect("else")))
      return nullptr;
    AstPtr otherwise = parseExpr();
    if (!otherwise)
      return nullptr;
    AstPtr node = make(Ast::Kind::Conditional, begin);
    node->args.push_back(std::move(condition));
    node->args.push_back(std::move(value));
    node->args.push_back(std::move(otherwise));
    return node;
  }

  AstPtr parseComparison() {
    const char *begin = token.begin();
    AstPtr lhs = parseSum();
    auto fn = llvm::StringSwitch<std::optional<ScalarFn>>(token)
                  .Case("==", ScalarFn::Equal)
                  .Case("!=", ScalarFn::NotEqual)
                  .Case("<", ScalarFn::Less)
                  .Case("<=", ScalarFn::LessEqual)
                  .Case(">", ScalarFn::Greater)
                  .Case(">=", ScalarFn::GreaterEqual)
                  .Default(std::nullopt);
    if (!lhs || !fn)
      return lhs;
    advance();
    AstPtr rhs = parseSum();
    return makeCall(*fn, begin, std::move(lhs), std::move(rhs));
  }

  AstPtr parseSum() {
    const char *begin = token.begin();
    AstPtr lhs = parseProduct();
    while (lhs && (token == "+" || token == "-")) {
      ScalarFn fn = token == "+" ? ScalarFn::Add : ScalarFn::Sub;
      advance();
      AstPtr rhs = parseProduct();
      lhs = makeCall(fn, begin, std::move(lhs), std::move(rhs));
    }
    return lhs;
  }

  AstPtr parseProduct() {
    const char *begin = token.begin();
    AstPtr lhs = parseUnary();
    while (lhs) {
      auto fn = llvm::StringSwitch<std::optional<ScalarFn>>(token)
                    .Case("*", ScalarFn::Mul)
                    .Case("/", ScalarFn::Div)
                    .Case("//", ScalarFn::FloorDiv)
                    .Case("%", ScalarFn::Mod)
                    .Default(std::nullopt);
      if (!fn)
        break;
      advance();
      AstPtr rhs = parseUnary();
      lhs = makeCall(*fn, begin, std::move(lhs), std::move(rhs));
    }
    return lhs;
  }

  AstPtr parseUnary() {
    const char *begin = token.begin();
    if (!consume("-"))
      return parsePrimary();
    AstPtr operand = parseUnary();
    if (!operand)
      return nullptr;
    AstPtr node = make(Ast::Kind::Call, begin);
    node->fn = ScalarFn::Neg;
    node->name = getName(ScalarFn::Neg);
    node->args.push_back(std::move(operand));
    return node;
  }

  AstPtr parsePrimary() {
    const char *begin = token.begin();
    if (consume("(")) {
      AstPtr inner = parseExpr();
      if (!inner || failed(expect(")")))
        return nullptr;
      return inner;
    }
    if (!token.empty() && llvm::isDigit(token[0]))
      return parseNumber();
    if (!atName()) {
      expected("an expression");
      return nullptr;
    }
    StringRef name = token;
    if (startsReduction())
      return parseReduction();
    advance();
    if (consume("["))
      return parseArguments(Ast::Kind::Access, name, begin, "]");
    if (consume("("))
      return parseArguments(Ast::Kind::Call, name, begin, ")");
    bool isPack = consume("..");
    AstPtr node = make(isPack ? Ast::Kind::Pack : Ast::Kind::Name, begin);
    node->name = name;
    return node;
  }

  AstPtr parseNumber() {
    AstPtr node = make(Ast::Kind::Number, token.begin());
    node->text = token;
    int64_t integer;
    double real = 0;
    if (!token.getAsInteger(10, integer)) {
      node->number = integer;
    } else {
      token.getAsDouble(real);
      node->number = real;
    }
    advance();
    return node;
  }

  AstPtr parseArguments(Ast::Kind kind, StringRef name, const char *begin,
                        StringRef end) {
    std::vector<AstPtr> args;
    while (token != end) {
      args.push_back(parseExpr());
      if (!args.back())
        return nullptr;
      if (token != end && failed(expect(",")))
        return nullptr;
    }
    advance();
    AstPtr node = make(kind, begin);
    node->name = name;
    node->args = std::move(args);
    return node;
  }

  //===--------------------------------------------------------------------===//
  // Reductions
  //===--------------------------------------------------------------------===//

  static ReduceKind getReduceKind(StringRef name) {
    return llvm::StringSwitch<ReduceKind>(name)
        .Case("prod", ReduceKind::Product)
        .Case("max", ReduceKind::Max)
        .Case("min", ReduceKind::Min)
        .Default(ReduceKind::Sum);
  }

  /// Tells `max(k) ..` from `max(x, y)`: a reduction lists new names.
  bool startsReduction() const {
    StringRef list = rest.ltrim();
    if (!list.consume_front("("))
      return false;
    if (token == "sum" || token == "mean" || token == "prod")
      return true;
    if (token != "max" && token != "min")
      return false;
    list = list.take_until([](char c) { return c == ')' || c == '|'; });
    SmallVector<StringRef> names;
    list.split(names, ',');
    return llvm::all_of(names, [&](StringRef name) {
      name = name.split('<').first.trim();
      name.consume_back("..");
      return !name.empty() && llvm::all_of(name, isNamePart) &&
             isNameStart(name.front()) && !isAttribute(name) &&
             !llvm::is_contained(scope, name);
    });
  }

  AstPtr parseReduction() {
    const char *begin = token.begin();
    StringRef name = token;
    advance();
    advance();
    size_t outerScope = scope.size();
    SmallVector<IndexName, 2> vars;
    std::vector<AstPtr> extents;
    if (failed(parseIndexNames(vars, ")", extents)))
      return nullptr;
    AstPtr guard;
    if (consume("|") && !(guard = parseExpr()))
      return nullptr;
    if (failed(expect(")")))
      return nullptr;
    AstPtr body = parseProduct();
    if (!body)
      return nullptr;
    AstPtr node = make(Ast::Kind::Reduce, begin);
    node->reduceKind = getReduceKind(name);
    node->isMean = name == "mean";
    node->vars = std::move(vars);
    node->extents = std::move(extents);
    node->args.push_back(std::move(body));
    if (guard)
      node->args.push_back(std::move(guard));
    scope.resize(outerScope);
    return node;
  }

  StringRef rest, token;
  const char *previousEnd = nullptr;
  SmallVector<StringRef> scope;
  llvm::function_ref<bool(StringRef)> isAttribute;
  NotationError error;
};
} // namespace

FailureOr<std::vector<Equation>>
definition::parseEquations(StringRef text,
                           llvm::function_ref<bool(StringRef)> isAttribute,
                           NotationError error) {
  return Parser(text, isAttribute, error).parse();
}
