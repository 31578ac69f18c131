//===- ChooseSparse.cpp - Which weights are sparse ------------------------===//

#include "espalier/Optimize/ChooseSparse.h"
#include "espalier/Dialect/Graph/Transforms/Transforms.h"
#include "espalier/Dialect/Poly/IR/EntryFormat.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Measurement/ComparePrograms.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/IRMapping.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;

/// Weights of which more are not zero are not worth measuring.
static constexpr SparsifyOptions kMeasured = {/*maxDensity=*/0.6,
                                              /*minElements=*/1024};
/// Stands for results of each row whose number is not known.
static constexpr int64_t kUnknownPoints = 1024;
/// Runs of one operator take so long together.
static constexpr double kCompareSeconds = 0.2;

namespace {

/// One operator by itself, both ways: with the constant's entries in the format
/// that the operand says.
class SparseLayer {
public:
  SparseLayer(const SparseOperand &operand, const OptimizeOptions &options)
      : operand(operand), op(operand.operand->getOwner()), options(options) {}

  /// The formats that are worth measuring.
  static SmallVector<std::string> getFormats(const SparseOperand &operand);

  /// The median times in seconds: dense, then sparse. Nothing, and a reason, if
  /// they cannot be had.
  std::optional<std::pair<double, double>> measure(KernelCost &costs,
                                                   bool mayMeasure);
  /// What its times depend on, but for the place of the entries.
  std::string describe(StringRef form) const;
  StringRef getReason() const { return reason; }

private:
  OwningOpRef<ModuleOp> build(bool isSparse) const;
  std::optional<std::pair<double, double>> compare();

  const SparseOperand &operand;
  Operation *op;
  const OptimizeOptions &options;
  std::string reason;
};

} // namespace

std::string SparseLayer::describe(StringRef form) const {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "sparse layer " << form << ' ' << operand.format << ' ' << op->getName()
     << ' ' << op->getAttrDictionary() << ' ';
  llvm::interleaveComma(op->getOperandTypes(), os);
  os << " operand " << operand.operand->getOperandNumber() << " percent "
     << std::lround(100 * operand.getDensity());
  return text;
}

SmallVector<std::string> SparseLayer::getFormats(const SparseOperand &operand) {
  Operation *op = operand.operand->getOwner();
  int64_t lanes =
      poly::getTarget(op).getLanes(Float32Type::get(op->getContext()));
  int64_t numRows = 1, numPoints = kUnknownPoints;
  auto type = cast<RankedTensorType>(operand.operand->get().getType());
  for (auto [dim, isSummed] : llvm::enumerate(operand.summed))
    numRows *= isSummed ? 1 : std::max<int64_t>(type.getDimSize(dim), 1);
  auto result = dyn_cast<RankedTensorType>(op->getResult(0).getType());
  if (result && result.hasStaticShape())
    numPoints = result.getNumElements() / numRows;
  SmallVector<std::string> formats{"each:1"};
  auto add = [&](poly::EntryLists lists, int64_t rows) {
    if (numRows % rows == 0)
      formats.push_back(poly::EntryFormat{lists, rows}.str());
    return numRows % rows == 0;
  };
  if (numPoints == 1) { // Rows alone fill lanes.
    add(poly::EntryLists::Each, lanes);
    return formats;
  }
  bool hasLarge =
      add(poly::EntryLists::Subsets, 4) || add(poly::EntryLists::Subsets, 3);
  if (!hasLarge || numRows % 4 == 0)
    add(poly::EntryLists::Subsets, 2);
  add(poly::EntryLists::Union, 4);
  return formats;
}

OwningOpRef<ModuleOp> SparseLayer::build(bool isSparse) const {
  MLIRContext *context = op->getContext();
  OwningOpRef<ModuleOp> module = ModuleOp::create(op->getLoc());
  if (Operation *parent = op->getParentOfType<ModuleOp>())
    (*module)->setDiscardableAttrs(parent->getDiscardableAttrDictionary());
  OpBuilder builder(context);
  builder.setInsertionPointToEnd(module->getBody());
  SmallVector<Value> inputs;
  for (Value value : op->getOperands())
    if (!value.getDefiningOp<ConstantOp>() &&
        !llvm::is_contained(inputs, value))
      inputs.push_back(value);
  if (!llvm::all_of(ValueRange(inputs).getTypes(),
                    llvm::IsaPred<RankedTensorType>))
    return {};
  auto main = func::FuncOp::create(
      builder, op->getLoc(), "main",
      builder.getFunctionType(ValueRange(inputs).getTypes(),
                              op->getResultTypes()));
  Block *body = main.addEntryBlock();
  builder.setInsertionPointToEnd(body);
  IRMapping mapping;
  mapping.map(inputs, body->getArguments());
  for (Value value : op->getOperands())
    if (Operation *constant = value.getDefiningOp<ConstantOp>())
      builder.clone(*constant, mapping);
  Operation *copy = builder.clone(*op, mapping);
  func::ReturnOp::create(builder, op->getLoc(), copy->getResults());
  if (isSparse) {
    IRRewriter rewriter(context);
    SparseOperand own = operand;
    own.operand = &copy->getOpOperand(operand.operand->getOperandNumber());
    makeSparse(rewriter, own);
  }
  return module;
}

std::optional<std::pair<double, double>> SparseLayer::compare() {
  CodegenOptions codegen = options.cost.measure.codegen;
  codegen.pipeline.sparse = false;
  // A format may not be for this sum.
  ScopedDiagnosticHandler silent(op->getContext(),
                                 [](Diagnostic &) { return success(); });
  std::vector<CompiledProgram> programs;
  for (bool isSparse : {false, true}) {
    OwningOpRef<ModuleOp> module = build(isSparse);
    FailureOr<CompiledProgram> program =
        module ? compileModule(*module, codegen)
               : FailureOr<CompiledProgram>(failure());
    if (failed(program)) {
      reason = module ? "it does not compile by itself"
                      : "it depends on what is no tensor";
      return std::nullopt;
    }
    programs.push_back(std::move(*program));
  }
  CompareOptions compare = options.compare;
  compare.seconds = kCompareSeconds;
  auto result = comparePrograms(programs[0], programs[1], compare);
  if (!result) {
    reason = llvm::toString(result.takeError());
    return std::nullopt;
  }
  return std::pair(result->first, result->second);
}

std::optional<std::pair<double, double>> SparseLayer::measure(KernelCost &costs,
                                                              bool mayMeasure) {
  std::optional<std::pair<double, double>> both;
  auto compute = [&]() -> std::optional<std::pair<double, double>> {
    if (!both && reason.empty() && mayMeasure)
      both = compare();
    return both;
  };
  std::optional<double> dense =
      costs.getSeconds(describe("dense"), [&]() -> std::optional<double> {
        auto times = compute();
        return times ? std::optional(times->first) : std::nullopt;
      });
  std::optional<double> sparse =
      costs.getSeconds(describe("sparse"), [&]() -> std::optional<double> {
        auto times = compute();
        return times ? std::optional(times->second) : std::nullopt;
      });
  if (!dense || !sparse)
    return std::nullopt;
  return std::pair(*dense, *sparse);
}

FailureOr<llvm::json::Array>
espalier::chooseSparse(ModuleOp module, const OptimizeOptions &options) {
  module.getContext()->loadDialect<sparse_tensor::SparseTensorDialect>();
  std::string warning;
  KernelCost costs(module.getContext(), options.cost,
                   [&](const std::string &text) { warning = text; });
  IRRewriter rewriter(module.getContext());
  auto begin = std::chrono::steady_clock::now();
  llvm::json::Array report;
  for (SparseOperand &operand :
       findSparseOperands(rewriter, module, kMeasured)) {
    Operation *op = operand.operand->getOwner();
    auto name = op->getLoc()->findInstanceOf<NameLoc>();
    llvm::json::Object entry{
        {"node", name ? name.getName() : op->getName().getStringRef()},
        {"density", operand.getDensity()}};
    if (options.cost.measure.codegen.mustStop())
      return module.emitError("the choice was interrupted");
    std::optional<std::pair<double, double>> times;
    std::string reason;
    for (const std::string &format : SparseLayer::getFormats(operand)) {
      SparseOperand stored = operand;
      stored.format = format;
      SparseLayer layer(stored, options);
      std::chrono::duration<double> spent =
          std::chrono::steady_clock::now() - begin;
      auto both = layer.measure(costs, spent.count() < options.cost.budget);
      if (!both && reason.empty())
        reason = layer.getReason();
      // Each was measured in turns with the dense one.
      if (both && (!times ||
                   both->second * times->first < times->second * both->first)) {
        times = both;
        operand.format = format;
      }
    }
    bool isSparse = times && times->second < times->first;
    if (times) {
      entry["dense_s"] = times->first;
      entry["sparse_s"] = times->second;
      entry["format"] = operand.format;
    } else {
      entry["reason"] = reason.empty() ? "no time is left" : reason;
    }
    entry["choice"] = isSparse ? "sparse" : "dense";
    report.push_back(std::move(entry));
    if (isSparse) {
      remarkSparse(operand);
      makeSparse(rewriter, operand);
    }
  }
  if (!warning.empty())
    module.emitWarning(warning);
  return report;
}
