//===- Convolution.cpp - What a convolution computes ----------------------===//

#include "Convolution.h"
#include "../Contraction.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;
using namespace espalier::graphtopoly;

// Tile t of m results begins with result t mod d of m d, those of its number:
// tiles of each remainder lie side by side.
LogicalResult Window::cut(int64_t extent, const Transform &transform) {
  int64_t step = transform.outputs * dilation;
  int64_t tiles = llvm::divideCeil(extent, step) * dilation;
  int64_t excess = transform.outputs * tiles - extent;
  if (extent < step || excess > dilation)
    return failure();
  this->transform = &transform;
  numTiles = tiles;
  numOverlapping = excess;
  return success();
}

AffineExpr Window::getStart(AffineExpr tile) const {
  AffineExpr start =
      tile + tile.floorDiv(dilation) * ((transform->outputs - 1) * dilation);
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
    AffineExpr base = taps;
    for (unsigned dim = rank; dim < numDims; ++dim)
      base = base.replace(getAffineDimExpr(dim, program.context),
                          getAffineConstantExpr(0, program.context));
    base = program.simplify(base);
    taps = program.simplify(taps - base);
    int64_t dilation = 1;
    if (auto product = dyn_cast<AffineBinaryOpExpr>(taps);
        product && product.getKind() == AffineExprKind::Mul)
      if (auto factor = dyn_cast<AffineConstantExpr>(product.getRHS())) {
        taps = product.getLHS();
        dilation = factor.getValue();
      }
    auto tap = dyn_cast<AffineDimExpr>(taps);
    if (tap && dilation > 0 && tap.getPosition() >= rank &&
        tap.getPosition() < numDims && !base.isFunctionOfDim(result))
      return Window{result, tap.getPosition(), dilation, base};
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
  auto isInBase = [windows](unsigned dim) {
    return llvm::any_of(windows, [&](const Window &window) {
      return window.base.isFunctionOfDim(dim);
    });
  };
  // What is added is the same for all results of a tile.
  if (llvm::any_of(found, isInBase))
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
    if (!single.contains(dim) && !isInBase(dim))
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
    if (failed(window->cut(extent.getValue(), getTransformOfTwo())))
      return std::nullopt;
  }
  return conv;
}
