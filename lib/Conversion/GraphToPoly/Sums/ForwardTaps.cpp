//===- ForwardTaps.cpp - Windows that are walked backwards ----------------===//
//
// A transposed convolution with stride 1 walks its operand backwards,
//
//   R[y] = sum(k < K) X[y - k + K - 1] * W[k]
//
// Counted from the last tap it is a convolution, and all that is known of these
// holds for it, with weights that are turned around before the program runs:
//
//   R[y] = sum(k < K) X[y + k] * V[k],   V[k] = W[K - 1 - k]
//
//===----------------------------------------------------------------------===//

#include "../Contraction.h"
#include "../PackConstant.h"
#include "../Renumber.h"
#include "Sums.h"

using namespace mlir;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

/// Whether some index of `statement` falls along the reduced dimension `tap`
/// and grows along one of the target.
static bool isBackwards(const StatementList &program,
                        const Statement &statement, unsigned tap) {
  unsigned rank = program.getRank(statement.target);
  bool falls = false, isLinear = true;
  forEachAccess(statement, [&](Expr access) {
    for (Expr index : access.getOperands()) {
      std::optional<AffineExpr> affine = program.affine(index);
      if (!affine || !affine->isFunctionOfDim(tap))
        continue;
      auto getStep = [&](unsigned dim) {
        AffineExpr self = getAffineDimExpr(dim, program.context);
        auto step = dyn_cast<AffineConstantExpr>(
            program.simplify(affine->replace(self, self + 1) - *affine));
        isLinear &= bool(step);
        return step ? step.getValue() : 0;
      };
      if (getStep(tap) < 0)
        falls |= llvm::any_of(llvm::seq(0u, rank),
                              [&](unsigned dim) { return getStep(dim) > 0; });
    }
  });
  return falls && isLinear;
}

/// Lets `statement` read constants along the taps in `turned`, which it reads
/// from the last one on, from the first one on instead. Those for which there
/// is no memory stay.
static void turnConstants(StatementList &program, Statement &statement,
                          ArrayRef<unsigned> turned) {
  SmallVector<Expr> accesses;
  forEachAccess(statement, [&](Expr access) {
    if (program.arrays[access.getTensor().number].kind == Array::Kind::Constant)
      accesses.push_back(access);
  });
  for (Expr read : accesses) {
    Array array = program.arrays[read.getTensor().number];
    array.outputs.clear();
    SmallVector<Expr> indices(read.getOperands());
    SmallVector<AffineExpr> places;
    SmallVector<int64_t> shape(array.constant.getShapedType().getShape());
    for (auto [position, index] : llvm::enumerate(indices)) {
      AffineExpr place = getAffineDimExpr(position, program.context);
      for (unsigned tap : turned) {
        AffineExpr self = getAffineDimExpr(tap, program.context);
        if (program.affine(index) !=
            program.simplify(shape[position] - 1 - self))
          continue;
        place = shape[position] - 1 - place;
        index = variable(tap, program.context);
      }
      places.push_back(place);
    }
    AffineMap layout = AffineMap::get(shape.size(), 0, places, program.context);
    if (layout.isIdentity())
      continue;
    array.constant = packConstant(array.constant, layout, shape);
    if (!array.constant)
      continue;
    ArrayId other = program.addArray(std::move(array));
    for (Piece &piece : statement.pieces)
      piece.value = transform(piece.value, [&](Expr e) {
        return e.getNode() == read.getNode()
                   ? access(TensorRef::operand(other), indices, e.getType())
                   : Expr();
      });
  }
}

void espalier::graphtopoly::forwardTaps(StatementList &program) {
  for (Statement &statement : program.statements) {
    if (statement.reduction != definition::ReduceKind::Sum ||
        statement.recurrence || statement.entries ||
        !llvm::all_of(statement.pieces,
                      [](const Piece &piece) { return piece.domain.empty(); }))
      continue;
    SmallVector<AffineExpr> dims;
    SmallVector<unsigned> turned;
    for (unsigned dim = 0; dim < statement.getNumDims(); ++dim) {
      dims.push_back(getAffineDimExpr(dim, program.context));
      if (dim < program.getRank(statement.target) ||
          !isBackwards(program, statement, dim))
        continue;
      turned.push_back(dim);
      dims.back() = program.simplify(statement.extents[dim] - 1 - dims.back());
    }
    if (turned.empty())
      continue;
    SmallVector<std::string> names = statement.names;
    statement = substitute(program, statement, dims, statement.extents);
    statement.names = names;
    turnConstants(program, statement, turned);
  }
}
