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

namespace {
/// What convolutions and transposed convolutions have in common: a sum over
/// channels and taps, and the windows over `X`.
class ConvBuilder : public DefinitionBuilder {
public:
  template <typename Adaptor>
  ConvBuilder(Adaptor op, ArrayRef<StringRef> names, DefinitionError error)
      : DefinitionBuilder(op.getOperands(), names, error),
        groups(op.getGroups()), windows{op.getStrides(), op.getPadsLow(),
                                        op.getPadsHigh(), op.getDilations()} {}

  LogicalResult verify() {
    // C1
    if (getRank(0) < 3 || getRank(0) > 5)
      return fail("expects X to have a rank from 3 to 5, but got " +
                  Twine(getRank(0)));
    if (getRank(1) != getRank(0))
      return fail("expects W to have the rank of X, " + Twine(getRank(0)) +
                  ", but got " + Twine(getRank(1)));
    // C2
    if (failed(windows.verify(*this, getNumSpatial())))
      return failure();
    // C3
    if (groups < 1)
      return fail("expects groups to be positive, but got " + Twine(groups));
    // C4
    return requireSameType(1);
  }

  /// Requires that `groups` divides a dimension.
  LogicalResult requireDivides(unsigned operand, unsigned dim, StringRef what) {
    std::optional<int64_t> extent = getStaticSize(operand, dim);
    if (extent && *extent % groups != 0)
      return fail("expects groups to divide the " + what + ", but got " +
                  Twine(groups) + " groups of " + Twine(*extent));
    if (extent || groups == 1)
      return success();
    Expr size = symbolicSize(operand, dim);
    return require(
        {Requirement::Kind::Equal, mod(size, index(groups)), index(0),
         ("no rest of the " + what + " by " + Twine(groups) + " groups")
             .str()});
  }

  unsigned getNumSpatial() const { return getRank(0) - 2; }

  /// Begins R[n, feature, ..] = sum(channel, ..) X[n, source, ..] * W[w.., ..].
  void addChannels(const IndexVar &feature, const IndexVar &channel,
                   Expr source, ArrayRef<Expr> w) {
    IndexVar batch = makeVar("n", symbolicSize(0, 0));
    results = {batch, feature};
    taps = {channel};
    inputAt = {use(batch), source};
    weightAt = llvm::to_vector(w);
  }

  /// Adds a spatial dimension. `locate` tells, for a position of R and a tap of
  /// W, where X is read; it may add to the guard.
  void addSpatial(unsigned spatial, Expr extent,
                  llvm::function_ref<Expr(Expr position, Expr tap)> locate) {
    std::string suffix = std::to_string(spatial);
    results.push_back(makeVar("p" + suffix, extent));
    taps.push_back(makeVar("k" + suffix, symbolicSize(1, spatial + 2)));
    weightAt.push_back(use(taps.back()));
    inputAt.push_back(locate(use(results.back()), use(taps.back())));
  }
  void addGuard(Expr condition) { guard = conjoin(guard, condition); }

  Definition finish(llvm::function_ref<Expr(Expr)> activate) {
    Type type = getElementType(0);
    Expr sum = reduce(ReduceKind::Sum, taps, guard,
                      read(0, inputAt) * read(1, weightAt),
                      getAccumulatorType(ReduceKind::Sum, type));
    addResult("R", results, activate(sum), type);
    return take();
  }

  const int64_t groups;
  const Windows windows;

private:
  SmallVector<IndexVar> results, taps;
  SmallVector<Expr> inputAt, weightAt;
  Expr guard;
};
} // namespace

//===----------------------------------------------------------------------===//
// ConvOp
//===----------------------------------------------------------------------===//

// R[n, o, p..] = sum(c, k..) X[n, first(o) + c, p * s + k * d - pad..] *
//                            W[o, c, k..]
FailureOr<Definition> ConvOp::define(Adaptor op, DefinitionError error) {
  ConvBuilder builder(op, getOperandNames(), error);
  if (failed(builder.verify()))
    return failure();
  // C3
  int64_t groups = builder.groups;
  if (failed(builder.requireDivides(1, 0, "features of W")) ||
      failed(builder.requireEqual(
          builder.symbolicSize(1, 1) * groups, builder.symbolicSize(0, 1),
          "X to have " + Twine(groups) + " times the channels of W")))
    return failure();

  IndexVar feature = builder.makeVar("o", builder.symbolicSize(1, 0));
  IndexVar channel = builder.makeVar("c", builder.symbolicSize(1, 1));
  Expr source = builder.use(channel);
  if (groups != 1)
    source = floorDiv(builder.use(feature),
                      floorDiv(builder.size(1, 0), constant(groups))) *
                 builder.size(1, 1) +
             source;
  builder.addChannels(feature, channel, source,
                      {builder.use(feature), builder.use(channel)});
  for (unsigned spatial : llvm::seq(builder.getNumSpatial())) {
    Expr extent = builder.symbolicSize(0, spatial + 2);
    Expr count = builder.windows.getCount(
        extent, builder.symbolicSize(1, spatial + 2), spatial);
    builder.addSpatial(spatial, count, [&](Expr position, Expr tap) {
      Expr location = builder.windows.locate(position, tap, spatial);
      if (builder.windows.hasPadding(spatial))
        builder.addGuard(inBounds(location, extent));
      return location;
    });
  }
  return builder.finish(
      [&](Expr sum) { return applyActivation(op.getActivation(), sum); });
}

//===----------------------------------------------------------------------===//
// ConvTransposeOp
//===----------------------------------------------------------------------===//

// R[n, o, p..] = sum(c, k..: p + pad - k * d = i * s for an i inside of X)
//                    X[n, first(o) + c, i..] * W[first(o) + c, local(o), k..]
FailureOr<Definition> ConvTransposeOp::define(Adaptor op,
                                              DefinitionError error) {
  ConvBuilder builder(op, getOperandNames(), error);
  if (failed(builder.verify()))
    return failure();
  // C2
  if (op.getOutputPadding().size() != builder.getNumSpatial())
    return builder.fail("expects output_padding to have " +
                        Twine(builder.getNumSpatial()) + " entries, but got " +
                        Twine(op.getOutputPadding().size()));
  // C3
  if (failed(builder.requireDivides(0, 1, "channels of X")) ||
      failed(builder.requireEqual(builder.symbolicSize(1, 0),
                                  builder.symbolicSize(0, 1),
                                  "X to have the channels of W")))
    return failure();

  int64_t groups = builder.groups;
  Expr perGroup = floorDiv(builder.size(0, 1), builder.index(groups));
  IndexVar feature = builder.makeVar("o", builder.symbolicSize(1, 1) * groups);
  IndexVar channel = builder.makeVar("c", perGroup);
  Expr source = builder.use(channel), localFeature = builder.use(feature);
  if (groups != 1) {
    Expr group = floorDiv(builder.use(feature), builder.size(1, 1));
    source = group * perGroup + source;
    localFeature = mod(builder.use(feature), builder.size(1, 1));
  }
  builder.addChannels(feature, channel, source, {source, localFeature});
  const Windows &windows = builder.windows;
  for (unsigned spatial : llvm::seq(builder.getNumSpatial())) {
    Expr extent = builder.symbolicSize(0, spatial + 2);
    Expr stride = builder.index(windows.strides[spatial]);
    Expr spanned =
        (extent - 1) * stride +
        windows.getSpan(builder.symbolicSize(1, spatial + 2), spatial) +
        op.getOutputPadding()[spatial] - windows.padsLow[spatial] -
        windows.padsHigh[spatial];
    builder.addSpatial(spatial, spanned, [&](Expr position, Expr tap) {
      Expr scaled = position + windows.padsLow[spatial] -
                    tap * windows.dilations[spatial];
      if (windows.strides[spatial] != 1)
        builder.addGuard(
            apply(ScalarFn::Equal, {mod(scaled, stride), builder.index(0)}));
      Expr location = floorDiv(scaled, stride);
      builder.addGuard(inBounds(location, extent));
      return location;
    });
  }
  return builder.finish([](Expr sum) { return sum; });
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
    if (failed(builder.require(
            {Requirement::Kind::AtMost, builder.symbolicSize(0, dim),
             builder.index(extent),
             ("kernel to be no smaller than W in dimension " + Twine(dim))
                 .str()})))
      return failure();
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
