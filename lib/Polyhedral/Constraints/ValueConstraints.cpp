//===- ValueConstraints.cpp - What is known of data -----------------------===//

#include "../Isl.h"

using namespace mlir;
using namespace espalier::polyhedral;

void espalier::polyhedral::forEachConstraint(
    IntegerSet set, llvm::function_ref<void(AffineExpr)> visit) {
  if (!set)
    return;
  for (auto [expr, isEquality] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    visit(expr);
    if (isEquality)
      visit(-expr);
  }
}

bool espalier::polyhedral::hasValues(AffineExpr expr, unsigned numParams) {
  bool found = false;
  expr.walk([&](AffineExpr part) {
    auto symbol = dyn_cast<AffineSymbolExpr>(part);
    found |= symbol && symbol.getPosition() >= numParams;
  });
  return found;
}

std::optional<int64_t> espalier::polyhedral::getFactor(AffineExpr expr,
                                                       AffineExpr of) {
  AffineExpr step = expr.replace(of, of + 1) - expr;
  AffineMap map =
      AffineMap::inferFromExprList({step}, expr.getContext()).front();
  step = simplifyAffineExpr(step, map.getNumDims(), map.getNumSymbols());
  auto number = dyn_cast<AffineConstantExpr>(step);
  return number ? std::optional(number.getValue()) : std::nullopt;
}

AffineExpr espalier::polyhedral::getExtreme(const Program &program,
                                            const Statement &statement,
                                            AffineExpr expr, bool isLargest) {
  for (auto [number, read] : llvm::enumerate(statement.values)) {
    AffineExpr symbol =
        getAffineSymbolExpr(program.numParams + number, expr.getContext());
    if (!expr.isFunctionOfSymbol(program.numParams + number))
      continue;
    std::optional<int64_t> factor = getFactor(expr, symbol);
    AffineExpr bound = program.facts.lookup(read.array).bound;
    if (!factor || !bound)
      return {};
    AffineExpr value = (*factor > 0) == isLargest
                           ? bound - 1
                           : getAffineConstantExpr(0, expr.getContext());
    expr = expr.replace(symbol, value);
  }
  if (hasValues(expr, program.numParams))
    return {};
  expr = simplifyAffineExpr(expr, statement.numDims, program.numParams);
  return isl::isAffine(expr, program.numParams) ? expr : AffineExpr();
}
