//===- Reduction.cpp - What a reduction accumulates -----------------------===//

#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace espalier::poly;

Value ReductionUpdate::combine(OpBuilder &builder, Location loc, Value lhs,
                               Value rhs) const {
  OperationState state(loc, combiner.getValue(), {lhs, rhs}, lhs.getType());
  return builder.create(state)->getResult(0);
}

namespace {
/// What changes nothing when it is combined: a number's name, for each type.
enum class Neutral {
  Zero,
  /// Of floats the negative one: -0.0 + 0.0 is 0.0.
  NegativeZero,
  One,
  AllOnes,
  NotANumber,
  Least,
  Greatest,
};

/// An operation that combines in any order.
struct Combiner {
  StringRef name;
  Reduction reduction;
  Neutral neutral;
  /// What memory does at once, if it can.
  std::optional<arith::AtomicRMWKind> atomic = {};
};
using Atomic = arith::AtomicRMWKind;
} // namespace

static const Combiner kCombiners[] = {
    {"arith.addf", Reduction::Add, Neutral::NegativeZero, Atomic::addf},
    {"arith.addi", Reduction::Add, Neutral::Zero, Atomic::addi},
    {"arith.mulf", Reduction::Mul, Neutral::One},
    {"arith.muli", Reduction::Mul, Neutral::One},
    {"arith.maximumf", Reduction::Max, Neutral::Least, Atomic::maximumf},
    {"arith.maxnumf", Reduction::Max, Neutral::NotANumber, Atomic::maxnumf},
    {"arith.maxsi", Reduction::Max, Neutral::Least, Atomic::maxs},
    {"arith.maxui", Reduction::Max, Neutral::Zero, Atomic::maxu},
    {"arith.minimumf", Reduction::Min, Neutral::Greatest, Atomic::minimumf},
    {"arith.minnumf", Reduction::Min, Neutral::NotANumber, Atomic::minnumf},
    {"arith.minsi", Reduction::Min, Neutral::Greatest, Atomic::mins},
    {"arith.minui", Reduction::Min, Neutral::AllOnes, Atomic::minu},
    {"arith.andi", Reduction::And, Neutral::AllOnes, Atomic::andi},
    {"arith.ori", Reduction::Or, Neutral::Zero, Atomic::ori},
};

static APFloat getNeutral(Neutral neutral, const llvm::fltSemantics &type) {
  bool isNegative = neutral == Neutral::Least;
  switch (neutral) {
  case Neutral::NegativeZero:
    return APFloat::getZero(type, /*Negative=*/true);
  case Neutral::One:
    return APFloat::getOne(type);
  case Neutral::NotANumber:
    return APFloat::getNaN(type);
  case Neutral::Least:
  case Neutral::Greatest:
    return APFloat::semanticsHasInf(type)
               ? APFloat::getInf(type, isNegative)
               : APFloat::getLargest(type, isNegative);
  case Neutral::Zero:
  case Neutral::AllOnes:
    break;
  }
  llvm_unreachable("only integers combine from here");
}

static APInt getNeutral(Neutral neutral, unsigned width) {
  switch (neutral) {
  case Neutral::Zero:
    return APInt::getZero(width);
  case Neutral::One:
    return APInt(width, 1);
  case Neutral::AllOnes:
    return APInt::getAllOnes(width);
  case Neutral::Least:
    return APInt::getSignedMinValue(width);
  case Neutral::Greatest:
    return APInt::getSignedMaxValue(width);
  case Neutral::NegativeZero:
  case Neutral::NotANumber:
    break;
  }
  llvm_unreachable("only floats combine from here");
}

static TypedAttr getNeutral(Neutral neutral, Type type) {
  if (auto real = dyn_cast<FloatType>(type))
    return FloatAttr::get(type, getNeutral(neutral, real.getFloatSemantics()));
  unsigned width = type.isIndex() ? IndexType::kInternalStorageBitWidth
                                  : type.getIntOrFloatBitWidth();
  return IntegerAttr::get(type, getNeutral(neutral, width));
}

TypedAttr espalier::poly::getNeutral(StringRef combiner, Type type) {
  const auto *row = llvm::find_if(
      kCombiners, [&](const Combiner &row) { return row.name == combiner; });
  return row == std::end(kCombiners) ? TypedAttr()
                                     : ::getNeutral(row->neutral, type);
}

SmallVector<StringRef> espalier::poly::getCombiners() {
  return llvm::map_to_vector(
      kCombiners, [](const Combiner &combiner) { return combiner.name; });
}

/// The row for what `use`'s owner adds up; null if it does not combine as
/// `reduction` says.
static const Combiner *getCombiner(OpOperand &use, Reduction reduction) {
  Operation *op = use.getOwner();
  StringRef name = op->getName().getStringRef();
  if (isa<arith::SubFOp>(op) && use.getOperandNumber() == 0)
    name = "arith.addf";
  if (isa<arith::SubIOp>(op) && use.getOperandNumber() == 0)
    name = "arith.addi";
  if (isa<math::FmaOp>(op) && use.getOperandNumber() == 2)
    name = "arith.addf";
  const auto *row = llvm::find_if(kCombiners, [&](const Combiner &combiner) {
    return combiner.name == name && combiner.reduction == reduction;
  });
  return row == std::end(kCombiners) ? nullptr : row;
}

/// What all steps from `element` to the yield's operand `number` combine with.
static const Combiner *followUpdate(Value element, YieldOp yield,
                                    unsigned number, Reduction reduction) {
  const Combiner *combiner = nullptr;
  while (element.hasOneUse()) {
    OpOperand &use = *element.use_begin();
    if (use.getOwner() == yield)
      return use.getOperandNumber() == number ? combiner : nullptr;
    const Combiner *own = getCombiner(use, reduction);
    if (!own || (combiner && combiner != own))
      return nullptr;
    combiner = own;
    element = use.getOwner()->getResult(0);
  }
  return nullptr;
}

/// Whether the value of read `number` decides what else is accessed, or which
/// points run.
static bool isIndexOrCondition(ComputeOp compute, unsigned number) {
  unsigned symbol = compute.getKernel().getNumParameters() + number;
  auto isIndex = [&](const ComputeAccess &access) {
    return symbol < access.map.getNumSymbols() &&
           access.map.isFunctionOfSymbol(symbol);
  };
  return compute.isConditionedOn(number) ||
         llvm::any_of(compute.getReadAccesses(), isIndex) ||
         llvm::any_of(compute.getWriteAccesses(), isIndex);
}

std::optional<ReductionUpdate>
espalier::poly::matchReduction(ComputeOp compute, Reduction reduction) {
  OpBuilder builder(compute.getContext());
  SmallVector<ComputeAccess> writes = compute.getWriteAccesses();
  if (writes.size() != 1)
    return std::nullopt;
  SmallVector<unsigned> reads = getUpdateReads(compute);
  if (reads.size() != 1)
    return std::nullopt;
  if (isIndexOrCondition(compute, reads.front()))
    return std::nullopt;
  Value element = compute.getReadAccesses()[reads.front()].argument;
  const Combiner *combiner =
      followUpdate(element, compute.getYield(), /*number=*/0, reduction);
  if (!combiner)
    return std::nullopt;
  return ReductionUpdate{reads.front(), builder.getStringAttr(combiner->name),
                         ::getNeutral(combiner->neutral, element.getType())};
}

/// The row for the update of `compute`; null without one.
static const Combiner *findCombiner(ComputeOp compute) {
  std::optional<Reduction> reduction = compute.getReduction();
  auto update = reduction ? matchReduction(compute, *reduction) : std::nullopt;
  const auto *row = llvm::find_if(kCombiners, [&](const Combiner &combiner) {
    return update && combiner.name == update->combiner.getValue();
  });
  return row == std::end(kCombiners) ? nullptr : row;
}

std::string espalier::poly::findAtomicFault(ComputeOp compute) {
  const Combiner *combiner = findCombiner(compute);
  if (!combiner || !combiner->atomic)
    return "a reduction that adds, takes maxima or minima, or combines bits, "
           "but got " +
           (combiner ? ("one by " + combiner->name).str()
                     : std::string("none"));
  Type type = compute.getWriteAccesses().front().getType().getElementType();
  bool isKnown =
      type.isF32() || type.isF64() ||
      llvm::any_of(std::initializer_list<unsigned>{8, 16, 32, 64},
                   [&](unsigned width) { return type.isInteger(width); });
  if (isKnown)
    return "";
  return "elements of integers of 8, 16, 32 or 64 bits, f32 or f64, but got " +
         debugString(type);
}

arith::AtomicRMWKind espalier::poly::getAtomicKind(ComputeOp compute) {
  return *findCombiner(compute)->atomic;
}

SmallVector<unsigned> espalier::poly::getUpdateReads(ComputeOp compute) {
  SmallVector<unsigned> numbers;
  SmallVector<ComputeAccess> writes = compute.getWriteAccesses();
  for (auto [number, read] : llvm::enumerate(compute.getReadAccesses()))
    if (llvm::any_of(writes, [&, read = read](const ComputeAccess &write) {
          return read.array == write.array &&
                 read.map.getResults() == write.map.getResults();
        }))
      numbers.push_back(number);
  return numbers;
}

std::optional<SmallVector<unsigned>>
espalier::poly::getElementReads(ComputeOp compute) {
  SmallVector<unsigned> numbers;
  SmallVector<ComputeAccess> reads = compute.getReadAccesses();
  for (const ComputeAccess &write : compute.getWriteAccesses()) {
    auto isElement = [&](unsigned number) {
      return reads[number].array == write.array &&
             reads[number].map.getResults() == write.map.getResults();
    };
    auto own =
        llvm::filter_to_vector(llvm::seq<unsigned>(reads.size()), isElement);
    if (own.size() != 1 || isIndexOrCondition(compute, own.front()))
      return std::nullopt;
    numbers.push_back(own.front());
  }
  return numbers;
}
