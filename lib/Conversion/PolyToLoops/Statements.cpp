//===- Statements.cpp - Instances of computations -------------------------===//

#include "KernelLoops.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::polytoloops;
using polyhedral::AstNode;

Value KernelLoops::toVector(Value value) {
  if (!lanes || isa<VectorType>(value.getType()))
    return value;
  return vector::BroadcastOp::create(
      builder, loc, VectorType::get({lanes->width}, value.getType()), value);
}

void KernelLoops::noteBound(Value array, Value value) {
  auto argument = dyn_cast<BlockArgument>(array);
  if (!argument)
    return;
  if (auto bound = kernel.getArgAttrOfType<AffineMapAttr>(
          argument.getArgNumber(), poly::KernelOp::getBoundAttrName()))
    dataBits[value] = getNumBits(bound.getValue().getResult(0), {});
}

/// Whether an access of `compute` depends on the value of read `number`.
static bool isIndex(poly::ComputeOp compute, unsigned number) {
  unsigned symbol = compute.getKernel().getNumParameters() + number;
  auto uses = [&](const poly::ComputeAccess &access) {
    return symbol < access.map.getNumSymbols() &&
           access.map.isFunctionOfSymbol(symbol);
  };
  return llvm::any_of(compute.getReadAccesses(), uses) ||
         llvm::any_of(compute.getWriteAccesses(), uses);
}

FailureOr<SmallVector<Value>> KernelLoops::emitReads(poly::ComputeOp compute,
                                                     const AstNode &call,
                                                     Value accumulator) {
  SmallVector<Value> values;
  std::optional<unsigned> accumulated = getAccumulatorRead(compute);
  for (auto [number, access] : llvm::enumerate(compute.getReadAccesses())) {
    if (accumulator && number == accumulated) {
      values.push_back(accumulator);
      continue;
    }
    if (access.argument.use_empty() && !isIndex(compute, number)) {
      values.push_back({});
      continue;
    }
    FailureOr<Value> value = emitRead(access, call, values);
    if (failed(value))
      return failure();
    noteBound(access.array, *value);
    values.push_back(*value);
  }
  return values;
}

/// Whether `op` adds to a sum whose terms data ends. Without lanes, each would
/// wait for the one before; LLVM may add up several at a time, as a reduction
/// has no order.
static bool isSumOfEntries(poly::ComputeOp compute, Operation *op) {
  return compute.getWhere() && compute.getReduction() == poly::Reduction::Add &&
         compute.getYield().getValues().front() == op->getResult(0);
}

/// Whether `op` adds a product of two bf16 to a sum. Some machines add two of
/// them at a time, as a reduction has no order.
static bool isSumOfShortProducts(poly::ComputeOp compute, Operation *op) {
  auto isShort = [](Value factor) {
    auto wide = factor.getDefiningOp<arith::ExtFOp>();
    return wide && wide.getIn().getType().isBF16();
  };
  return isa<arith::AddFOp>(op) &&
         compute.getReduction() == poly::Reduction::Add &&
         compute.getYield().getValues().front() == op->getResult(0) &&
         llvm::any_of(op->getOperands(), [&](Value term) {
           auto product = term.getDefiningOp<arith::MulFOp>();
           return product && isShort(product.getLhs()) &&
                  isShort(product.getRhs());
         });
}

/// Forgets that `op` has no overflow, infinity or NaN. That was said of updates
/// in their first order: other groups of them have other intermediate results.
static void dropPromises(Operation *op) {
  MLIRContext *context = op->getContext();
  if (auto whole = dyn_cast<arith::ArithIntegerOverflowFlagsInterface>(op))
    op->setAttr(whole.getIntegerOverflowAttrName(),
                arith::IntegerOverflowFlagsAttr::get(
                    context, arith::IntegerOverflowFlags::none));
  auto real = dyn_cast<arith::ArithFastMathInterface>(op);
  if (auto flags = real ? real.getFastMathFlagsAttr() : nullptr)
    op->setAttr(
        real.getFastMathAttrName(),
        arith::FastMathFlagsAttr::get(
            context, arith::bitEnumClear(flags.getValue(),
                                         arith::FastMathFlags::nnan |
                                             arith::FastMathFlags::ninf)));
}

/// Emits the body on `reads`: as it is, or on vectors where an operand is one.
FailureOr<SmallVector<Value>> KernelLoops::emitBody(poly::ComputeOp compute,
                                                    const AstNode &call,
                                                    ValueRange reads) {
  IRMapping mapping = scalars;
  bool isRegrouped = compute.getReduction() || compute.getCombiner();
  for (auto [argument, value] :
       llvm::zip(compute.getBody().getArguments(), reads))
    if (value)
      mapping.map(argument, value);
  for (Operation &op : compute.getBody().front().without_terminator()) {
    if (auto index = dyn_cast<poly::IndexOp>(op)) {
      AffineExpr value = simplify(call.values[index.getDim()]);
      if (!lanes || getLaneStride(value, *lanes) == 0) {
        mapping.map(index, emitIndex(value));
        continue;
      }
      Value base =
          emitIndex(value.replace(iterator(lanes->iterator), lanes->first));
      SmallVector<int64_t> steps;
      for (int64_t lane = 0; lane < lanes->width; ++lane)
        steps.push_back(lane * *getLaneStride(value, *lanes));
      auto type = VectorType::get({lanes->width}, builder.getIndexType());
      Value offsets = arith::ConstantOp::create(
          builder, loc, DenseElementsAttr::get(type, ArrayRef<int64_t>(steps)));
      mapping.map(index.getResult(),
                  arith::AddIOp::create(builder, loc, toVector(base), offsets)
                      .getResult());
      continue;
    }
    bool isVector = llvm::any_of(op.getOperands(), [&](Value operand) {
      return isa<VectorType>(mapping.lookup(operand).getType());
    });
    SmallVector<Value> operands;
    for (Value operand : op.getOperands())
      operands.push_back(isVector ? toVector(mapping.lookup(operand))
                                  : mapping.lookup(operand));
    if (isPartial(&op)) {
      mapping.map(op.getResult(0),
                  emitTotal(builder, op.getLoc(), &op, operands));
      continue;
    }
    if (!isVector) {
      Operation *clone = builder.clone(op, mapping);
      if (isRegrouped)
        dropPromises(clone);
      if (auto sum = dyn_cast<arith::AddFOp>(clone);
          sum && isSumOfEntries(compute, &op))
        sum.setFastmath(arith::FastMathFlags::reassoc);
      continue;
    }
    SmallVector<Type> types;
    for (Type type : op.getResultTypes())
      types.push_back(VectorType::get({lanes->width}, type));
    OperationState state(op.getLoc(), op.getName().getStringRef(), operands,
                         types, op.getAttrs());
    Operation *wide = builder.create(state);
    if (isRegrouped)
      dropPromises(wide);
    if (isSumOfShortProducts(compute, &op))
      cast<arith::AddFOp>(wide).setFastmath(arith::FastMathFlags::reassoc);
    mapping.map(op.getResults(), wide->getResults());
  }
  SmallVector<Value> results;
  for (Value value : compute.getYield().getValues())
    results.push_back(mapping.lookup(value));
  return results;
}

/// Lanes that add to one element.
LogicalResult KernelLoops::emitReduction(poly::ComputeOp compute,
                                         const AstNode &call) {
  Combiner combiner = *getCombiner(compute);
  poly::ComputeAccess write = compute.getWriteAccesses().front();
  SlotKey key = getSlotKey(write, call);
  bool isPromoted = promoted.contains(key);
  bool inRegisters =
      memories.find(write.array)->second.inRegisters || isPromoted;
  auto slot = inRegisters ? registers.find(key) : registers.end();
  bool hasPartial = slot != registers.end() && slot->second.partial;
  auto type = VectorType::get({lanes->width}, write.getType().getElementType());
  Value before;
  if (hasPartial)
    before = slot->second.partial;
  else
    before = arith::ConstantOp::create(
        builder, loc,
        DenseElementsAttr::get(type, Attribute(combiner.neutral)));

  FailureOr<SmallVector<Value>> reads = emitReads(compute, call, before);
  if (failed(reads))
    return failure();
  FailureOr<SmallVector<Value>> results = emitBody(compute, call, *reads);
  if (failed(results))
    return failure();
  Value after = toVector(results->front());
  if (lanes->mask)
    after = arith::SelectOp::create(builder, loc, lanes->mask, after, before);
  if (hasPartial) {
    registers[key].partial = after;
    return success();
  }
  if (isPromoted) {
    Slot &whole = registers[key];
    whole.value = combineLanes(combiner, after, whole.value);
    return success();
  }
  // An element in memory: add up the lanes now.
  std::optional<Lanes> vector = std::move(lanes);
  lanes.reset();
  AstNode first(AstNode::Kind::Call);
  first.statement = call.statement;
  for (AffineExpr value : call.values)
    first.values.push_back(
        value.replace(iterator(vector->iterator), vector->first));
  FailureOr<Value> old = emitRead(write, first, *reads);
  if (succeeded(old)) {
    Value sum = combineLanes(combiner, after, *old);
    if (failed(emitWrite(write, first, sum, *reads)))
      old = failure();
  }
  lanes = std::move(vector);
  return success(succeeded(old));
}

LogicalResult KernelLoops::emitCall(const AstNode &call) {
  poly::ComputeOp compute = computes[call.statement];
  loc = compute.getLoc();
  SmallVector<AffineExpr> conditions = dataLoops.getConditions(call);
  if (conditions.empty())
    return emitInstance(call);
  // The reads that the conditions are about.
  SmallVector<Value> data;
  for (auto [number, read] : llvm::enumerate(compute.getReadAccesses())) {
    data.push_back({});
    if (!compute.isConditionedOn(number))
      continue;
    FailureOr<Value> value = emitRead(read, call, data);
    if (failed(value))
      return failure();
    noteBound(read.array, *value);
    data.back() = *value;
  }
  Value holds = arith::ConstantIntOp::create(builder, loc, 1, 1);
  SmallVector<AffineExpr> values;
  for (unsigned symbol = 0; symbol < numParams + data.size(); ++symbol)
    values.push_back(getAffineSymbolExpr(
        symbol < numParams ? symbol : symbols.size() + symbol - numParams,
        builder.getContext()));
  for (AffineExpr condition : conditions) {
    Value value =
        emitExact(condition.replaceDimsAndSymbols(call.values, values), data);
    Value zero = arith::ConstantOp::create(
        builder, loc, builder.getZeroAttr(value.getType()));
    Value own = arith::CmpIOp::create(builder, loc, arith::CmpIPredicate::sge,
                                      value, zero);
    holds = arith::AndIOp::create(builder, loc, holds, own);
  }
  return emitGuarded(
      holds, [&] { return emitInstance(call); }, [] { return success(); });
}

LogicalResult KernelLoops::emitInstance(const AstNode &call) {
  poly::ComputeOp compute = computes[call.statement];
  if (lanes && getAccumulatorRead(compute) &&
      getLaneStride(getAddress(compute.getWriteAccesses().front(), call),
                    *lanes) == 0)
    return emitReduction(compute, call);
  // Memory combines its element with what the body makes of a neutral one.
  Value neutral;
  if (compute.getAtomic())
    neutral = arith::ConstantOp::create(
        builder, loc,
        poly::matchReduction(compute, *compute.getReduction())->neutral);
  FailureOr<SmallVector<Value>> reads = emitReads(compute, call, neutral);
  if (failed(reads))
    return failure();
  FailureOr<SmallVector<Value>> results = emitBody(compute, call, *reads);
  if (failed(results))
    return failure();
  for (auto [access, value] : llvm::zip(compute.getWriteAccesses(), *results)) {
    if (neutral) {
      memref::AtomicRMWOp::create(builder, loc, poly::getAtomicKind(compute),
                                  value,
                                  memories.find(access.array)->second.flat,
                                  emitIndex(getAddress(access, call), *reads));
      continue;
    }
    bool inRegisters = memories.find(access.array)->second.inRegisters;
    if (failed(emitWrite(access, call, inRegisters ? toVector(value) : value,
                         *reads)))
      return failure();
  }
  return success();
}
