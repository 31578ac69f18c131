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
/// if the operator does not read that operand once, in a sum of products that
/// runs over some of its dimensions and over nothing else.
static std::optional<SmallVector<bool>> findSummed(const Definition &definition,
                                                   unsigned number) {
  unsigned numReads = 0;
  std::optional<SmallVector<bool>> result;
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
      if (e.getKind() != Expr::Kind::Reduce || step.recurrence ||
          e.getReduceKind() != ReduceKind::Sum)
        return;
      Expr factor = findFactor(findFactor, e.getOperands().front());
      if (!factor)
        return;
      llvm::SmallDenseSet<VarId> summed, used;
      for (const IndexVar &var : e.getReduceVars())
        summed.insert(var.id);
      SmallVector<bool> dims;
      for (Expr index : factor.getOperands()) {
        if (index.getKind() != Expr::Kind::Variable ||
            !used.insert(index.getVariable()).second)
          return;
        dims.push_back(summed.erase(index.getVariable()));
      }
      if (summed.empty() && llvm::is_contained(dims, true))
        result = dims;
    });
  return numReads == 1 ? result : std::nullopt;
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

/// The constant that is `operand`, once it is folded.
static ConstantOp getConstant(RewriterBase &rewriter, OpOperand &operand) {
  if (auto transpose = operand.get().getDefiningOp<TransposeOp>())
    if (transpose->getOperand(0).getDefiningOp<ConstantOp>())
      (void)foldConstants(rewriter,
                          cast<DefinedOpInterface>(transpose.getOperation()),
                          std::numeric_limits<uint64_t>::max());
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
      Operation *source = operand.get().getDefiningOp();
      if (!isa_and_nonnull<ConstantOp, TransposeOp>(source))
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
  auto stored = ConstantOp::create(rewriter, constant.getLoc(), value);
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
      remarkSparse(operand);
      makeSparse(rewriter, operand);
      ++numSparse;
    }
  }
};
} // namespace
