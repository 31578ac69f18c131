//===- SizeParameters.cpp - What sizes are affine in ----------------------===//

#include "SizeParameters.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graphtopoly;

SizeParameters::Extents
SizeParameters::collectExtents(const StatementList &program) {
  Extents extents;
  for (const Array &array : program.arrays) {
    extents.insert_range(array.extents);
    extents.insert_range(array.storedExtents);
  }
  return extents;
}

bool SizeParameters::isData(AffineExpr expr) const {
  auto symbol = dyn_cast<AffineSymbolExpr>(expr);
  return symbol && symbol.getPosition() >= program.symbols.size();
}

/// Whether an expression of symbols, such as a largest size, is never negative.
static bool isNonnegative(const Expr &expr,
                          llvm::function_ref<bool(AffineExpr)> isSymbol,
                          MLIRContext *context) {
  auto isArg = [&](const Expr &arg) {
    return isNonnegative(arg, isSymbol, context);
  };
  switch (expr.getKind()) {
  case Expr::Kind::Constant:
    return expr.getInt().value_or(-1) >= 0;
  case Expr::Kind::Parameter:
    return isSymbol(getAffineSymbolExpr(expr.getNumber(), context));
  case Expr::Kind::Apply:
    if (expr.getFn() == definition::ScalarFn::Max)
      return llvm::any_of(expr.getOperands(), isArg);
    return expr.getFn() == definition::ScalarFn::Min &&
           llvm::all_of(expr.getOperands(), isArg);
  default:
    return false;
  }
}

/// Extents are. Other values that the function computes need not be.
bool SizeParameters::isNonnegative(AffineExpr expr) const {
  if (extents.contains(expr))
    return true;
  if (auto number = dyn_cast<AffineConstantExpr>(expr))
    return number.getValue() >= 0;
  if (auto symbol = dyn_cast<AffineSymbolExpr>(expr)) {
    const Symbol &source = program.symbols[symbol.getPosition()];
    if (source.expr)
      return ::isNonnegative(
          source.expr, [&](AffineExpr e) { return isNonnegative(e); },
          program.context);
    return !source.value;
  }
  auto binary = cast<AffineBinaryOpExpr>(expr);
  return isNonnegative(binary.getLHS()) && isNonnegative(binary.getRHS());
}

void SizeParameters::addParameter(AffineExpr expr) {
  if (!numberOf.try_emplace(expr, parameters.size()).second)
    return;
  bool mayBeNegative = !isNonnegative(expr);
  parameters.push_back({expr, mayBeNegative});
  if (mayBeNegative)
    parameters.push_back({-expr, mayBeNegative});
}

AffineExpr SizeParameters::getValue(unsigned number) const {
  MLIRContext *context = program.context;
  AffineExpr value = getAffineSymbolExpr(number, context);
  return parameters[number].mayBeNegative
             ? value - getAffineSymbolExpr(number + 1, context)
             : value;
}

void SizeParameters::addExtent(AffineExpr extent) {
  assert(extents.contains(extent) && "only extents are never negative");
  addParameter(extent);
}

void SizeParameters::add(AffineExpr expr) {
  if (isa<AffineConstantExpr, AffineDimExpr>(expr) || isData(expr) ||
      numberOf.contains(expr))
    return;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  bool isAffine = binary && (binary.getKind() == AffineExprKind::Add ||
                             isa<AffineConstantExpr>(binary.getRHS()));
  if (!isAffine && expr.isSymbolicOrConstant())
    return addParameter(expr);
  add(binary.getLHS());
  add(binary.getRHS());
}

AffineExpr SizeParameters::rewrite(AffineExpr expr, unsigned firstData) const {
  llvm::DenseMap<AffineExpr, AffineExpr> replacement;
  for (auto [from, number] : numberOf)
    replacement[from] = getValue(number);
  expr.walk([&](AffineExpr e) {
    if (isData(e))
      replacement[e] = getAffineSymbolExpr(
          firstData + cast<AffineSymbolExpr>(e).getPosition() -
              program.symbols.size(),
          program.context);
  });
  return expr.replace(replacement);
}
