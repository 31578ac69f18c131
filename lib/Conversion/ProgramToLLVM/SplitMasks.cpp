//===- SplitMasks.cpp - Masked accesses in parts without masks ------------===//
//
// Without registers for masks, a masked store takes several times as long as a
// plain one (with AVX2 on some cores, 12 cycles for 1), and one of elements
// that no instruction masks becomes a branch for each lane. Which lanes the
// rest of a row of known length has is known, so these are stored in parts of
// 4, 2 and 1:
//
//   lanes 0 to 6:  store [0, 4), store [4, 6), store [6]
//
//===----------------------------------------------------------------------===//

#include "espalier/Conversion/ProgramToLLVM/Passes.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Dialect/Vector/IR/VectorOps.h"
#include "llvm/Support/MathExtras.h"

namespace espalier {
#define GEN_PASS_DEF_PROGRAMSPLITMASKSPASS
#include "espalier/Conversion/ProgramToLLVM/Passes.h.inc"
} // namespace espalier

using namespace mlir;
using namespace espalier;

namespace {
/// Lanes that are neighbours.
struct Part {
  int64_t begin, size;
};
} // namespace

/// Whether `target` has registers for masks, so that leaving out lanes of a
/// load or a store costs nothing: AVX-512 and SVE, unlike AVX2 and Neon.
static bool hasMasks(poly::TargetAttr target) {
  return target.getRegisters() >= 32 && target.getVectorBits() > 128;
}

/// Whether some instruction loads lanes of `type` and leaves out others: AVX's
/// take elements of 32 and 64 bits.
static bool hasMaskedLoads(poly::TargetAttr target, Type type) {
  return target.getVectorBits() > 128 && type.isIntOrFloat() &&
         type.getIntOrFloatBitWidth() >= 32;
}

/// The lanes of `mask`, if they are known.
static std::optional<SmallVector<bool>> getLanes(Value mask) {
  SmallVector<bool> lanes(cast<VectorType>(mask.getType()).getNumElements());
  auto takeFirst = [&](int64_t count) {
    count = std::clamp<int64_t>(count, 0, lanes.size());
    std::fill_n(lanes.begin(), count, true);
    return lanes;
  };
  if (auto first = mask.getDefiningOp<vector::ConstantMaskOp>())
    return takeFirst(first.getMaskDimSizes().front());
  if (auto first = mask.getDefiningOp<vector::CreateMaskOp>())
    if (std::optional<int64_t> count = getConstantIntValue(first.getOperand(0)))
      return takeFirst(*count);
  DenseElementsAttr value;
  if (!matchPattern(mask, m_Constant(&value)))
    return std::nullopt;
  llvm::copy(value.getValues<bool>(), lanes.begin());
  return lanes;
}

/// Cuts `lanes` into parts of a power of two each that begin at a multiple of
/// their size, so that an instruction takes them out of a register.
static SmallVector<Part> getParts(ArrayRef<bool> lanes) {
  SmallVector<Part> parts;
  for (int64_t begin = 0, end; begin < int64_t(lanes.size()); begin = end) {
    end = begin + 1;
    if (!lanes[begin])
      continue;
    int64_t size = 1;
    while (begin % (2 * size) == 0 &&
           begin + 2 * size <= int64_t(lanes.size()) &&
           llvm::all_of(lanes.slice(begin, 2 * size), [](bool b) { return b; }))
      size *= 2;
    end = begin + size;
    parts.push_back({begin, size});
  }
  return parts;
}

/// Returns `indices` for the lane that is `distance` further.
static SmallVector<Value> advance(OpBuilder &builder, Location loc,
                                  ValueRange indices, int64_t distance) {
  SmallVector<Value> result(indices);
  if (distance == 0)
    return result;
  Value by = arith::ConstantIndexOp::create(builder, loc, distance);
  result.back() = arith::AddIOp::create(builder, loc, result.back(), by);
  return result;
}

static void split(OpBuilder &builder, vector::MaskedStoreOp store,
                  ArrayRef<bool> lanes) {
  Location loc = store.getLoc();
  Value value = store.getValueToStore();
  for (auto [begin, size] : getParts(lanes)) {
    Value part = value;
    if (size < int64_t(lanes.size()))
      part = vector::ExtractStridedSliceOp::create(
          builder, loc, value, ArrayRef<int64_t>(begin),
          ArrayRef<int64_t>(size), ArrayRef<int64_t>(1));
    vector::StoreOp::create(builder, loc, part, store.getBase(),
                            advance(builder, loc, store.getIndices(), begin));
  }
  store.erase();
}

static void split(OpBuilder &builder, vector::MaskedLoadOp load,
                  ArrayRef<bool> lanes) {
  Location loc = load.getLoc();
  Value result = load.getPassThru();
  Type element = load.getVectorType().getElementType();
  for (auto [begin, size] : getParts(lanes)) {
    Value part = vector::LoadOp::create(
        builder, loc, VectorType::get({size}, element), load.getBase(),
        advance(builder, loc, load.getIndices(), begin));
    result = size == int64_t(lanes.size())
                 ? part
                 : vector::InsertStridedSliceOp::create(
                       builder, loc, part, result, ArrayRef<int64_t>(begin),
                       ArrayRef<int64_t>(1));
  }
  load.replaceAllUsesWith(result);
  load.erase();
}

namespace {
struct ProgramSplitMasksPass
    : espalier::impl::ProgramSplitMasksPassBase<ProgramSplitMasksPass> {
  void runOnOperation() override {
    poly::TargetAttr target = poly::getTarget(getOperation());
    if (hasMasks(target))
      return;
    OpBuilder builder(&getContext());
    getOperation().walk([&](Operation *op) {
      builder.setInsertionPoint(op);
      if (auto store = dyn_cast<vector::MaskedStoreOp>(op)) {
        if (auto lanes = getLanes(store.getMask()))
          split(builder, store, *lanes);
      } else if (auto load = dyn_cast<vector::MaskedLoadOp>(op)) {
        if (hasMaskedLoads(target, load.getVectorType().getElementType()))
          return;
        if (auto lanes = getLanes(load.getMask()))
          split(builder, load, *lanes);
      }
    });
  }
};
} // namespace
