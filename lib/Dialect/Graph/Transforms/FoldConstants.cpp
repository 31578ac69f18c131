//===- FoldConstants.cpp - Evaluates operators on constants ---------------===//

#include "espalier/Dialect/Graph/IR/RepeatsBody.h"
#include "espalier/Dialect/Graph/Transforms/Passes.h"
#include "espalier/Dialect/Graph/Transforms/Transforms.h"
#include "espalier/Interpreter/Interpreter.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/Remarks.h"

namespace espalier::graph {
#define GEN_PASS_DEF_GRAPHFOLDCONSTANTSPASS
#include "espalier/Dialect/Graph/Transforms/Passes.h.inc"
} // namespace espalier::graph

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using espalier::interpreter::Tensor;

static constexpr llvm::StringLiteral kRemarkCategory = "graph-fold-constants";

/// Below this size, results may be as large as they like compared to operands.
static constexpr uint64_t kSmallBytes = 1 << 16;
static constexpr uint64_t kMaxGrowth = 10;

/// Reports that a result is too large to be worth computing now.
static void remarkTooLarge(Operation *op, uint64_t bytes, uint64_t maxBytes) {
  remark::missed(op->getLoc(),
                 remark::RemarkOpts::name("TooLarge").category(kRemarkCategory))
      << remark::metric("Bytes", bytes) << remark::metric("MaxBytes", maxBytes);
}

static bool isSplat(Attribute value) {
  auto elements = dyn_cast<DenseElementsAttr>(value);
  return elements && elements.isSplat();
}

/// Whether `op` is in a body that has constants of one value alone.
static bool isRepeated(Operation *op) {
  while ((op = op->getParentOp()))
    if (op->hasTrait<graph::OpTrait::RepeatsBody>())
      return true;
  return false;
}

LogicalResult graph::foldConstants(RewriterBase &rewriter,
                                   DefinedOpInterface op, uint64_t maxBytes) {
  SmallVector<Tensor> operands;
  SmallVector<std::optional<int64_t>> parameters;
  uint64_t operandBytes = 0;
  for (Value operand : op.getTensorOperands()) {
    auto constant = operand.getDefiningOp<ConstantOp>();
    if (!constant)
      return rewriter.notifyMatchFailure(op, "an operand is no constant");
    FailureOr<Tensor> value = Tensor::get(constant.getValueAttr());
    if (failed(value))
      return rewriter.notifyMatchFailure(op, "a constant has no bytes");
    operandBytes += value->getBytes().size();
    operands.push_back(*value);
  }
  for (Value operand : op.getParameterOperands()) {
    APInt value;
    if (!matchPattern(operand, m_ConstantInt(&value)))
      return rewriter.notifyMatchFailure(op, "a size is no constant");
    parameters.push_back(value.getSExtValue());
  }

  definition::Definition definition = op.getVerifiedDefinition();
  uint64_t limit =
      std::min(maxBytes, std::max(kSmallBytes, operandBytes * kMaxGrowth));
  for (RankedTensorType type : definition::inferResultTypes(
           definition, op.getTensorOperandTypes(), parameters)) {
    std::optional<size_t> bytes = interpreter::getDenseBytes(type);
    if (bytes && *bytes <= limit)
      continue;
    remarkTooLarge(op, bytes.value_or(UINT64_MAX), limit);
    return rewriter.notifyMatchFailure(op, "a result is too large");
  }

  SmallVector<int64_t> known;
  for (std::optional<int64_t> parameter : parameters)
    known.push_back(*parameter);
  FailureOr<SmallVector<Tensor>> results = interpreter::evaluate(
      definition, operands, known, [](const Twine &) {},
      interpreter::Rounding::Functions);
  if (failed(results))
    return rewriter.notifyMatchFailure(op, "the operands do not fit together");
  rewriter.setInsertionPoint(op);
  for (auto [value, result] : llvm::zip_equal(op->getResults(), *results))
    if (value.getType() != result.getType())
      return rewriter.notifyMatchFailure(op, "a result has a vaguer type");
  auto values = llvm::map_to_vector(
      *results, [](const Tensor &result) { return result.toAttribute(); });
  if (isRepeated(op) && !llvm::all_of(values, isSplat))
    return rewriter.notifyMatchFailure(op, "a result has several values");
  uint64_t bytes = 0;
  for (const Tensor &result : *results)
    bytes += result.getBytes().size();
  remark::passed(op->getLoc(),
                 remark::RemarkOpts::name("Folded").category(kRemarkCategory))
      << remark::metric("Bytes", bytes);
  SmallVector<Value> constants;
  for (ElementsAttr value : values)
    constants.push_back(ConstantOp::create(rewriter, op.getLoc(), value));
  rewriter.replaceOp(op, constants);
  return success();
}

namespace {
struct GraphFoldConstantsPass
    : espalier::graph::impl::GraphFoldConstantsPassBase<
          GraphFoldConstantsPass> {
  using GraphFoldConstantsPassBase::GraphFoldConstantsPassBase;

  void runOnOperation() override {
    IRRewriter rewriter(&getContext());
    getOperation()->walk([&](DefinedOpInterface op) {
      if (failed(foldConstants(rewriter, op, maxBytes)))
        return;
      ++numFolded;
    });
    // Constants that only folded operators used.
    getOperation()->walk([&](ConstantOp op) {
      if (op.use_empty())
        rewriter.eraseOp(op);
    });
  }
};
} // namespace
