//===- Index.cpp - Integers made of sizes and positions -------------------===//

#include "Index.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/raw_ostream.h"

using namespace espalier::proof;
using llvm::DynamicAPInt;

std::string espalier::proof::printNumber(const DynamicAPInt &number) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << (number < 0 ? -number : number);
  return number < 0 ? "(- " + text + ")" : text;
}

Index Index::variable(llvm::StringRef name) {
  Index result;
  result.parts[Part{name.str(), "", nullptr}] = 1;
  return result;
}

void Index::add(const Part &part, const DynamicAPInt &factor) {
  DynamicAPInt &coefficient = parts[part];
  coefficient += factor;
  if (coefficient == 0)
    parts.erase(part);
}

Index Index::operator+(const Index &other) const {
  Index result = *this;
  result.constant += other.constant;
  for (const auto &[part, factor] : other.parts)
    result.add(part, factor);
  return result;
}

Index Index::operator-(const Index &other) const {
  return *this + Index(-1) * other;
}

bool Index::operator==(const Index &other) const {
  return constant == other.constant && parts == other.parts;
}

/// The factors of a monomial.
static std::vector<Index> getFactors(const Part &part) {
  if (part.fn == "*")
    return *part.args;
  Index single = Index::variable(part.text);
  return {part.isVariable() ? single
                            : *Index::parse((*parseSExprs(part.text))[0])};
}

Index Index::apply(llvm::StringRef fn, std::vector<Index> args) {
  std::string text = "(" + fn.str();
  for (const Index &arg : args)
    text += " " + arg.str();
  Index result;
  result.parts[Part{
      text + ")", fn.str(),
      std::make_shared<const std::vector<Index>>(std::move(args))}] = 1;
  return result;
}

Index Index::operator*(const Index &other) const {
  Index result(0);
  result.constant = constant * other.constant;
  for (const auto &[part, factor] : parts)
    if (other.constant != 0)
      result.add(part, factor * other.constant);
  for (const auto &[part, factor] : other.parts)
    if (constant != 0)
      result.add(part, factor * constant);
  for (const auto &[lhs, left] : parts)
    for (const auto &[rhs, right] : other.parts) {
      std::vector<Index> factors = getFactors(lhs);
      llvm::append_range(factors, getFactors(rhs));
      llvm::sort(factors, [](const Index &a, const Index &b) {
        return a.str() < b.str();
      });
      Index product = apply("*", std::move(factors));
      result.add(product.parts.begin()->first, left * right);
    }
  return result;
}

Index Index::quotient(const Index &lhs, const Index &rhs) {
  if (rhs == Index(1))
    return lhs;
  bool isDivision = rhs.isNumber() && rhs.constant > 0;
  if (isDivision && lhs.isNumber()) {
    Index result(0);
    result.constant = floorDiv(lhs.constant, rhs.constant);
    return result;
  }
  return apply(isDivision ? "div" : "quotient", {lhs, rhs});
}

Index Index::larger(const Index &lhs, const Index &rhs) {
  if ((lhs - rhs).isNumber())
    return (lhs - rhs).constant < 0 ? rhs : lhs;
  return apply("larger", {lhs, rhs});
}

std::optional<int64_t> Index::getNumber() const {
  if (!isNumber() || constant > DynamicAPInt(int64_t(1) << 60) ||
      constant < DynamicAPInt(-(int64_t(1) << 60)))
    return std::nullopt;
  return int64_t(constant);
}

DynamicAPInt Index::getCoefficient(const Part &part) const {
  auto found = parts.find(part);
  return found == parts.end() ? DynamicAPInt(0) : found->second;
}

Index Index::substitute(llvm::StringRef name, const Index &value) const {
  Index result(0);
  result.constant = constant;
  for (const auto &[part, factor] : parts) {
    Index replaced;
    if (part.text == name) {
      replaced = value;
    } else if (part.isVariable()) {
      replaced = variable(part.text);
    } else {
      std::vector<Index> args;
      for (const Index &arg : *part.args)
        args.push_back(arg.substitute(name, value));
      if (part.fn == "*") {
        replaced = Index(1);
        for (const Index &arg : args)
          replaced = replaced * arg;
      } else {
        replaced = part.fn == "larger" ? larger(args[0], args[1])
                                       : quotient(args[0], args[1]);
      }
    }
    Index scale(0);
    scale.constant = factor;
    result = result + scale * replaced;
  }
  return result;
}

void Index::walk(llvm::function_ref<void(const Part &)> visit) const {
  for (const auto &entry : parts) {
    const Part &part = entry.first;
    if (!part.isVariable())
      for (const Index &arg : *part.args)
        arg.walk(visit);
    visit(part);
  }
}

bool Index::mentions(llvm::StringRef name) const {
  bool found = false;
  walk([&](const Part &part) { found |= part.text == name; });
  return found;
}

std::string Index::str() const {
  std::string text;
  unsigned count = 0;
  for (const auto &[part, factor] : parts) {
    ++count;
    text += " ";
    text += factor == 1 ? part.text
                        : "(* " + printNumber(factor) + " " + part.text + ")";
  }
  if (constant != 0 || count == 0) {
    ++count;
    text += " " + printNumber(constant);
  }
  return count == 1 ? text.substr(1) : "(+" + text + ")";
}

/// A name that cannot be taken for anything else.
static bool isName(llvm::StringRef word) {
  return !word.empty() && !llvm::isDigit(word[0]) && word[0] != '-' &&
         llvm::all_of(word, [](char c) {
           return llvm::isAlnum(c) || llvm::StringRef("?!._-").contains(c);
         });
}

std::optional<Index> Index::parse(const SExpr &expr) {
  if (!expr.isList()) {
    int64_t number;
    if (!llvm::StringRef(expr.word).getAsInteger(10, number))
      return Index(number);
    if (!isName(expr.word))
      return std::nullopt;
    return variable(expr.word);
  }
  std::vector<Index> args;
  for (const SExpr &part :
       llvm::drop_begin(expr.list, expr.list.empty() ? 0 : 1))
    if (auto arg = parse(part))
      args.push_back(*arg);
    else
      return std::nullopt;
  if (args.empty())
    return std::nullopt;
  Index result = args[0];
  if (expr.is("-") && args.size() == 1)
    return -result;
  if (expr.is("+") || expr.is("*")) {
    for (const Index &arg : llvm::drop_begin(args))
      result = expr.is("+") ? result + arg : result * arg;
    return result;
  }
  if (args.size() != 2)
    return std::nullopt;
  if (expr.is("larger"))
    return larger(args[0], args[1]);
  if (expr.is("div") || expr.is("quotient"))
    return quotient(args[0], args[1]);
  return std::nullopt;
}

std::vector<Condition> Condition::negate() const {
  Condition below{-value - 1, false};
  if (!isEquality)
    return {below};
  return {Condition{value - 1, false}, below};
}

std::string Condition::str() const {
  return std::string(isEquality ? "(= " : "(<= ") + "0 " + value.str() + ")";
}

std::optional<Condition> Condition::parse(const SExpr &expr) {
  if (expr.list.size() != 3 || !(expr.is("=") || expr.is("<=")) ||
      expr.list[1].word != "0")
    return std::nullopt;
  auto value = Index::parse(expr.list[2]);
  if (!value)
    return std::nullopt;
  return Condition{*value, expr.is("=")};
}

bool espalier::proof::isFalse(const Condition &condition) {
  const DynamicAPInt &number = condition.value.getConstant();
  return condition.value.isNumber() &&
         (condition.isEquality ? number != 0 : number < 0);
}

std::optional<Index> espalier::proof::solve(const Index &equation,
                                            llvm::StringRef name) {
  Index variable = Index::variable(name);
  DynamicAPInt factor =
      equation.getCoefficient(variable.getParts().begin()->first);
  if (factor != 1 && factor != -1)
    return std::nullopt;
  Index value = factor == 1 ? variable - equation : variable + equation;
  return value.mentions(name) ? std::nullopt : std::optional(value);
}
