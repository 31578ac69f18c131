//===- PairProducts.cpp - Two products of bf16 at a time ------------------===//
//
// An instruction of some machines multiplies pairs of bf16 and adds both
// products to a lane of f32. Two updates of a sum become that where what they
// multiply lies in pairs, or is the same for all lanes:
//
//   s = sum + x0 * b[0, 2, ..];  t = s + x1 * b[1, 3, ..]
//   t = dot(sum, (x0, x1, x0, ..), b)
//
// A product of two bf16 has at most 16 digits, so both are exact, and the
// instruction rounds after each of its sums. It adds the second product first,
// so updates have to say that their order does not matter.
//
//===----------------------------------------------------------------------===//

#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/IR/TargetFeatures.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMPAIRPRODUCTSPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

namespace {
/// A factor of a product in lanes, before it is widened.
struct Factor {
  /// The elements of all lanes, or the one that they share.
  Value lanes, scalar;
};

/// `sum + factors[0] * factors[1]`.
struct Update {
  Value sum;
  Factor factors[2];
};

/// What both elements of each lane's pairs are made of.
struct Pairs {
  Value vector;        ///< Has the pairs side by side.
  Value first, second; ///< Or: the elements of every pair.
  bool isOdd = false;  ///< Whether the vector has the first update's last.
};
} // namespace

/// What `value` is, as bf16; nothing if it is no such number made wider.
static std::optional<Factor> getFactor(Value value) {
  auto spread = value.getDefiningOp<vector::BroadcastOp>();
  auto wide =
      (spread ? spread.getSource() : value).getDefiningOp<arith::ExtFOp>();
  if (!wide || !getElementTypeOrSelf(wide.getIn()).isBF16())
    return std::nullopt;
  Value narrow = wide.getIn();
  if (auto inner = narrow.getDefiningOp<vector::BroadcastOp>())
    narrow = inner.getSource();
  if (narrow.getType().isBF16())
    return Factor{{}, narrow};
  return spread ? std::nullopt : std::optional(Factor{narrow, {}});
}

static std::optional<Update> getUpdate(Value value) {
  auto add = value.getDefiningOp<arith::AddFOp>();
  if (!add ||
      !bitEnumContainsAll(add.getFastmath(), arith::FastMathFlags::reassoc))
    return std::nullopt;
  for (auto [sum, term] : {std::pair(add.getLhs(), add.getRhs()),
                           std::pair(add.getRhs(), add.getLhs())}) {
    auto product = term.getDefiningOp<arith::MulFOp>();
    if (!product)
      continue;
    std::optional<Factor> lhs = getFactor(product.getLhs());
    std::optional<Factor> rhs = getFactor(product.getRhs());
    if (lhs && rhs)
      return Update{sum, {*lhs, *rhs}};
  }
  return std::nullopt;
}

/// The vector of which `lanes` are each second element, and whether they begin
/// with the second one; null if they are not.
static std::pair<Value, bool> getPaired(Value lanes) {
  auto shuffle = lanes.getDefiningOp<vector::ShuffleOp>();
  if (!shuffle)
    return {};
  ArrayRef<int64_t> places = shuffle.getMask();
  int64_t begin = places.front();
  if (begin > 1 ||
      shuffle.getV1VectorType().getNumElements() != 2 * int64_t(places.size()))
    return {};
  for (auto [lane, place] : llvm::enumerate(places))
    if (place != begin + 2 * int64_t(lane))
      return {};
  return {shuffle.getV1(), begin == 1};
}

/// The pairs of what two updates multiply.
static std::optional<Pairs> getPairs(const Factor &first,
                                     const Factor &second) {
  if (first.scalar && second.scalar)
    return Pairs{{}, first.scalar, second.scalar};
  if (!first.lanes || !second.lanes)
    return std::nullopt;
  auto [vector, isOdd] = getPaired(first.lanes);
  auto [other, isOtherOdd] = getPaired(second.lanes);
  if (!vector || vector != other || isOdd == isOtherOdd)
    return std::nullopt;
  return Pairs{vector, {}, {}, isOdd};
}

/// The pairs in a vector for `lanes` lanes.
static Value emitPairs(OpBuilder &builder, Location loc, const Pairs &pairs,
                       int64_t lanes, bool isOdd) {
  if (pairs.vector)
    return pairs.vector;
  auto type = builder.getBF16Type();
  Value one = pairs.first, two = pairs.second;
  if (isOdd)
    std::swap(one, two);
  // As one number of 32 bits, which an instruction spreads.
  Value pair = vector::FromElementsOp::create(
      builder, loc, VectorType::get({2}, type), ValueRange{one, two});
  Value bits = vector::BitCastOp::create(
      builder, loc, VectorType::get({1}, builder.getI32Type()), pair);
  Value number = vector::ExtractOp::create(builder, loc, bits, 0);
  Value spread = vector::BroadcastOp::create(
      builder, loc, VectorType::get({lanes}, builder.getI32Type()), number);
  return vector::BitCastOp::create(builder, loc,
                                   VectorType::get({2 * lanes}, type), spread);
}

/// Replaces `last` and the update before it; false if they are no pair.
static bool pairUpdates(arith::AddFOp last, poly::TargetAttr target) {
  auto type = dyn_cast<VectorType>(last.getType());
  if (!type || type.getRank() != 1 || type.isScalable() ||
      !type.getElementType().isF32() ||
      !poly::hasPairProducts(target, type.getNumElements()))
    return false;
  std::optional<Update> second = getUpdate(last);
  if (!second || !second->sum.hasOneUse())
    return false;
  std::optional<Update> first = getUpdate(second->sum);
  if (!first)
    return false;
  for (unsigned crossed : {0, 1}) {
    std::optional<Pairs> lhs =
        getPairs(first->factors[0], second->factors[crossed]);
    std::optional<Pairs> rhs =
        getPairs(first->factors[1], second->factors[1 - crossed]);
    // Scalars alone are seldom what many sums are made of.
    if (!lhs || !rhs || (!lhs->vector && !rhs->vector) ||
        (lhs->vector && rhs->vector && lhs->isOdd != rhs->isOdd))
      continue;
    bool isOdd = lhs->vector ? lhs->isOdd : rhs->isOdd;
    OpBuilder builder(last);
    int64_t lanes = type.getNumElements();
    Value a = emitPairs(builder, last.getLoc(), *lhs, lanes, isOdd);
    Value b = emitPairs(builder, last.getLoc(), *rhs, lanes, isOdd);
    Value dot = x86vector::DotBF16Op::create(builder, last.getLoc(), type,
                                             first->sum, a, b);
    Operation *before = second->sum.getDefiningOp();
    last.replaceAllUsesWith(dot);
    last.erase();
    before->erase();
    return true;
  }
  return false;
}

namespace {
struct ProgramPairProductsPass
    : espalier::impl::ProgramPairProductsPassBase<ProgramPairProductsPass> {
  using ProgramPairProductsPassBase::ProgramPairProductsPassBase;

  void runOnOperation() override {
    SmallVector<arith::AddFOp> sums;
    getOperation().walk([&](arith::AddFOp sum) {
      if (bitEnumContainsAll(sum.getFastmath(), arith::FastMathFlags::reassoc))
        sums.push_back(sum);
    });
    if (sums.empty())
      return;
    poly::TargetAttr target = poly::getTarget(getOperation());
    // An update comes after those that it adds to, which it may erase.
    for (arith::AddFOp sum : sums)
      numPaired += pairUpdates(sum, target);
  }
};
} // namespace
