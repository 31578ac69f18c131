//===- GraphResizeOp.cpp - The definition of resize -----------------------===//
//
// Each dimension that changes gets tables: which element of the operand tap `t`
// of position `p` is (`I[p, t]`), and what it weighs (`K[p, t]`). The result is
// the weighted sum over the taps of all dimensions; the nearest element has one
// tap, and no weights.
//
//===----------------------------------------------------------------------===//

#include "DefinitionBuilder.h"
#include "espalier/Definition/Formulas.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "llvm/ADT/Sequence.h"
#include <cmath>

using namespace mlir;
using namespace espalier;
using namespace espalier::graph;
using namespace espalier::definition;

namespace {
class ResizeBuilder : public DefinitionBuilder {
public:
  ResizeBuilder(ResizeOp::Adaptor op, DefinitionError error)
      : DefinitionBuilder(op.getOperands(), ResizeOp::getOperandNames(), error),
        op(op), indexType(IndexType::get(getContext())),
        realType(Float64Type::get(getContext())),
        weightType(isa<FloatType>(getElementType(0))
                       ? getArithmeticType(getElementType(0))
                       : Float32Type::get(getContext())) {}

  FailureOr<Definition> run() {
    if (failed(verify()))
      return failure();
    SmallVector<IndexVar> results = makeVars("i", sizes);
    bool isNearest = op.getMode() == ResizeMode::Nearest;
    SmallVector<Expr> read;
    for (unsigned dim : llvm::seq(getRank(0))) {
      if (isUnchanged(dim)) {
        read.push_back(use(results[dim]));
        continue;
      }
      // C3
      if (failed(requireElements(
              symbolicSize(0, dim),
              "of X to enlarge along dimension " + Twine(dim), results)))
        return failure();
      if (isNearest)
        read.push_back(locateNearest(dim, results[dim]));
      else
        read.push_back(addTaps(dim, results[dim]));
    }
    Expr value = this->read(0, read);
    if (weight)
      value = reduce(ReduceKind::Sum, taps, {},
                     cast(weightType, value) * weight, weightType);
    addResult("R", results, value, getElementType(0));
    return take();
  }

private:
  LogicalResult verify() {
    // C1
    unsigned rank = getRank(0);
    if (op.getStaticSizes().size() != rank)
      return fail("expects static_sizes to have " + Twine(rank) +
                  " entries, but got " + Twine(op.getStaticSizes().size()));
    FailureOr<SmallVector<Expr>> mixed =
        mixedSizes(op.getStaticSizes(), op.getSizes());
    if (failed(mixed))
      return failure();
    sizes = std::move(*mixed);
    // C2
    if (!op.getScales().empty() && op.getScales().size() != rank)
      return fail("expects scales to have " + Twine(rank) +
                  " entries, but got " + Twine(op.getScales().size()));
    for (double scale : op.getScales())
      if (!(scale > 0) || std::isinf(scale))
        return fail("expects scales that are positive numbers, but got " +
                    std::to_string(scale));
    return success();
  }

  bool isUnchanged(unsigned dim) {
    std::optional<int64_t> from = getStaticSize(0, dim);
    bool isSame = from && evaluate(sizes[dim]) == from;
    return isSame && (op.getScales().empty() || op.getScales()[dim] == 1);
  }

  Expr real(Expr value) const { return cast(realType, value); }
  Expr real(double value) const { return constant(value); }
  static Expr divide(Expr lhs, Expr rhs) {
    return apply(ScalarFn::Div, {lhs, rhs});
  }

  /// (p + shift) / scale: exactly where the scale is a quotient of sizes, and
  /// in single precision, which is that of ONNX's scales, where it is given.
  /// (In another one 3.5 / 0.7 would not be 5, and what is nearest another
  /// element.)
  Expr unscale(unsigned dim, Expr p, double shift) {
    Expr value = real(p) + real(shift);
    if (op.getScales().empty())
      return divide(value * real(size(0, dim)), real(sizes[dim]));
    auto scale = static_cast<float>(op.getScales()[dim]);
    if (std::optional<int64_t> number = evaluate(p))
      return real((static_cast<float>(*number) + static_cast<float>(shift)) /
                  scale);
    std::optional<TensorRef> &table = unscaled[dim];
    if (!table) {
      IndexVar var = makeVar("p" + std::to_string(dim), sizes[dim]);
      Type single = Float32Type::get(getContext());
      Expr shifted = cast(single, real(use(var)) + real(shift));
      table = addStep("U" + std::to_string(dim), var,
                      divide(shifted, cast(single, real(scale))));
    }
    return real(read(*table, p));
  }

  /// Where position `p` lies in the operand.
  Expr getCoordinate(unsigned dim, Expr p) {
    Expr from = real(size(0, dim)), to = real(sizes[dim]);
    bool isScaled = !op.getScales().empty();
    auto getHalfPixel = [&] { return unscale(dim, p, 0.5) - real(0.5); };
    Expr zero = cast(realType, real(0.0));
    switch (op.getCoordinateMode()) {
    case CoordinateMode::HalfPixel:
      return getHalfPixel();
    case CoordinateMode::HalfPixelSymmetric: {
      if (!isScaled)
        return getHalfPixel();
      Expr adjustment = divide(to, from * real(op.getScales()[dim]));
      Expr center = divide(from, real(2.0));
      return center * (real(1.0) - adjustment) + getHalfPixel();
    }
    case CoordinateMode::PytorchHalfPixel:
      return select(apply(ScalarFn::LessEqual, {to, real(1.0)}), zero,
                    getHalfPixel());
    case CoordinateMode::AlignCorners: {
      // The corner of the result lies at its extent before rounding.
      Expr extent = isScaled ? from * real(op.getScales()[dim]) : to;
      return select(apply(ScalarFn::LessEqual, {extent, real(1.0)}), zero,
                    divide(real(p) * (from - real(1.0)), extent - real(1.0)));
    }
    case CoordinateMode::Asymmetric:
      return unscale(dim, p, 0);
    }
    llvm_unreachable("every mode is handled above");
  }

  Expr roundToNearest(Expr coordinate) {
    switch (op.getNearestMode()) {
    case NearestMode::RoundPreferFloor:
      return apply(ScalarFn::Ceil, {coordinate - real(0.5)});
    case NearestMode::RoundPreferCeil:
      return apply(ScalarFn::Floor, {coordinate + real(0.5)});
    case NearestMode::Floor:
      return apply(ScalarFn::Floor, {coordinate});
    case NearestMode::Ceil:
      return apply(ScalarFn::Ceil, {coordinate});
    }
    llvm_unreachable("every mode is handled above");
  }

  Expr getNearest(unsigned dim, Expr p) {
    Expr nearest = roundToNearest(getCoordinate(dim, p));
    return clampIndex(cast(indexType, nearest), symbolicSize(0, dim));
  }

  Expr locateNearest(unsigned dim, const IndexVar &result) {
    if (Expr repeated = getRepetition(dim, result))
      return repeated;
    IndexVar var = makeVar(result.name, result.extent);
    TensorRef table =
        addStep("I" + std::to_string(dim), var, getNearest(dim, use(var)));
    return read(table, use(result));
  }

  /// p // n, if the nearest elements are those for an n-fold enlargement, as
  /// trying out positions tells.
  Expr getRepetition(unsigned dim, const IndexVar &result) {
    std::optional<int64_t> from = getStaticSize(0, dim);
    std::optional<int64_t> to = evaluate(sizes[dim]);
    if (!from || !to || *from == 0 || *to % *from != 0)
      return {};
    // Positions a factor apart read elements 1 apart, but at the ends.
    int64_t factor = *to / *from;
    for (int64_t p : llvm::seq(*to)) {
      if (p >= 2 * factor && p < *to - factor)
        continue;
      double coordinate = evaluateCoordinate(dim, p);
      Expr nearest = roundToNearest(constant(coordinate));
      if (std::clamp<double>(nearest.getFloat(), 0, *from - 1) != p / factor)
        return {};
    }
    return floorDiv(use(result), index(factor));
  }

  /// Functions of untyped literals fold; sizes are known here.
  double evaluateCoordinate(unsigned dim, int64_t p) {
    Expr coordinate = getCoordinate(dim, index(p));
    Expr folded = transform(coordinate, [](Expr part) -> Expr {
      if (part.getKind() == Expr::Kind::Constant)
        return constant(part.getFloat());
      if (part.getKind() == Expr::Kind::Cast)
        return part.getOperands()[0];
      return {};
    });
    return folded.getFloat();
  }

  /// Adds the tables of a dimension and returns the index that tap and position
  /// read.
  Expr addTaps(unsigned dim, const IndexVar &result) {
    bool isCubic = op.getMode() == ResizeMode::Cubic;
    Expr numTaps = index(isCubic ? 4 : 2);
    std::string number = std::to_string(dim);
    Expr extent = symbolicSize(0, dim);
    auto makeIndices = [&] {
      return SmallVector<IndexVar>{makeVar(result.name, result.extent),
                                   makeVar("t" + number, numTaps)};
    };
    auto getBase = [&](const IndexVar &var) {
      return apply(ScalarFn::Floor, {getCoordinate(dim, use(var))}) -
             real(isCubic ? 1.0 : 0.0);
    };

    SmallVector<IndexVar> vars = makeIndices();
    Expr source = cast(indexType, getBase(vars[0])) + use(vars[1]);
    TensorRef sources = addStep("I" + number, vars, clampIndex(source, extent));

    vars = makeIndices();
    Expr base = getBase(vars[0]);
    Expr distance = apply(ScalarFn::Abs, {base + real(use(vars[1])) -
                                          getCoordinate(dim, use(vars[0]))});
    Expr value = cast(weightType,
                      isCubic ? weighCubic(distance) : weighLinear(distance));
    if (op.getExcludeOutside()) {
      Expr isInside = inBounds(cast(indexType, base) + use(vars[1]), extent);
      value = select(isInside, value, cast(weightType, real(0.0)));
    }
    TensorRef weights = addStep("K" + number, vars, value);
    if (op.getExcludeOutside())
      weights = normalize(weights, number, makeIndices);

    IndexVar tap = makeVar("t" + number, numTaps);
    taps.push_back(tap);
    SmallVector<Expr> at{use(result), use(tap)};
    Expr factor = read(weights, at);
    weight = weight ? weight * factor : factor;
    return read(sources, at);
  }

  /// Divides weights by their sum over the taps.
  TensorRef normalize(TensorRef weights, StringRef number,
                      llvm::function_ref<SmallVector<IndexVar>()> makeIndices) {
    SmallVector<IndexVar> vars = makeIndices();
    TensorRef sums =
        addStep("S" + number.str(), vars[0],
                reduce(ReduceKind::Sum, vars[1], {}, read(weights, use(vars))));
    vars = makeIndices();
    Expr quotient = apply(ScalarFn::Div,
                          {read(weights, use(vars)), read(sums, use(vars[0]))});
    return addStep("N" + number.str(), vars, quotient);
  }

  Expr weighLinear(Expr distance) const {
    return apply(ScalarFn::Max, {real(1.0) - distance, real(0.0)});
  }

  /// The cubic convolution kernel of Keys.
  Expr weighCubic(Expr d) {
    double a = op.getCubicCoefficient().convertToDouble();
    Expr square = d * d;
    Expr near = ((d * real(a + 2)) - real(a + 3)) * square + real(1.0);
    Expr far = ((d - real(5.0)) * square + d * real(8.0) - real(4.0)) * real(a);
    Expr isNear = apply(ScalarFn::LessEqual, {d, real(1.0)});
    Expr isFar = apply(ScalarFn::Less, {d, real(2.0)});
    return select(isNear, near, select(isFar, far, cast(realType, real(0.0))));
  }

  ResizeOp::Adaptor op;
  Type indexType, realType, weightType;
  SmallVector<Expr> sizes;
  SmallVector<IndexVar> taps;
  Expr weight;
  /// By dimension, once it is needed.
  llvm::DenseMap<unsigned, std::optional<TensorRef>> unscaled;
};
} // namespace

FailureOr<Definition> ResizeOp::define(Adaptor op, DefinitionError error) {
  return ResizeBuilder(op, error).run();
}
