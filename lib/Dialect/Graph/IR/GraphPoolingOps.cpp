//===- GraphPoolingOps.cpp - Pools ----------------------------------------===//

#include "DefinitionBuilder.h"
#include "Windows.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/Sequence.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

namespace {
/// What both pools have in common: the windows over `X`.
class PoolBuilder : public DefinitionBuilder {
public:
  template <typename Adaptor>
  PoolBuilder(Adaptor op, ArrayRef<StringRef> names, DefinitionError error)
      : DefinitionBuilder(op.getOperands(), names, error),
        kernel(op.getKernel()), ceilMode(op.getCeilMode()),
        windows{op.getStrides(), op.getPadsLow(), op.getPadsHigh(),
                op.getDilations()} {}

  LogicalResult verify() {
    // C1
    if (getRank(0) < 3)
      return fail("expects X to have rank 3 or more, but got " +
                  Twine(getRank(0)));
    // C2
    numSpatial = getRank(0) - 2;
    if (failed(windows.verify(*this, numSpatial)))
      return failure();
    if (kernel.size() != numSpatial)
      return fail("expects kernel to have " + Twine(numSpatial) +
                  " entries, but got " + Twine(kernel.size()));
    for (int64_t extent : kernel)
      if (extent < 1)
        return fail("expects kernel to be positive, but got " + Twine(extent));
    return success();
  }

  /// The number of windows in a dimension.
  Expr getCount(unsigned spatial) {
    Expr extent = symbolicSize(0, spatial + 2);
    int64_t stride = windows.strides[spatial];
    Expr tapCount = index(kernel[spatial]);
    if (!ceilMode)
      return windows.getCount(extent, tapCount, spatial);
    Expr rounded = windows.getCount(extent + (stride - 1), tapCount, spatial);
    // The last window must begin before the padding at the end does.
    Expr beginning =
        floorDiv(extent + windows.padsLow[spatial] - 1, index(stride)) + 1;
    return apply(ScalarFn::Min, {rounded, beginning});
  }

  /// Variables over the windows, named `p0`, `p1`..
  SmallVector<IndexVar> makePositions() {
    SmallVector<IndexVar> positions;
    for (unsigned spatial : llvm::seq(numSpatial))
      positions.push_back(
          makeVar("p" + std::to_string(spatial), getCount(spatial)));
    return positions;
  }
  SmallVector<IndexVar> makeTaps() {
    SmallVector<IndexVar> taps;
    for (unsigned spatial : llvm::seq(numSpatial))
      taps.push_back(
          makeVar("k" + std::to_string(spatial), index(kernel[spatial])));
    return taps;
  }

  Expr locate(ArrayRef<IndexVar> positions, ArrayRef<IndexVar> taps,
              unsigned spatial) {
    return windows.locate(use(positions[spatial]), use(taps[spatial]), spatial);
  }

  /// The condition that a tap lies inside of X, or null if all do; with
  /// `countPadding`, inside of the padded X.
  Expr getGuard(ArrayRef<IndexVar> positions, ArrayRef<IndexVar> taps,
                bool countPadding = false) {
    Expr guard;
    for (unsigned spatial : llvm::seq(numSpatial)) {
      Expr extent = symbolicSize(0, spatial + 2);
      Expr location = locate(positions, taps, spatial);
      if (!countPadding && (windows.hasPadding(spatial) || ceilMode))
        guard = conjoin(guard, inBounds(location, extent));
      if (countPadding && ceilMode)
        guard = conjoin(guard,
                        apply(ScalarFn::Less,
                              {location, extent + windows.padsHigh[spatial]}));
    }
    return guard;
  }

  /// kind(k..: inside) X[n, c, p * s + k * d - pad..]
  Expr reduceWindow(ReduceKind kind, ArrayRef<IndexVar> results) {
    ArrayRef<IndexVar> positions = results.drop_front(2);
    SmallVector<IndexVar> taps = makeTaps();
    SmallVector<Expr> read{use(results[0]), use(results[1])};
    for (unsigned spatial : llvm::seq(numSpatial))
      read.push_back(locate(positions, taps, spatial));
    return reduce(kind, taps, getGuard(positions, taps), this->read(0, read),
                  getAccumulatorType(kind, getElementType(0)));
  }

  SmallVector<IndexVar> makeResults() {
    SmallVector<IndexVar> results{makeVar("n", symbolicSize(0, 0)),
                                  makeVar("c", symbolicSize(0, 1))};
    llvm::append_range(results, makePositions());
    return results;
  }

  /// The number of taps that count at a window: a number, or a tensor of its
  /// own that depends on the position alone.
  Expr countTaps(ArrayRef<IndexVar> results, bool countPadding, Type type) {
    SmallVector<IndexVar> positions = makePositions(), taps = makeTaps();
    Expr guard = getGuard(positions, taps, countPadding);
    if (!guard) {
      Expr count = index(1);
      for (int64_t extent : kernel)
        count = count * extent;
      return count;
    }
    TensorRef counts = addStep(
        "N", positions,
        reduce(ReduceKind::Sum, taps, guard, constant(int64_t(1)), type));
    return read(counts, use(results.drop_front(2)));
  }

private:
  ArrayRef<int64_t> kernel;
  bool ceilMode;
  Windows windows;
  unsigned numSpatial = 0;
};
} // namespace

FailureOr<Definition> MaxPoolOp::define(Adaptor op, DefinitionError error) {
  PoolBuilder builder(op, getOperandNames(), error);
  if (failed(builder.verify()))
    return failure();
  SmallVector<IndexVar> results = builder.makeResults();
  builder.addResult("R", results,
                    builder.reduceWindow(ReduceKind::Max, results),
                    builder.getElementType(0));
  return builder.take();
}

// N[p..] = sum(k..: counts) 1
// R[n, c, p..] = (sum(k..: inside) X[n, c, p * s + k * d - pad..]) / N[p..]
FailureOr<Definition> AvgPoolOp::define(Adaptor op, DefinitionError error) {
  PoolBuilder builder(op, getOperandNames(), error);
  if (failed(builder.verify()))
    return failure();
  Type type = builder.getElementType(0);
  SmallVector<IndexVar> results = builder.makeResults();
  Expr sum = builder.reduceWindow(ReduceKind::Sum, results);
  Expr count =
      builder.countTaps(results, op.getCountIncludePad(), sum.getType());
  builder.addResult("R", results, apply(ScalarFn::Div, {sum, count}), type);
  return builder.take();
}
