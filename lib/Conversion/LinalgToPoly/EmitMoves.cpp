//===- EmitMoves.cpp - Kernels that only move elements --------------------===//
//
// Padding, slicing and joining are lists of boxes to copy:
//
//   %r = tensor.pad %x low[1] high[2] { yield 0 }
//
//   poly.compute @s0   r[i] = 0          for all of r
//   poly.compute @s1   r[i + 1] = x[i]   for all of x
//
//===----------------------------------------------------------------------===//

#include "KernelBuilder.h"
#include "espalier/Dialect/Poly/IR/Origin.h"
#include "mlir/Dialect/Tensor/IR/Tensor.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/TypeSwitch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::linalgtopoly;

namespace {

/// An index of a tensor: offset + stride * dimension `dim` of the box.
struct Index {
  OpFoldResult offset;
  int64_t stride = 1;
  std::optional<unsigned> dim;
};

/// A box of elements to copy, or to fill with one element.
struct Move {
  SmallVector<OpFoldResult> sizes;
  Value source; ///< A tensor; null to fill.
  Value fill;   ///< A scalar.
  SmallVector<Index> from, to;
};

class MoveEmitter {
public:
  MoveEmitter(Operation *op, const TensorMap &tensors, Value destination,
              const IRMapping &scalars, OpBuilder &builder)
      : op(op), destination(destination), scalars(scalars),
        kernel(tensors, scalars, builder), builder(builder) {}

  FailureOr<EmittedKernel> emit(StringRef name);

private:
  LogicalResult plan();
  LogicalResult planPad(tensor::PadOp pad);
  LogicalResult planExtract(tensor::ExtractSliceOp slice);
  LogicalResult planInsert(tensor::InsertSliceOp slice);
  LogicalResult planConcat(tensor::ConcatOp concat);
  /// A copy of all of `source`, or if it is filled, of its element.
  Move &addMove(Value source);
  OpFoldResult getSize(OpFoldResult size) const {
    auto value = dyn_cast<Value>(size);
    return value ? OpFoldResult(scalars.lookup(value)) : size;
  }
  SmallVector<Index> getIdentity(unsigned rank) {
    return llvm::map_to_vector(llvm::seq(rank), [&](unsigned dim) {
      return Index{builder.getIndexAttr(0), 1, dim};
    });
  }
  /// The indices of a slice, whose dimensions are those not dropped.
  FailureOr<SmallVector<Index>> getSlice(OffsetSizeAndStrideOpInterface slice,
                                         llvm::SmallBitVector dropped);
  AffineMap getMap(unsigned numDims, ArrayRef<Index> indices) const;
  void emitMove(const Move &move, StringRef name);

  Operation *op;
  Value destination;
  const IRMapping &scalars;
  KernelBuilder kernel;
  OpBuilder &builder;
  SmallVector<Move> moves;
};

} // namespace

Move &MoveEmitter::addMove(Value source) {
  const Tensor &tensor = kernel.getTensor(source);
  Move move;
  move.sizes = tensor.sizes;
  move.source = tensor.buffer ? source : Value();
  move.fill = tensor.fill;
  move.from = move.to = getIdentity(tensor.sizes.size());
  return moves.emplace_back(std::move(move));
}

LogicalResult MoveEmitter::planPad(tensor::PadOp pad) {
  Value element = pad.getConstantPaddingValue();
  if (!element)
    return pad.emitError("expects padding with one value");
  Move all;
  all.sizes = kernel.getTensor(pad.getResult()).sizes;
  all.fill = element;
  all.to = getIdentity(all.sizes.size());
  moves.push_back(all);
  Move &inner = addMove(pad.getSource());
  for (auto [index, low, high] :
       llvm::zip_equal(inner.to, pad.getMixedLowPad(), pad.getMixedHighPad())) {
    if (getConstantIntValue(low).value_or(0) < 0 ||
        getConstantIntValue(high).value_or(0) < 0)
      return pad.emitError("expects padding that is not negative");
    index.offset = getSize(low);
  }
  return success();
}

FailureOr<SmallVector<Index>>
MoveEmitter::getSlice(OffsetSizeAndStrideOpInterface slice,
                      llvm::SmallBitVector dropped) {
  SmallVector<Index> indices;
  unsigned next = 0;
  for (auto [dim, offset, stride] :
       llvm::enumerate(slice.getMixedOffsets(), slice.getMixedStrides())) {
    std::optional<int64_t> step = getConstantIntValue(stride);
    if (!step) {
      slice.emitError("expects steps that are numbers");
      return failure();
    }
    Index index{getSize(offset), *step, std::nullopt};
    if (!dropped.test(dim))
      index.dim = next++;
    indices.push_back(index);
  }
  return indices;
}

LogicalResult MoveEmitter::planExtract(tensor::ExtractSliceOp slice) {
  auto indices = getSlice(slice, slice.getDroppedDims());
  if (failed(indices))
    return failure();
  Move &move = addMove(slice.getSource());
  move.sizes = kernel.getTensor(slice.getResult()).sizes;
  move.from = *indices;
  move.to = getIdentity(move.sizes.size());
  return success();
}

LogicalResult MoveEmitter::planInsert(tensor::InsertSliceOp slice) {
  auto indices = getSlice(slice, slice.getDroppedDims());
  if (failed(indices))
    return failure();
  const Tensor &whole = kernel.getTensor(slice.getDest());
  if (whole.buffer || whole.fill)
    addMove(slice.getDest());
  addMove(slice.getSource()).to = *indices;
  return success();
}

LogicalResult MoveEmitter::planConcat(tensor::ConcatOp concat) {
  int64_t offset = 0;
  for (auto [number, input] : llvm::enumerate(concat.getInputs())) {
    Move &move = addMove(input);
    move.to[concat.getDim()].offset = builder.getIndexAttr(offset);
    std::optional<int64_t> size =
        getConstantIntValue(move.sizes[concat.getDim()]);
    if (!size && number + 1 < concat.getInputs().size())
      return concat.emitError("expects a number as the extent of input #")
             << number << " along dimension " << concat.getDim();
    offset += size.value_or(0);
  }
  return success();
}

LogicalResult MoveEmitter::plan() {
  return llvm::TypeSwitch<Operation *, LogicalResult>(op)
      .Case([&](tensor::PadOp pad) { return planPad(pad); })
      .Case([&](tensor::ExtractSliceOp slice) { return planExtract(slice); })
      .Case([&](tensor::InsertSliceOp slice) { return planInsert(slice); })
      .Case([&](tensor::ConcatOp concat) { return planConcat(concat); });
}

AffineMap MoveEmitter::getMap(unsigned numDims, ArrayRef<Index> indices) const {
  return kernel.getAccess(
      numDims, llvm::map_to_vector(indices, [&](const Index &index) {
        AffineExpr expr = kernel.getSize(index.offset);
        if (index.dim)
          expr = getAffineDimExpr(*index.dim, op->getContext()) * index.stride +
                 expr;
        return expr;
      }));
}

void MoveEmitter::emitMove(const Move &move, StringRef name) {
  unsigned numDims = move.sizes.size();
  SmallVector<poly::ComputeAccess> reads;
  if (move.source)
    reads.push_back({kernel.getMemref(kernel.getTensor(move.source).buffer),
                     getMap(numDims, move.from),
                     {}});
  poly::ComputeAccess write{
      kernel.getMemref(destination), getMap(numDims, move.to), {}};
  poly::ComputeOp::create(
      builder, poly::getOrigin(op), name, kernel.getBox(move.sizes), reads,
      write, std::nullopt, [&](OpBuilder &b, Location loc, ValueRange values) {
        poly::YieldOp::create(
            b, loc,
            move.source ? values.front()
                        : storeElement(b, loc, kernel.getScalar(b, move.fill)));
      });
}

FailureOr<EmittedKernel> MoveEmitter::emit(StringRef name) {
  if (failed(plan()))
    return failure();
  for (const Move &move : moves) {
    if (!move.source && !move.fill) {
      op->emitError("expects operands with defined elements, but one is a "
                    "tensor.empty");
      return failure();
    }
    if (move.source)
      kernel.addMemref(kernel.getTensor(move.source).buffer);
    else
      kernel.addScalar(move.fill);
    for (OpFoldResult size : move.sizes)
      kernel.addParameter(size);
    for (const Index &index : llvm::concat<const Index>(move.from, move.to))
      kernel.addParameter(index.offset);
  }
  kernel.addMemref(destination);
  EmittedKernel emitted = kernel.make(op->getLoc(), name);
  for (auto [number, move] : llvm::enumerate(moves))
    emitMove(move, "s" + llvm::utostr(number));
  return emitted;
}

FailureOr<EmittedKernel>
espalier::linalgtopoly::emitMoves(Operation *op, const TensorMap &tensors,
                                  Value destination, const IRMapping &scalars,
                                  StringRef name, OpBuilder &kernels) {
  OpBuilder::InsertionGuard guard(kernels);
  return MoveEmitter(op, tensors, destination, scalars, kernels).emit(name);
}
