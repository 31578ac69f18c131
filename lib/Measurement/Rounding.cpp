//===- Rounding.cpp - How much results may differ -------------------------===//
//
// Each array has a bound of its values, a unit of which all are multiples, and
// a bound of what they may differ by from those of real numbers. A sum of n
// terms of at most t, which are whole numbers of units, is exact in any order
// if n t has no more digits than a float; else each of its n additions rounds
// by at most one unit in the last place of n t.
//
//   c[i, j] += a[i, k] * b[k, j]     with a, b of -8 to 8, k of 512:
//   terms of 64, sums of 2^15 < 2^24: no difference is rounding
//
//===----------------------------------------------------------------------===//

#include "espalier/Measurement/Rounding.h"
#include "espalier/Dialect/Poly/Analysis/Extents.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "llvm/ADT/DenseMap.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/TypeSwitch.h"
#include <cmath>

using namespace mlir;
using namespace espalier;

/// What floats may be, the more the better: others are told apart more often.
static constexpr int64_t kMagnitudes[] = {8, 4, 2, 1};
/// Made-up integers are less than this.
static constexpr double kInteger = 16;

namespace {
/// What is known of all elements of an array.
struct Numbers {
  double bound = HUGE_VAL; ///< Of their absolute values.
  double unit = 0;         ///< All are multiples of it, if it is not 0.
  double error = HUGE_VAL; ///< How far they may be from the exact ones.

  bool isExact() const { return error == 0; }
};

/// Follows what is known from the arguments of a kernel to what it writes.
class NumberAnalysis {
public:
  NumberAnalysis(poly::KernelOp kernel, double magnitude, double unit,
                 int64_t unknownExtent);

  Numbers get(Value array) const { return arrays.lookup(array); }

private:
  void visit(poly::ComputeOp compute);
  Numbers update(poly::ComputeOp compute, const poly::ComputeAccess &write);
  Numbers evaluateBody(poly::ComputeOp compute, unsigned result,
                       std::optional<unsigned> updated);
  Numbers evaluate(Operation *op);
  Numbers evaluateFloat(Operation *op);
  double countPoints(poly::ComputeOp compute, const poly::ComputeAccess &write);

  int64_t unknownExtent;
  llvm::DenseMap<Value, Numbers> arrays;
  /// Of the body at hand.
  llvm::DenseMap<Value, Numbers> values;
};
} // namespace

static constexpr Numbers kUnknown = {};
/// Zero is a multiple of anything. So are numbers that are not finite: they
/// are the same whatever the order.
static constexpr Numbers kZero = {0, HUGE_VAL, 0};

/// A product of bounds, of which an unknown one makes all unknown.
static double multiply(double a, double b) {
  return std::isinf(a) || std::isinf(b) ? HUGE_VAL : a * b;
}

/// The digits of a type, of which integers have any number.
static unsigned countDigits(Type type) {
  auto real = dyn_cast<FloatType>(type);
  return real ? llvm::APFloat::semanticsPrecision(real.getFloatSemantics()) : 0;
}

/// What becomes of exact `numbers` that are stored with so many digits after
/// `times` operations.
static Numbers round(Numbers numbers, Type type, double times = 1) {
  unsigned digits = countDigits(type);
  if (digits == 0 ||
      (numbers.isExact() && numbers.unit > 0 &&
       numbers.bound <= multiply(numbers.unit, std::exp2(digits))))
    return numbers;
  // Higham: n roundings change a number by a factor of at most 1 + nu/(1 - nu).
  double relative = multiply(times, std::exp2(-double(digits)));
  relative = relative < 1 ? relative / (1 - relative) : HUGE_VAL;
  double error = numbers.error + multiply(relative, numbers.bound);
  return {numbers.bound + error, 0, error};
}

/// What is one or the other.
static Numbers join(const Numbers &a, const Numbers &b) {
  return {std::max(a.bound, b.bound), std::min(a.unit, b.unit),
          std::max(a.error, b.error)};
}

static Numbers add(const Numbers &a, const Numbers &b) {
  return {a.bound + b.bound, std::min(a.unit, b.unit), a.error + b.error};
}

static Numbers multiply(const Numbers &a, const Numbers &b) {
  if (a.bound == 0 || b.bound == 0)
    return a.isExact() && b.isExact() ? kZero : kUnknown;
  double unit =
      std::isinf(a.unit) || std::isinf(b.unit) ? HUGE_VAL : a.unit * b.unit;
  return {multiply(a.bound, b.bound), unit,
          multiply(a.bound, b.error) + multiply(b.bound, a.error)};
}

static Numbers describe(const llvm::APFloat &constant) {
  if (!constant.isFinite() || constant.isZero())
    return kZero;
  bool losesInfo;
  llvm::APFloat value = constant;
  value.convert(llvm::APFloat::IEEEdouble(), llvm::APFloat::rmNearestTiesToEven,
                &losesInfo);
  double bound = std::fabs(value.convertToDouble());
  if (losesInfo)
    return {bound, 0, HUGE_VAL};
  // The last digit that is not 0.
  int exponent;
  auto digits = static_cast<uint64_t>(std::frexp(bound, &exponent) * 0x1p53);
  return {bound, std::ldexp(1.0, exponent - 53 + llvm::countr_zero(digits)), 0};
}

static Numbers describe(TypedAttr constant) {
  if (auto real = dyn_cast<FloatAttr>(constant))
    return describe(real.getValue());
  if (auto integer = dyn_cast<IntegerAttr>(constant))
    return {std::fabs(integer.getValue().roundToDouble(/*isSigned=*/true)), 1,
            0};
  return kUnknown;
}

/// The most points that write the same element.
double NumberAnalysis::countPoints(poly::ComputeOp compute,
                                   const poly::ComputeAccess &write) {
  Builder builder(compute.getContext());
  llvm::SmallBitVector isFixed(compute.getNumDims());
  for (AffineExpr index : write.map.getResults())
    if (auto dim = dyn_cast<AffineDimExpr>(index))
      isFixed.set(dim.getPosition());
  double points = 0;
  for (IntegerSet set : compute.getDomainSets()) {
    SmallVector<AffineExpr> sizes(set.getNumSymbols(),
                                  builder.getAffineConstantExpr(unknownExtent));
    IntegerSet known =
        set.replaceDimsAndSymbols({}, sizes, set.getNumDims(), 0);
    double box = 1;
    for (auto [dim, extent] : llvm::enumerate(poly::getBoxExtents(known)))
      if (!isFixed[dim])
        box = extent ? multiply(box, *extent) : HUGE_VAL;
    points += box;
  }
  return points;
}

/// What operations on floats compute; those that are not listed, anything.
Numbers NumberAnalysis::evaluateFloat(Operation *op) {
  auto get = [&](unsigned number) {
    return values.lookup(op->getOperand(number));
  };
  Type type = op->getResult(0).getType();
  return llvm::TypeSwitch<Operation *, Numbers>(op)
      .Case<arith::AddFOp, arith::SubFOp>(
          [&](auto) { return round(add(get(0), get(1)), type); })
      .Case<arith::MulFOp>(
          [&](auto) { return round(multiply(get(0), get(1)), type); })
      .Case<math::FmaOp>([&](auto) {
        return round(add(round(multiply(get(0), get(1)), type), get(2)), type);
      })
      .Case<arith::DivFOp>([&](arith::DivFOp quotient) {
        TypedAttr divisor;
        if (auto constant =
                quotient.getRhs().getDefiningOp<arith::ConstantOp>())
          divisor = constant.getValue();
        Numbers numbers = divisor ? describe(divisor) : kUnknown;
        if (!(numbers.bound > 0) || std::isinf(numbers.bound))
          return kUnknown;
        // A power of two; of others the inverse is rounded, too.
        bool isPower = numbers.unit == numbers.bound;
        Numbers inverse = {1 / numbers.bound, isPower ? 1 / numbers.bound : 0,
                           0};
        if (!isPower)
          inverse = round(inverse, type);
        return round(multiply(get(0), inverse), type);
      })
      .Case<arith::NegFOp, math::AbsFOp, arith::ExtFOp>(
          [&](auto) { return get(0); })
      .Case<arith::TruncFOp>([&](auto) { return round(get(0), type); })
      .Case<arith::MaximumFOp, arith::MinimumFOp, arith::MaxNumFOp,
            arith::MinNumFOp>([&](auto) { return join(get(0), get(1)); })
      .Case<arith::SIToFPOp>([&](auto) {
        return get(0).isExact() ? round(get(0), type) : kUnknown;
      })
      .Case<arith::UIToFPOp>([&](arith::UIToFPOp conversion) {
        // Those below 0 are large.
        unsigned width = conversion.getIn().getType().getIntOrFloatBitWidth();
        return get(0).isExact() ? round(Numbers{std::exp2(width), 1, 0}, type)
                                : kUnknown;
      })
      .Default(kUnknown);
}

Numbers NumberAnalysis::evaluate(Operation *op) {
  if (auto constant = dyn_cast<arith::ConstantOp>(op))
    return describe(constant.getValue());
  auto get = [&](unsigned number) {
    return values.lookup(op->getOperand(number));
  };
  if (isa<arith::SelectOp>(op))
    return get(0).isExact() ? join(get(1), get(2)) : kUnknown;
  Type type = op->getResult(0).getType();
  if (!type.isIntOrIndex())
    return evaluateFloat(op);
  // Integers that are computed from what is certain are certain.
  if (!llvm::all_of(op->getOperands(), [&](Value operand) {
        return values.lookup(operand).isExact();
      }))
    return kUnknown;
  double most = std::exp2(type.isIndex() ? 64 : type.getIntOrFloatBitWidth());
  Numbers numbers =
      llvm::TypeSwitch<Operation *, Numbers>(op)
          .Case<arith::AddIOp, arith::SubIOp>(
              [&](auto) { return add(get(0), get(1)); })
          .Case<arith::MulIOp>([&](auto) { return multiply(get(0), get(1)); })
          .Case<arith::ExtSIOp>([&](auto) { return get(0); })
          .Default(Numbers{most, 1, 0});
  // Beyond that it starts again.
  return {std::min(numbers.bound, most), 1, 0};
}

/// Returns what the body yields as `result`; with `updated`, what it adds to
/// the value of that read.
Numbers NumberAnalysis::evaluateBody(poly::ComputeOp compute, unsigned result,
                                     std::optional<unsigned> updated) {
  values.clear();
  for (BlockArgument argument : compute.getKernel().getArguments())
    if (!isa<MemRefType>(argument.getType()))
      values[argument] = arrays.lookup(argument);
  for (auto [number, read] : llvm::enumerate(compute.getReadAccesses()))
    values[read.argument] =
        number == updated ? kZero : arrays.lookup(read.array);
  for (Operation &op : compute.getBody().front().without_terminator())
    values[op.getResult(0)] = evaluate(&op);
  return values.lookup(compute.getYield().getOperand(result));
}

/// What a reduction leaves in its element; anything for what is none.
Numbers NumberAnalysis::update(poly::ComputeOp compute,
                               const poly::ComputeAccess &write) {
  std::optional<poly::Reduction> reduction = compute.getReduction();
  if (!reduction || *reduction == poly::Reduction::Mul)
    return kUnknown;
  auto matched = poly::matchReduction(compute, *reduction);
  if (!matched)
    return kUnknown;
  Numbers before = arrays.lookup(write.array);
  Numbers term = evaluateBody(compute, 0, matched->read);
  if (*reduction != poly::Reduction::Add)
    return join(before, term);
  double points = countPoints(compute, write);
  Numbers terms = {multiply(term.bound, points), term.unit,
                   multiply(term.error, points)};
  double additions =
      multiply(points, llvm::range_size(compute.getBody().front()));
  return round(add(before, terms), write.getType().getElementType(), additions);
}

void NumberAnalysis::visit(poly::ComputeOp compute) {
  SmallVector<poly::ComputeAccess> reads = compute.getReadAccesses();
  SmallVector<std::pair<Value, Numbers>> results;
  for (auto [number, write] : llvm::enumerate(compute.getWriteAccesses())) {
    // One that reads what other points write is followed if it adds it up.
    bool readsOthers =
        llvm::any_of(reads, [&, write = write](const auto &read) {
          return read.array == write.array &&
                 (read.map != write.map || countPoints(compute, write) != 1);
        });
    results.emplace_back(
        write.array, readsOthers ? update(compute, write)
                                 : evaluateBody(compute, number, std::nullopt));
  }
  // What is not certain decides where something is, or whether it happens.
  bool isUncertain = llvm::any_of(reads, [&](const poly::ComputeAccess &read) {
    return read.getType().getElementType().isIntOrIndex() &&
           !arrays.lookup(read.array).isExact();
  });
  for (auto &[array, numbers] : results) {
    auto [place, isNew] = arrays.try_emplace(array, numbers);
    place->second = isUncertain ? kUnknown
                    : isNew     ? numbers
                                : join(place->second, numbers);
  }
}

NumberAnalysis::NumberAnalysis(poly::KernelOp kernel, double magnitude,
                               double unit, int64_t unknownExtent)
    : unknownExtent(unknownExtent) {
  for (BlockArgument argument : kernel.getArguments()) {
    Type type = getElementTypeOrSelf(argument.getType());
    arrays[argument] = isa<FloatType>(type) ? Numbers{magnitude, unit, 0}
                       : type.isIndex() ? Numbers{double(unknownExtent), 1, 0}
                                        : Numbers{kInteger, 1, 0};
  }
  for (poly::ComputeOp compute : kernel.getComputes())
    visit(compute);
}

/// Whether some step reads what a later one of the same loop writes.
static bool isRecurrence(poly::KernelOp kernel) {
  return llvm::any_of(kernel.getComputes(), [](poly::ComputeOp compute) {
    return compute.getInterleaved().value_or(0) != 0;
  });
}

KernelNumbers espalier::chooseNumbers(poly::KernelOp kernel,
                                      int64_t unknownExtent) {
  llvm::SmallPtrSet<Value, 8> written;
  for (poly::ComputeOp compute : kernel.getComputes())
    for (const poly::ComputeAccess &write : compute.getWriteAccesses())
      written.insert(write.array);
  KernelNumbers numbers;
  if (isRecurrence(kernel)) {
    numbers.differences.resize(
        llvm::count_if(kernel.getArguments(), [&](BlockArgument argument) {
          return written.contains(argument);
        }));
    return numbers;
  }
  /// Fills in differences, and returns the largest beside the values.
  auto analyze = [&](double magnitude, double unit, KernelNumbers &result) {
    NumberAnalysis analysis(kernel, magnitude, unit, unknownExtent);
    double worst = 0;
    for (BlockArgument argument : kernel.getArguments()) {
      if (!written.contains(argument))
        continue;
      Numbers made = analysis.get(argument);
      bool isKnown = std::isfinite(made.error);
      // Either of two may be off.
      result.differences.push_back(isKnown ? std::optional(2 * made.error)
                                           : std::nullopt);
      worst = std::max(worst, !isKnown         ? HUGE_VAL
                              : made.isExact() ? 0
                                               : made.error / made.bound);
    }
    return worst;
  };
  double least = HUGE_VAL;
  for (int64_t magnitude : kMagnitudes) {
    KernelNumbers candidate = {magnitude, {}};
    double worst = analyze(magnitude, 1, candidate);
    if (worst < least) {
      least = worst;
      numbers = std::move(candidate);
    }
  }
  if (std::isinf(least))
    analyze(1, 0, numbers);
  return numbers;
}
