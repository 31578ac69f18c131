//===- GraphFolds.cpp - Folds and canonicalizations -----------------------===//

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace espalier::graph;

/// Returns true if `attribute` is a splat of `value`.
static bool isSplatOf(Attribute attribute, double value) {
  auto dense = dyn_cast_or_null<DenseElementsAttr>(attribute);
  if (!dense || !dense.isSplat())
    return false;
  if (isa<FloatType>(dense.getElementType()))
    return dense.getSplatValue<APFloat>().convertToDouble() == value;
  return dense.getSplatValue<APInt>().getSExtValue() ==
         static_cast<int64_t>(value);
}

/// Whether the operation is there for the order in memory, too.
static bool hasLayout(Operation *op) {
  return op->hasAttr(GraphDialect::getLayoutAttrName());
}

//===----------------------------------------------------------------------===//
// Element-wise operators
//===----------------------------------------------------------------------===//

/// The operand of an idempotent operator that is its own result.
template <typename Op>
static OpFoldResult foldRepeated(Op op) {
  if (op.getX().template getDefiningOp<Op>() &&
      op.getX().getType() == op.getType() && !hasLayout(op))
    return op.getX();
  return {};
}

OpFoldResult AbsOp::fold(FoldAdaptor) { return foldRepeated(*this); }
OpFoldResult CeilOp::fold(FoldAdaptor) { return foldRepeated(*this); }
OpFoldResult FloorOp::fold(FoldAdaptor) { return foldRepeated(*this); }
OpFoldResult ReluOp::fold(FoldAdaptor) { return foldRepeated(*this); }
OpFoldResult RoundOp::fold(FoldAdaptor) { return foldRepeated(*this); }
OpFoldResult SignOp::fold(FoldAdaptor) { return foldRepeated(*this); }

OpFoldResult CastOp::fold(FoldAdaptor) {
  if (getX().getType() == getType())
    return getX();
  return {};
}

OpFoldResult AddOp::fold(FoldAdaptor adaptor) {
  // x + 0 is x, but for the sign of -0 + 0.
  if (isSplatOf(adaptor.getB(), 0) && getA().getType() == getType())
    return getA();
  return {};
}

OpFoldResult MulOp::fold(FoldAdaptor adaptor) {
  if (isSplatOf(adaptor.getB(), 1) && getA().getType() == getType())
    return getA();
  return {};
}

//===----------------------------------------------------------------------===//
// TransposeOp
//===----------------------------------------------------------------------===//

OpFoldResult TransposeOp::fold(FoldAdaptor) {
  bool isIdentity = llvm::equal(getPermutation(),
                                llvm::seq<int64_t>(0, getPermutation().size()));
  if (isIdentity && getX().getType() == getType() && !hasLayout(*this))
    return getX();
  return {};
}

namespace {
/// transpose(transpose(x, q), p)[i] reads x at q[p[i]].
struct MergeTransposes : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<TransposeOp>();
    if (!inner || hasLayout(op) || hasLayout(inner))
      return rewriter.notifyMatchFailure(op, "no transpose of a transpose");
    SmallVector<int64_t> permutation;
    for (int64_t dim : op.getPermutation())
      permutation.push_back(inner.getPermutation()[dim]);
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), inner.getX(),
                                             permutation);
    return success();
  }
};

/// How many extents of `fine` each of `coarse` is the product of, in order;
/// nothing if that is not so. One that is not known is that of the other, too.
static std::optional<SmallVector<unsigned>>
getGroups(ArrayRef<int64_t> fine, ArrayRef<int64_t> coarse) {
  if (llvm::count(coarse, ShapedType::kDynamic) > 1)
    return std::nullopt;
  SmallVector<unsigned> sizes;
  for (int64_t extent : coarse) {
    unsigned size = 0;
    int64_t product = 1;
    while (size < fine.size() && (size == 0 || product < extent)) {
      int64_t part = fine[size++];
      if (ShapedType::isDynamic(part) || ShapedType::isDynamic(extent)) {
        product = size == 1 ? part : 0;
        break;
      }
      product *= part;
    }
    if (size == 0 || product != extent)
      return std::nullopt;
    fine = fine.drop_front(size);
    sizes.push_back(size);
  }
  if (!fine.empty())
    return std::nullopt;
  return sizes;
}

/// `permutation` of groups of dimensions, as one of the dimensions.
static SmallVector<int64_t> permuteGroups(ArrayRef<int64_t> permutation,
                                          ArrayRef<unsigned> sizes) {
  SmallVector<int64_t> begins, result;
  int64_t begin = 0;
  for (unsigned size : sizes)
    begins.push_back(std::exchange(begin, begin + size));
  for (int64_t group : permutation)
    for (unsigned dim = 0; dim < sizes[group]; ++dim)
      result.push_back(begins[group] + dim);
  return result;
}

/// A transpose of what a reshape made by merging dimensions moves these apart,
/// ahead of the reshape, which is then a view of the transposed image.
struct TransposeBeforeMerging : OpRewritePattern<TransposeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(TransposeOp op,
                                PatternRewriter &rewriter) const override {
    auto reshape = op.getX().getDefiningOp<ReshapeOp>();
    if (!reshape || hasLayout(op) || hasLayout(reshape))
      return rewriter.notifyMatchFailure(op, "no transpose of a reshape");
    auto image = cast<ShapedType>(reshape.getX().getType());
    auto groups = getGroups(image.getShape(),
                            cast<ShapedType>(reshape.getType()).getShape());
    ArrayRef<int64_t> shape = cast<ShapedType>(op.getType()).getShape();
    if (!groups || int64_t(groups->size()) == image.getRank() ||
        llvm::count(shape, ShapedType::kDynamic) !=
            int64_t(reshape.getSizes().size()))
      return rewriter.notifyMatchFailure(op, "no dimensions are merged");
    Value moved =
        TransposeOp::create(rewriter, op.getLoc(), reshape.getX(),
                            permuteGroups(op.getPermutation(), *groups));
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), moved,
                                           reshape.getSizes(), shape);
    return success();
  }
};

/// The same for a reshape that splits dimensions of what was transposed.
struct TransposeAfterSplitting : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto transpose = op.getX().getDefiningOp<TransposeOp>();
    if (!transpose || hasLayout(op) || hasLayout(transpose))
      return rewriter.notifyMatchFailure(op, "no reshape of a transpose");
    auto image = cast<ShapedType>(op.getType());
    auto groups = getGroups(image.getShape(),
                            cast<ShapedType>(transpose.getType()).getShape());
    if (!groups || int64_t(groups->size()) == image.getRank() ||
        image.getNumDynamicDims() != op.getSizes().size())
      return rewriter.notifyMatchFailure(op, "no dimensions are split");
    // The dimensions of the image as they lie before the transpose.
    SmallVector<int64_t> order = permuteGroups(
        invertPermutationVector(transpose.getPermutation()), *groups);
    Value split = ReshapeOp::create(
        rewriter, op.getLoc(), transpose.getX(), op.getSizes(),
        llvm::map_to_vector(
            order, [&](int64_t dim) { return image.getDimSize(dim); }));
    rewriter.replaceOpWithNewOp<TransposeOp>(op, op.getType(), split,
                                             invertPermutationVector(order));
    return success();
  }
};

/// The shape of reshape(reshape(x)) comes from the outer one alone.
struct MergeReshapes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    auto inner = op.getX().getDefiningOp<ReshapeOp>();
    if (!inner)
      return rewriter.notifyMatchFailure(op, "no reshape of a reshape");
    rewriter.replaceOpWithNewOp<ReshapeOp>(op, op.getType(), inner.getX(),
                                           op.getSizes(), op.getStaticSizes());
    return success();
  }
};

/// Moves sizes that are constants into the attribute.
struct FoldConstantSizes : OpRewritePattern<ReshapeOp> {
  using OpRewritePattern::OpRewritePattern;

  LogicalResult matchAndRewrite(ReshapeOp op,
                                PatternRewriter &rewriter) const override {
    SmallVector<OpFoldResult> mixed =
        getMixedValues(op.getStaticSizes(), op.getSizes(), rewriter);
    if (failed(foldDynamicIndexList(mixed, /*onlyNonNegative=*/true)))
      return rewriter.notifyMatchFailure(op, "no size is a constant");
    SmallVector<int64_t> staticSizes;
    SmallVector<Value> sizes;
    dispatchIndexOpFoldResults(mixed, sizes, staticSizes);
    auto reshape =
        ReshapeOp::create(rewriter, op.getLoc(), op.getX(), sizes, staticSizes);
    if (reshape.getType() != op.getType())
      reshape.getResult().setType(op.getType());
    rewriter.replaceOp(op, reshape);
    return success();
  }
};
} // namespace

void TransposeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                              MLIRContext *context) {
  patterns.add<MergeTransposes, TransposeBeforeMerging>(context);
}

//===----------------------------------------------------------------------===//
// ReshapeOp
//===----------------------------------------------------------------------===//

OpFoldResult ReshapeOp::fold(FoldAdaptor) {
  // With one unknown extent at most, equal types mean equal shapes.
  auto type = getType();
  if (getX().getType() == type && type.getNumDynamicDims() <= 1)
    return getX();
  return {};
}

void ReshapeOp::getCanonicalizationPatterns(RewritePatternSet &patterns,
                                            MLIRContext *context) {
  patterns.add<MergeReshapes, FoldConstantSizes, TransposeAfterSplitting>(
      context);
}

//===----------------------------------------------------------------------===//
// Other operators that move elements
//===----------------------------------------------------------------------===//

OpFoldResult ExpandOp::fold(FoldAdaptor) {
  if (getX().getType() == getType() && getType().hasStaticShape())
    return getX();
  return {};
}

OpFoldResult SliceOp::fold(FoldAdaptor) {
  // Equal static shapes leave no other slice than all, in order.
  bool isForward =
      llvm::all_of(getSteps(), [](int64_t step) { return step == 1; });
  if (isForward && getX().getType() == getType() && getType().hasStaticShape())
    return getX();
  return {};
}

OpFoldResult ConcatOp::fold(FoldAdaptor) {
  if (getInputs().size() == 1 && getInputs().front().getType() == getType())
    return getInputs().front();
  return {};
}

OpFoldResult PadOp::fold(FoldAdaptor) {
  auto isZero = [](int64_t amount) { return amount == 0; };
  if (llvm::all_of(getLow(), isZero) && llvm::all_of(getHigh(), isZero) &&
      getX().getType() == getType())
    return getX();
  return {};
}
