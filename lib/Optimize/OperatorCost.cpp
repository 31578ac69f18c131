//===- OperatorCost.cpp - Operators' measured costs -----------------------===//

#include "espalier/Optimize/OperatorCost.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Utils/IndexingUtils.h"
#include "mlir/IR/BuiltinDialect.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

/// Another order is tried where a vector has so many times the lanes that a row
/// of the result has elements.
static constexpr int64_t kLostLanes = 2;

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

/// Whether the operator is nothing but a copy in another order.
static bool isCopy(const OperatorInstance &instance) {
  return instance.name == graph::TransposeOp::getOperationName() &&
         hasLayouts(instance);
}

/// Whether some operand lies in another order than the result.
static bool reorders(const OperatorInstance &instance) {
  return hasLayouts(instance) &&
         llvm::any_of(instance.operands, [&](RankedTensorType operand) {
           return operand.getShape() == instance.result.getShape() &&
                  substitution::getLayout(operand) !=
                      substitution::getLayout(instance.result);
         });
}

/// Replaces unknown extents.
static RankedTensorType fix(RankedTensorType type, int64_t extent) {
  SmallVector<int64_t> shape(type.getShape());
  for (int64_t &size : shape)
    if (ShapedType::isDynamic(size))
      size = extent;
  return RankedTensorType::get(shape, type.getElementType(),
                               type.getEncoding());
}

/// Whether the usual order of the operator's operands is with channels last:
/// what is in another order is in rows then.
static bool isOnImages(const OperatorInstance &instance) {
  if (instance.name == graph::MatmulOp::getOperationName())
    return false;
  auto isInRows = [](RankedTensorType type) {
    DenseI64ArrayAttr order = substitution::getLayout(type);
    return order && llvm::is_sorted(order.asArrayRef());
  };
  return !hasLayouts(instance) || beginsKernel(instance.name) ||
         isInRows(instance.result) || llvm::any_of(instance.operands, isInRows);
}

/// The order of a tensor in memory, outermost dimension first.
static SmallVector<int64_t> getLayout(RankedTensorType type, bool isImage) {
  if (DenseI64ArrayAttr order = substitution::getLayout(type))
    return SmallVector<int64_t>(order.asArrayRef());
  int64_t rank = type.getRank();
  SmallVector<int64_t> order = llvm::to_vector(llvm::seq<int64_t>(0, rank));
  if (isImage && rank >= 3)
    std::rotate(order.begin() + 1, order.begin() + 2, order.end());
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
  if (llvm::is_sorted(order))
    return value;
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
  SmallVector<int64_t> order =
      getLayout(type, isOnImages(instance) && !isWeight(instance, number));
  unsigned position = main.getNumArguments();
  (void)main.insertArgument(position, permute(type, order), {}, main.getLoc());
  return transpose(builder, main.getArgument(position),
                   invertPermutationVector(order));
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
  OperatorInstance plain = instance;
  plain.result = withLayout(instance.result, {});
  Value result = isCopy(instance)
                     ? operands[0]
                     : createOperation(builder, loc, plain, operands);
  result = transpose(builder, result,
                     getLayout(instance.result, isOnImages(instance)));
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

/// How many elements of f32 a vector has on the machine that costs are for.
static int64_t getLanes(MLIRContext *context, const CodegenOptions &codegen) {
  auto target = describeMachine(context, codegen);
  if (target)
    return target->getLanes(Float32Type::get(context));
  llvm::consumeError(target.takeError());
  return 1;
}

OperatorCostModel::OperatorCostModel(MLIRContext *context, KernelCost &kernels)
    : context(context), kernels(kernels),
      lanes(getLanes(context, kernels.getOptions().measure.codegen)) {}

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
      if (kernel.work.flops > 0 || isCopy(instance))
        seconds += kernel.numCalls * kernels.getSeconds(kernel);
    return seconds > 0 ? std::optional(seconds) : std::nullopt;
  });
}

double OperatorCostModel::getSeconds(const OperatorInstance &instance) {
  // A function that changes the order of what it reads is no longer part of
  // the kernel before it for nothing.
  if (beginsKernel(instance.name) || reorders(instance))
    if (std::optional<double> seconds = getKernelSeconds(instance))
      return *seconds;
  return analytic.getSeconds(instance);
}

bool OperatorCostModel::mayGainByLayout(
    const OperatorInstance &instance) const {
  // Lanes along few columns or features are lost, and with the operand in
  // another order they are along its rows.
  bool isMatmul = instance.name == graph::MatmulOp::getOperationName();
  if (!isMatmul && instance.name != graph::ConvOp::getOperationName())
    return false;
  ArrayRef<int64_t> shape = instance.result.getShape();
  int64_t columns = isMatmul ? shape.back() : shape[1];
  int64_t rows = isMatmul ? shape.drop_back().back() : shape.back();
  return isWeight(instance, 1) && !ShapedType::isDynamic(columns) &&
         !ShapedType::isDynamic(rows) && rows >= lanes &&
         kLostLanes * columns <= lanes;
}
