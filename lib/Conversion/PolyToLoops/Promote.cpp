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

static bool dependsOn(const AstExpr &expr, unsigned iterator) {
  bool result = false;
  expr.walk(
      [&](AffineExpr affine) { result |= affine.isFunctionOfDim(iterator); });
  return result;
}

void KernelLoops::enterRange(const AstNode &node) {
  std::optional<int64_t> least = getConstantBound(node.lower, false);
  std::optional<int64_t> most = getConstantBound(node.upper, true);
  if (least && most)
    ranges[node.iterator] = {*least, std::max(*least, *most - 1)};
}

LogicalResult KernelLoops::forEachCall(const AstNode &node, const AstNode &loop,
                                       bool emitMasks, CallVisitor visit,
                                       const AstNode *vectorLoop) {
  for (const polyhedral::Ast &child : node.children) {
    LogicalResult result = success();
    if (child->kind == AstNode::Kind::Call)
      result = visit(*child, vectorLoop);
    else if (child->kind == AstNode::Kind::For)
      result = forEachCallIn(*child, loop, emitMasks, visit, vectorLoop);
    else if (child->kind == AstNode::Kind::If)
      return failure();
    else
      result = forEachCall(*child, loop, emitMasks, visit, vectorLoop);
    if (failed(result))
      return failure();
  }
  return success();
}

LogicalResult KernelLoops::forEachCallIn(const AstNode &node,
                                         const AstNode &loop, bool emitMasks,
                                         CallVisitor visit,
                                         const AstNode *vectorLoop) {
  poly::LoopAttr kind = getLoopKind(node);
  enterRange(node);
  LogicalResult result = failure();
  if (!areBoundsRead(node)) {
    // Not before it is known that the loop has points.
  } else if (kind && kind.isVector() && node.step == 1 && canVectorize(node)) {
    bool isFixed = !dependsOn(node.lower, loop.iterator) &&
                   !dependsOn(node.upper, loop.iterator) &&
                   !dataLoops.dependsOn(node, loop.iterator);
    std::optional<Lanes> outer = std::move(lanes);
    lanes = beginLanes(node, emitMasks && isFixed);
    result = forEachCall(node, loop, emitMasks, visit, &node);
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
      result = forEachCall(node, loop, emitMasks, visit, vectorLoop);
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

bool KernelLoops::areApart(const AstNode &loop, const MemoryUse &first,
                           const MemoryUse &second) {
  // The iterators of the second access, inside the loop, are others.
  auto rename = [&](AffineExpr expr) {
    SmallVector<AffineExpr> dims;
    for (unsigned dim = 0; dim < numIterators; ++dim) {
      bool isInner = dim == loop.iterator ||
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
  addLoop(loop, true);
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

MemoryUse KernelLoops::getUse(const AstNode &loop, const AstNode &call,
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
  use.isInvariant =
      !address.isFunctionOfDim(loop.iterator) && (stride == 0 || stride == 1);
  if (lanes && stride == 0)
    use.isInvariant &= !address.isFunctionOfDim(lanes->iterator);
  if (use.isVector)
    use.isInvariant &= !dependsOn(vectorLoop->lower, loop.iterator) &&
                       !dependsOn(vectorLoop->upper, loop.iterator) &&
                       !dataLoops.dependsOn(*vectorLoop, loop.iterator);
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

LogicalResult KernelLoops::collectUses(const AstNode &loop,
                                       SmallVectorImpl<MemoryUse> &uses) {
  return forEachCall(
      loop, loop, /*emitMasks=*/false,
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
          uses.push_back(getUse(loop, call, vectorLoop, access));
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

llvm::SetVector<SlotKey> KernelLoops::findPromotable(const AstNode &loop) {
  SmallVector<MemoryUse> uses;
  llvm::SetVector<SlotKey> keys;
  if (failed(collectUses(loop, uses)))
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
      return !differByNumber(slot, use, fold) && !areApart(loop, slot, use);
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

//===----------------------------------------------------------------------===//
// Code
//===----------------------------------------------------------------------===//

/// Loads the elements before the loop, and stores them after it.
LogicalResult KernelLoops::emitPromoted(const AstNode &loop,
                                        const llvm::SetVector<SlotKey> &keys) {
  llvm::SmallSetVector<SlotKey, 16> done;
  auto visitKeys =
      [&](llvm::function_ref<LogicalResult(const poly::ComputeAccess &,
                                           const AstNode &, const SlotKey &)>
              visit) {
        done.clear();
        return forEachCall(
            loop, loop, /*emitMasks=*/true,
            [&](const AstNode &call, const AstNode *) -> LogicalResult {
              for (const poly::ComputeAccess &write :
                   computes[call.statement].getWriteAccesses()) {
                SlotKey key = getSlotKey(write, call);
                if (!keys.contains(key) || !done.insert(key))
                  continue;
                // One element for all lanes is used as without them.
                std::optional<Lanes> all = lanes;
                if (lanes &&
                    getLaneStride(getAddress(write, call), *lanes) == 0)
                  lanes.reset();
                if (failed(visit(write, call, key)))
                  return failure();
                lanes = std::move(all);
              }
              return success();
            });
      };
  LogicalResult result =
      visitKeys([&](const poly::ComputeAccess &access, const AstNode &call,
                    const SlotKey &key) -> LogicalResult {
        FailureOr<Value> value = emitRead(access, call, {});
        if (failed(value))
          return failure();
        registers[key] = {*value,
                          {},
                          std::numeric_limits<unsigned>::max(),
                          lanes ? lanes->loop : nullptr};
        return success();
      });
  if (failed(result))
    return failure();
  promoted = keys;
  if (failed(emitLoop(loop)))
    return failure();
  promoted.clear();
  return visitKeys([&](const poly::ComputeAccess &access, const AstNode &call,
                       const SlotKey &key) {
    Value value = registers.lookup(key).value;
    registers.erase(key);
    return emitWrite(access, call, value, {});
  });
}

LogicalResult KernelLoops::emitSequential(const AstNode &node) {
  llvm::SetVector<SlotKey> keys = findPromotable(node);
  if (keys.empty())
    return emitLoop(node);
  std::optional<int64_t> lower = getConstantBoundOf(node, false);
  std::optional<int64_t> upper = getConstantBoundOf(node, true);
  if (lower && upper && *lower < *upper)
    return emitPromoted(node, keys);
  // Of a loop without iterations, the elements need not be there.
  Value runs =
      arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                            emitBound(node, false), emitBound(node, true));
  return emitGuarded(
      runs, [&] { return emitPromoted(node, keys); }, [] { return success(); });
}
