//===- GraphContractionOps.cpp - Products and convolutions ----------------===//

#include "DefinitionBuilder.h"
#include "Windows.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/Sequence.h"

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
  return builder.requireSameType(1);
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
    Expr free = builder.symbolicSize(0, dim) + windows.padsLow[spatial] +
                windows.padsHigh[spatial] -
                windows.getSpan(builder.symbolicSize(1, dim), spatial);
    IndexVar position = builder.makeVar(
        "p" + suffix, floorDiv(free, constant(windows.strides[spatial])) + 1);
    IndexVar tap = builder.makeVar("k" + suffix, builder.symbolicSize(1, dim));
    Expr location =
        windows.locate(builder.use(position), builder.use(tap), spatial);
    if (windows.hasPadding(spatial))
      guard = conjoin(guard, inBounds(location, builder.symbolicSize(0, dim)));
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

//===----------------------------------------------------------------------===//
// ConvTransposeOp
//===----------------------------------------------------------------------===//

// R[n, o, p..] = sum(c, k..: p + pad - k * d = i * s for an i inside of X)
//                    X[n, first(o) + c, i..] * W[first(o) + c, local(o), k..]
FailureOr<Definition> ConvTransposeOp::define(Adaptor op,
                                              DefinitionError error) {
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
  if (op.getOutputPadding().size() != numSpatial)
    return builder.fail("expects output_padding to have " + Twine(numSpatial) +
                        " entries, but got " +
                        Twine(op.getOutputPadding().size()));
  // C3
  if (failed(checkDivides(builder, groups, 0, 1, "channels of X")) ||
      failed(builder.requireEqual(builder.symbolicSize(1, 0),
                                  builder.symbolicSize(0, 1),
                                  "X to have the channels of W")))
    return failure();

  Expr perGroup = floorDiv(builder.size(0, 1), builder.index(groups));
  IndexVar batch = builder.makeVar("n", builder.symbolicSize(0, 0));
  IndexVar feature = builder.makeVar("o", builder.symbolicSize(1, 1) * groups);
  IndexVar channel = builder.makeVar("c", perGroup);
  Expr sourceChannel = builder.use(channel),
       localFeature = builder.use(feature);
  if (groups != 1) {
    Expr group = floorDiv(builder.use(feature), builder.size(1, 1));
    sourceChannel = group * perGroup + sourceChannel;
    localFeature = mod(builder.use(feature), builder.size(1, 1));
  }

  SmallVector<IndexVar> results{batch, feature}, taps{channel};
  SmallVector<Expr> read{builder.use(batch), sourceChannel};
  SmallVector<Expr> weight{sourceChannel, localFeature};
  Expr guard;
  for (unsigned spatial : llvm::seq(numSpatial)) {
    unsigned dim = spatial + 2;
    std::string suffix = std::to_string(spatial);
    Expr stride = builder.index(windows.strides[spatial]);
    Expr extent = (builder.symbolicSize(0, dim) - 1) * stride +
                  windows.getSpan(builder.symbolicSize(1, dim), spatial) +
                  op.getOutputPadding()[spatial] - windows.padsLow[spatial] -
                  windows.padsHigh[spatial];
    IndexVar position = builder.makeVar("p" + suffix, extent);
    IndexVar tap = builder.makeVar("k" + suffix, builder.symbolicSize(1, dim));
    Expr scaled = builder.use(position) + windows.padsLow[spatial] -
                  builder.use(tap) * windows.dilations[spatial];
    if (windows.strides[spatial] != 1)
      guard = conjoin(guard, apply(ScalarFn::Equal,
                                   {mod(scaled, stride), builder.index(0)}));
    Expr source = floorDiv(scaled, stride);
    guard = conjoin(guard, inBounds(source, builder.symbolicSize(0, dim)));
    results.push_back(position);
    taps.push_back(tap);
    read.push_back(source);
    weight.push_back(builder.use(tap));
  }
  Type type = builder.getElementType(0);
  Expr sum = reduce(ReduceKind::Sum, taps, guard,
                    builder.read(0, read) * builder.read(1, weight),
                    getAccumulatorType(ReduceKind::Sum, type));
  builder.addResult("R", results, sum, type);
  return builder.take();
}

//===----------------------------------------------------------------------===//
// EnlargeOp
//===----------------------------------------------------------------------===//

// R[o, c, k..] = W[o, c, k - (kernel - size(W)) / 2..] inside of W, otherwise 0
FailureOr<Definition> EnlargeOp::define(Adaptor op, DefinitionError error) {
  DefinitionBuilder builder(op.getOperands(), getOperandNames(), error);
  // C1
  unsigned rank = builder.getRank(0);
  if (rank < 3 || op.getKernel().size() != rank - 2)
    return builder.fail(
        "expects kernel to have one entry per spatial dimension "
        "of W, whose rank is " +
        Twine(rank) + ", but got " + Twine(op.getKernel().size()));
  SmallVector<IndexVar> results = builder.makeVars("i", 0);
  SmallVector<Expr> read = builder.use(results);
  Expr guard;
  for (auto [spatial, extent] : llvm::enumerate(op.getKernel())) {
    unsigned dim = spatial + 2;
    if (builder.getStaticSize(0, dim).value_or(0) > extent)
      return builder.fail("expects kernel to be no smaller than W, but got " +
                          Twine(extent) + " for dimension " + Twine(dim));
    results[dim] = builder.makeVar(results[dim].name, builder.index(extent));
    Expr before = floorDiv(builder.index(extent) - builder.size(0, dim),
                           builder.index(2));
    read[dim] = builder.use(results[dim]) - before;
    guard = conjoin(guard, inBounds(read[dim], builder.symbolicSize(0, dim)));
  }
  Type type = builder.getElementType(0);
  builder.addResult(
      "R", results,
      select(guard, builder.read(0, read), cast(type, constant(int64_t(0)))),
      type);
  return builder.take();
}
