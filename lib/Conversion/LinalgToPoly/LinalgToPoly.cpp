//===- LinalgToPoly.cpp - From linalg on tensors to kernels ---------------===//

#include "Groups.h"
#include "espalier/Conversion/LoopsToProgram/ProgramBuilder.h"
#include "espalier/Conversion/LoopsToProgram/VerifyEncodings.h"
#include "espalier/Conversion/Passes.h"
#include "espalier/Dialect/Poly/IR/ChoiceAttributes.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Arith/Utils/Utils.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

namespace espalier {
#define GEN_PASS_DEF_CONVERTLINALGTOPOLYPASS
#include "espalier/Conversion/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;
using namespace espalier::linalgtopoly;

namespace {

/// Converts one function, operation by operation, in their order.
class FunctionConverter {
public:
  explicit FunctionConverter(func::FuncOp original, unsigned &numKernels,
                             unsigned &numGlobals)
      : original(original), module(original->getParentOfType<ModuleOp>()),
        functions(original), numKernels(numKernels), numGlobals(numGlobals),
        builder(original) {}

  LogicalResult run();

private:
  void makeMain();
  LogicalResult convert(Operation &op);
  LogicalResult convertStructured(linalg::LinalgOp op);
  LogicalResult convertConstant(arith::ConstantOp op);
  LogicalResult convertReturn(func::ReturnOp op);
  LogicalResult convertScalar(Operation &op);
  LogicalResult convertReshape(Operation &op);
  LogicalResult convertMove(Operation &op);
  /// The function that computes the extents of the outputs.
  void makePlan();

  MemRefType getMemRefType(Type tensor) {
    auto type = cast<RankedTensorType>(tensor);
    return MemRefType::get(type.getShape(),
                           getStoredType(type.getElementType()));
  }
  OpFoldResult getSize(OpFoldResult size) {
    auto value = dyn_cast<Value>(size);
    return value ? OpFoldResult(scalars.lookup(value)) : size;
  }
  /// The extent of an argument of the new function.
  OpFoldResult getArgumentSize(Value argument, int64_t dim);
  OpFoldResult getProduct(ArrayRef<OpFoldResult> sizes);
  OpFoldResult addSizes(OpFoldResult lhs, OpFoldResult rhs);
  /// Memory for a value of this type: that of the output that it becomes, or
  /// new memory.
  Value makeBuffer(Value result, const Tensor &tensor);
  /// The memory that holds `value`; fills it first if need be.
  FailureOr<Value> getBuffer(Value value);
  LogicalResult callKernel(const Group &group);
  Value toValue(OpFoldResult size) {
    return getValueOrCreateConstantIndexOp(body, original.getLoc(), size);
  }

  func::FuncOp original, main;
  ModuleOp module;
  ProgramBuilder functions;
  unsigned &numKernels, &numGlobals;
  OpBuilder builder; ///< Before the function.
  OpBuilder body{builder.getContext()};
  TensorMap tensors;
  IRMapping scalars;
  llvm::DenseMap<Operation *, Group> groups; ///< By last operation.
  llvm::DenseMap<Value, unsigned> outputOf;
  SmallVector<SmallVector<OpFoldResult>> outputSizes;
};

} // namespace

//===----------------------------------------------------------------------===//
// The function
//===----------------------------------------------------------------------===//

/// What a function must be to become a program.
static LogicalResult checkSignature(func::FuncOp original) {
  if (!original.getBody().hasOneBlock())
    return original.emitError("expects a function of one block");
  for (TypeRange types : {TypeRange(original.getArgumentTypes()),
                          TypeRange(original.getResultTypes())})
    for (Type type : types)
      if (!isa<RankedTensorType>(type))
        return original.emitError("expects tensors with a rank as arguments "
                                  "and results, but got ")
               << type;
  return success();
}

void FunctionConverter::makeMain() {
  main = functions.makeMain(builder);
  body.setInsertionPointToEnd(&main.getBody().front());

  for (auto [from, to] :
       llvm::zip(original.getArguments(), main.getArguments())) {
    Tensor tensor;
    tensor.buffer = to;
    for (int64_t dim : llvm::seq(cast<ShapedType>(to.getType()).getRank()))
      tensor.sizes.push_back(getArgumentSize(to, dim));
    tensors[from] = tensor;
  }
}

OpFoldResult FunctionConverter::getArgumentSize(Value argument, int64_t dim) {
  auto type = cast<MemRefType>(argument.getType());
  if (!type.isDynamicDim(dim))
    return builder.getIndexAttr(type.getDimSize(dim));
  return memref::DimOp::create(body, original.getLoc(), argument, dim)
      .getResult();
}

OpFoldResult FunctionConverter::getProduct(ArrayRef<OpFoldResult> sizes) {
  int64_t known = 1;
  Value product;
  for (OpFoldResult size : sizes) {
    if (std::optional<int64_t> number = getConstantIntValue(size)) {
      known *= *number;
      continue;
    }
    product = product ? arith::MulIOp::create(body, original.getLoc(), product,
                                              cast<Value>(size))
                      : cast<Value>(size);
  }
  OpFoldResult constant = body.getIndexAttr(known);
  if (!product || known == 1)
    return product ? OpFoldResult(product) : constant;
  return arith::MulIOp::create(body, original.getLoc(), product,
                               toValue(constant))
      .getResult();
}

Value FunctionConverter::makeBuffer(Value result, const Tensor &tensor) {
  auto it = outputOf.find(result);
  if (it != outputOf.end())
    return main.getArgument(original.getNumArguments() + it->second);
  MemRefType type = getMemRefType(result.getType());
  SmallVector<Value> operands;
  for (auto [size, extent] : llvm::zip_equal(tensor.sizes, type.getShape()))
    if (ShapedType::isDynamic(extent))
      operands.push_back(toValue(size));
  return memref::AllocOp::create(body, result.getLoc(), type, operands,
                                 body.getI64IntegerAttr(kBufferAlignment));
}

//===----------------------------------------------------------------------===//
// Operations
//===----------------------------------------------------------------------===//

LogicalResult FunctionConverter::callKernel(const Group &group) {
  linalg::LinalgOp last = group.back();
  SmallVector<Value> destinations;
  for (auto [result, init] :
       llvm::zip_equal(last->getResults(), last.getDpsInits()))
    destinations.push_back(makeBuffer(result, tensors[init]));
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(main);
  FailureOr<EmittedKernel> emitted =
      emitKernel(group, tensors, destinations, scalars,
                 "kernel_" + llvm::utostr(numKernels++), builder);
  if (failed(emitted))
    return failure();
  poly::CallOp::create(body, last.getLoc(), emitted->kernel,
                       emitted->arguments);
  for (auto [result, destination] :
       llvm::zip_equal(last->getResults(), destinations))
    tensors[result].buffer = destination;
  return success();
}

LogicalResult FunctionConverter::convertStructured(linalg::LinalgOp op) {
  for (auto [result, init] :
       llvm::zip_equal(op->getResults(), op.getDpsInits()))
    tensors[result].sizes = tensors[init].sizes;
  if (auto fill = dyn_cast<linalg::FillOp>(op.getOperation())) {
    tensors[op->getResult(0)].fill = fill.value();
    return success();
  }
  auto it = groups.find(op);
  if (it == groups.end())
    return success(); // Emitted with the last of its group.
  return callKernel(it->second);
}

LogicalResult FunctionConverter::convertConstant(arith::ConstantOp op) {
  auto type = dyn_cast<RankedTensorType>(op.getType());
  if (!type)
    return convertScalar(*op);
  auto value = cast<ElementsAttr>(op.getValue());
  MemRefType memref = getMemRefType(type);
  if (type.getElementType().isInteger(1)) {
    SmallVector<int8_t> bytes;
    for (bool bit : value.getValues<bool>())
      bytes.push_back(bit);
    value = DenseElementsAttr::get(
        RankedTensorType::get(memref.getShape(), memref.getElementType()),
        ArrayRef<int8_t>(bytes));
  }
  std::string name = "constant_" + llvm::utostr(numGlobals++);
  OpBuilder top = OpBuilder::atBlockBegin(module.getBody());
  memref::GlobalOp::create(
      top, op.getLoc(), name, body.getStringAttr("private"), memref, value,
      /*constant=*/true, body.getI64IntegerAttr(kBufferAlignment));
  Tensor tensor;
  tensor.buffer = memref::GetGlobalOp::create(body, op.getLoc(), memref, name);
  for (int64_t extent : type.getShape())
    tensor.sizes.push_back(body.getIndexAttr(extent));
  tensors[op.getResult()] = tensor;
  return success();
}

/// Views of the operand's memory. What has none, because it is filled or
/// undefined, stays so under its new sizes.
LogicalResult FunctionConverter::convertReshape(Operation &op) {
  Location loc = op.getLoc();
  const Tensor source = tensors[op.getOperand(0)];
  Tensor tensor = source;
  MemRefType type = getMemRefType(op.getResult(0).getType());
  if (auto expand = dyn_cast<tensor::ExpandShapeOp>(op)) {
    tensor.sizes.clear();
    for (OpFoldResult size : expand.getMixedOutputShape())
      tensor.sizes.push_back(getSize(size));
    if (source.buffer)
      tensor.buffer = memref::ExpandShapeOp::create(
          body, loc, type.getShape(), source.buffer,
          expand.getReassociationIndices(), tensor.sizes);
  } else if (auto collapse = dyn_cast<tensor::CollapseShapeOp>(op)) {
    tensor.sizes.clear();
    for (const ReassociationIndices &dims : collapse.getReassociationIndices())
      tensor.sizes.push_back(getProduct(llvm::map_to_vector(
          dims, [&](int64_t dim) { return source.sizes[dim]; })));
    if (source.buffer)
      tensor.buffer = memref::CollapseShapeOp::create(
          body, loc, source.buffer, collapse.getReassociationIndices());
  } else if (source.buffer) {
    tensor.buffer = memref::CastOp::create(body, loc, type, source.buffer);
  }
  tensors[op.getResult(0)] = tensor;
  return success();
}

OpFoldResult FunctionConverter::addSizes(OpFoldResult lhs, OpFoldResult rhs) {
  std::optional<int64_t> left = getConstantIntValue(lhs);
  std::optional<int64_t> right = getConstantIntValue(rhs);
  if (left && right)
    return body.getIndexAttr(*left + *right);
  if (left == 0)
    return rhs;
  if (right == 0)
    return lhs;
  return arith::AddIOp::create(body, original.getLoc(), toValue(lhs),
                               toValue(rhs))
      .getResult();
}

LogicalResult FunctionConverter::convertMove(Operation &op) {
  Value result = op.getResult(0);
  Tensor tensor;
  if (auto pad = dyn_cast<tensor::PadOp>(op)) {
    for (auto [size, low, high] :
         llvm::zip_equal(tensors[pad.getSource()].sizes, pad.getMixedLowPad(),
                         pad.getMixedHighPad()))
      tensor.sizes.push_back(
          addSizes(addSizes(size, getSize(low)), getSize(high)));
  } else if (auto slice = dyn_cast<tensor::ExtractSliceOp>(op)) {
    llvm::SmallBitVector dropped = slice.getDroppedDims();
    for (auto [dim, size] : llvm::enumerate(slice.getMixedSizes()))
      if (!dropped.test(dim))
        tensor.sizes.push_back(getSize(size));
  } else if (auto slice = dyn_cast<tensor::InsertSliceOp>(op)) {
    tensor.sizes = tensors[slice.getDest()].sizes;
  } else {
    auto concat = cast<tensor::ConcatOp>(op);
    tensor.sizes = tensors[concat.getInputs().front()].sizes;
    OpFoldResult &size = tensor.sizes[concat.getDim()];
    for (Value input : concat.getInputs().drop_front())
      size = addSizes(size, tensors[input].sizes[concat.getDim()]);
  }
  tensors[result] = tensor;
  Value destination = makeBuffer(result, tensor);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPoint(main);
  FailureOr<EmittedKernel> emitted =
      emitMoves(&op, tensors, destination, scalars,
                "kernel_" + llvm::utostr(numKernels++), builder);
  if (failed(emitted))
    return failure();
  poly::CallOp::create(body, op.getLoc(), emitted->kernel, emitted->arguments);
  tensors[result].buffer = destination;
  return success();
}

LogicalResult FunctionConverter::convertScalar(Operation &op) {
  auto isScalar = [](Type type) { return type.isIntOrIndexOrFloat(); };
  if (!isPure(&op) || op.getNumRegions() != 0 ||
      !llvm::all_of(op.getOperandTypes(), isScalar) ||
      !llvm::all_of(op.getResultTypes(), isScalar))
    return op.emitError("expects an operation of linalg, or one that gives a "
                        "constant, a shape or a scalar, but got ")
           << op.getName();
  body.clone(op, scalars);
  return success();
}

LogicalResult FunctionConverter::convert(Operation &op) {
  return llvm::TypeSwitch<Operation *, LogicalResult>(&op)
      .Case([&](linalg::LinalgOp structured) {
        return convertStructured(structured);
      })
      .Case(
          [&](arith::ConstantOp constant) { return convertConstant(constant); })
      .Case([&](func::ReturnOp ret) { return convertReturn(ret); })
      .Case([&](tensor::EmptyOp empty) {
        for (OpFoldResult size : empty.getMixedSizes())
          tensors[empty].sizes.push_back(getSize(size));
        return success();
      })
      .Case([&](tensor::DimOp dim) -> LogicalResult {
        std::optional<int64_t> index = dim.getConstantIndex();
        auto it = tensors.find(dim.getSource());
        if (!index || it == tensors.end() || *index < 0 ||
            *index >= static_cast<int64_t>(it->second.sizes.size()))
          return dim.emitError("expects the number of a dimension");
        scalars.map(dim.getResult(), toValue(it->second.sizes[*index]));
        return success();
      })
      .Case<tensor::CastOp, tensor::ExpandShapeOp, tensor::CollapseShapeOp>(
          [&](auto reshape) { return convertReshape(*reshape); })
      .Case<tensor::PadOp, tensor::ExtractSliceOp, tensor::InsertSliceOp,
            tensor::ConcatOp>([&](auto move) { return convertMove(*move); })
      .Default([&](Operation *other) { return convertScalar(*other); });
}

/// What is filled, but needed in memory, gets a kernel of its own.
FailureOr<Value> FunctionConverter::getBuffer(Value value) {
  Tensor &tensor = tensors[value];
  if (tensor.buffer)
    return tensor.buffer;
  auto fill = value.getDefiningOp<linalg::FillOp>();
  if (!fill) {
    emitError(value.getLoc(), "expects a tensor with defined elements, but got "
                              "a tensor.empty");
    return failure();
  }
  if (failed(callKernel({cast<linalg::LinalgOp>(value.getDefiningOp())})))
    return failure();
  return tensors[value].buffer;
}

LogicalResult FunctionConverter::convertReturn(func::ReturnOp op) {
  for (auto [number, value] : llvm::enumerate(op.getOperands())) {
    FailureOr<Value> buffer = getBuffer(value);
    if (failed(buffer))
      return failure();
    outputSizes.push_back(tensors[value].sizes);
    Value argument = main.getArgument(original.getNumArguments() + number);
    if (*buffer == argument)
      continue;
    Value source = *buffer;
    if (source.getType() != argument.getType())
      source =
          memref::CastOp::create(body, op.getLoc(), argument.getType(), source);
    memref::CopyOp::create(body, op.getLoc(), source, argument);
  }
  func::ReturnOp::create(body, op.getLoc());
  return success();
}

//===----------------------------------------------------------------------===//
// Extents of the outputs
//===----------------------------------------------------------------------===//

namespace {
/// Copies computations of sizes into the function that plans. They consist of
/// extents of inputs, constants and arithmetic.
struct PlanBuilder {
  explicit PlanBuilder(OpBuilder builder) : builder(builder) {}

  OpBuilder builder;
  llvm::DenseMap<std::pair<Value, int64_t>, Value> extents; ///< Of inputs.
  IRMapping mapping;

  Value copy(Value value) {
    if (Value known = mapping.lookupOrNull(value))
      return known;
    Operation *op = value.getDefiningOp();
    if (auto dim = dyn_cast<memref::DimOp>(op))
      return extents.lookup({dim.getSource(), *dim.getConstantIndex()});
    for (Value operand : op->getOperands())
      mapping.map(operand, copy(operand));
    builder.clone(*op, mapping);
    return mapping.lookup(value);
  }
};
} // namespace

void FunctionConverter::makePlan() {
  Location loc = original.getLoc();
  func::FuncOp plan = functions.makePlan(builder);
  PlanBuilder planner{OpBuilder::atBlockEnd(&plan.getBody().front())};
  for (unsigned input = 0; input < functions.getNumInputs(); ++input) {
    Value argument = main.getArgument(input);
    for (int64_t dim :
         llvm::seq(cast<ShapedType>(argument.getType()).getRank()))
      planner.extents[{argument, dim}] = functions.getExtent(plan, input, dim);
  }
  SmallVector<Value> values;
  for (ArrayRef<OpFoldResult> sizes : outputSizes)
    for (OpFoldResult size : sizes) {
      auto value = dyn_cast<Value>(size);
      values.push_back(
          value ? planner.copy(value)
                : getValueOrCreateConstantIndexOp(planner.builder, loc, size));
    }
  func::ReturnOp::create(planner.builder, loc, values);
}

LogicalResult FunctionConverter::run() {
  for (Group &group : formGroups(original)) {
    linalg::LinalgOp last = group.back();
    groups[last] = std::move(group);
  }
  Block &block = original.getBody().front();
  for (auto [number, value] :
       llvm::enumerate(block.getTerminator()->getOperands()))
    if (Operation *op = value.getDefiningOp();
        op && isa<linalg::LinalgOp, tensor::PadOp, tensor::ExtractSliceOp,
                  tensor::InsertSliceOp, tensor::ConcatOp>(op))
      outputOf.try_emplace(value, number);
  makeMain();
  for (Operation &op : block)
    if (failed(convert(op)))
      return failure();
  makePlan();
  original.erase();
  return success();
}

namespace {
struct ConvertLinalgToPolyPass
    : espalier::impl::ConvertLinalgToPolyPassBase<ConvertLinalgToPolyPass> {
  void runOnOperation() override {
    getOperation()->removeAttr(poly::kStageAttr);
    unsigned kernels = 0, globals = 0;
    for (auto function :
         llvm::to_vector(getOperation().getOps<func::FuncOp>())) {
      bool isStructured = false;
      function.walk([&](linalg::LinalgOp) { isStructured = true; });
      bool hasTensors =
          llvm::any_of(function.getArgumentTypes(),
                       llvm::IsaPred<TensorType>) ||
          llvm::any_of(function.getResultTypes(), llvm::IsaPred<TensorType>);
      if (!isStructured || !hasTensors)
        continue;
      if (failed(checkSignature(function)) ||
          failed(verifyEncodings(function)) ||
          failed(FunctionConverter(function, kernels, globals).run()))
        return signalPassFailure();
    }
    numKernels += kernels;
  }
};
} // namespace
