//===- Facts.cpp - What is chosen before kernels are formed ---------------===//

#include "espalier/Dialect/Poly/IR/Facts.h"
#include "mlir/IR/AffineExpr.h"

using namespace mlir;
using namespace espalier;

/// Whether `expr` is an index, or its quotient or remainder by a number.
static bool isPart(AffineExpr expr) {
  if (isa<AffineDimExpr>(expr))
    return true;
  auto binary = dyn_cast<AffineBinaryOpExpr>(expr);
  auto number = binary ? dyn_cast<AffineConstantExpr>(binary.getRHS())
                       : AffineConstantExpr();
  return number && number.getValue() > 0 &&
         isa<AffineDimExpr>(binary.getLHS()) &&
         (expr.getKind() == AffineExprKind::FloorDiv ||
          expr.getKind() == AffineExprKind::Mod);
}

std::string poly::checkLayout(AffineMap layout, unsigned rank) {
  if (layout.getNumDims() != rank || layout.getNumSymbols() != 0)
    return "to map the indices of the array";
  if (!llvm::all_of(layout.getResults(), isPart))
    return "of indices, and their quotients and remainders by positive numbers";
  // Elements do not share a place: an index is there, or both parts of it are.
  for (unsigned dim = 0; dim < rank; ++dim) {
    AffineExpr index = getAffineDimExpr(dim, layout.getContext());
    bool isThere = llvm::is_contained(layout.getResults(), index);
    for (AffineExpr part : layout.getResults())
      if (auto binary = dyn_cast<AffineBinaryOpExpr>(part);
          binary && part.getKind() == AffineExprKind::FloorDiv &&
          binary.getLHS() == index)
        isThere |=
            llvm::is_contained(layout.getResults(), index % binary.getRHS());
    if (!isThere)
      return "to give each element a place of its own";
  }
  return "";
}
