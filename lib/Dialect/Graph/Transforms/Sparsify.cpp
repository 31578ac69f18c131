//===- Sparsify.cpp - Constants that store what is not zero ---------------===//

#include "espalier/Dialect/Graph/Transforms/Passes.h"
#include "espalier/Dialect/Graph/Transforms/Transforms.h"
#include "espalier/Dialect/Poly/IR/EntryFormat.h"
#include "espalier/Interpreter/Tensor.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Remarks.h"

namespace espalier::graph {
#define GEN_PASS_DEF_GRAPHSPARSIFYPASS
#include "espalier/Dialect/Graph/Transforms/Passes.h.inc"
} // namespace espalier::graph

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;
using espalier::interpreter::Tensor;

/// By dimension of tensor operand `number`, whether a sum runs over it; nothing
/// if there is a read of that operand which is in no sum of products, or in one
/// that runs over other dimensions than another read's.
static std::optional<SmallVector<bool>> findSummed(const Definition &definition,
                                                   unsigned number) {
  unsigned numReads = 0, numInSums = 0;
  std::optional<SmallVector<bool>> result;
  bool isSame = true;
  auto isRead = [&](Expr e) {
    return e.getKind() == Expr::Kind::Access &&
           e.getTensor() == TensorRef::operand(number);
  };
  auto findFactor = [&](auto &self, Expr e) -> Expr {
    if (isRead(e))
      return e;
    bool isProduct =
        e.getKind() == Expr::Kind::Cast ||
        (e.getKind() == Expr::Kind::Apply && e.getFn() == ScalarFn::Mul);
    for (Expr operand : isProduct ? e.getOperands() : ArrayRef<Expr>())
      if (Expr found = self(self, operand))
        return found;
    return {};
  };
  for (const Step &step : definition.steps)
    walk(step.value, [&](Expr e) {
      numReads += isRead(e);
      if (e.getKind() != Expr::Kind::Reduce ||
          e.getReduceKind() != ReduceKind::Sum)
        return;
      Expr factor = findFactor(findFactor, e.getOperands().front());
      if (!factor)
        return;
      llvm::SmallDenseSet<VarId> reduced;
      for (const IndexVar &var : e.getReduceVars())
        reduced.insert(var.id);
      llvm::SmallDenseSet<VarId> summed = reduced;
      SmallVector<bool> dims;
      for (Expr index : factor.getOperands()) {
        bool isColumn = index.getKind() == Expr::Kind::Variable &&
                        summed.erase(index.getVariable());
        dims.push_back(isColumn);
        // A gate has a part of the rows, which begins somewhere.
        bool isRow = true;
        walk(index, [&](Expr part) {
          isRow &= part.getKind() != Expr::Kind::Access &&
                   (part.getKind() != Expr::Kind::Variable ||
                    !reduced.contains(part.getVariable()));
        });
        isSame &= isColumn || isRow;
      }
      if (!summed.empty() || !llvm::is_contained(dims, true))
        return;
      ++numInSums;
      isSame &= !result || *result == dims;
      result = dims;
    });
  if (!isSame || numReads != numInSums)
    return std::nullopt;
  return result;
}

/// How many elements of `constant` are not zero; nothing if it is not known.
static std::optional<int64_t> countEntries(ElementsAttr constant) {
  bool isSplat = succeeded(Tensor::getSplat(constant));
  FailureOr<Tensor> known =
      isSplat ? Tensor::getSplat(constant) : Tensor::get(constant);
  if (failed(known))
    return std::nullopt;
  const Tensor &value = *known;
  ArrayRef<char> bytes = value.getBytes();
  unsigned size = *interpreter::getElementBytes(value.getElementType());
  bool hasSign = isa<FloatType>(value.getElementType());
  int64_t count = 0;
  for (int64_t i = 0; i < value.getNumElements(); ++i)
    count += !interpreter::isZero(bytes.slice(i * size, size), hasSign);
  return isSplat ? count * constant.getNumElements() : count;
}

/// Whether `value` has elements of a constant, in some order, maybe as numbers
/// of another type.
static bool isPartOfConstant(Value value) {
  Operation *source = value.getDefiningOp();
  while (isa_and_nonnull<TransposeOp, ReshapeOp, SliceOp, CastOp>(source))
    source = source->getOperand(0).getDefiningOp();
  return isa_and_nonnull<ConstantOp>(source);
}

/// The constant that is `operand`, once it is folded: a gate's part of the
/// weights of a recurrent layer, say, transposed, or weights of f16 in f32.
static ConstantOp getConstant(RewriterBase &rewriter, OpOperand &operand) {
  if (Operation *source = operand.get().getDefiningOp();
      !isa<ConstantOp>(source)) {
    (void)getConstant(rewriter, source->getOpOperand(0));
    (void)foldConstants(rewriter, cast<DefinedOpInterface>(source),
                        std::numeric_limits<uint64_t>::max());
  }
  return operand.get().getDefiningOp<ConstantOp>();
}

SmallVector<SparseOperand>
graph::findSparseOperands(RewriterBase &rewriter, Operation *root,
                          const SparsifyOptions &options) {
  SmallVector<DefinedOpInterface> ops;
  root->walk([&](DefinedOpInterface op) { ops.push_back(op); });
  SmallVector<SparseOperand> found;
  for (DefinedOpInterface op : ops) {
    unsigned number = 0; // Of the tensor operand.
    for (OpOperand &operand : op->getOpOperands()) {
      if (!isa<RankedTensorType>(operand.get().getType()))
        continue;
      unsigned tensor = number++;
      if (!isPartOfConstant(operand.get()))
        continue;
      auto type = dyn_cast<RankedTensorType>(operand.get().getType());
      if (!type.hasStaticShape() || type.getEncoding() ||
          type.getNumElements() < options.minElements)
        continue;
      std::optional<SmallVector<bool>> summed =
          findSummed(op.getVerifiedDefinition(), tensor);
      ConstantOp constant =
          summed ? getConstant(rewriter, operand) : ConstantOp();
      std::optional<int64_t> count = constant && type.getNumElements() > 0
                                         ? countEntries(constant.getValueAttr())
                                         : std::nullopt;
      if (!count)
        continue;
      SparseOperand sparse{&operand, *summed, *count, type.getNumElements()};
      if (sparse.getDensity() <= options.maxDensity)
        found.push_back(std::move(sparse));
    }
  }
  return found;
}

/// `row : dense`, then the place in the row: entries, row by row.
static Attribute getEncoding(MLIRContext *context, ArrayRef<bool> summed) {
  using namespace sparse_tensor;
  SmallVector<unsigned> order;
  SmallVector<LevelType> levels;
  for (bool isColumn : {false, true})
    for (auto [dim, own] : llvm::enumerate(summed))
      if (own == isColumn)
        order.push_back(dim);
  unsigned numColumns = llvm::count(summed, true);
  for (unsigned level = 0; level < order.size(); ++level) {
    unsigned numLeft = order.size() - level; // Columns from here on.
    LevelFormat format = numLeft > numColumns    ? LevelFormat::Dense
                         : numLeft == numColumns ? LevelFormat::Compressed
                                                 : LevelFormat::Singleton;
    bool isUnique = format == LevelFormat::Dense || numLeft == 1;
    levels.push_back(*buildLevelType(format, /*ordered=*/true, isUnique));
  }
  return SparseTensorEncodingAttr::get(
      context, levels, AffineMap::getPermutationMap(order, context));
}

void graph::makeSparse(RewriterBase &rewriter, const SparseOperand &sparse) {
  OpOperand &operand = *sparse.operand;
  auto constant = operand.get().getDefiningOp<ConstantOp>();
  auto type = cast<RankedTensorType>(constant.getType());
  auto encoded =
      RankedTensorType::get(type.getShape(), type.getElementType(),
                            getEncoding(rewriter.getContext(), sparse.summed));
  ElementsAttr value;
  if (auto resource =
          dyn_cast<DenseResourceElementsAttr>(constant.getValueAttr()))
    value = DenseResourceElementsAttr::get(encoded, resource.getRawHandle());
  else
    value = cast<DenseElementsAttr>(constant.getValueAttr()).reshape(encoded);
  rewriter.setInsertionPoint(constant);
  // What cannot be stored is reported where it is read.
  auto stored =
      ConstantOp::create(rewriter, operand.getOwner()->getLoc(), value);
  if (sparse.mayStayDense)
    stored->setAttr(poly::kMayStayDenseAttr, rewriter.getUnitAttr());
  if (!sparse.format.empty())
    stored->setAttr(poly::kEntriesAttr, rewriter.getStringAttr(sparse.format));
  rewriter.modifyOpInPlace(operand.getOwner(), [&] { operand.set(stored); });
  if (constant.use_empty())
    rewriter.eraseOp(constant);
}

void graph::remarkSparse(const SparseOperand &sparse) {
  remark::passed(sparse.operand->getOwner()->getLoc(),
                 remark::RemarkOpts::name("Sparse").category("graph-sparsify"))
      << remark::metric("Entries", sparse.numEntries)
      << remark::metric("Elements", sparse.numElements)
      << "its products with zero are left out, also those of an element that "
         "is infinite or not a number";
}

namespace {
struct GraphSparsifyPass
    : espalier::graph::impl::GraphSparsifyPassBase<GraphSparsifyPass> {
  using GraphSparsifyPassBase::GraphSparsifyPassBase;

  void runOnOperation() override {
    if (!(maxDensity >= 0) || minElements < 0) {
      getOperation()->emitError("expects a max-density and min-elements of at "
                                "least 0, but got ")
          << maxDensity.getValue() << " and " << minElements.getValue();
      return signalPassFailure();
    }
    poly::EntryFormat known;
    if (std::string fault = poly::readEntryFormat(format, known);
        !format.empty() && !fault.empty()) {
      getOperation()->emitError("expects format to be ") << fault;
      return signalPassFailure();
    }
    IRRewriter rewriter(&getContext());
    for (SparseOperand &operand : findSparseOperands(
             rewriter, getOperation(), {maxDensity, minElements})) {
      operand.format = format;
      operand.mayStayDense = true;
      remarkSparse(operand);
      makeSparse(rewriter, operand);
      ++numSparse;
    }
  }
};
} // namespace
