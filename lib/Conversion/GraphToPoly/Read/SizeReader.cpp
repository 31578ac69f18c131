//===- SizeReader.cpp - Sizes of a function on memory ---------------------===//

#include "SizeReader.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::graphtopoly;
using definition::ScalarFn;

SizeReader::SizeReader(StatementList &program, unsigned numInputs)
    : program(program) {
  llvm::StringMap<AffineExpr> named;
  func::FuncOp main = program.function;
  for (BlockArgument argument : main.getArguments().take_front(numInputs)) {
    unsigned number = argument.getArgNumber();
    auto names = main.getArgAttrOfType<ArrayAttr>(number, kDimsAttr);
    auto type = cast<MemRefType>(argument.getType());
    SmallVector<AffineExpr> &extents = inputs.emplace_back();
    for (auto [dim, extent] : llvm::enumerate(type.getShape())) {
      if (!ShapedType::isDynamic(extent)) {
        extents.push_back(getAffineConstantExpr(extent, program.context));
        continue;
      }
      StringRef name;
      if (names && dim < names.size())
        if (auto attr = dyn_cast<StringAttr>(names[dim]))
          name = attr.getValue();
      AffineExpr symbol = name.empty() ? AffineExpr() : named.lookup(name);
      if (!symbol)
        symbol = program.addSymbol({number, unsigned(dim)});
      if (!name.empty())
        named[name] = symbol;
      extents.push_back(symbol);
    }
  }
}

void SizeReader::bindPlan(func::FuncOp plan) {
  auto argument = plan.getArguments().begin();
  for (ArrayRef<AffineExpr> extents : inputs)
    for (AffineExpr extent : extents)
      known[*argument++] = extent;
}

void SizeReader::read(Block &block) {
  for (Operation &op : block)
    for (Value result : op.getResults())
      if (result.getType().isIndex())
        (void)get(result);
}

AffineExpr SizeReader::get(OpFoldResult size) {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return getAffineConstantExpr(*number, program.context);
  return get(cast<Value>(size));
}

AffineExpr SizeReader::get(Value value) {
  if (AffineExpr expr = known.lookup(value))
    return expr;
  AffineExpr expr = compute(value);
  expr = expr ? program.simplify(expr) : getOther(value);
  return known[value] = expr;
}

/// The same symbol for what is computed in the same way: the plan repeats what
/// @main does.
AffineExpr SizeReader::getOther(Value value) {
  Operation *op = value.getDefiningOp();
  if (!op || !isPure(op) || op->getNumResults() != 1 ||
      op->getNumRegions() != 0 ||
      !llvm::all_of(op->getOperandTypes(),
                    [](Type type) { return type.isIntOrIndex(); }))
    return program.addSymbol({0, 0, value});
  std::vector<const void *> key{op->getName().getAsOpaquePointer(),
                                value.getType().getAsOpaquePointer(),
                                op->getAttrDictionary().getAsOpaquePointer()};
  for (Value operand : op->getOperands())
    key.push_back(get(operand).getAsOpaquePointer());
  AffineExpr &symbol = others[key];
  if (!symbol)
    symbol = program.addSymbol({0, 0, value});
  return symbol;
}

/// max(x, 0) and max(-x, 0) differ by x.
AffineExpr SizeReader::getPositivePart(AffineExpr expr) {
  if (AffineExpr part = positiveParts.lookup(expr))
    return part;
  AffineExpr part = getExtreme(ScalarFn::Max, expr,
                               getAffineConstantExpr(0, program.context));
  positiveParts[expr] = part;
  positiveParts[program.simplify(-expr)] = program.simplify(part - expr);
  return part;
}

AffineExpr SizeReader::getExtreme(ScalarFn fn, AffineExpr lhs, AffineExpr rhs) {
  AffineExpr &extreme =
      extremes[{fn, lhs.getAsOpaquePointer(), rhs.getAsOpaquePointer()}];
  if (!extreme)
    extreme = program.addExtent(definition::apply(
        fn, {program.expression(lhs), program.expression(rhs)}));
  return extreme;
}

AffineExpr SizeReader::compute(Value value) {
  Operation *op = value.getDefiningOp();
  APInt number;
  if (matchPattern(value, m_ConstantInt(&number)))
    return getAffineConstantExpr(number.getSExtValue(), program.context);
  if (auto dim = dyn_cast_or_null<memref::DimOp>(op)) {
    auto argument = dyn_cast<BlockArgument>(dim.getSource());
    std::optional<int64_t> index = dim.getConstantIndex();
    bool isInput = argument && index &&
                   argument.getOwner() == &program.function.getBody().front() &&
                   argument.getArgNumber() < inputs.size();
    if (isInput && *index >= 0 &&
        *index < int64_t(inputs[argument.getArgNumber()].size()))
      return inputs[argument.getArgNumber()][*index];
    return {};
  }
  if (isa_and_nonnull<arith::IndexCastOp>(op))
    return get(op->getOperand(0));
  if (!op || op->getNumOperands() != 2 || !value.getType().isIndex() ||
      !isa<arith::ArithDialect>(op->getDialect()))
    return {};
  AffineExpr lhs = get(op->getOperand(0)), rhs = get(op->getOperand(1));
  auto divisor = dyn_cast<AffineConstantExpr>(rhs);
  bool mayDivide = !divisor || divisor.getValue() > 0;
  if (isa<arith::AddIOp>(op))
    return lhs + rhs;
  if (isa<arith::SubIOp>(op))
    return lhs - rhs;
  if (isa<arith::MulIOp>(op))
    return lhs * rhs;
  if (isa<arith::FloorDivSIOp, arith::DivUIOp>(op) && mayDivide)
    return lhs.floorDiv(rhs);
  if (isa<arith::CeilDivSIOp, arith::CeilDivUIOp>(op) && mayDivide)
    return lhs.ceilDiv(rhs);
  if (isa<arith::MaxSIOp>(op))
    return rhs == getAffineConstantExpr(0, program.context)
               ? getPositivePart(lhs)
               : getExtreme(ScalarFn::Max, lhs, rhs);
  if (isa<arith::MinSIOp>(op))
    return getExtreme(ScalarFn::Min, lhs, rhs);
  return {};
}
