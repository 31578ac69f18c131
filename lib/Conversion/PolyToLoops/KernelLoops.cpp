//===- KernelLoops.cpp - Loops and vectors of one kernel ------------------===//

#include "KernelLoops.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Dialect/SCF/IR/SCF.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::AstCondition;
using polyhedral::AstExpr;
using polyhedral::AstNode;

/// A loop that carries as many values is the inner loop of a register tile; or
/// one that leaves so few registers for what neighbours share.
static constexpr int64_t kMinTileSlots = 16, kFewLeft = 4;
/// Loops of so few iterations may run over the window of a convolution.
static constexpr int64_t kMaxWindow = 8;
/// Steps of a register tile are written out one after the other until they have
/// as many results. Counting the steps of small tiles takes a fifth of the
/// instructions, and as much time where another thread shares the core.
static constexpr int64_t kMinStepResults = 48;
/// Loops that carry fewer vectors wait for their sums.
static constexpr int64_t kMinStepVectors = 4;

poly::LoopAttr espalier::polytoloops::getLoopKind(const AstNode &node) {
  return dyn_cast_or_null<poly::LoopAttr>(node.tag);
}

KernelLoops::KernelLoops(poly::KernelOp kernel,
                         const PrivateLoops &privateLoops, OpBuilder &builder)
    : IndexArithmetic(builder, kernel.getLoc(), kernel.getNumParameters()),
      kernel(kernel), computes(kernel.getComputes()),
      dataLoops(kernel, computes), privateLoops(privateLoops) {}

LogicalResult KernelLoops::emit(const AstNode &ast) {
  numIterators = ast.countIterators();
  dataLoops.analyze(ast);
  for (poly::ComputeOp compute : computes)
    numReads = std::max<unsigned>(numReads, compute.getReads().size());
  builder.setInsertionPoint(kernel);
  function = func::FuncOp::create(
      builder, loc, kernel.getName(),
      builder.getFunctionType(kernel.getArgumentTypes(), {}));
  function.setVisibility(SymbolTable::getSymbolVisibility(kernel));
  Block *entry = function.addEntryBlock();
  builder.setInsertionPointToStart(entry);
  for (auto [from, to] :
       llvm::zip(kernel.getArguments(), entry->getArguments()))
    scalars.map(from, to);
  for (BlockArgument parameter : kernel.getParameters())
    symbols.push_back(scalars.lookup(parameter));
  for (auto [from, to] :
       llvm::zip(kernel.getArguments(), entry->getArguments()))
    if (isa<MemRefType>(to.getType()))
      addMemory(from, to);
  scopes.emplace_back();
  for (poly::ArrayOp array : kernel.getArrays())
    if (failed(addLocal(array)))
      return failure();
  enterScope(ast, {});
  if (failed(emitNode(ast)))
    return failure();
  leaveScope();
  leaveScope();
  func::ReturnOp::create(builder, loc);
  return success();
}

LogicalResult KernelLoops::emitNode(const AstNode &node) {
  switch (node.kind) {
  case AstNode::Kind::For:
    return emitFor(node);
  case AstNode::Kind::If:
    return emitIf(node);
  case AstNode::Kind::Call:
    return emitCall(node);
  case AstNode::Kind::Block:
    return emitChildren(node);
  case AstNode::Kind::Mark:
    return emitMark(node);
  }
  llvm_unreachable("all kinds are handled");
}

LogicalResult KernelLoops::emitChildren(const AstNode &node) {
  SmallVector<const AstNode *> counted = findCountedLoops(node);
  if (!counted.empty())
    return emitVersions(node, counted);
  for (const polyhedral::Ast &child : node.children)
    if (failed(emitNode(*child)))
      return failure();
  return success();
}

//===----------------------------------------------------------------------===//
// Loops
//===----------------------------------------------------------------------===//

SmallVector<Value> KernelLoops::getSlotValues() const {
  SmallVector<Value> values;
  for (const auto &[key, slot] : registers) {
    values.push_back(slot.value);
    if (slot.partial)
      values.push_back(slot.partial);
  }
  return values;
}

void KernelLoops::setSlotValues(ValueRange values) {
  unsigned next = 0;
  for (auto &[key, slot] : registers) {
    slot.value = values[next++];
    if (slot.partial)
      slot.partial = values[next++];
  }
}

/// Emits the children of `node` into `block`, which ends by yielding the slots
/// that were there before.
LogicalResult KernelLoops::emitInScope(const AstNode &node, Block *block) {
  Registers outer = registers;
  OpBuilder::InsertionGuard guard(builder);
  builder.setInsertionPointToEnd(block);
  if (failed(emitChildren(node)))
    return failure();
  // Elements first written inside are not known outside.
  Registers inner;
  for (auto &[key, slot] : outer) {
    Slot now = registers.lookup(key);
    if (!now.value || now.value.getType() != slot.value.getType() ||
        bool(now.partial) != bool(slot.partial))
      return kernel.emitError("expects an element of an array in registers to "
                              "keep its place and number of lanes in a loop");
    inner[key] = now;
  }
  registers = std::move(inner);
  scf::YieldOp::create(builder, loc, getSlotValues());
  return success();
}

std::optional<int64_t> KernelLoops::getConstant(const AstExpr &expr) {
  if (expr.kind == AstExpr::Kind::Affine) {
    auto number =
        dyn_cast<AffineConstantExpr>(canonicalize(simplify(expr.affine)));
    return number ? std::optional(number.getValue()) : std::nullopt;
  }
  if (expr.kind == AstExpr::Kind::Select)
    return std::nullopt;
  std::optional<int64_t> result;
  for (const AstExpr &operand : expr.operands) {
    std::optional<int64_t> value = getConstant(operand);
    if (!value)
      return std::nullopt;
    bool isBetter =
        expr.kind == AstExpr::Kind::Max ? value > result : value < result;
    if (!result || isBetter)
      result = value;
  }
  return result;
}

std::optional<int64_t> KernelLoops::getConstantBound(const AstExpr &expr,
                                                     bool isUpper) {
  if (expr.kind == AstExpr::Kind::Affine)
    return getConstant(expr);
  // One operand bounds a minimum from above; all of them, a maximum.
  bool oneSuffices =
      expr.kind == (isUpper ? AstExpr::Kind::Min : AstExpr::Kind::Max);
  std::optional<int64_t> best;
  for (const AstExpr &operand : expr.operands) {
    std::optional<int64_t> bound = getConstantBound(operand, isUpper);
    if (!bound && !oneSuffices)
      return std::nullopt;
    if (bound && (!best || (*bound < *best) == (isUpper == oneSuffices)))
      best = bound;
  }
  return best;
}

bool KernelLoops::usesRegisters(const AstNode &node) const {
  if (node.kind != AstNode::Kind::Call)
    return llvm::any_of(node.children, [&](const polyhedral::Ast &child) {
      return usesRegisters(*child);
    });
  poly::ComputeOp compute = computes[node.statement];
  auto isInRegisters = [&](Value array) {
    return memories.find(array)->second.inRegisters;
  };
  return llvm::any_of(compute.getReads(), isInRegisters) ||
         llvm::any_of(compute.getWrites(), isInRegisters);
}

LogicalResult KernelLoops::emitFor(const AstNode &node) {
  return dataLoops.find(node) ? emitDataLoop(node) : emitAnyLoop(node);
}

LogicalResult KernelLoops::emitDataLoop(const AstNode &node) {
  llvm::DenseMap<unsigned, Value> outer = boundElements;
  auto emitWithBounds = [&]() -> LogicalResult {
    // Loads the elements here; loops inside use them too.
    emitBound(node, false);
    emitBound(node, true);
    return emitAnyLoop(node);
  };
  // Elements are there for points of the domain.
  std::optional<int64_t> least;
  if (node.lower.kind == AstExpr::Kind::Affine &&
      node.upper.kind == AstExpr::Kind::Affine)
    least = getLargest(
        canonicalize(simplify(node.lower.affine - node.upper.affine)));
  LogicalResult result = success();
  if (areBoundsRead(node) || (least && *least < 0)) {
    result = emitWithBounds();
  } else {
    Value runs =
        arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::slt,
                              emitExpr(node.lower), emitExpr(node.upper));
    result = emitGuarded(runs, emitWithBounds, [] { return success(); });
  }
  boundElements = std::move(outer);
  return result;
}

LogicalResult KernelLoops::emitAnyLoop(const AstNode &node) {
  poly::LoopAttr kind = getLoopKind(node);
  std::optional<int64_t> lower = getConstantBoundOf(node, false);
  std::optional<int64_t> upper = getConstantBoundOf(node, true);
  std::optional<int64_t> least = getConstantBound(node.lower, false);
  std::optional<int64_t> most = getConstantBound(node.upper, true);
  enterRange(node);
  // Registers have no loops around them.
  if (kind && kind.isUnroll() && !most &&
      node.upper.kind == AstExpr::Kind::Affine && usesRegisters(node))
    most = getLargest(canonicalize(simplify(node.upper.affine)));
  LogicalResult result = success();
  if (kind && kind.isVector() && node.step == 1 && canVectorize(node))
    result = emitVector(node);
  // One after the other, lanes would leave their registers behind in the loop.
  else if (kind && kind.isVector() && usesRegisters(node))
    return kernel.emitError("expects accesses that lanes can make, in a vector "
                            "loop with arrays in registers");
  else if (kind && kind.isUnroll() && lower && upper)
    result = emitUnrolled(node, *lower, *upper);
  else if (kind && kind.isUnroll() && least && most &&
           (lower || dataLoops.find(node)))
    result = emitUnrolledGuarded(node, *least, *most);
  else if (kind && kind.isParallel())
    result = emitParallel(node);
  else if (lower && upper && *upper - *lower <= node.step)
    result = emitUnrolled(node, *lower, *upper);
  else
    result = emitSequential(node);
  ranges.erase(node.iterator);
  return result;
}

LogicalResult KernelLoops::emitUnrolled(const AstNode &node, int64_t lower,
                                        int64_t upper) {
  enterWrittenOut(node, lower, upper);
  for (int64_t value = lower; value < upper; value += node.step) {
    unrolled[node.iterator] = value;
    if (failed(emitChildren(node)))
      return failure();
  }
  unrolled.erase(node.iterator);
  leaveWrittenOut();
  return success();
}

/// Whether a loop that carries so many values is that of a register tile.
static bool isTileLoop(poly::KernelOp kernel, size_t numValues) {
  auto module = kernel->getParentOfType<ModuleOp>();
  auto target = module ? module->getAttrOfType<poly::TargetAttr>(
                             poly::TargetAttr::getAttrName())
                       : nullptr;
  int64_t least = kMinTileSlots;
  if (target)
    least = std::min(least, target.getRegisters() - kFewLeft);
  return int64_t(numValues) >= least;
}

/// Keeps a loop as it is or, if `count` is greater than 1, writes out as many
/// iterations.
static LLVM::LoopAnnotationAttr getUnroll(MLIRContext *context, int64_t count) {
  Builder builder(context);
  auto number = count > 1 ? builder.getI32IntegerAttr(count) : IntegerAttr();
  auto unroll = LLVM::LoopUnrollAttr::get(context, builder.getBoolAttr(!number),
                                          number, {}, {}, {}, {}, {});
  return LLVM::LoopAnnotationAttr::get(context, {}, {}, {}, unroll, {}, {}, {},
                                       {}, {}, {}, {}, {}, {}, {}, {});
}

/// Whether loops below `node` remain loops.
static bool hasLoops(const AstNode &node) {
  return llvm::any_of(node.children, [&](const polyhedral::Ast &child) {
    poly::LoopAttr kind = getLoopKind(*child);
    bool isLoop = child->kind == AstNode::Kind::For &&
                  !(kind && (kind.isVector() || kind.isUnroll()));
    return isLoop || hasLoops(*child);
  });
}

/// How many steps of a loop that carries `values` to write out.
static int64_t countSteps(const AstNode &node, ArrayRef<Value> values) {
  int64_t numVectors = llvm::count_if(values, [](Value value) {
    return value && isa<VectorType>(value.getType());
  });
  if (numVectors < kMinStepVectors || hasLoops(node))
    return 1;
  return llvm::bit_floor<uint64_t>(
      std::max<int64_t>(kMinStepResults / numVectors, 1));
}

LogicalResult KernelLoops::emitLoop(const AstNode &node) {
  auto partials = beginPartials(node);
  std::optional<int64_t> first = getConstantBoundOf(node, false),
                         last = getConstantBoundOf(node, true);
  SmallVector<Value> values = getSlotValues();
  Attribute annotation;
  if (!first || !last || *last - *first > kMaxWindow) {
    if (int64_t count = countSteps(node, values); count > 1)
      annotation = getUnroll(builder.getContext(), count);
  } else if (isTileLoop(kernel, values.size())) {
    // A register tile needs more registers than there are if neighbouring
    // windows, which overlap, are loaded at once.
    annotation = getUnroll(builder.getContext(), 1);
  }
  Value lower = emitBound(node, false), upper = emitBound(node, true);
  if (failed(emitLoopBetween(node, lower, upper, node.step, annotation)))
    return failure();
  endPartials(partials);
  return success();
}

LogicalResult KernelLoops::emitLoopBetween(const AstNode &node, Value lower,
                                           Value upper, int64_t step,
                                           Attribute annotation) {
  Value number = arith::ConstantIndexOp::create(builder, loc, step);
  SmallVector<Value> init = getSlotValues();
  auto loop = scf::ForOp::create(builder, loc, lower, upper, number, init);
  if (init.empty())
    loop.getBody()->getTerminator()->erase();
  if (annotation)
    loop->setAttr("loop_annotation", annotation);
  iterators[node.iterator] = loop.getInductionVar();
  setSlotValues(loop.getRegionIterArgs());
  enclosing.push_back(&node);
  if (failed(emitInScope(node, loop.getBody())))
    return failure();
  enclosing.pop_back();
  setSlotValues(loop.getResults());
  iterators.erase(node.iterator);
  return success();
}

LogicalResult KernelLoops::emitParallel(const AstNode &node) {
  // Directly nested parallel loops become one, unless bounds depend on it.
  SmallVector<const AstNode *> nest{&node};
  while (nest.back()->children.size() == 1) {
    const AstNode *child = nest.back()->children.front().get();
    poly::LoopAttr kind = getLoopKind(*child);
    if (child->kind != AstNode::Kind::For || !kind || !kind.isParallel() ||
        dataLoops.find(*child) || child->lower.kind != AstExpr::Kind::Affine ||
        child->upper.kind != AstExpr::Kind::Affine ||
        !child->lower.affine.isSymbolicOrConstant() ||
        !child->upper.affine.isSymbolicOrConstant())
      break;
    nest.push_back(child);
  }
  SmallVector<Value> lower, upper, step;
  for (const AstNode *loop : nest) {
    lower.push_back(emitBound(*loop, false));
    upper.push_back(emitBound(*loop, true));
    step.push_back(arith::ConstantIndexOp::create(builder, loc, loop->step));
  }
  auto parallel = scf::ParallelOp::create(builder, loc, lower, upper, step);
  for (auto [loop, iv] : llvm::zip(nest, parallel.getInductionVars()))
    iterators[loop->iterator] = iv;
  Registers outer = std::move(registers);
  registers.clear();
  {
    OpBuilder::InsertionGuard guard(builder);
    builder.setInsertionPoint(parallel.getBody()->getTerminator());
    llvm::DenseMap<Value, Memory> shared = memories;
    enterScope(*nest.back(), nest);
    llvm::append_range(enclosing, nest);
    if (failed(emitChildren(*nest.back())))
      return failure();
    enclosing.truncate(enclosing.size() - nest.size());
    leaveScope();
    memories = std::move(shared);
  }
  registers = std::move(outer);
  for (const AstNode *loop : nest)
    iterators.erase(loop->iterator);
  return success();
}

Registers KernelLoops::mergeSlots(const Registers &before,
                                  const Registers &first,
                                  const Registers &second) {
  Registers merged;
  for (const Registers *slots : {&first, &second})
    for (const auto &[key, slot] : *slots) {
      Slot other = (slots == &first ? second : first).lookup(key);
      bool isNew = !other.value && !before.count(key) && !slot.partial;
      if (isNew || other.isLike(slot))
        merged.insert({key, slot});
    }
  return merged;
}

/// Yields the values that `slots` has for those of `merged`.
void KernelLoops::yieldSlots(const Registers &merged, const Registers &slots) {
  SmallVector<Value> values;
  for (const auto &[key, slot] : merged) {
    Slot own = slots.lookup(key);
    // Not written here, so nobody uses it.
    if (!own.value)
      own.value = arith::ConstantOp::create(
          builder, loc, builder.getZeroAttr(slot.value.getType()));
    values.push_back(own.value);
    if (own.partial)
      values.push_back(own.partial);
  }
  scf::YieldOp::create(builder, loc, values);
}

LogicalResult
KernelLoops::emitGuarded(Value condition,
                         llvm::function_ref<LogicalResult()> emitThen,
                         llvm::function_ref<LogicalResult()> emitElse) {
  Registers before = registers, after[2];
  Region regions[2];
  llvm::function_ref<LogicalResult()> bodies[] = {emitThen, emitElse};
  {
    OpBuilder::InsertionGuard guard(builder);
    for (unsigned branch : {0, 1}) {
      registers = before;
      builder.setInsertionPointToEnd(&regions[branch].emplaceBlock());
      if (failed(bodies[branch]()))
        return failure();
      after[branch] = registers;
    }
    registers = mergeSlots(before, after[0], after[1]);
    for (unsigned branch : {0, 1}) {
      builder.setInsertionPointToEnd(&regions[branch].front());
      yieldSlots(registers, after[branch]);
    }
  }
  SmallVector<Value> values = getSlotValues();
  auto op = scf::IfOp::create(builder, loc, TypeRange(ValueRange(values)),
                              condition, /*withElseRegion=*/true);
  op.getThenRegion().takeBody(regions[0]);
  op.getElseRegion().takeBody(regions[1]);
  setSlotValues(op.getResults());
  return success();
}

void KernelLoops::addKnown(const AstCondition &condition, bool holds) {
  // Of several that hold, each does; of several of which none holds, none.
  if (condition.kind ==
      (holds ? AstCondition::Kind::And : AstCondition::Kind::Or))
    for (const AstCondition &operand : condition.operands)
      addKnown(operand, holds);
  if (condition.kind == AstCondition::Kind::NonNegative &&
      condition.value.kind == AstExpr::Kind::Affine)
    known.push_back(holds ? condition.value.affine
                          : -condition.value.affine - 1);
}

LogicalResult KernelLoops::emitIf(const AstNode &node) {
  auto emitBranch = [&](unsigned branch) {
    size_t before = known.size();
    addKnown(node.condition, /*holds=*/branch == 0);
    LogicalResult result = emitNode(*node.children[branch]);
    known.truncate(before);
    return result;
  };
  return emitGuarded(
      emitCondition(node.condition), [&] { return emitBranch(0); },
      [&] { return node.children.size() > 1 ? emitBranch(1) : success(); });
}

LogicalResult KernelLoops::emitUnrolledGuarded(const AstNode &node,
                                               int64_t lower, int64_t most) {
  Value upper = emitBound(node, true), first;
  if (!getConstantBoundOf(node, false))
    first = emitBound(node, false);
  for (int64_t value = lower; value < most; value += node.step) {
    Value number = arith::ConstantIndexOp::create(builder, loc, value);
    Value inside = arith::CmpIOp::create(
        builder, loc, arith::CmpIPredicate::slt, number, upper);
    if (first)
      inside = arith::AndIOp::create(
          builder, loc, inside,
          arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge, number,
                                first));
    unrolled[node.iterator] = value;
    if (failed(emitGuarded(
            inside, [&] { return emitChildren(node); },
            [] { return success(); })))
      return failure();
  }
  unrolled.erase(node.iterator);
  return success();
}
