//===- KernelBuilder.cpp - Arguments and shapes of a kernel ---------------===//

#include "KernelBuilder.h"
#include "espalier/Conversion/LoopsToProgram/ProgramBuilder.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/IR/Matchers.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::linalgtopoly;

Value espalier::linalgtopoly::loadElement(OpBuilder &b, Location loc,
                                          Value stored, Type type) {
  return stored.getType() == type
             ? stored
             : arith::TruncIOp::create(b, loc, type, stored).getResult();
}

Value espalier::linalgtopoly::storeElement(OpBuilder &b, Location loc,
                                           Value value) {
  Type type = getStoredType(value.getType());
  return value.getType() == type
             ? value
             : arith::ExtUIOp::create(b, loc, type, value).getResult();
}

void KernelBuilder::addScalar(Value value) {
  if (!matchPattern(value, m_Constant()))
    scalarArguments.insert(scalars.lookup(value));
}

void KernelBuilder::addParameter(OpFoldResult size) {
  if (!getConstantIntValue(size))
    parameters.insert(cast<Value>(size));
}

EmittedKernel KernelBuilder::make(Location loc, StringRef name) {
  EmittedKernel emitted;
  llvm::append_range(emitted.arguments, memrefs);
  llvm::append_range(emitted.arguments, scalarArguments);
  llvm::append_range(emitted.arguments, parameters);
  emitted.kernel = poly::KernelOp::create(
      builder, loc, name, ValueRange(emitted.arguments).getTypes());
  emitted.kernel.setPrivate();
  arguments.map(emitted.arguments, emitted.kernel.getArguments());
  builder.setInsertionPointToStart(&emitted.kernel.getBody().front());
  return emitted;
}

Value KernelBuilder::getScalar(OpBuilder &b, Value value) const {
  if (matchPattern(value, m_Constant()))
    return b.clone(*value.getDefiningOp())->getResult(0);
  return arguments.lookup(scalars.lookup(value));
}

AffineExpr KernelBuilder::getSize(OpFoldResult size) const {
  if (std::optional<int64_t> number = getConstantIntValue(size))
    return getAffineConstantExpr(*number, context);
  auto it = llvm::find(parameters, cast<Value>(size));
  return getAffineSymbolExpr(it - parameters.begin(), context);
}

IntegerSet KernelBuilder::getBox(ArrayRef<OpFoldResult> sizes) const {
  SmallVector<AffineExpr> constraints;
  for (auto [number, size] : llvm::enumerate(sizes)) {
    AffineExpr dim = getAffineDimExpr(number, context);
    constraints.push_back(dim);
    constraints.push_back(getSize(size) - 1 - dim);
  }
  if (constraints.empty()) // A single point.
    return IntegerSet::get(0, parameters.size(),
                           getAffineConstantExpr(0, context), true);
  SmallVector<bool> areEqualities(constraints.size(), false);
  return IntegerSet::get(sizes.size(), parameters.size(), constraints,
                         areEqualities);
}

Value KernelBuilder::makeArray(Location loc, Type elementType,
                               ArrayRef<OpFoldResult> sizes) {
  SmallVector<Value> dynamic;
  SmallVector<int64_t> shape;
  for (OpFoldResult size : sizes) {
    std::optional<int64_t> number = getConstantIntValue(size);
    shape.push_back(number.value_or(ShapedType::kDynamic));
    if (!number)
      dynamic.push_back(arguments.lookup(cast<Value>(size)));
  }
  return poly::ArrayOp::create(
      builder, loc, MemRefType::get(shape, getStoredType(elementType)), dynamic,
      poly::PlacementAttr::get(context, poly::Placement::Heap), AffineMapAttr(),
      TypeAttr(), AffineMapAttr());
}
