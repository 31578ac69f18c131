//===- DropPoints.cpp - Dimensions with a single point --------------------===//
//
// A depthwise convolution adds up one channel of each group,
//
//   R[o, y] = sum(c < 1, k) X[o + c, y + k] * W[o, c, k]
//
// Without `c` in the index it reads one plane for each that it computes, and
// can share the loop over planes with what makes them.
//
//===----------------------------------------------------------------------===//

#include "../Contraction.h"
#include "Sums.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Reads of a sum at its only point along a dimension do without that: each
/// plane of a depthwise convolution reads one plane then.
static void dropFrom(StatementList &program, Statement &statement) {
  unsigned rank = program.getRank(statement.target);
  AffineExpr zero = getAffineConstantExpr(0, program.context);
  AffineExpr one = getAffineConstantExpr(1, program.context);
  llvm::DenseMap<AffineExpr, AffineExpr> points;
  for (unsigned dim = rank; dim < statement.getNumDims(); ++dim)
    if (statement.extents[dim] == one)
      points[getAffineDimExpr(dim, program.context)] = zero;
  if (points.empty() || statement.recurrence ||
      getContraction(program, statement))
    return;
  for (Piece &piece : statement.pieces)
    piece.value = transform(piece.value, [&](Expr e) -> Expr {
      if (e.getKind() != Expr::Kind::Access)
        return {};
      SmallVector<Expr> indices;
      bool isChanged = false;
      for (Expr index : e.getOperands()) {
        std::optional<AffineExpr> affine = program.affine(index);
        AffineExpr reduced =
            affine ? program.simplify(affine->replace(points)) : AffineExpr();
        bool isOther = affine && reduced != *affine;
        isChanged |= isOther;
        indices.push_back(isOther ? program.expression(reduced) : index);
      }
      return isChanged ? access(e.getTensor(), indices, e.getType()) : Expr();
    });
}

void espalier::graphtopoly::dropSinglePoints(StatementList &program) {
  for (Statement &statement : program.statements)
    dropFrom(program, statement);
}
