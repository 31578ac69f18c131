//===- VectorLoops.cpp - Loops whose iterations are lanes -----------------===//

#include "KernelLoops.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::AstNode;

std::optional<unsigned>
espalier::polytoloops::getAccumulatorRead(poly::ComputeOp compute) {
  if (!compute.getReduction())
    return std::nullopt;
  return poly::getUpdateReads(compute).front();
}

std::optional<Combiner>
espalier::polytoloops::getCombiner(poly::ComputeOp compute) {
  using Kind = vector::CombiningKind;
  if (!compute.getReduction())
    return std::nullopt;
  auto update = poly::matchReduction(compute, *compute.getReduction());
  if (!update)
    return std::nullopt;
  auto kind = llvm::StringSwitch<std::optional<Kind>>(update->combiner)
                  .Cases({"arith.addf", "arith.addi"}, Kind::ADD)
                  .Cases({"arith.mulf", "arith.muli"}, Kind::MUL)
                  .Case("arith.maximumf", Kind::MAXIMUMF)
                  .Case("arith.minimumf", Kind::MINIMUMF)
                  .Case("arith.maxsi", Kind::MAXSI)
                  .Case("arith.maxui", Kind::MAXUI)
                  .Case("arith.minsi", Kind::MINSI)
                  .Case("arith.minui", Kind::MINUI)
                  .Case("arith.andi", Kind::AND)
                  .Case("arith.ori", Kind::OR)
                  .Default(std::nullopt);
  return kind ? std::optional(Combiner{*kind, update->neutral}) : std::nullopt;
}

/// Adds the calls below `node` that run in its own iterations; false if there
/// are loops or conditions as well.
static bool getCalls(const AstNode &node,
                     SmallVectorImpl<const AstNode *> &calls) {
  for (const polyhedral::Ast &child : node.children) {
    if (child->kind == AstNode::Kind::Call)
      calls.push_back(child.get());
    else if (child->kind == AstNode::Kind::For ||
             child->kind == AstNode::Kind::If || !getCalls(*child, calls))
      return false;
  }
  return true;
}

AffineExpr KernelLoops::getFirstLane(const AstNode &loop) {
  if (const DataLoop *data = dataLoops.find(loop); data && !data->lower.empty())
    return iterator(loop.iterator);
  if (loop.lower.kind == polyhedral::AstExpr::Kind::Affine)
    return loop.lower.affine;
  std::optional<int64_t> lower = getConstant(loop.lower);
  return lower ? constant(*lower) : iterator(loop.iterator);
}

bool KernelLoops::canVectorize(poly::ComputeOp compute, const AstNode &call,
                               const AstNode &loop) {
  Lanes vector{loop.iterator,
               getLoopKind(loop).getWidth(),
               getFirstLane(loop),
               {},
               {},
               {}};
  auto isInRegisters = [&](const poly::ComputeAccess &access) {
    return memories.find(access.array)->second.inRegisters;
  };
  SmallVector<AffineExpr> readAddresses;
  for (const poly::ComputeAccess &access : compute.getReadAccesses()) {
    AffineExpr address = getAddress(access, call);
    if (!hasLaneAddresses(address, vector) ||
        (isInRegisters(access) && !getLaneStep(address, vector)))
      return false;
    readAddresses.push_back(address);
  }
  if (!dataLoops.getConditions(call).empty() || compute.getAtomic())
    return false;
  std::optional<unsigned> accumulator = getAccumulatorRead(compute);
  auto haveOneValue = [&](auto &self, AffineExpr address) -> bool {
    bool isOne = true;
    address.walk([&](AffineExpr part) {
      auto symbol = dyn_cast<AffineSymbolExpr>(part);
      if (!symbol || symbol.getPosition() < symbols.size())
        return;
      AffineExpr of = readAddresses[symbol.getPosition() - symbols.size()];
      isOne &= getLaneStride(of, vector) == 0 && self(self, of);
    });
    return isOne;
  };
  for (const poly::ComputeAccess &access : compute.getWriteAccesses()) {
    AffineExpr address = getAddress(access, call);
    // Lanes may meet in an element whose index each of them reads from memory.
    if (!hasLaneAddresses(address, vector) ||
        !haveOneValue(haveOneValue, address))
      return false;
    AffineExpr step = getLaneStep(address, vector);
    if (!step)
      return false;
    auto stride = dyn_cast<AffineConstantExpr>(step);
    // Lanes that write one element have to be a reduction into it.
    if (stride && stride.getValue() == 0 &&
        (!accumulator || !getCombiner(compute)))
      return false;
    if (isInRegisters(access) && (!stride || stride.getValue() > 1))
      return false;
  }
  for (AffineExpr value : call.values)
    if (!getLaneStride(value, vector))
      return false;
  return true;
}

bool KernelLoops::canVectorize(const AstNode &node) {
  SmallVector<const AstNode *> calls;
  if (lanes || !getCalls(node, calls))
    return false;
  // The lanes' range makes divisions by the number of lanes exact.
  auto known = ranges.find(node.iterator);
  std::optional<std::pair<int64_t, int64_t>> before;
  if (known != ranges.end())
    before = known->second;
  if (std::optional<int64_t> lower = getConstant(node.lower))
    ranges[node.iterator] = {*lower, *lower + getLoopKind(node).getWidth() - 1};
  bool possible = llvm::all_of(calls, [&](const AstNode *call) {
    return canVectorize(computes[call->statement], *call, node);
  });
  if (!possible) {
    if (before)
      ranges[node.iterator] = *before;
    else
      ranges.erase(node.iterator);
  }
  return possible;
}

void KernelLoops::collectPartials(
    const AstNode &node,
    SmallVectorImpl<std::pair<SlotKey, poly::ComputeOp>> &partials,
    const AstNode *vectorLoop) {
  if (node.kind == AstNode::Kind::Call) {
    poly::ComputeOp compute = computes[node.statement];
    if (!vectorLoop || !getAccumulatorRead(compute) || !getCombiner(compute))
      return;
    poly::ComputeAccess write = compute.getWriteAccesses().front();
    // Memory that each iteration has for itself is made inside of it.
    if (!memories.contains(write.array))
      return;
    SlotKey key = getSlotKey(write, node);
    if (memories.find(write.array)->second.inRegisters ||
        promoted.contains(key))
      partials.push_back({key, compute});
    return;
  }
  poly::LoopAttr kind = getLoopKind(node);
  if (node.kind == AstNode::Kind::For && kind && kind.isVector())
    vectorLoop = &node;
  if (node.kind == AstNode::Kind::For && kind && kind.isUnroll() &&
      !unrolled.count(node.iterator)) {
    std::optional<int64_t> lower = getConstantBoundOf(node, false);
    std::optional<int64_t> upper = getConstantBoundOf(node, true);
    if (lower && upper) {
      for (int64_t value = *lower; value < *upper; value += node.step) {
        unrolled[node.iterator] = value;
        for (const polyhedral::Ast &child : node.children)
          collectPartials(*child, partials, vectorLoop);
      }
      unrolled.erase(node.iterator);
      return;
    }
  }
  for (const polyhedral::Ast &child : node.children)
    collectPartials(*child, partials, vectorLoop);
}

SmallVector<std::pair<SlotKey, poly::ComputeOp>>
KernelLoops::beginPartials(const AstNode &node) {
  SmallVector<std::pair<SlotKey, poly::ComputeOp>> partials, begun;
  collectPartials(node, partials);
  // The lanes of the vector loop below, which is the same for all.
  int64_t width = 0;
  std::function<void(const AstNode &)> findWidth = [&](const AstNode &n) {
    poly::LoopAttr kind = getLoopKind(n);
    if (n.kind == AstNode::Kind::For && kind && kind.isVector())
      width = kind.getWidth();
    for (const polyhedral::Ast &child : n.children)
      findWidth(*child);
  };
  findWidth(node);
  for (auto &[key, compute] : partials) {
    auto slot = registers.find(key);
    if (slot == registers.end() || slot->second.partial ||
        isa<VectorType>(slot->second.value.getType()))
      continue;
    auto type = VectorType::get({width}, slot->second.value.getType());
    slot->second.partial = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, Attribute(getCombiner(compute)->neutral)));
    begun.push_back({key, compute});
  }
  return begun;
}

Value KernelLoops::combineLanes(const Combiner &combiner, Value lanes,
                                Value value) {
  // The computation allows its updates in any order.
  auto reassociate = isa<FloatType>(value.getType())
                         ? arith::FastMathFlags::reassoc
                         : arith::FastMathFlags::none;
  return vector::ReductionOp::create(builder, loc, combiner.kind, lanes, value,
                                     reassociate);
}

void KernelLoops::endPartials(
    ArrayRef<std::pair<SlotKey, poly::ComputeOp>> partials) {
  for (const auto &[key, compute] : partials) {
    Slot &slot = registers[key];
    slot.value = combineLanes(*getCombiner(compute), slot.partial, slot.value);
    slot.partial = {};
  }
}

void espalier::polytoloops::addIterators(const polyhedral::AstExpr &expr,
                                         SmallVectorImpl<unsigned> &iterators) {
  expr.walk([&](AffineExpr affine) {
    affine.walk([&](AffineExpr part) {
      if (auto dim = dyn_cast<AffineDimExpr>(part))
        iterators.push_back(dim.getPosition());
    });
  });
}

Lanes KernelLoops::beginLanes(const AstNode &node, bool emitMask) {
  int64_t width = getLoopKind(node).getWidth();
  std::optional<int64_t> lower = getConstantBoundOf(node, false);
  std::optional<int64_t> upper = getConstantBoundOf(node, true);
  Value mask, count;
  if (emitMask && (!lower || !upper || *upper - *lower != width)) {
    Value first = emitBound(node, false), last = emitBound(node, true);
    count = arith::SubIOp::create(builder, loc, last, first);
    // A mask takes its 32 least bits.
    if (dataLoops.find(node) || !fitsMask(node)) {
      Value none = arith::ConstantIndexOp::create(builder, loc, 0);
      count = arith::MaxSIOp::create(builder, loc, count, none);
    }
    mask = vector::CreateMaskOp::create(
        builder, loc, VectorType::get({width}, builder.getI1Type()), count);
    iterators[node.iterator] = first;
  }
  Lanes result{node.iterator, width, getFirstLane(node), mask, count, {},
               &node};
  addIterators(node.lower, result.maskIterators);
  addIterators(node.upper, result.maskIterators);
  dataLoops.addIterators(node, result.maskIterators);
  if (lower)
    ranges[node.iterator] = {*lower, *lower + width - 1};
  return result;
}

LogicalResult KernelLoops::emitVector(const AstNode &node) {
  auto partials = beginPartials(node);
  Lanes some = beginLanes(node, /*emitMask=*/true);
  auto emitLanes = [&](const Lanes &active) {
    lanes = active;
    LogicalResult result = emitChildren(node);
    lanes.reset();
    return result;
  };
  LogicalResult result = success();
  if (some.mask && dataLoops.find(node)) {
    // Within a row, no lane is left out.
    Lanes all = some;
    all.mask = all.count = {};
    Value width = arith::ConstantIndexOp::create(builder, loc, some.width);
    Value isFull = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::eq,
                                         some.count, width);
    result = emitGuarded(
        isFull, [&] { return emitLanes(all); },
        [&] { return emitLanes(some); });
  } else {
    result = emitLanes(some);
  }
  if (failed(result))
    return failure();
  iterators.erase(node.iterator);
  endPartials(partials);
  return success();
}
