//===- FullVectors.cpp - Only the last vector of a row has a mask ---------===//
//
// Cuts loops over vectors of rows whose length is no multiple of a vector's:
//
//   for i = 0 to ceil(n / 8)            for i = 0 to n / 8
//     for j = 0 to min(8, n - 8 * i)      for j = 0 to 8
//       s(i, j)                    ->       s(i, j)
//                                       for i = n / 8 to ceil(n / 8)
//                                         for j = 0 to min(8, n - 8 * i)
//                                           s(i, j)
//
//===----------------------------------------------------------------------===//

#include "KernelValues.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::Ast;
using polyhedral::AstExpr;
using polyhedral::AstNode;

/// Loops around more statements stay as they are: code would grow.
static constexpr unsigned kMaxCalls = 8;

namespace {
/// A loop around vectors, of whose iterations the last may have masks.
class RowOfVectors {
public:
  explicit RowOfVectors(AstNode &loop) : loop(loop) {}

  /// The number of iterations in front that need no mask, if others do; null
  /// if it is not known.
  AffineExpr findNumFull();
  /// Gives all lanes to the vectors.
  void fill();

private:
  /// Whether `node` and what is below it are vectors.
  bool collect(AstNode &node);
  /// The number of iterations in front in which `vector` needs no mask.
  AffineExpr getNumFull(const AstNode &vector) const;

  AstNode &loop;
  SmallVector<AstNode *> vectors; ///< Those with masks.
  AffineExpr numFull;
  unsigned numCalls = 0;
};
} // namespace

static bool isVector(const AstNode &node) {
  poly::LoopAttr kind = getLoopKind(node);
  return node.kind == AstNode::Kind::For && kind && kind.isVector();
}

AffineExpr RowOfVectors::getNumFull(const AstNode &vector) const {
  // Of both ends, one is the width.
  int64_t width = getLoopKind(vector).getWidth();
  ArrayRef<AstExpr> ends(vector.upper.operands);
  if (vector.step != 1 || vector.lower.getConstant() != 0 ||
      vector.upper.kind != AstExpr::Kind::Min || ends.size() != 2)
    return {};
  const AstExpr &end =
      ends.front().getConstant() == width ? ends.back() : ends.front();
  if (end.kind != AstExpr::Kind::Affine || end.getConstant() ||
      (&end == &ends.front() && ends.back().getConstant() != width))
    return {};
  // The elements of the row, counted from its first vector.
  AffineExpr all =
      end.affine +
      getAffineDimExpr(loop.iterator, end.affine.getContext()) * width;
  AffineMap map = AffineMap::inferFromExprList({all}, all.getContext()).front();
  all = simplifyAffineExpr(all, map.getNumDims(), map.getNumSymbols());
  return all.isFunctionOfDim(loop.iterator) ? AffineExpr()
                                            : all.floorDiv(width);
}

bool RowOfVectors::collect(AstNode &node) {
  if (node.kind == AstNode::Kind::Call)
    return ++numCalls <= kMaxCalls;
  if (node.kind == AstNode::Kind::If ||
      (node.kind == AstNode::Kind::For && !isVector(node)))
    return false;
  if (isVector(node) && node.upper.kind != AstExpr::Kind::Affine) {
    AffineExpr number = getNumFull(node);
    if (!number || (numFull && numFull != number))
      return false;
    numFull = number;
    vectors.push_back(&node);
  }
  return llvm::all_of(node.children,
                      [&](const Ast &child) { return collect(*child); });
}

AffineExpr RowOfVectors::findNumFull() {
  poly::LoopAttr kind = getLoopKind(loop);
  if (loop.step != 1 || (kind && !kind.isSequential()) ||
      !llvm::all_of(loop.children,
                    [&](const Ast &child) { return collect(*child); }))
    return {};
  return numFull;
}

void RowOfVectors::fill() {
  for (AstNode *vector : vectors)
    vector->upper = AstExpr(getAffineConstantExpr(
        getLoopKind(*vector).getWidth(), numFull.getContext()));
}

/// The lesser of two, or the greater.
static AstExpr choose(AstExpr::Kind kind, const AstExpr &one,
                      AffineExpr other) {
  AstExpr second(other);
  std::optional<int64_t> x = one.getConstant(), y = second.getConstant();
  if (x && y)
    return (*x < *y) == (kind == AstExpr::Kind::Min) ? one : second;
  AstExpr result;
  result.kind = kind;
  result.operands = {one, second};
  return result;
}

void polytoloops::separateFullVectors(Ast &node) {
  RowOfVectors row(*node);
  AffineExpr numFull;
  if (node->kind == AstNode::Kind::For)
    numFull = row.findNumFull();
  if (!numFull) {
    for (Ast &child : node->children)
      separateFullVectors(child);
    return;
  }
  Ast rest = node->clone();
  rest->lower = choose(AstExpr::Kind::Max, node->lower, numFull);
  node->upper = choose(AstExpr::Kind::Min, node->upper, numFull);
  row.fill();
  auto both = std::make_unique<AstNode>(AstNode::Kind::Block);
  both->children.push_back(std::move(node));
  both->children.push_back(std::move(rest));
  node = std::move(both);
}
