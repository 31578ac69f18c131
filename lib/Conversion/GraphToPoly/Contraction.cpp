//===- Contraction.cpp - Sums of products with reuse ----------------------===//

#include "Contraction.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

SmallVector<unsigned> espalier::graphtopoly::getDims(Expr expr) {
  SmallVector<unsigned> dims;
  walk(expr, [&](Expr e) {
    if (e.getKind() == Expr::Kind::Variable &&
        !llvm::is_contained(dims, e.getVariable()))
      dims.push_back(e.getVariable());
  });
  return dims;
}

/// The dimensions that an expression depends on within a vector: the number of
/// a group of whole vectors is the same for all lanes.
static SmallVector<unsigned> getLaneDims(Expr expr, int64_t lanes) {
  SmallVector<unsigned> dims;
  auto visit = [&](auto &self, Expr e) -> void {
    if (e.getKind() == Expr::Kind::Apply && e.getFn() == ScalarFn::FloorDiv &&
        e.getOperands()[0].getKind() == Expr::Kind::Variable &&
        e.getOperands()[1].getInt().value_or(1) % lanes == 0)
      return;
    if (e.getKind() == Expr::Kind::Variable &&
        !llvm::is_contained(dims, e.getVariable()))
      dims.push_back(e.getVariable());
    for (Expr operand : e.getOperands())
      self(self, operand);
  };
  visit(visit, expr);
  return dims;
}

/// What is added to `dim` in `index`; nothing if it is another expression.
static std::optional<int64_t> getOffset(const StatementList &program,
                                        Expr index, unsigned dim) {
  std::optional<AffineExpr> affine = program.affine(index);
  if (!affine)
    return std::nullopt;
  auto offset = dyn_cast<AffineConstantExpr>(
      program.simplify(*affine - getAffineDimExpr(dim, program.context)));
  return offset ? std::optional(offset.getValue()) : std::nullopt;
}

void espalier::graphtopoly::getFactors(Expr expr,
                                       SmallVectorImpl<Expr> &factors) {
  while (expr.getKind() == Expr::Kind::Cast)
    expr = expr.getOperands()[0];
  if (expr.getKind() == Expr::Kind::Apply && expr.getFn() == ScalarFn::Mul)
    for (Expr operand : expr.getOperands())
      getFactors(operand, factors);
  else
    factors.push_back(expr);
}

std::optional<unsigned>
espalier::graphtopoly::getInnermost(const Array &array) {
  if (array.extents.empty() || (array.layout && !array.layout.isPermutation()))
    return std::nullopt;
  return array.layout ? array.layout.getDimPosition(array.extents.size() - 1)
                      : array.extents.size() - 1;
}

/// Whether `array` is stored in panels along `index`.
static bool isInPanels(const Array &array, unsigned index) {
  if (!array.layout || array.layout.getNumResults() == 0)
    return false;
  auto place = dyn_cast<AffineBinaryOpExpr>(array.layout.getResults().back());
  return place && place.getKind() == AffineExprKind::Mod &&
         place.getLHS() == getAffineDimExpr(index, array.layout.getContext());
}

std::optional<Contraction>
espalier::graphtopoly::getContraction(const StatementList &program,
                                      const Statement &statement) {
  if (statement.reduction != ReduceKind::Sum || statement.entries ||
      statement.pieces.size() != 1)
    return std::nullopt;
  SmallVector<Expr> factors;
  getFactors(statement.pieces[0].value, factors);
  if (factors.size() != 2 || !llvm::all_of(factors, [](Expr factor) {
        return factor.getKind() == Expr::Kind::Access &&
               isa<FloatType>(factor.getType());
      }))
    return std::nullopt;

  unsigned rank = program.getRank(statement.target);
  SmallVector<unsigned> dims[2] = {
      getLaneDims(factors[0], program.vectorLanes),
      getLaneDims(factors[1], program.vectorLanes)};
  // Each operand is reused along the dimensions that only the other one has.
  auto isReused = [&](unsigned side) {
    return llvm::any_of(llvm::seq(0u, rank), [&](unsigned dim) {
      return llvm::is_contained(dims[1 - side], dim) &&
             !llvm::is_contained(dims[side], dim);
    });
  };
  if (!isReused(0) || !isReused(1))
    return std::nullopt;
  // Prefer the dimension along which an operand lies in panels, then one that
  // only a constant operand has (its panels are packed before the program
  // runs), then the last one.
  std::optional<Contraction> best;
  std::pair<bool, bool> bestKind;
  for (unsigned dim = 0; dim < rank; ++dim)
    for (unsigned side : {0u, 1u}) {
      if (!llvm::is_contained(dims[side], dim) ||
          llvm::is_contained(dims[1 - side], dim))
        continue;
      Expr panel = factors[side];
      for (auto [number, index] : llvm::enumerate(panel.getOperands())) {
        const Array &array = program.arrays[panel.getTensor().number];
        bool isConstant = array.kind == Array::Kind::Constant;
        std::optional<int64_t> offset = getOffset(program, index, dim);
        if (!offset || (*offset != 0 && !isConstant && !statement.recurrence))
          continue;
        std::pair kind(isInPanels(array, number), isConstant);
        if (!best || kind >= bestKind) {
          best = Contraction{dim, panel, unsigned(number), *offset};
          bestKind = kind;
        }
      }
    }
  return best;
}
