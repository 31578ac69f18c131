//===- OperatorCost.cpp - Operators' measured costs -----------------------===//

#include "espalier/Optimize/OperatorCost.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

/// Whether an operator begins a kernel whose time depends on how it is done,
/// and not on memory alone.
static bool beginsKernel(StringRef name) {
  return name == graph::ConvOp::getOperationName() ||
         name == graph::MatmulOp::getOperationName() ||
         name == graph::MaxPoolOp::getOperationName() ||
         name == graph::AvgPoolOp::getOperationName();
}

/// Whether the operand with a number is a weight in the networks that there
/// are: the second one, unless it has a batch.
static bool isWeight(const OperatorInstance &instance, unsigned operand) {
  return operand == 1 &&
         (instance.name == graph::ConvOp::getOperationName() ||
          (instance.name == graph::MatmulOp::getOperationName() &&
           instance.operands[1].getRank() == 2));
}

/// Replaces unknown extents.
static RankedTensorType fix(RankedTensorType type, int64_t extent) {
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size))
      size = extent;
  return RankedTensorType::get(shape, type.getElementType());
}

/// The axes of an image from one order to the other; empty if it is none.
static SmallVector<int64_t> getOrder(RankedTensorType type, bool toLast) {
  int64_t rank = type.getRank();
  if (rank < 3)
    return {};
  SmallVector<int64_t> order = {0};
  if (!toLast)
    order.push_back(rank - 1);
  for (int64_t axis = toLast ? 2 : 1; axis < (toLast ? rank : rank - 1); ++axis)
    order.push_back(axis);
  if (toLast)
    order.push_back(1);
  return order;
}

static RankedTensorType permute(RankedTensorType type,
                                ArrayRef<int64_t> order) {
  SmallVector<int64_t> shape;
  for (int64_t axis : order)
    shape.push_back(type.getDimSize(axis));
  return RankedTensorType::get(shape, type.getElementType());
}

static Value transpose(OpBuilder &builder, Value value,
                       ArrayRef<int64_t> order) {
  return graph::TransposeOp::create(
      builder, value.getLoc(),
      permute(cast<RankedTensorType>(value.getType()), order), value,
      builder.getDenseI64ArrayAttr(order));
}

/// Adds an argument to `main` and returns it as `instance` expects its operand
/// with this number.
static Value addOperand(OpBuilder &builder, func::FuncOp main,
                        const OperatorInstance &instance, unsigned number) {
  RankedTensorType type = instance.operands[number];
  SmallVector<int64_t> order;
  bool isImage = !isWeight(instance, number) &&
                 instance.name != graph::MatmulOp::getOperationName();
  if (isImage)
    order = getOrder(type, /*toLast=*/true);
  unsigned position = main.getNumArguments();
  (void)main.insertArgument(
      position, order.empty() ? type : permute(type, order), {}, main.getLoc());
  Value argument = main.getArgument(position);
  if (order.empty())
    return argument;
  return transpose(builder, argument, getOrder(type, /*toLast=*/false));
}

/// Builds a program that is one operator, with weights as arguments.
static OwningOpRef<ModuleOp> makeProgram(MLIRContext *context,
                                         const OperatorInstance &instance) {
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  OwningOpRef<ModuleOp> module = ModuleOp::create(loc);
  builder.setInsertionPointToEnd(module->getBody());
  auto main = func::FuncOp::create(builder, loc, "main",
                                   builder.getFunctionType({}, {}));
  builder.setInsertionPointToEnd(main.addEntryBlock());
  SmallVector<Value> operands;
  for (unsigned i = 0; i < instance.operands.size(); ++i)
    operands.push_back(addOperand(builder, main, instance, i));
  Value result = createOperation(builder, loc, instance, operands);
  if (instance.name != graph::MatmulOp::getOperationName())
    if (auto order = getOrder(instance.result, /*toLast=*/true); !order.empty())
      result = transpose(builder, result, order);
  func::ReturnOp::create(builder, loc, result);
  (void)main.insertResult(0, result.getType(), {});
  return module;
}

/// Replaces the argument with this number by a constant. Its values are not
/// there: equal elements that are told as such would become part of the code,
/// and different ones would be packed for nothing.
static void makeConstant(ModuleOp module, unsigned number) {
  auto main = module.lookupSymbol<func::FuncOp>("main");
  BlockArgument argument = main.getArgument(number);
  auto type = cast<RankedTensorType>(argument.getType());
  auto &resources =
      DenseResourceElementsHandle::getManagerInterface(module.getContext());
  auto value = DenseResourceElementsAttr::get(type, resources.insert("weight"));
  auto builder = OpBuilder::atBlockBegin(&main.getBody().front());
  argument.replaceAllUsesWith(
      graph::ConstantOp::create(builder, argument.getLoc(), type, value));
  (void)main.eraseArgument(number);
}

/// Returns the kernels that a program of one operator becomes.
static FailureOr<std::vector<ProgramKernel>>
formOwnKernels(ModuleOp module, const OperatorInstance &instance,
               const CodegenOptions &codegen) {
  for (unsigned i = instance.operands.size(); i-- > 0;)
    if (isWeight(instance, i))
      makeConstant(module, i);
  return formKernels(module, codegen);
}

std::optional<double>
OperatorCostModel::getKernelSeconds(const OperatorInstance &instance) {
  ScopedDiagnosticHandler handler(context,
                                  [](Diagnostic &) { return success(); });
  OperatorInstance fixed = instance;
  for (RankedTensorType &type : fixed.operands)
    type = fix(type, machine.assumedExtent);
  fixed.result = fix(fixed.result, machine.assumedExtent);
  OwningOpRef<ModuleOp> program = makeProgram(context, fixed);
  if (failed(verify(*program)))
    return std::nullopt;
  std::string text;
  llvm::raw_string_ostream os(text);
  program->print(os);
  return kernels.getSeconds(text, [&]() -> std::optional<double> {
    auto formed =
        formOwnKernels(*program, fixed, kernels.getOptions().measure.codegen);
    if (failed(formed))
      return std::nullopt;
    // Kernels that only move an image to where the operator reads it do not
    // exist in a network, whose other kernels write it there.
    double seconds = 0;
    for (const ProgramKernel &kernel : *formed)
      if (kernel.work.flops > 0)
        seconds += kernel.numCalls * kernels.getSeconds(kernel);
    return seconds > 0 ? std::optional(seconds) : std::nullopt;
  });
}

double OperatorCostModel::getSeconds(const OperatorInstance &instance) {
  if (beginsKernel(instance.name))
    if (std::optional<double> seconds = getKernelSeconds(instance))
      return *seconds;
  return analytic.getSeconds(instance);
}
