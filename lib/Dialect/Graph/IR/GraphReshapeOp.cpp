//===- GraphReshapeOp.cpp - The definition of reshape ---------------------===//

#include "DefinitionBuilder.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "llvm/ADT/Sequence.h"
#include "llvm/Support/MathExtras.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

namespace {
/// Splits the dimensions of operand and result into groups of equal products,
/// so that indices mix only within a group.
class ReshapeBuilder : public DefinitionBuilder {
public:
  ReshapeBuilder(ReshapeOp::Adaptor op, DefinitionError error)
      : DefinitionBuilder(op.getOperands(), ReshapeOp::getOperandNames(),
                          error),
        op(op) {}

  FailureOr<Definition> run() {
    if (failed(collectSizes()) || failed(matchDynamicSizes()))
      return failure();
    SmallVector<IndexVar> results;
    for (auto [dim, size] : llvm::enumerate(sizes))
      results.push_back(makeVar("i" + std::to_string(dim), size));

    SmallVector<Expr> read;
    unsigned from = 0, to = 0;
    while (from < getRank(0) || to < sizes.size()) {
      auto [fromEnd, toEnd] = findGroup(from, to);
      appendGroup(from, fromEnd, ArrayRef(results).slice(to, toEnd - to), read);
      from = fromEnd;
      to = toEnd;
    }
    addResult("R", results, this->read(0, read), getElementType(0));
    return take();
  }

private:
  LogicalResult collectSizes() {
    // C1
    FailureOr<SmallVector<Expr>> mixed =
        mixedSizes(op.getStaticSizes(), op.getSizes());
    if (failed(mixed))
      return failure();
    sizes = std::move(*mixed);
    // A size that is an extent of the operand is that extent.
    for (auto [number, size] : llvm::enumerate(op.getSizes()))
      if (auto dim = size.getDefiningOp<tensor::DimOp>())
        if (std::optional<int64_t> constant = dim.getConstantIndex();
            constant && dim.getSource() == op.getX() && *constant >= 0 &&
            *constant < getRank(0))
          replaceParameter(number, symbolicSize(0, *constant));
    return success();
  }

  void replaceParameter(unsigned number, Expr with) {
    for (Expr &size : sizes)
      if (size.getKind() == Expr::Kind::Parameter && size.getNumber() == number)
        size = with;
  }

  static std::optional<int64_t> getConstant(Expr expr) {
    if (expr.getKind() == Expr::Kind::Constant)
      return expr.getInt();
    return std::nullopt;
  }

  static bool isSame(Expr lhs, Expr rhs) {
    if (lhs.getKind() != rhs.getKind())
      return false;
    if (lhs.getKind() == Expr::Kind::Constant)
      return lhs.getInt() == rhs.getInt();
    return lhs.getKind() == Expr::Kind::Size &&
           lhs.getNumber() == rhs.getNumber();
  }

  /// Checks C2. The one unknown extent on each side, if the known ones have the
  /// same product, must be the same.
  LogicalResult matchDynamicSizes() {
    Expr from = index(1), to = index(1);
    SmallVector<Expr> fromUnknown;
    SmallVector<unsigned> toUnknown;
    for (unsigned dim : llvm::seq(getRank(0))) {
      if (getStaticSize(0, dim))
        from = from * size(0, dim);
      else
        fromUnknown.push_back(symbolicSize(0, dim));
    }
    for (auto [dim, size] : llvm::enumerate(sizes)) {
      if (getConstant(size))
        to = to * size;
      else
        toUnknown.push_back(dim);
    }
    bool isKnown = fromUnknown.empty() && toUnknown.empty();
    if (isKnown && *from.getInt() != *to.getInt())
      return fail("expects a result of " + Twine(*from.getInt()) +
                  " elements, but got " + Twine(*to.getInt()));
    if (!isKnown) {
      Expr all = from, result = to;
      for (Expr extent : fromUnknown)
        all = all * extent;
      for (unsigned dim : toUnknown)
        result = result * sizes[dim];
      if (failed(requireEqual(all, result, "as many elements as X has")))
        return failure();
    }
    if (fromUnknown.size() == 1 && toUnknown.size() == 1 &&
        from.getInt() == to.getInt() && *from.getInt() != 0)
      sizes[toUnknown.front()] = fromUnknown.front();
    return success();
  }

  /// Finds the smallest ends of a group that starts at dimensions `from` of the
  /// operand and `to` of the result; the rest, if products cannot be told.
  std::pair<unsigned, unsigned> findGroup(unsigned from, unsigned to) {
    unsigned rank = getRank(0), resultRank = sizes.size();
    if (from < rank && to < resultRank && isSame(size(0, from), sizes[to]))
      return {from + 1, to + 1};
    // Extents of 1 form groups of their own.
    if (from < rank && getStaticSize(0, from) == 1)
      return {from + 1, to};
    if (to < resultRank && getConstant(sizes[to]) == 1)
      return {from, to + 1};
    int64_t fromProduct = 1, toProduct = 1;
    unsigned fromEnd = from, toEnd = to;
    while (fromEnd == from || fromProduct != toProduct) {
      bool takesFrom = fromEnd == from || fromProduct < toProduct;
      if (takesFrom ? fromEnd == rank : toEnd == resultRank)
        return {rank, resultRank};
      std::optional<int64_t> extent =
          takesFrom ? getStaticSize(0, fromEnd) : getConstant(sizes[toEnd]);
      if (!extent || *extent == 0)
        return {rank, resultRank};
      int64_t &product = takesFrom ? fromProduct : toProduct;
      if (llvm::MulOverflow(product, *extent, product))
        return {rank, resultRank};
      ++(takesFrom ? fromEnd : toEnd);
    }
    return {fromEnd, toEnd};
  }

  /// Appends the operand's indices for one group: the row-major number of the
  /// result's indices, taken apart again.
  void appendGroup(unsigned from, unsigned fromEnd, ArrayRef<IndexVar> results,
                   SmallVectorImpl<Expr> &read) {
    Expr number = index(0);
    for (const IndexVar &var : results)
      number = number * var.extent + use(var);
    // The number is below the group's product: the first index needs no modulo.
    SmallVector<Expr> reversed;
    Expr stride = index(1);
    for (unsigned dim = fromEnd; dim-- > from;) {
      Expr part = floorDiv(number, stride);
      reversed.push_back(dim == from ? part : mod(part, size(0, dim)));
      stride = stride * size(0, dim);
    }
    llvm::append_range(read, llvm::reverse(reversed));
  }

  ReshapeOp::Adaptor op;
  SmallVector<Expr> sizes;
};
} // namespace

FailureOr<Definition> ReshapeOp::define(Adaptor op, DefinitionError error) {
  return ReshapeBuilder(op, error).run();
}
