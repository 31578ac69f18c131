//===- EmitKernel.cpp - From structured operations to computations --------===//
//
// Each operation becomes one computation over its iteration space:
//
//   %r = linalg.matmul ins(%a, %b) outs(%init)
//
//   %acc = poly.array                               // local
//   poly.compute @s0_init   acc[i, j] = init[i, j]
//   poly.compute @s0        acc[i, j] += a[i, k] * b[k, j]   reduction add
//   poly.compute @s0_store  r[i, j] = acc[i, j]
//
// Operations without reduction loops write their result directly. Inside the
// group, results stay in local arrays; one that accumulates into the result of
// another goes on in its array.
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "espalier/Dialect/Poly/IR/Origin.h"
#include "mlir/Analysis/SliceAnalysis.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::linalgtopoly;

/// How the operation combines what it writes with what it wrote before, if that
/// may happen in any order.
static std::optional<poly::Reduction> getReduction(linalg::LinalgOp op) {
  if (op.getNumDpsInits() != 1 || op.getNumReductionLoops() == 0 ||
      getElementTypeOrSelf(op.getDpsInits()[0].getType()).isInteger(1))
    return std::nullopt;
  SmallVector<Operation *> combiners;
  if (!matchReduction(op.getRegionOutputArgs(), 0, combiners) ||
      combiners.size() != 1)
    return std::nullopt;
  using Kind = std::optional<poly::Reduction>;
  return llvm::TypeSwitch<Operation *, Kind>(combiners.front())
      .Case<arith::AddFOp, arith::AddIOp>(
          [](auto) { return poly::Reduction::Add; })
      .Case<arith::MulFOp, arith::MulIOp>(
          [](auto) { return poly::Reduction::Mul; })
      .Case<arith::MaximumFOp, arith::MaxNumFOp, arith::MaxSIOp>(
          [](auto) { return poly::Reduction::Max; })
      .Case<arith::MinimumFOp, arith::MinNumFOp, arith::MinSIOp>(
          [](auto) { return poly::Reduction::Min; })
      .Case<arith::AndIOp>([](auto) { return poly::Reduction::And; })
      .Case<arith::OrIOp>([](auto) { return poly::Reduction::Or; })
      .Default([](auto) { return Kind(); });
}

namespace {

class KernelEmitter {
public:
  KernelEmitter(const Group &group, const TensorMap &tensors,
                ValueRange destinations, const IRMapping &scalars,
                OpBuilder &builder)
      : group(group), destinations(destinations),
        kernel(tensors, scalars, builder), builder(builder) {}

  FailureOr<EmittedKernel> emit(StringRef name);

private:
  // What the kernel is called with.
  LogicalResult collect(linalg::LinalgOp op);
  void collectBounds(linalg::LinalgOp op);
  LogicalResult collectBody(linalg::LinalgOp op);

  // Computations.
  LogicalResult emitOp(linalg::LinalgOp op, StringRef name);
  /// to[...] = from[...], or the element if `from` is null.
  void emitCopy(linalg::LinalgOp op, unsigned init, Value from, Value element,
                Value to, const Twine &name);
  LogicalResult emitInit(linalg::LinalgOp op, unsigned init, Value target,
                         StringRef name);
  LogicalResult emitBody(linalg::LinalgOp op, OpBuilder &b,
                         ArrayRef<OpOperand *> operands, ValueRange reads);

  AffineMap getAccess(AffineMap map) const {
    return kernel.getAccess(map.getNumDims(), map.getResults());
  }
  /// The memref inside the kernel that holds `value`, if one does.
  Value getMemref(Value value) const {
    if (Value local = locals.lookup(value))
      return local;
    Value buffer = kernel.getTensor(value).buffer;
    return buffer ? kernel.getMemref(buffer) : Value();
  }

  const Group &group;
  ValueRange destinations;
  KernelBuilder kernel;
  OpBuilder &builder;
  /// The bounds of an operation's loops.
  llvm::DenseMap<Operation *, SmallVector<OpFoldResult>> bounds;
  /// From results to the kernel's memrefs.
  llvm::DenseMap<Value, Value> locals;
};

} // namespace

//===----------------------------------------------------------------------===//
// What the kernel is called with
//===----------------------------------------------------------------------===//

void KernelEmitter::collectBounds(linalg::LinalgOp op) {
  SmallVector<OpFoldResult> loops(op.getNumLoops());
  for (OpOperand &operand : op->getOpOperands()) {
    if (!isa<RankedTensorType>(operand.get().getType()))
      continue;
    const Tensor &tensor = kernel.getTensor(operand.get());
    AffineMap map = op.getMatchingIndexingMap(&operand);
    for (auto [expr, size] : llvm::zip_equal(map.getResults(), tensor.sizes))
      if (auto dim = dyn_cast<AffineDimExpr>(expr)) {
        OpFoldResult &bound = loops[dim.getPosition()];
        if (!bound || isa<Attribute>(size))
          bound = size;
      }
  }
  // The operation's maps are invertible: each loop is a dimension somewhere.
  for (OpFoldResult bound : loops) {
    assert(bound && "expects invertible maps");
    kernel.addParameter(bound);
  }
  bounds[op] = loops;
}

LogicalResult KernelEmitter::collectBody(linalg::LinalgOp op) {
  for (Operation &inner : *op.getBlock())
    for (Value operand : inner.getOperands()) {
      if (operand.getParentBlock() == op.getBlock())
        continue;
      // An index argument would be a parameter, which is not negative.
      if (!operand.getType().isIntOrFloat() &&
          !matchPattern(operand, m_Constant()))
        return op.emitError("expects a body that uses integers and floats from "
                            "outside, but got a value of type ")
               << operand.getType();
      kernel.addScalar(operand);
    }
  return success();
}

LogicalResult KernelEmitter::collect(linalg::LinalgOp op) {
  collectBounds(op);
  if (failed(collectBody(op)))
    return failure();
  for (OpOperand &operand : op->getOpOperands()) {
    Value value = operand.get();
    if (!isa<RankedTensorType>(value.getType())) {
      kernel.addScalar(value);
      continue;
    }
    const Tensor &tensor = kernel.getTensor(value);
    if (op.isDpsInit(&operand))
      for (OpFoldResult size : tensor.sizes)
        kernel.addParameter(size);
    if (!op.payloadUsesValueFromOperand(&operand))
      continue;
    if (tensor.buffer)
      kernel.addMemref(tensor.buffer);
    else if (tensor.fill)
      kernel.addScalar(tensor.fill);
  }
  return success();
}

//===----------------------------------------------------------------------===//
// Computations
//===----------------------------------------------------------------------===//

void KernelEmitter::emitCopy(linalg::LinalgOp op, unsigned init, Value from,
                             Value element, Value to, const Twine &name) {
  ArrayRef<OpFoldResult> sizes = kernel.getTensor(op.getDpsInits()[init]).sizes;
  AffineMap identity = getAccess(
      AffineMap::getMultiDimIdentityMap(sizes.size(), op.getContext()));
  SmallVector<poly::ComputeAccess> reads;
  if (from)
    reads.push_back({from, identity, {}});
  poly::ComputeOp::create(
      builder, poly::getOrigin(op), name.str(), kernel.getBox(sizes), reads,
      poly::ComputeAccess{to, identity, {}}, std::nullopt,
      [&](OpBuilder &b, Location loc, ValueRange values) {
        poly::YieldOp::create(
            b, loc,
            from ? values.front()
                 : storeElement(b, loc, kernel.getScalar(b, element)));
      });
}

LogicalResult KernelEmitter::emitInit(linalg::LinalgOp op, unsigned init,
                                      Value target, StringRef name) {
  Value value = op.getDpsInits()[init];
  Value from = getMemref(value), fill = kernel.getTensor(value).fill;
  if (!from && !fill)
    return op.emitError("expects a defined value to accumulate into, but got a "
                        "tensor.empty");
  emitCopy(op, init, from, fill, target,
           name + "_init" + (init ? Twine(init) : Twine()));
  return success();
}

LogicalResult KernelEmitter::emitBody(linalg::LinalgOp op, OpBuilder &b,
                                      ArrayRef<OpOperand *> operands,
                                      ValueRange reads) {
  IRMapping mapping;
  for (auto [operand, read] : llvm::zip_equal(operands, reads)) {
    BlockArgument argument = op.getMatchingBlockArgument(operand);
    mapping.map(argument,
                loadElement(b, op.getLoc(), read, argument.getType()));
  }
  for (OpOperand &operand : op->getOpOperands()) {
    BlockArgument argument = op.getMatchingBlockArgument(&operand);
    if (argument.use_empty() || mapping.contains(argument))
      continue;
    Value scalar = operand.get();
    if (isa<RankedTensorType>(scalar.getType()))
      scalar = kernel.getTensor(scalar).fill;
    if (!scalar)
      return op.emitError("expects operands with defined elements, but operand "
                          "#")
             << operand.getOperandNumber() << " is a tensor.empty";
    mapping.map(argument, kernel.getScalar(b, scalar));
  }
  for (Operation &inner : op.getBlock()->without_terminator()) {
    if (auto index = dyn_cast<linalg::IndexOp>(inner)) {
      mapping.map(
          index.getResult(),
          poly::IndexOp::create(b, index.getLoc(), index.getDim()).getResult());
      continue;
    }
    if (!isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
            inner.getDialect()))
      return inner.emitError("expects an operation of arith or math in the "
                             "body of a computation, but got ")
             << inner.getName();
    for (Value operand : inner.getOperands())
      if (!mapping.contains(operand))
        mapping.map(operand, kernel.getScalar(b, operand));
    b.clone(inner, mapping);
  }
  SmallVector<Value> results;
  for (Value value : op.getBlock()->getTerminator()->getOperands()) {
    if (!mapping.contains(value))
      mapping.map(value, kernel.getScalar(b, value));
    results.push_back(storeElement(b, op.getLoc(), mapping.lookup(value)));
  }
  poly::YieldOp::create(b, op.getLoc(), results);
  return success();
}

LogicalResult KernelEmitter::emitOp(linalg::LinalgOp op, StringRef name) {
  bool isLast = op == group.back();
  bool accumulates = op.getNumReductionLoops() > 0;
  SmallVector<poly::ComputeAccess> reads, writes;
  SmallVector<OpOperand *> operands;
  auto read = [&](OpOperand &operand, Value memref) {
    // Without memory, one element fills it.
    if (!memref || !op.payloadUsesValueFromOperand(&operand))
      return;
    operands.push_back(&operand);
    reads.push_back(
        {memref, getAccess(op.getMatchingIndexingMap(&operand)), {}});
  };
  for (OpOperand *input : op.getDpsInputOperands())
    if (isa<RankedTensorType>(input->get().getType()))
      read(*input, getMemref(input->get()));
  for (auto [number, init] : llvm::enumerate(op.getDpsInitsMutable())) {
    Value result = op->getResult(number);
    const Tensor &tensor = kernel.getTensor(init.get());
    // What the group computed for this only is accumulated into in place.
    Value target = accumulates ? locals.lookup(init.get()) : Value();
    bool isInitialized = target || !op.payloadUsesValueFromOperand(&init);
    if (!target)
      target = isLast && !accumulates
                   ? kernel.getMemref(destinations[number])
                   : kernel.makeArray(op.getLoc(), getElementTypeOrSelf(result),
                                      tensor.sizes);
    if (accumulates && !isInitialized &&
        failed(emitInit(op, number, target, name)))
      return failure();
    read(init, accumulates ? target : getMemref(init.get()));
    writes.push_back({target, getAccess(op.getMatchingIndexingMap(&init)), {}});
    locals[result] = target;
  }
  LogicalResult status = success();
  poly::ComputeOp::create(
      builder, poly::getOrigin(op), name, kernel.getBox(bounds[op]), reads,
      writes, getReduction(op), [&](OpBuilder &b, Location, ValueRange values) {
        status = emitBody(op, b, operands, values);
      });
  if (succeeded(status) && isLast && accumulates)
    for (auto [number, destination] : llvm::enumerate(destinations))
      emitCopy(op, number, locals[op->getResult(number)], Value(),
               kernel.getMemref(destination),
               name + "_store" + (number ? Twine(number) : Twine()));
  return status;
}

FailureOr<EmittedKernel> KernelEmitter::emit(StringRef name) {
  for (linalg::LinalgOp op : group)
    if (failed(collect(op)))
      return failure();
  for (Value destination : destinations)
    kernel.addMemref(destination);
  linalg::LinalgOp last = group.back();
  EmittedKernel emitted = kernel.make(last.getLoc(), name);
  for (auto [number, op] : llvm::enumerate(group))
    if (failed(emitOp(op, "s" + llvm::utostr(number))))
      return failure();
  return emitted;
}

FailureOr<EmittedKernel> espalier::linalgtopoly::emitKernel(
    const Group &group, const TensorMap &tensors, ValueRange destinations,
    const IRMapping &scalars, StringRef name, OpBuilder &kernels) {
  OpBuilder::InsertionGuard guard(kernels);
  return KernelEmitter(group, tensors, destinations, scalars, kernels)
      .emit(name);
}
