//===- Checks.cpp - The sizes that a program is defined for ---------------===//
//
// What operators require of sizes becomes conditions on the symbols of the
// program. Sides are compared as polynomials over symbols and quotients, none
// of which is negative as far as that follows:
//
//   768 * b * s == 12 * (64 * b) * s     the difference has no terms
//   (n - 1) floordiv 2 + 1 >= 0          since n - 1 + 2 * 1 >= 0
//
// What holds in this way needs no check, so a program whose extents have names
// has few.
//
//===----------------------------------------------------------------------===//

#include "../StatementList.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/Support/CheckedArithmetic.h"
#include <map>

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// A polynomial with more terms is not looked at.
static constexpr size_t kMaxTerms = 64;

namespace {
/// Coefficients by products of atoms: symbols, quotients and rests.
class Polynomial {
public:
  using Product = std::vector<const void *>; ///< Sorted.

  /// Null for one of too many terms or with too large coefficients.
  static std::optional<Polynomial> get(AffineExpr expr) {
    Polynomial result;
    if (auto number = dyn_cast<AffineConstantExpr>(expr)) {
      (void)result.add({}, number.getValue());
      return result;
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    bool isAtom = !binary || (expr.getKind() != AffineExprKind::Add &&
                              expr.getKind() != AffineExprKind::Mul);
    if (isAtom) {
      (void)result.add({expr.getAsOpaquePointer()}, 1);
      return result;
    }
    std::optional<Polynomial> lhs = get(binary.getLHS());
    std::optional<Polynomial> rhs = get(binary.getRHS());
    if (!lhs || !rhs)
      return std::nullopt;
    bool fits = expr.getKind() == AffineExprKind::Add
                    ? result.add(*lhs) && result.add(*rhs)
                    : result.addProduct(*lhs, *rhs);
    if (!fits || result.terms.size() > kMaxTerms)
      return std::nullopt;
    return result;
  }

  /// The value, if it is the same for all symbols.
  std::optional<int64_t> getConstant() const {
    if (terms.empty())
      return 0;
    if (terms.size() == 1 && terms.begin()->first.empty())
      return terms.begin()->second;
    return std::nullopt;
  }

  bool isNonNegative(const StatementList &program) const {
    bool isSum = llvm::all_of(terms, [&](const auto &term) {
      return term.second >= 0 &&
             llvm::all_of(term.first, [&](const void *atom) {
               return isNonNegative(program, atom);
             });
    });
    return isSum || isShiftedQuotient(program);
  }

private:
  static bool isNonNegative(const StatementList &program, const void *atom) {
    AffineExpr expr = AffineExpr::getFromOpaquePointer(atom);
    if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
      const Symbol &source = program.symbols[symbol.getPosition()];
      return !source.value && !source.expr;
    }
    auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
    auto divisor = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS())
                          : AffineConstantExpr();
    if (!divisor || divisor.getValue() <= 0)
      return false;
    if (expr.getKind() == AffineExprKind::Mod)
      return true;
    std::optional<Polynomial> dividend = get(binary.getLHS());
    return dividend && dividend->isNonNegative(program);
  }

  /// Whether this is x floordiv d + c with x + c * d >= 0.
  bool isShiftedQuotient(const StatementList &program) const {
    if (terms.size() != 2 || !terms.begin()->first.empty())
      return false;
    const auto &[product, factor] = *std::next(terms.begin());
    auto quotient = dyn_cast<AffineBinaryOpExpr>(
        AffineExpr::getFromOpaquePointer(product.front()));
    if (product.size() != 1 || factor != 1 || !quotient ||
        quotient.getKind() != AffineExprKind::FloorDiv)
      return false;
    auto divisor = dyn_cast<AffineConstantExpr>(quotient.getRHS());
    if (!divisor || divisor.getValue() <= 0)
      return false;
    std::optional<Polynomial> shifted =
        get(quotient.getLHS() +
            getAffineConstantExpr(terms.begin()->second, program.context) *
                divisor.getValue());
    return shifted && shifted->isNonNegative(program);
  }

  bool add(const Product &product, int64_t factor) {
    std::optional<int64_t> sum = llvm::checkedAdd(terms[product], factor);
    terms[product] = sum.value_or(0);
    if (terms[product] == 0)
      terms.erase(product);
    return sum.has_value();
  }
  bool add(const Polynomial &other) {
    return llvm::all_of(other.terms, [&](const auto &term) {
      return add(term.first, term.second);
    });
  }
  bool addProduct(const Polynomial &lhs, const Polynomial &rhs) {
    if (lhs.terms.size() * rhs.terms.size() > kMaxTerms)
      return false;
    for (const auto &[first, a] : lhs.terms)
      for (const auto &[second, b] : rhs.terms) {
        Product product;
        std::merge(first.begin(), first.end(), second.begin(), second.end(),
                   std::back_inserter(product));
        std::optional<int64_t> factor = llvm::checkedMul(a, b);
        if (!factor || !add(product, *factor))
          return false;
      }
    return true;
  }

  /// The constant term, of the empty product, is first.
  std::map<Product, int64_t> terms;
};
} // namespace

/// Whether the condition holds for all symbols, or for none; nothing if that
/// does not show.
static std::optional<bool> decide(const StatementList &program,
                                  const Check &check) {
  bool isAtMost = check.kind == Requirement::Kind::AtMost;
  std::optional<Polynomial> difference = Polynomial::get(program.simplify(
      isAtMost ? check.bound - check.value : check.value - check.bound));
  if (!difference)
    return std::nullopt;
  bool isEqual = check.kind == Requirement::Kind::Equal;
  if (std::optional<int64_t> known = difference->getConstant())
    return isEqual ? *known == 0 : *known >= 0;
  if (!isEqual && difference->isNonNegative(program))
    return true;
  return std::nullopt;
}

/// Prints a size as the caller knows it, such as `size(x, 0) - 2`.
static std::string describe(const StatementList &program, AffineExpr size) {
  std::function<Expr(Expr)> resolve = [&](Expr expr) -> Expr {
    if (expr.getKind() != Expr::Kind::Parameter)
      return {};
    const Symbol &source = program.symbols[expr.getNumber()];
    if (source.expr)
      return transform(source.expr, resolve);
    if (source.value)
      return variable(expr.getNumber(), program.context);
    return definition::size(TensorRef::operand(source.argument), source.dim,
                            program.context);
  };
  std::string text;
  llvm::raw_string_ostream os(text);
  func::FuncOp function = program.function;
  definition::print(
      transform(program.expression(size), resolve), os,
      [&](TensorRef tensor) {
        auto name = function.getArgAttrOfType<StringAttr>(tensor.number,
                                                          "espalier.name");
        return name ? name.str() : "input" + std::to_string(tensor.number);
      },
      [](VarId) { return "a computed size"; });
  for (size_t at; (at = text.find(" + -")) != std::string::npos;)
    text.replace(at, 4, " - ");
  return text;
}

/// Names an operator, also by what the importer calls it.
static std::string describe(Operation *op) {
  std::string text = ("in '" + op->getName().getStringRef() + "' ").str();
  if (auto name = op->getLoc()->findInstanceOf<NameLoc>())
    text += ("of '" + name.getName().getValue() + "' ").str();
  return text;
}

LogicalResult espalier::graphtopoly::addCheck(StatementList &program,
                                              Operation *op, Check check,
                                              StringRef rule) {
  if (decide(program, check) == true)
    return success();
  bool hasExceptions = false;
  for (AffineExpr exception : check.exceptions) {
    auto number = dyn_cast<AffineConstantExpr>(exception);
    if (number && number.getValue() <= 0)
      return success();
    hasExceptions |= !number;
  }
  std::string reason = explain(check.kind, rule, describe(program, check.value),
                               describe(program, check.bound));
  if (decide(program, check) == false && !hasExceptions)
    return op->emitOpError(reason);
  llvm::erase_if(check.exceptions, llvm::IsaPred<AffineConstantExpr>);
  bool isKnown = llvm::any_of(program.checks, [&](const Check &known) {
    return known.kind == check.kind && known.value == check.value &&
           known.bound == check.bound && known.exceptions == check.exceptions;
  });
  if (isKnown)
    return success();
  check.message = describe(op) + reason;
  program.checks.push_back(std::move(check));
  return success();
}
