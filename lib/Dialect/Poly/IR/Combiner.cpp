//===- Combiner.cpp - Reductions to several values ------------------------===//

#include "Combiner.h"
#include "Laws.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/IR/Builders.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/IR/Matchers.h"
#include "mlir/IR/OperationSupport.h"
#include "mlir/Support/DebugStringHelper.h"

using namespace mlir;
using namespace espalier::poly;

std::string PolyDialect::ask(StringRef question,
                             llvm::function_ref<std::string()> find) {
  {
    std::lock_guard<std::mutex> lock(mutex);
    if (auto known = answers.find(question); known != answers.end())
      return known->second;
  }
  std::string answer = find();
  std::lock_guard<std::mutex> lock(mutex);
  return answers.try_emplace(question, std::move(answer)).first->second;
}

//===----------------------------------------------------------------------===//
// CombinerOp
//===----------------------------------------------------------------------===//

YieldOp CombinerOp::getYield() {
  return cast<YieldOp>(getBody().front().getTerminator());
}

SmallVector<Value> CombinerOp::combine(OpBuilder &builder, ValueRange first,
                                       ValueRange second) {
  Block &block = getBody().front();
  IRMapping mapping;
  unsigned number = first.size();
  mapping.map(block.getArguments().take_front(number), first);
  mapping.map(block.getArguments().drop_front(number), second);
  for (Operation &op : block.without_terminator())
    builder.clone(op, mapping);
  return llvm::map_to_vector(getYield().getValues(), [&](Value value) {
    return mapping.lookupOrDefault(value);
  });
}

bool espalier::poly::isScalar(Operation &op) {
  auto isNumber = [](Type type) { return type.isIntOrIndexOrFloat(); };
  return isa_and_nonnull<arith::ArithDialect, math::MathDialect>(
             op.getDialect()) &&
         llvm::all_of(op.getOperandTypes(), isNumber) &&
         llvm::all_of(op.getResultTypes(), isNumber);
}

/// What is expected of the form of `op`, and what it has instead; empty if
/// nothing.
static std::string findFormFault(CombinerOp op) {
  std::string fault;
  llvm::raw_string_ostream os(fault);
  // C1
  if (op.getNeutral().empty()) {
    os << "at least one neutral value";
    return fault;
  }
  SmallVector<Type> types;
  for (auto [number, value] : llvm::enumerate(op.getNeutral())) {
    auto typed = dyn_cast<TypedAttr>(value);
    if (!typed || !isa<IntegerAttr, FloatAttr>(value)) {
      os << "neutral values that are numbers, but #" << number << " is "
         << value;
      return fault;
    }
    types.push_back(typed.getType());
  }
  Block &block = op.getBody().front();
  SmallVector<Type> expected(types);
  llvm::append_range(expected, types);
  if (TypeRange(block.getArgumentTypes()) != TypeRange(expected)) {
    os << "the block to have two arguments for each neutral value, ("
       << expected << "), but got (" << block.getArgumentTypes() << ")";
    return fault;
  }
  auto yield = block.empty() ? YieldOp() : dyn_cast<YieldOp>(block.back());
  if (!yield || TypeRange(yield.getValues().getTypes()) != TypeRange(types)) {
    os << "the block to end in poly.yield of a value for each neutral one, ("
       << types << ")";
    if (yield)
      os << ", but got (" << yield.getValues().getTypes() << ")";
    return fault;
  }
  // C2
  for (Operation &inner : block.without_terminator())
    if (!isScalar(inner)) {
      os << "operations of arith and math on numbers, but got "
         << inner.getName();
      return fault;
    }
  for (Operation &inner : block)
    for (Value operand : inner.getOperands())
      if (operand.getParentBlock() != &block) {
        os << "to use nothing from outside of its block, but "
           << inner.getName() << " does";
        return fault;
      }
  return fault;
}

/// The text of `op`, without locations.
static std::string getText(Operation *op) {
  std::string text;
  llvm::raw_string_ostream os(text);
  op->print(os, OpPrintingFlags().useLocalScope().printGenericOpForm());
  return text;
}

/// The results of `block` for constant arguments, as they are computed; empty
/// if that is not known.
static SmallVector<Attribute> evaluate(Block &block,
                                       ArrayRef<Attribute> arguments) {
  llvm::DenseMap<Value, Attribute> values;
  for (auto [argument, value] :
       llvm::zip_equal(block.getArguments(), arguments))
    values[argument] = value;
  auto lookup = [&](Value value) { return values.lookup(value); };
  for (Operation &op : block.without_terminator()) {
    SmallVector<OpFoldResult> results;
    if (failed(op.fold(llvm::map_to_vector(op.getOperands(), lookup), results)))
      return {};
    for (auto [value, result] : llvm::zip(op.getResults(), results))
      values[value] = isa<Attribute>(result) ? cast<Attribute>(result)
                                             : lookup(cast<Value>(result));
  }
  SmallVector<Attribute> yielded =
      llvm::map_to_vector(block.getTerminator()->getOperands(), lookup);
  return llvm::all_of(yielded, [](Attribute value) { return bool(value); })
             ? yielded
             : SmallVector<Attribute>();
}

LogicalResult CombinerOp::verifyRegions() {
  // C1, C2
  if (std::string fault = findFormFault(*this); !fault.empty())
    return emitOpError("expects ") << fault;
  // C3, as it is computed.
  SmallVector<Attribute> twice(getNeutral().begin(), getNeutral().end());
  twice.append(getNeutral().begin(), getNeutral().end());
  SmallVector<Attribute> combined = evaluate(getBody().front(), twice);
  if (ArrayRef<Attribute>(combined) != getNeutral().getValue()) {
    InFlightDiagnostic diag =
        emitOpError("expects neutral values combined with themselves to be ")
        << getNeutral() << ", but ";
    if (combined.empty())
      return diag << "cannot compute them";
    return diag << "got " << ArrayAttr::get(getContext(), combined);
  }
  // C3, C4, C5
  SmallVector<std::pair<Law, StringRef>> laws = {
      {Law::Neutral, "combine(a, neutral) = a"},
      {Law::Associative,
       "combine(combine(a, b), c) = combine(a, combine(b, c))"}};
  if (getCommutative())
    laws.push_back({Law::Commutative, "combine(a, b) = combine(b, a)"});
  auto *dialect = cast<PolyDialect>((*this)->getDialect());
  for (auto [law, statement] : laws)
    if (std::string fault =
            dialect->ask((statement + getText(*this)).str(),
                         [&, law = law] { return findLawFault(*this, law); });
        !fault.empty())
      return emitOpError("expects ") << statement << ", but " << fault;
  return success();
}

//===----------------------------------------------------------------------===//
// ComputeOp
//===----------------------------------------------------------------------===//

CombinerOp ComputeOp::getCombinerOp() {
  std::optional<StringRef> name = getCombiner();
  return name ? getKernel().lookupSymbol<CombinerOp>(*name) : CombinerOp();
}

bool ComputeOp::hasAnyOrder() {
  if (CombinerOp combiner = getCombinerOp())
    return combiner.getCommutative();
  return getReduction().has_value();
}

LogicalResult espalier::poly::verifyCombined(ComputeOp compute) {
  if (!compute.getCombiner())
    return success();
  // C18
  CombinerOp combiner = compute.getCombinerOp();
  if (!combiner)
    return compute.emitOpError("expects the name of a poly.combiner of the "
                               "kernel, but got ")
           << compute.getCombinerAttr();
  if (compute.getReduction())
    return compute.emitOpError(
        "expects a reduction or a combiner, but got both");
  // C19
  SmallVector<ComputeAccess> writes = compute.getWriteAccesses();
  auto types = llvm::map_to_vector(writes, [](const ComputeAccess &write) {
    return write.getType().getElementType();
  });
  auto expected =
      llvm::map_to_vector(combiner.getNeutral(), [](Attribute value) {
        auto typed = dyn_cast<TypedAttr>(value);
        return typed ? typed.getType() : Type();
      });
  if (types != expected) {
    InFlightDiagnostic diag =
        compute.emitOpError("expects one write for each value of @")
        << combiner.getSymName() << ", but has " << writes.size()
        << " writes, of (" << types << ")";
    diag.attachNote(combiner.getLoc())
        << "its values are " << combiner.getNeutral();
    return diag;
  }
  for (auto [number, write] : llvm::enumerate(writes)) {
    if (llvm::count(compute.getWrites(), write.array) != 1)
      return compute.emitOpError("expects writes of different arrays with a "
                                 "combiner, but write #")
             << number << " is of that of another one";
    if (write.map.getResults() != writes.front().map.getResults())
      return compute.emitOpError("expects writes at the same indices with a "
                                 "combiner, but write #")
             << number << " is at " << AffineMapAttr::get(write.map);
  }
  if (std::optional<SmallVector<unsigned>> reads = getElementReads(compute))
    return success();
  return compute.emitOpError(
      "expects to read each element that a combiner is for once, and to use "
      "its value for nothing but the body");
}

LogicalResult espalier::poly::verifyCombinedUpdate(ComputeOp compute) {
  CombinerOp combiner = compute.getCombinerOp();
  // Its own verifier reports what is wrong with it.
  if (!combiner || !findFormFault(combiner).empty())
    return success();
  SmallVector<unsigned> elements = *getElementReads(compute);
  auto *dialect = cast<PolyDialect>(compute->getDialect());
  std::string fault = dialect->ask(getText(compute) + getText(combiner), [&] {
    return findUpdateFault(compute, combiner, elements);
  });
  if (fault.empty())
    return success();
  return compute.emitOpError("expects a body f with f(a, x) = @")
         << combiner.getSymName() << "(a, f(neutral, x)), but " << fault;
}
