//===- EntrySums.cpp - Entries of a row that are added side by side -------===//
//
//   for e:                        if there are 8, and 12 on average:
//     c += a[e] * b[at[e]]          for e in steps of 8:
//                                     v += a[e .. e + 7] * (b[at[e]], ...)
//                                   c += the lanes of v
//                                 for what is left: c += a[e] * b[at[e]]
//
// LLVM takes the indices of such a vector out of another one, which takes
// longer than the products. Here each is loaded by itself.
//
//===----------------------------------------------------------------------===//

#include "KernelLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/TypeSwitch.h"
#include "llvm/ADT/bit.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::AstNode;

/// Wider vectors, which are made of two of these, gain nothing, and fewer
/// lanes are not worth a loop for the rest.
static constexpr int64_t kMostBits = 256, kLeastLanes = 4;

/// One lane of a vector in memory, of 32 bits: half of a word, which two lanes
/// load together, as what takes longest are the loads. Null if lanes are no
/// halves, or the first one is not the lower one.
static Value getHalf(OpBuilder &builder, Location loc, vector::LoadOp op,
                     int64_t lane) {
  VectorType type = op.getVectorType();
  if (!type.getElementType().isInteger(32) || type.getNumElements() % 2 != 0 ||
      llvm::endianness::native != llvm::endianness::little)
    return {};
  Value number = arith::ConstantIndexOp::create(builder, loc, lane / 2 * 2);
  Value at =
      arith::AddIOp::create(builder, loc, op.getIndices().front(), number);
  auto pair = VectorType::get({2}, type.getElementType());
  auto word = VectorType::get({1}, builder.getI64Type());
  Value loaded = vector::LoadOp::create(builder, loc, pair, op.getBase(), at);
  Value both = vector::ExtractOp::create(
      builder, loc, vector::BitCastOp::create(builder, loc, word, loaded), 0);
  if (lane % 2 != 0)
    both = arith::ShRSIOp::create(
        builder, loc, both,
        arith::ConstantIntOp::create(builder, loc, builder.getI64Type(), 32));
  return arith::TruncIOp::create(builder, loc, type.getElementType(), both);
}

/// One lane of a vector, without the vector where that is possible.
static Value getLane(OpBuilder &builder, Location loc, Value vector,
                     int64_t lane) {
  auto get = [&](Value operand) {
    return getLane(builder, loc, operand, lane);
  };
  auto extract = [&]() -> Value {
    return vector::ExtractOp::create(builder, loc, vector, lane);
  };
  Operation *definition = vector.getDefiningOp();
  if (!definition) // Carried through a loop.
    return extract();
  return TypeSwitch<Operation *, Value>(definition)
      .Case<arith::AddIOp, arith::MulIOp>([&](auto op) -> Value {
        Value lhs = get(op.getLhs()), rhs = get(op.getRhs());
        return builder.createOrFold<std::decay_t<decltype(op)>>(loc, lhs, rhs);
      })
      .Case([&](arith::IndexCastOp op) -> Value {
        return arith::IndexCastOp::create(builder, loc, builder.getIndexType(),
                                          get(op.getIn()));
      })
      .Case([&](vector::BroadcastOp op) -> Value {
        return isa<VectorType>(op.getSource().getType()) ? extract()
                                                         : op.getSource();
      })
      .Case([&](vector::LoadOp op) -> Value {
        if (Value half = getHalf(builder, loc, op, lane))
          return half;
        Value first = op.getIndices().front();
        Value number = arith::ConstantIndexOp::create(builder, loc, lane);
        Value at = arith::AddIOp::create(builder, loc, first, number);
        return memref::LoadOp::create(builder, loc, op.getBase(), at);
      })
      .Default([&](Operation *) { return extract(); });
}

Value KernelLoops::emitLaneReads(Value memref, VectorType type, Value base,
                                 Value offsets) {
  SmallVector<Value> elements;
  for (int64_t lane = 0; lane < type.getNumElements(); ++lane) {
    Value offset = getLane(builder, loc, offsets, lane);
    Value address = arith::AddIOp::create(builder, loc, base, offset);
    elements.push_back(memref::LoadOp::create(builder, loc, memref, address));
  }
  return vector::FromElementsOp::create(builder, loc, type, elements);
}

/// The call that is all there is in `node`, or null.
static const AstNode *getOnlyCall(const AstNode &node) {
  if (node.children.size() != 1)
    return nullptr;
  const AstNode &child = *node.children.front();
  if (child.kind == AstNode::Kind::Block)
    return getOnlyCall(child);
  return child.kind == AstNode::Kind::Call ? &child : nullptr;
}

std::optional<Lanes> KernelLoops::getEntryLanes(const AstNode &loop) {
  const AstNode *call = getOnlyCall(loop);
  auto module = kernel->getParentOfType<ModuleOp>();
  auto target = module ? module->getAttrOfType<poly::TargetAttr>(
                             poly::TargetAttr::getAttrName())
                       : nullptr;
  if (!call || !target || target.hasFastGather() || lanes || loop.step != 1 ||
      !dataLoops.find(loop) || promotable.size() != 1)
    return std::nullopt;
  poly::ComputeOp compute = computes[call->statement];
  Type type = compute.getWriteAccesses().front().getType().getElementType();
  if (compute.getReduction() != poly::Reduction::Add || !getCombiner(compute) ||
      !type.isIntOrFloat())
    return std::nullopt;
  int64_t bits = std::min(kMostBits, target.getVectorBits());
  Lanes entries{loop.iterator,
                bits / type.getIntOrFloatBitWidth(),
                iterator(loop.iterator),
                {},
                {},
                {},
                &loop};
  bool looksUp = false;
  for (const poly::ComputeAccess &read : compute.getReadAccesses()) {
    AffineExpr address = getAddress(read, *call);
    if (!hasLaneAddresses(address, entries))
      return std::nullopt;
    looksUp |= readsData(address);
  }
  for (AffineExpr value : call->values)
    if (!getLaneStride(value, entries))
      return std::nullopt;
  if (!looksUp || entries.width < kLeastLanes)
    return std::nullopt;
  return entries;
}

/// Too few iterations for vectors or copies.
static LLVM::LoopAnnotationAttr getPlainLoop(MLIRContext *context) {
  auto yes = BoolAttr::get(context, true);
  auto vectorize =
      LLVM::LoopVectorizeAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  auto unroll = LLVM::LoopUnrollAttr::get(context, yes, {}, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(context, {}, vectorize, {}, unroll, {},
                                       {}, {}, {}, {}, {}, {}, {}, {}, {}, {});
}

/// In how many places it may stand where `loop` ends, about as many as rows; or
/// null if none is read.
static Value getNumRows(OpBuilder &builder, Location loc, const AstNode &loop,
                        const DataLoops &dataLoops, unsigned numParams,
                        const llvm::DenseMap<Value, Memory> &memories) {
  for (const auto &bounds : dataLoops.find(loop)->upper)
    for (AffineExpr bound : bounds)
      for (auto [number, element] : llvm::enumerate(dataLoops.getElements()))
        if (bound.isFunctionOfSymbol(numParams + number)) {
          Value zero = arith::ConstantIndexOp::create(builder, loc, 0);
          Value ends = memories.find(element.array)->second.flat;
          return memref::DimOp::create(builder, loc, ends, zero);
        }
  return {};
}

LogicalResult KernelLoops::emitEntrySum(const AstNode &node,
                                        const Lanes &entries) {
  SlotKey key = promotable.front();
  poly::ComputeOp compute = computes[getOnlyCall(node)->statement];
  Value lower = emitBound(node, false), upper = emitBound(node, true);
  auto getNumber = [&](int64_t number) -> Value {
    return arith::ConstantIndexOp::create(builder, loc, number);
  };
  auto reaches = [&](Value number, Value least) -> Value {
    return arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                 number, least);
  };
  Value width = getNumber(entries.width);
  // There is an iteration.
  Value count = arith::SubIOp::create(builder, loc, upper, lower);
  Value isLong = reaches(count, width);
  // If rows are hardly longer on average, no processor foresees the answer, and
  // to be wrong takes more time than vectors save; so it is no for all of them.
  if (Value rows =
          getNumRows(builder, loc, node, dataLoops, numParams, memories)) {
    Value all = arith::SubIOp::create(builder, loc, emitExpr(node.upper),
                                      emitExpr(node.lower));
    Value few = arith::MulIOp::create(builder, loc, rows,
                                      getNumber(entries.width * 3 / 2));
    isLong = arith::AndIOp::create(builder, loc, reaches(all, few), isLong);
  }
  Value rest = arith::SelectOp::create(
      builder, loc, isLong, arith::RemUIOp::create(builder, loc, count, width),
      count);
  Value middle = arith::SubIOp::create(builder, loc, upper, rest);
  auto emitVectors = [&]() -> LogicalResult {
    Slot &slot = registers[key];
    auto type = VectorType::get({entries.width}, slot.value.getType());
    Attribute neutral = getCombiner(compute)->neutral;
    slot.partial = arith::ConstantOp::create(
        builder, loc, DenseElementsAttr::get(type, neutral));
    lanes = entries;
    LogicalResult result = emitLoopBetween(node, lower, middle, entries.width);
    lanes.reset();
    if (failed(result))
      return failure();
    endPartials(std::pair(key, compute));
    return success();
  };
  if (failed(emitGuarded(isLong, emitVectors, [] { return success(); })))
    return failure();
  return emitLoopBetween(node, middle, upper, node.step,
                         getPlainLoop(builder.getContext()));
}
