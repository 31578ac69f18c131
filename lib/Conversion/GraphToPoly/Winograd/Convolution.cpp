//===- Convolution.cpp - What a convolution computes ----------------------===//

#include "Convolution.h"
#include "../Contraction.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

// Tile t begins with result t mod d of 2 d, those of its number: tiles of each
// remainder lie side by side.
LogicalResult Window::cut(int64_t extent) {
  numTiles = llvm::divideCeil(extent, kOutputs * dilation) * dilation;
  numOverlapping = kOutputs * numTiles - extent;
  return success(extent >= kOutputs * dilation && numOverlapping <= dilation);
}

AffineExpr Window::getStart(AffineExpr tile) const {
  AffineExpr start =
      tile + tile.floorDiv(dilation) * ((kOutputs - 1) * dilation);
  return numOverlapping
             ? start - tile.floorDiv(numTiles - numOverlapping) * dilation
             : start;
}

/// Reads `index` as a window.
static std::optional<Window> getWindow(const StatementList &program, Expr index,
                                       unsigned rank, unsigned numDims) {
  std::optional<AffineExpr> expr = program.affine(index);
  if (!expr)
    return std::nullopt;
  for (unsigned result = 0; result < rank; ++result) {
    AffineExpr taps =
        program.simplify(*expr - getAffineDimExpr(result, program.context));
    int64_t dilation = 1;
    if (auto product = dyn_cast<AffineBinaryOpExpr>(taps);
        product && product.getKind() == AffineExprKind::Mul)
      if (auto factor = dyn_cast<AffineConstantExpr>(product.getRHS())) {
        taps = product.getLHS();
        dilation = factor.getValue();
      }
    auto tap = dyn_cast<AffineDimExpr>(taps);
    if (tap && dilation > 0 && tap.getPosition() >= rank &&
        tap.getPosition() < numDims)
      return Window{result, tap.getPosition(), dilation};
  }
  return std::nullopt;
}

std::optional<Convolution>
espalier::graphtopoly::getConvolution(const StatementList &program,
                                      const Statement &statement) {
  std::optional<Contraction> contraction = getContraction(program, statement);
  unsigned rank = program.getRank(statement.target);
  if (!contraction || statement.getNumDims() < rank + 3 ||
      !statement.pieces.front().domain.empty() || statement.recurrence)
    return std::nullopt;
  const Expr &product = statement.pieces.front().value;
  if (product.getKind() != Expr::Kind::Apply ||
      !llvm::all_of(product.getOperands(), [](Expr operand) {
        return operand.getKind() == Expr::Kind::Access &&
               operand.getType().isF32();
      }))
    return std::nullopt;
  Convolution conv;
  conv.f = contraction->vectorDim;
  conv.image = product.getOperands()[product.getOperands()[0].getNode() ==
                                     contraction->panel.getNode()];

  SmallVector<Window> windows;
  llvm::SmallDenseSet<unsigned> single;
  for (Expr index : conv.image.getOperands())
    if (index.getKind() == Expr::Kind::Variable)
      single.insert(index.getVariable());
    else if (auto window =
                 getWindow(program, index, rank, statement.getNumDims()))
      windows.push_back(*window);
    else
      return std::nullopt;
  llvm::SmallDenseSet<unsigned> found{conv.f};
  for (const Window &window : windows) {
    found.insert(window.result);
    found.insert(window.tap);
  }
  // Each window has dimensions of its own, and channels are the only others of
  // the sum.
  if (windows.size() < 2 || found.size() != 1 + 2 * windows.size() ||
      statement.getNumDims() != rank + windows.size() + 1)
    return std::nullopt;
  conv.columns = windows.pop_back_val();
  conv.rows = windows.pop_back_val();
  conv.depth = windows;
  conv.weights = {
      contraction->panel, conv.f, conv.rows.tap, conv.columns.tap, {}};
  for (const Window &window : conv.depth)
    conv.weights.summed.push_back(window.tap);
  for (unsigned dim = 0; dim < statement.getNumDims(); ++dim) {
    if (found.contains(dim))
      continue;
    if (dim >= rank)
      conv.c = dim;
    else
      conv.batch.push_back(dim);
    if (!single.contains(dim))
      return std::nullopt;
  }
  conv.weights.summed.push_back(conv.c);
  for (unsigned dim = 0; dim < statement.getNumDims(); ++dim)
    if (!llvm::is_contained(conv.batch, dim) &&
        !isa<AffineConstantExpr>(statement.extents[dim]))
      return std::nullopt;
  if (!isConvolutionWeights(program, conv.weights) || single.contains(conv.f))
    return std::nullopt;
  for (Window *window : {&conv.rows, &conv.columns}) {
    auto extent = cast<AffineConstantExpr>(statement.extents[window->result]);
    if (failed(window->cut(extent.getValue())))
      return std::nullopt;
  }
  return conv;
}
