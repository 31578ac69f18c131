//===- Promote.cpp - Elements that stay in registers during a loop --------===//
//
//   for p: for j in unroll, vector:      c0 = c[i, 0..7], c1 = c[i, 8..15]
//     c[i, j] += a[i, p] * b[p, j]       for p: c0 += ..., c1 += ...
//                                        c[i, 0..7] = c0, c[i, 8..15] = c1
//
// An element qualifies if every iteration of the loop writes it at the same
// address, and if no other access in the loop can meet it. Subscripts that
// differ by a number tell elements apart; for others that is proved from the
// bounds of the loops. So LLVM, which knows neither extents nor domains, need
// not find out.
//
// Where data ends the loop, those around it keep the elements as well. Whether
// they are there is not known before some iteration runs, so the first one
// loads them:
//
//   for p:                                  isThere = false
//     for e < ends[p]:                      for p:
//       for j in vector:                      if 0 < ends[p]:
//         c[i, j] += a[e] * b[k[e], j]          if not isThere: c0 = c[i, ..]
//                                               isThere = true
//                                               for e < ends[p]: c0 += ...
//                                           if isThere: c[i, ..] = c0
//
//===----------------------------------------------------------------------===//

#include "KernelLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::AstCondition;
using polyhedral::AstExpr;
using polyhedral::AstNode;

/// An access of one call, in one copy of the loops around it.
struct espalier::polytoloops::MemoryUse {
  SlotKey key;
  SmallVector<AffineExpr> indices;
  SmallVector<AffineExpr> firstLane; ///< The indices there.
  /// How many neighbours along each index the lanes take, if that is known.
  SmallVector<std::optional<int64_t>> widths;
  const AstNode *vectorLoop = nullptr; ///< Around the call.
  bool isWrite = false;
  bool isVector = false;      ///< One element for each lane.
  bool isAccumulator = false; ///< All lanes add to one element.
  bool isInvariant = false;   ///< The loop changes neither address nor mask.
  bool isAtData = false;      ///< It may be any element of its array.
};

/// Whether some loop of `nest` changes `expr`.
static bool dependsOn(AffineExpr expr, const LoopNest &nest) {
  return llvm::any_of(nest, [&](const AstNode *loop) {
    return expr.isFunctionOfDim(loop->iterator);
  });
}

static bool dependsOn(const AstExpr &expr, const LoopNest &nest) {
  bool result = false;
  expr.walk([&](AffineExpr affine) { result |= dependsOn(affine, nest); });
  return result;
}

/// Whether some loop of `nest` changes the bounds of `node`.
static bool dependsOn(const AstNode &node, const LoopNest &nest,
                      const DataLoops &dataLoops) {
  return dependsOn(node.lower, nest) || dependsOn(node.upper, nest) ||
         llvm::any_of(nest, [&](const AstNode *loop) {
           return dataLoops.dependsOn(node, loop->iterator);
         });
}

void KernelLoops::enterRange(const AstNode &node) {
  std::optional<int64_t> least = getConstantBound(node.lower, false);
  std::optional<int64_t> most = getConstantBound(node.upper, true);
  if (least && most)
    ranges[node.iterator] = {*least, std::max(*least, *most - 1)};
}

LogicalResult KernelLoops::forEachCall(const AstNode &node,
                                       const LoopNest &nest, bool emitMasks,
                                       CallVisitor visit,
                                       const AstNode *vectorLoop) {
  for (const polyhedral::Ast &child : node.children) {
    LogicalResult result = success();
    if (child->kind == AstNode::Kind::Call)
      result = visit(*child, vectorLoop);
    else if (child->kind == AstNode::Kind::For)
      result = forEachCallIn(*child, nest, emitMasks, visit, vectorLoop);
    else if (child->kind == AstNode::Kind::If)
      return failure();
    else
      result = forEachCall(*child, nest, emitMasks, visit, vectorLoop);
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult KernelLoops::forEachCallIn(const AstNode &node,
                                         const LoopNest &nest, bool emitMasks,
                                         CallVisitor visit,
                                         const AstNode *vectorLoop) {
  poly::LoopAttr kind = getLoopKind(node);
  enterRange(node);
  LogicalResult result = failure();
  if (llvm::is_contained(nest, &node)) {
    result = forEachCall(node, nest, emitMasks, visit, vectorLoop);
  } else if (!areBoundsRead(node)) {
    // Not before it is known that the loop has points.
  } else if (kind && kind.isVector() && node.step == 1 && canVectorize(node)) {
    bool isFixed = !dependsOn(node, nest, dataLoops);
    std::optional<Lanes> outer = std::move(lanes);
    lanes = beginLanes(node, emitMasks && isFixed);
    result = forEachCall(node, nest, emitMasks, visit, &node);
    lanes = std::move(outer);
    iterators.erase(node.iterator);
  } else {
    std::optional<int64_t> lower = getConstantBoundOf(node, false);
    std::optional<int64_t> upper = getConstantBoundOf(node, true);
    if (lower && upper && *lower < *upper &&
        ((kind && kind.isUnroll()) || *upper - *lower <= node.step))
      result = success();
    for (int64_t value = lower.value_or(0); succeeded(result) && value < *upper;
         value += node.step) {
      unrolled[node.iterator] = value;
      result = forEachCall(node, nest, emitMasks, visit, vectorLoop);
    }
    unrolled.erase(node.iterator);
  }
  ranges.erase(node.iterator);
  return result;
}

//===----------------------------------------------------------------------===//
// Which elements are apart
//===----------------------------------------------------------------------===//

/// Adds that `expr`, less than or at least `bound`, holds; skips what takes
/// several cases to say.
static void addBound(AffineExpr expr, const AstExpr &bound, bool isUpper,
                     SmallVectorImpl<AffineExpr> &constraints) {
  if (bound.kind == AstExpr::Kind::Affine)
    return constraints.push_back(isUpper ? bound.affine - 1 - expr
                                         : expr - bound.affine);
  if (bound.kind != (isUpper ? AstExpr::Kind::Min : AstExpr::Kind::Max))
    return;
  for (const AstExpr &operand : bound.operands)
    addBound(expr, operand, isUpper, constraints);
}

/// Whether products and divisions are by numbers.
static bool isQuasiAffine(AffineExpr expr) {
  bool result = true;
  expr.walk([&](AffineExpr part) {
    auto binary = dyn_cast<AffineBinaryOpExpr>(part);
    if (binary && part.getKind() != AffineExprKind::Add)
      result &= isa<AffineConstantExpr>(binary.getRHS());
  });
  return result;
}

bool KernelLoops::areApart(const LoopNest &nest, const MemoryUse &first,
                           const MemoryUse &second) {
  // The iterators of the second access, inside the nest, are others.
  auto rename = [&](AffineExpr expr) {
    SmallVector<AffineExpr> dims;
    for (unsigned dim = 0; dim < numIterators; ++dim) {
      bool isInner = dependsOn(iterator(dim), nest) ||
                     (second.vectorLoop && dim == second.vectorLoop->iterator);
      dims.push_back(iterator(isInner ? numIterators + dim : dim));
    }
    return expr.replaceDims(dims);
  };
  SmallVector<AffineExpr> constraints;
  auto addLoop = [&](const AstNode &node, bool isSecond) {
    SmallVector<AffineExpr> own;
    addBound(iterator(node.iterator), node.lower, false, own);
    addBound(iterator(node.iterator), node.upper, true, own);
    for (AffineExpr constraint : own) {
      constraint = simplify(constraint);
      constraints.push_back(isSecond ? rename(constraint) : constraint);
    }
  };
  for (const AstNode *node : enclosing)
    addLoop(*node, false);
  for (const AstNode *node : nest)
    addLoop(*node, true);
  if (first.vectorLoop)
    addLoop(*first.vectorLoop, false);
  if (second.vectorLoop)
    addLoop(*second.vectorLoop, true);
  SmallVector<bool> isEquality(constraints.size(), false);
  for (auto [one, other] : llvm::zip_equal(first.indices, second.indices)) {
    constraints.push_back(one - rename(other));
    isEquality.push_back(true);
  }
  // What is not affine restricts nothing.
  for (unsigned number = constraints.size(); number-- > 0;)
    if (!isQuasiAffine(constraints[number])) {
      constraints.erase(constraints.begin() + number);
      isEquality.erase(isEquality.begin() + number);
    }
  if (constraints.empty())
    return false;
  polyhedral::Context context;
  polyhedral::Set meeting =
      polyhedral::Set::get(context, IntegerSet::get(2 * numIterators, numParams,
                                                    constraints, isEquality));
  return meeting &&
         meeting.assumeNonnegativeParameters().isEmpty().value_or(false);
}

/// Whether a constant distance along some index keeps the lanes of two accesses
/// apart.
static bool
differByNumber(const MemoryUse &first, const MemoryUse &second,
               llvm::function_ref<AffineExpr(AffineExpr)> simplify) {
  for (auto [dim, pair] :
       llvm::enumerate(llvm::zip_equal(first.firstLane, second.firstLane))) {
    auto [one, other] = pair;
    auto number = dyn_cast<AffineConstantExpr>(simplify(one - other));
    if (!number || !first.widths[dim] || !second.widths[dim])
      continue;
    int64_t distance = number.getValue();
    if (distance >= *second.widths[dim] || -distance >= *first.widths[dim])
      return true;
  }
  return false;
}

//===----------------------------------------------------------------------===//
// Which elements stay
//===----------------------------------------------------------------------===//

MemoryUse KernelLoops::getUse(const LoopNest &nest, const AstNode &call,
                              const AstNode *vectorLoop,
                              const poly::ComputeAccess &access) {
  MemoryUse use;
  use.vectorLoop = vectorLoop;
  use.key = getSlotKey(access, call);
  AffineExpr address = getAddress(access, call);
  auto getStep = [&](AffineExpr expr) {
    return lanes ? getLaneStride(expr, *lanes) : std::optional<int64_t>(0);
  };
  std::optional<int64_t> stride = getStep(address);
  use.isVector = lanes && stride == 1;
  use.isInvariant = !dependsOn(address, nest) && (stride == 0 || stride == 1);
  if (lanes && stride == 0)
    use.isInvariant &= !address.isFunctionOfDim(lanes->iterator);
  if (use.isVector)
    use.isInvariant &= !dependsOn(*vectorLoop, nest, dataLoops);
  use.indices = getIndices(access, call);
  for (AffineExpr index : use.indices) {
    std::optional<int64_t> step = getStep(index);
    use.widths.push_back(std::nullopt);
    if (step && *step >= 0)
      use.widths.back() = lanes ? *step * (lanes->width - 1) + 1 : 1;
    if (lanes)
      index = canonicalize(
          simplify(index.replace(iterator(lanes->iterator), lanes->first)));
    use.firstLane.push_back(index);
  }
  return use;
}

LogicalResult KernelLoops::collectUses(const LoopNest &nest,
                                       SmallVectorImpl<MemoryUse> &uses) {
  return forEachCall(
      *nest.front(), nest, /*emitMasks=*/false,
      [&](const AstNode &call, const AstNode *vectorLoop) -> LogicalResult {
        poly::ComputeOp compute = computes[call.statement];
        // What is atomic happens in memory.
        if (!dataLoops.getConditions(call).empty() || compute.getAtomic())
          return failure();
        std::optional<unsigned> accumulator = getAccumulatorRead(compute);
        if (accumulator && !getCombiner(compute))
          accumulator.reset();
        auto add = [&](const poly::ComputeAccess &access, bool isWrite,
                       bool accumulates) -> LogicalResult {
          if (memories.find(access.array)->second.inRegisters)
            return success();
          // What nobody writes meets no write.
          if (!isWrite && isa<BlockArgument>(access.array) &&
              llvm::none_of(computes, [&](poly::ComputeOp other) {
                return llvm::is_contained(other.getWrites(), access.array);
              }))
            return success();
          if (readsData(getAddress(access, call))) {
            uses.emplace_back().key = getSlotKey(access, call);
            uses.back().isAtData = true;
            return failure(isWrite);
          }
          uses.push_back(getUse(nest, call, vectorLoop, access));
          MemoryUse &use = uses.back();
          use.isWrite = isWrite;
          use.isAccumulator = lanes && !use.isVector && accumulates;
          return success();
        };
        for (auto [number, read] : llvm::enumerate(compute.getReadAccesses()))
          if (failed(add(read, false, accumulator == number)))
            return failure();
        for (const poly::ComputeAccess &write : compute.getWriteAccesses())
          if (failed(add(write, true, accumulator.has_value())))
            return failure();
        return success();
      });
}

llvm::SetVector<SlotKey> KernelLoops::findPromotable(const LoopNest &nest) {
  SmallVector<MemoryUse> uses;
  llvm::SetVector<SlotKey> keys;
  if (failed(collectUses(nest, uses)))
    return keys;
  for (const MemoryUse &use : uses)
    if (use.isWrite && use.isInvariant)
      keys.insert(use.key);
  auto fold = [&](AffineExpr expr) { return canonicalize(simplify(expr)); };
  auto mayBreak = [&](const MemoryUse &slot, const MemoryUse &use) {
    if (use.key.first != slot.key.first)
      return false;
    if (use.isAtData)
      return true;
    if (use.key != slot.key)
      return !differByNumber(slot, use, fold) && !areApart(nest, slot, use);
    return !use.isInvariant || use.isVector != slot.isVector ||
           use.isAccumulator != slot.isAccumulator ||
           (use.isVector && use.vectorLoop != slot.vectorLoop);
  };
  llvm::SmallVector<SlotKey> all = keys.takeVector();
  for (const SlotKey &key : all) {
    const MemoryUse &slot = *llvm::find_if(uses, [&](const MemoryUse &use) {
      return use.isWrite && use.key == key;
    });
    if (llvm::none_of(
            uses, [&](const MemoryUse &use) { return mayBreak(slot, use); }))
      keys.insert(key);
  }
  return keys;
}

/// The child of `node` that is a loop which runs in order, if that is all there
/// is in it.
static const AstNode *getInnerLoop(const AstNode &node) {
  if (node.children.size() != 1)
    return nullptr;
  const AstNode &child = *node.children.front();
  if (child.kind == AstNode::Kind::Block)
    return getInnerLoop(child);
  poly::LoopAttr kind = getLoopKind(child);
  bool isInOrder =
      child.kind == AstNode::Kind::For && (!kind || kind.isSequential());
  return isInOrder ? &child : nullptr;
}

LoopNest KernelLoops::findNest(const AstNode &node) const {
  LoopNest nest{&node};
  while (const AstNode *inner = getInnerLoop(*nest.back()))
    nest.push_back(inner);
  if (!dataLoops.find(*nest.back()))
    nest.resize(1);
  return nest;
}

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Stands for whether the first iteration of a nest has loaded the elements.
static SlotKey getIsThere() { return {}; }

LogicalResult KernelLoops::forEachPromotable(WriteVisitor visit) {
  llvm::SmallSetVector<SlotKey, 16> done;
  return forEachCall(
      *nest.front(), nest, /*emitMasks=*/true,
      [&](const AstNode &call, const AstNode *) -> LogicalResult {
        for (const poly::ComputeAccess &write :
             computes[call.statement].getWriteAccesses()) {
          SlotKey key = getSlotKey(write, call);
          if (!promotable.contains(key) || !done.insert(key))
            continue;
          // One element for all lanes is used as without them.
          std::optional<Lanes> all = lanes;
          if (lanes && getLaneStride(getAddress(write, call), *lanes) == 0)
            lanes.reset();
          if (failed(visit(write, call, key)))
            return failure();
          lanes = std::move(all);
        }
        return success();
      });
}

void KernelLoops::setPromotable(const SlotKey &key, Value value) {
  registers[key] = {value,
                    {},
                    std::numeric_limits<unsigned>::max(),
                    lanes ? lanes->loop : nullptr};
}

LogicalResult KernelLoops::loadPromotable() {
  return forEachPromotable([&](const poly::ComputeAccess &access,
                               const AstNode &call,
                               const SlotKey &key) -> LogicalResult {
    FailureOr<Value> value = emitRead(access, call, {});
    if (succeeded(value))
      setPromotable(key, *value);
    return success(succeeded(value));
  });
}

LogicalResult KernelLoops::storePromotable() {
  LogicalResult result =
      forEachPromotable([&](const poly::ComputeAccess &access,
                            const AstNode &call, const SlotKey &key) {
        return emitWrite(access, call, registers.lookup(key).value, {});
      });
  for (const SlotKey &key : promotable)
    registers.erase(key);
  return result;
}

LogicalResult KernelLoops::emitPromoted(const AstNode &loop) {
  promoted = promotable;
  std::optional<Lanes> entries = getEntryLanes(loop);
  LogicalResult result =
      entries ? emitEntrySum(loop, *entries) : emitLoop(loop);
  promoted.clear();
  return result;
}

LogicalResult KernelLoops::emitLastOfNest() {
  Value isThere = registers.lookup(getIsThere()).value;
  if (failed(emitGuarded(
          isThere, [] { return success(); }, [&] { return loadPromotable(); })))
    return failure();
  registers[getIsThere()].value =
      arith::ConstantIntOp::create(builder, loc, 1, 1);
  return emitPromoted(*nest.back());
}

LogicalResult KernelLoops::emitNest() {
  registers[getIsThere()].value =
      arith::ConstantIntOp::create(builder, loc, 0, 1);
  LogicalResult result =
      forEachPromotable([&](const poly::ComputeAccess &access, const AstNode &,
                            const SlotKey &key) {
        Type type = access.getType().getElementType();
        if (lanes)
          type = VectorType::get({lanes->width}, type);
        setPromotable(key, arith::ConstantOp::create(
                               builder, loc, builder.getZeroAttr(type)));
        return success();
      });
  if (failed(result) || failed(emitLoop(*nest.front())))
    return failure();
  Value isThere = registers.lookup(getIsThere()).value;
  registers.erase(getIsThere());
  return emitGuarded(
      isThere, [&] { return storePromotable(); },
      [&] {
        for (const SlotKey &key : promotable)
          registers.erase(key);
        return success();
      });
}

LogicalResult KernelLoops::emitSequential(const AstNode &node) {
  // Of a loop without iterations, the elements need not be there.
  auto emitIfRuns = [&](llvm::function_ref<LogicalResult()> emit) {
    std::optional<int64_t> lower = getConstantBoundOf(node, false);
    std::optional<int64_t> upper = getConstantBoundOf(node, true);
    if (lower && upper && *lower < *upper)
      return emit();
    Value runs =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                              emitBound(node, false), emitBound(node, true));
    return emitGuarded(runs, emit, [] { return success(); });
  };
  if (!nest.empty())
    return nest.back() == &node ? emitIfRuns([&] { return emitLastOfNest(); })
                                : emitLoop(node);
  nest = findNest(node);
  promotable = findPromotable(nest);
  if (promotable.empty() && nest.size() > 1) {
    nest.resize(1);
    promotable = findPromotable(nest);
  }
  LogicalResult result = success();
  if (nest.size() > 1)
    result = emitNest();
  else if (!promotable.empty())
    result = emitIfRuns([&] {
      return success(succeeded(loadPromotable()) &&
                     succeeded(emitPromoted(node)) &&
                     succeeded(storePromotable()));
    });
  bool isDone = !promotable.empty();
  nest.clear();
  promotable.clear();
  return isDone ? result : emitLoop(node);
}
