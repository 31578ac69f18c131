//===- ChooseSparse.cpp - Which weights are sparse ------------------------===//

#include "espalier/Optimize/ChooseSparse.h"
#include "espalier/Dialect/Graph/Transforms/Transforms.h"
#include "espalier/Dialect/Poly/IR/EntryFormat.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Measurement/ComparePrograms.h"
#include "espalier/Pipeline/Pipeline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/SparseTensor/IR/SparseTensor.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/FormatVariadic.h"

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
  /// Why sums cannot run over the entries; empty if they can, or if the
  /// operator is none by itself.
  std::string findFault() const;
  /// What its times depend on, but for the place of the entries.
  std::string describe(StringRef form) const;
  StringRef getReason() const { return reason; }

private:
  OwningOpRef<ModuleOp> build(bool isSparse) const;
  /// Entries that are asked for are stored, and no others.
  PipelineOptions getPipeline() const {
    PipelineOptions pipeline = options.cost.measure.codegen.pipeline;
    pipeline.sparse = false;
    pipeline.entries = true;
    return pipeline;
  }
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
  // A model, say, that is not there.
  if (llvm::any_of(op->getAttrDictionary(), [](NamedAttribute attribute) {
        return isa<SymbolRefAttr>(attribute.getValue());
      }))
    return {};
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
    own.mayStayDense = false; // Else both times would be of dense weights.
    own.operand = &copy->getOpOperand(operand.operand->getOperandNumber());
    makeSparse(rewriter, own);
  }
  return module;
}

std::string SparseLayer::findFault() const {
  std::string fault;
  ScopedDiagnosticHandler silent(op->getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      fault = diagnostic.str();
    return success();
  });
  OwningOpRef<ModuleOp> module = build(/*isSparse=*/true);
  if (!module ||
      succeeded(compileToStage(*module, Stage::Statements, getPipeline())))
    return "";
  return fault;
}

std::optional<std::pair<double, double>> SparseLayer::compare() {
  CodegenOptions codegen = options.cost.measure.codegen;
  codegen.pipeline = getPipeline();
  // Entries, or a format, may not be for this sum.
  std::string fault = "it does not compile by itself";
  ScopedDiagnosticHandler silent(op->getContext(), [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      fault = diagnostic.str();
    return success();
  });
  std::vector<CompiledProgram> programs;
  for (bool isSparse : {false, true}) {
    OwningOpRef<ModuleOp> module = build(isSparse);
    FailureOr<CompiledProgram> program =
        module ? compileModule(*module, codegen)
               : FailureOr<CompiledProgram>(failure());
    if (failed(program)) {
      reason =
          module ? fault : "it depends on a model, or on what is no tensor";
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

namespace {

/// Chooses for one operator after the other, and says what it chose.
class SparseChooser {
public:
  SparseChooser(ModuleOp module, const OptimizeOptions &options,
                const SparseChoices &choices)
      : module(module), options(options), choices(choices),
        costs(module.getContext(), options.cost,
              [&](const std::string &text) { warning = text; }),
        rewriter(module.getContext()) {}

  FailureOr<llvm::json::Array> run();

private:
  /// Finds the choice for each operand, by the names of nodes. Reports a choice
  /// that is about none or about other weights, and an operand that needs one.
  LogicalResult findNamed();
  /// Measures `operand` in formats that are worth it, and sets the fastest.
  /// Returns whether that beats the dense way.
  bool isFaster(SparseOperand &operand, llvm::json::Object &entry);

  ModuleOp module;
  const OptimizeOptions &options;
  const SparseChoices &choices;
  std::string warning;
  KernelCost costs;
  IRRewriter rewriter;
  std::chrono::steady_clock::time_point begin =
      std::chrono::steady_clock::now();
  SmallVector<SparseOperand> operands;
  std::vector<std::string> nodes;                ///< Of the operands.
  std::vector<const SparseChoice *> namedChoice; ///< Null if there is none.
};

} // namespace

/// Whether weights may be chosen to be sparse without being named.
static bool isLookedAt(const SparseOperand &operand) {
  return operand.getDensity() <= kMeasured.maxDensity &&
         operand.numElements >= kMeasured.minElements;
}

/// The first of these names, in quotes, for a message.
static std::string list(ArrayRef<std::string> names) {
  constexpr size_t kMost = 8;
  std::string text;
  for (const std::string &name : names.take_front(kMost))
    text += (text.empty() ? "'" : ", '") + name + "'";
  if (names.size() > kMost)
    text += " and " + std::to_string(names.size() - kMost) + " more";
  return text.empty() ? "none" : text;
}

/// Whether `choice` may be about the weights of `operand`. Reports it if not.
static LogicalResult checkDensity(const SparseOperand &operand,
                                  const SparseChoice &choice) {
  if (!choice.density ||
      std::llround(*choice.density * operand.numElements) == operand.numEntries)
    return success();
  return operand.operand->getOwner()->emitError()
         << llvm::formatv(
                "node '{0}': expects a choice for these weights, of which {1} "
                "of {2} elements are not zero, a density of {3}, but got one "
                "for a density of {4}; without a density, a choice is for any "
                "weights",
                choice.node, operand.numEntries, operand.numElements,
                llvm::json::Value(operand.getDensity()),
                llvm::json::Value(*choice.density))
                .str();
}

LogicalResult SparseChooser::findNamed() {
  llvm::StringMap<unsigned> numbers;
  for (const SparseOperand &operand : operands) {
    Operation *op = operand.operand->getOwner();
    auto location = op->getLoc()->findInstanceOf<NameLoc>();
    std::string base =
        (location ? location.getName() : op->getName().getStringRef()).str();
    std::string name = base;
    for (unsigned again = 2; numbers.contains(name); ++again)
      name = base + "#" + std::to_string(again);
    numbers[name] = nodes.size();
    nodes.push_back(name);
  }
  namedChoice.assign(nodes.size(), nullptr);
  for (const SparseChoice &choice : choices.named) {
    auto found = numbers.find(choice.node);
    if (found == numbers.end())
      return module.emitError("expects choices of sparse or dense weights for "
                              "nodes that multiply by constants, which are ")
             << list(nodes) << ", but got '" << choice.node << "'";
    if (failed(checkDensity(operands[found->second], choice)))
      return failure();
    namedChoice[found->second] = &choice;
  }
  std::vector<std::string> missing;
  for (auto [operand, name, choice] :
       llvm::zip_equal(operands, nodes, namedChoice))
    if (!choice && isLookedAt(operand))
      missing.push_back(name);
  if (choices.others == OtherWeights::Refused && !missing.empty())
    return module.emitError("expects a choice of sparse or dense weights for "
                            "each node whose weights might be sparse, but "
                            "there is none for ")
           << list(missing);
  return success();
}

bool SparseChooser::isFaster(SparseOperand &operand,
                             llvm::json::Object &entry) {
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
    if (both &&
        (!times || both->second * times->first < times->second * both->first)) {
      times = both;
      operand.format = format;
    }
  }
  if (times) {
    entry["dense_s"] = times->first;
    entry["sparse_s"] = times->second;
    entry["format"] = operand.format;
  } else {
    entry["reason"] = reason.empty() ? "no time is left" : reason;
  }
  return times && times->second < times->first;
}

FailureOr<llvm::json::Array> SparseChooser::run() {
  operands = findSparseOperands(rewriter, module,
                                {/*maxDensity=*/1, /*minElements=*/0});
  if (failed(findNamed()))
    return failure();
  // What has the fewest entries gains most, so time is spent on it first.
  auto order = llvm::to_vector(llvm::seq<size_t>(0, operands.size()));
  llvm::stable_sort(order, [&](size_t a, size_t b) {
    return operands[a].getDensity() < operands[b].getDensity();
  });
  std::map<size_t, llvm::json::Object> entries;
  for (size_t number : order) {
    SparseOperand &operand = operands[number];
    const SparseChoice *choice = namedChoice[number];
    if (options.cost.measure.codegen.mustStop())
      return module.emitError("the choice was interrupted");
    if (!choice && !isLookedAt(operand))
      continue;
    llvm::json::Object &entry = entries[number];
    entry["node"] = nodes[number];
    entry["density"] = operand.getDensity();
    bool isSparse = false;
    operand.mayStayDense = !choice;
    if (choice) {
      isSparse = choice->isSparse;
      operand.format = choice->format;
      entry["reason"] = "it was asked for";
      if (!operand.format.empty())
        entry["format"] = operand.format;
    } else if (choices.others == OtherWeights::Faster) {
      isSparse = isFaster(operand, entry);
    } else if (choices.others == OtherWeights::Few) {
      double most = SparsifyOptions().maxDensity;
      isSparse = operand.getDensity() <= most;
      std::string fault =
          isSparse ? SparseLayer(operand, options).findFault() : "";
      entry["reason"] = fault.empty()
                            ? (isSparse ? "at most " : "more than ") +
                                  std::to_string(std::lround(100 * most)) +
                                  "% are not zero"
                            : fault;
      isSparse &= fault.empty();
    } else {
      entry["reason"] = "nothing else was asked for";
    }
    entry["choice"] = isSparse ? "sparse" : "dense";
    if (isSparse) {
      remarkSparse(operand);
      makeSparse(rewriter, operand);
    }
  }
  if (!warning.empty())
    module.emitWarning(warning);
  llvm::json::Array report;
  for (auto &[number, entry] : entries)
    report.push_back(std::move(entry));
  return report;
}

FailureOr<llvm::json::Array>
espalier::chooseSparse(ModuleOp module, const OptimizeOptions &options,
                       const SparseChoices &choices) {
  module.getContext()->loadDialect<sparse_tensor::SparseTensorDialect>();
  // What is computed of constants alone is a constant.
  PassManager manager(module.getContext());
  manager.addPass(createCanonicalizerPass());
  if (failed(manager.run(module)))
    return failure();
  return SparseChooser(module, options, choices).run();
}
