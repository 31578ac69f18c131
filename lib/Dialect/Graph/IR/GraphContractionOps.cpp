//===- GraphContractionOps.cpp - Products and convolutions ----------------===//

#include "DefinitionBuilder.h"
#include "Windows.h"
#include "espalier/Dialect/Graph/IR/Graph.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

LogicalResult Windows::verify(const DefinitionBuilder &builder,
                              unsigned numSpatial) const {
  for (auto [name, values] :
       {std::pair("strides", strides), std::pair("pads_low", padsLow),
        std::pair("pads_high", padsHigh), std::pair("dilations", dilations)})
    if (values.size() != numSpatial)
      return builder.fail(Twine("expects ") + name + " to have " +
                          Twine(numSpatial) + " entries, but got " +
                          Twine(values.size()));
  for (auto [name, values] :
       {std::pair("strides", strides), std::pair("dilations", dilations)})
    for (int64_t value : values)
      if (value < 1)
        return builder.fail(Twine("expects ") + name +
                            " to be positive, but got " + Twine(value));
  return success();
}

/// Checks what convolutions and transposed convolutions have in common: ranks,
/// element types and the sign of `groups`.
static LogicalResult checkConvOperands(const DefinitionBuilder &builder,
                                       int64_t groups) {
  // C1
  if (builder.getRank(0) < 3 || builder.getRank(0) > 5)
    return builder.fail("expects X to have a rank from 3 to 5, but got " +
                        Twine(builder.getRank(0)));
  if (builder.getRank(1) != builder.getRank(0))
    return builder.fail("expects W to have the rank of X, " +
                        Twine(builder.getRank(0)) + ", but got " +
                        Twine(builder.getRank(1)));
  // C3
  if (groups < 1)
    return builder.fail("expects groups to be positive, but got " +
                        Twine(groups));
  // C4
  if (builder.getElementType(0) != builder.getElementType(1))
    return builder.fail("expects X and W to have the same element type");
  return success();
}

/// Checks that `groups` divides a dimension, as far as it is known.
static LogicalResult checkDivides(const DefinitionBuilder &builder,
                                  int64_t groups, unsigned operand,
                                  unsigned dim, StringRef what) {
  std::optional<int64_t> extent = builder.getStaticSize(operand, dim);
  if (extent && *extent % groups != 0)
    return builder.fail("expects groups to divide the " + what + ", but got " +
                        Twine(groups) + " groups of " + Twine(*extent));
  return success();
}

//===----------------------------------------------------------------------===//
// ConvOp
//===----------------------------------------------------------------------===//

FailureOr<Definition> ConvOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  auto groups = static_cast<int64_t>(op.getGroups());
  if (failed(checkConvOperands(builder, groups)))
    return failure();
  unsigned numSpatial = builder.getRank(0) - 2;
  Windows windows{op.getStrides(), op.getPadsLow(), op.getPadsHigh(),
                  op.getDilations()};
  // C2
  if (failed(windows.verify(builder, numSpatial)))
    return failure();
  // C3
  if (failed(checkDivides(builder, groups, 1, 0, "features of W")) ||
      failed(builder.requireEqual(
          builder.symbolicSize(1, 1) * groups, builder.symbolicSize(0, 1),
          "X to have " + Twine(groups) + " times the channels of W")))
    return failure();

  // R[n, o, p..] = sum(c, k..) X[n, group(o) + c, p * s + k * d - pad..] *
  //                            W[o, c, k..]
  IndexVar batch = builder.makeVar("n", builder.symbolicSize(0, 0));
  IndexVar feature = builder.makeVar("o", builder.symbolicSize(1, 0));
  IndexVar channel = builder.makeVar("c", builder.symbolicSize(1, 1));
  Expr firstChannel = builder.index(0);
  if (groups != 1)
    firstChannel = floorDiv(builder.use(feature),
                            floorDiv(builder.size(1, 0), constant(groups))) *
                   builder.size(1, 1);

  SmallVector<IndexVar> results{batch, feature}, taps{channel};
  SmallVector<Expr> read{builder.use(batch),
                         firstChannel + builder.use(channel)};
  SmallVector<Expr> weight{builder.use(feature), builder.use(channel)};
  Expr guard;
  for (unsigned spatial : llvm::seq(numSpatial)) {
    unsigned dim = spatial + 2;
    std::string suffix = std::to_string(spatial);
    Expr free = builder.symbolicSize(0, dim) +
                (windows.padsLow[spatial] + windows.padsHigh[spatial]) -
                windows.getSpan(builder.symbolicSize(1, dim), spatial);
    IndexVar position = builder.makeVar(
        "p" + suffix,
        floorDiv(free, constant(windows.strides[spatial])) + 1);
    IndexVar tap =
        builder.makeVar("k" + suffix, builder.symbolicSize(1, dim));
    Expr location =
        windows.locate(builder.use(position), builder.use(tap), spatial);
    if (windows.hasPadding(spatial))
      guard = conjoin(guard,
                      inBounds(location, builder.symbolicSize(0, dim)));
    results.push_back(position);
    taps.push_back(tap);
    read.push_back(location);
    weight.push_back(builder.use(tap));
  }
  Type type = builder.getElementType(0);
  Expr sum = reduce(ReduceKind::Sum, taps, guard,
                    builder.read(0, read) * builder.read(1, weight),
                    getAccumulatorType(ReduceKind::Sum, type));
  builder.addResult("R", results, applyActivation(op.getActivation(), sum),
                    type);
  return builder.take();
}
