//===- Lookup.cpp - Lanes out of a few vectors ----------------------------===//
//
// Lanes that read where data says load an element each. If all of them are near
// the first one, as in a row that is resized, a few vectors hold them, and a
// lane takes its element from there: one permutation for each vector, which
// LLVM makes of extractions at the places that a vector has.
//
//===----------------------------------------------------------------------===//

#include "Lookup.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace espalier::polytoloops;

/// More vectors take as long as loading the lanes one by one.
static constexpr int64_t kMaxVectors = 4;
/// What is permuted: elements of this size in vectors of that one. LLVM takes
/// narrower vectors apart, which needs more than twice the time of the loads.
static constexpr int64_t kElementBits = 32, kVectorBits = 512;
/// Elements beyond their share that lanes are taken to be apart, since those of
/// several taps are neighbours.
static constexpr int64_t kSlack = 2;

int64_t espalier::polytoloops::countLookedUp(MemRefType memref, VectorType type,
                                             std::optional<int64_t> numLanes,
                                             int64_t vectorBits) {
  int64_t width = type.getNumElements();
  if (!type.getElementType().isIntOrFloat() ||
      type.getElementTypeBitWidth() != kElementBits ||
      width * kElementBits != kVectorBits || vectorBits < kVectorBits ||
      memref.getRank() != 1 || !memref.hasStaticShape() ||
      memref.getNumElements() == 0)
    return 0;
  int64_t numElements = memref.getNumElements();
  int64_t all = llvm::divideCeil(numElements, width);
  if (numLanes && *numLanes > 0 && numElements <= int64_t(1) << 30)
    all = std::min<int64_t>(
        all,
        llvm::divideCeil(
            llvm::divideCeil(numElements * width, *numLanes) + kSlack, width));
  return all <= kMaxVectors ? all : 0;
}

namespace {

class LookupEmitter {
public:
  LookupEmitter(OpBuilder &builder, Location loc, const LookedUp &read,
                int64_t number)
      : builder(builder), loc(loc), read(read), number(number),
        width(read.type.getNumElements()),
        numElements(cast<MemRefType>(read.memref.getType()).getNumElements()) {}

  Value emit(llvm::function_ref<Value()> emitOther);

private:
  Value getIndex(int64_t value) {
    return arith::ConstantIndexOp::create(builder, loc, value);
  }
  Value getVector(Value index) {
    return vector::BroadcastOp::create(
        builder, loc, VectorType::get({width}, builder.getIndexType()), index);
  }
  /// The vector at `begin`, of which `count` elements are there.
  Value load(Value begin, int64_t count);
  /// For each lane the element of `part` at its place.
  Value permute(Value part, Value places);
  /// The lanes at `places` from `begin`.
  Value take(Value begin, Value places);
  Value areNear(Value places);

  OpBuilder &builder;
  Location loc;
  const LookedUp &read;
  int64_t number, width, numElements;
};

} // namespace

Value LookupEmitter::load(Value begin, int64_t count) {
  if (count >= width)
    return vector::LoadOp::create(builder, loc, read.type, read.memref, begin);
  SmallVector<bool> isThere(width, false);
  std::fill_n(isThere.begin(), count, true);
  Value mask = arith::ConstantOp::create(
      builder, loc,
      DenseElementsAttr::get(VectorType::get({width}, builder.getI1Type()),
                             isThere));
  Value zero =
      arith::ConstantOp::create(builder, loc, builder.getZeroAttr(read.type));
  return vector::MaskedLoadOp::create(builder, loc, read.type, read.memref,
                                      begin, mask, zero);
}

Value LookupEmitter::permute(Value part, Value places) {
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < width; ++lane) {
    Value place = vector::ExtractOp::create(builder, loc, places, lane);
    place = arith::IndexCastUIOp::create(builder, loc, builder.getIndexType(),
                                         place);
    elements.push_back(
        vector::ExtractOp::create(builder, loc, part, OpFoldResult(place)));
  }
  return vector::FromElementsOp::create(builder, loc, read.type, elements);
}

Value LookupEmitter::take(Value begin, Value places) {
  auto type = VectorType::get({width}, builder.getI32Type());
  auto getNumbers = [&](int64_t value) -> Value {
    return arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, int32_t(value)));
  };
  places = arith::IndexCastOp::create(builder, loc, type, places);
  Value inside =
      arith::AndIOp::create(builder, loc, places, getNumbers(width - 1));
  Value result;
  for (int64_t part = 0; part < number; ++part) {
    Value at =
        arith::AddIOp::create(builder, loc, begin, getIndex(part * width));
    // What begins somewhere has been moved to where all of it is there.
    bool isAll = number * width >= numElements;
    Value lanes =
        permute(load(at, isAll ? numElements - part * width : width), inside);
    if (!result) {
      result = lanes;
      continue;
    }
    Value isLater =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, places,
                              getNumbers(part * width));
    result = arith::SelectOp::create(builder, loc, isLater, lanes, result);
  }
  return result;
}

Value LookupEmitter::areNear(Value places) {
  Value isNear =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::ult, places,
                            getVector(getIndex(number * width)));
  if (read.mask) {
    Value ones = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(cast<VectorType>(read.mask.getType()), true));
    Value isIdle = arith::XOrIOp::create(builder, loc, read.mask, ones);
    isNear = arith::OrIOp::create(builder, loc, isNear, isIdle);
  }
  return vector::ReductionOp::create(builder, loc, vector::CombiningKind::AND,
                                     isNear);
}

Value LookupEmitter::emit(llvm::function_ref<Value()> emitOther) {
  Value addresses =
      arith::AddIOp::create(builder, loc, getVector(read.base), read.offsets);
  if (number * width >= numElements)
    return take(getIndex(0), addresses);
  // From the first lane on, but not beyond the end.
  Value begin = vector::ExtractOp::create(builder, loc, addresses, 0);
  begin = arith::MaxSIOp::create(builder, loc, begin, getIndex(0));
  begin = arith::MinSIOp::create(builder, loc, begin,
                                 getIndex(numElements - number * width));
  Value places =
      arith::SubIOp::create(builder, loc, addresses, getVector(begin));
  auto branch = scf::IfOp::create(builder, loc, read.type, areNear(places),
                                  /*withElseRegion=*/true);
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToStart(branch.thenBlock());
  scf::YieldOp::create(builder, loc, take(begin, places));
  builder.setInsertionPointToStart(branch.elseBlock());
  scf::YieldOp::create(builder, loc, emitOther());
  return branch.getResult(0);
}

Value espalier::polytoloops::emitLookup(OpBuilder &builder, Location loc,
                                        const LookedUp &read, int64_t number,
                                        llvm::function_ref<Value()> emitOther) {
  return LookupEmitter(builder, loc, read, number).emit(emitOther);
}
