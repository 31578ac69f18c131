//===- ProgramBuilder.cpp - Builds the functions of a program -------------===//

#include "espalier/Conversion/LoopsToProgram/ProgramBuilder.h"

using namespace mlir;
using namespace espalier;

Type espalier::getStoredType(Type type) {
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return type;
  unsigned width = integer.getWidth();
  return IntegerType::get(type.getContext(), width == 1 ? 8 : width);
}

/// `attrs` with the element type, where memory does not show it: a sign, or
/// that a byte is a truth value.
static DictionaryAttr describe(DictionaryAttr attrs, Type element) {
  MLIRContext *context = element.getContext();
  NamedAttrList list(attrs);
  if (element.isInteger(1))
    list.set(kDtypeAttr, StringAttr::get(context, "bool"));
  else if (element.isUnsignedInteger())
    list.set(
        kDtypeAttr,
        StringAttr::get(context, "u" + Twine(element.getIntOrFloatBitWidth())));
  return list.getDictionary(context);
}

ProgramBuilder::ProgramBuilder(func::FuncOp original)
    : loc(original.getLoc()), name(original.getName()) {
  auto getType = [](RankedTensorType type) {
    return MemRefType::get(type.getShape(),
                           getStoredType(type.getElementType()));
  };
  for (auto [number, type] : llvm::enumerate(original.getArgumentTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    addInput(getType(tensor), describe(original.getArgAttrDict(number),
                                       tensor.getElementType()));
  }
  for (auto [number, type] : llvm::enumerate(original.getResultTypes())) {
    auto tensor = cast<RankedTensorType>(type);
    addOutput(getType(tensor), describe(original.getResultAttrDict(number),
                                        tensor.getElementType()));
  }
}

func::FuncOp ProgramBuilder::makeMain(OpBuilder &builder) const {
  SmallVector<Type> types;
  for (const Argument &argument : llvm::concat<const Argument>(inputs, outputs))
    types.push_back(argument.type);
  auto main = func::FuncOp::create(builder, loc, name,
                                   builder.getFunctionType(types, {}));
  for (auto [number, argument] :
       llvm::enumerate(llvm::concat<const Argument>(inputs, outputs)))
    if (argument.attrs)
      main.setArgAttrs(number, argument.attrs);
  main->setAttr(kNumInputsAttr, builder.getI64IntegerAttr(inputs.size()));
  main.addEntryBlock();
  return main;
}

func::FuncOp ProgramBuilder::makePlan(OpBuilder &builder) const {
  auto getExtentTypes = [&](ArrayRef<Argument> arguments) {
    SmallVector<Type> types;
    for (const Argument &argument : arguments)
      types.append(argument.type.getRank(), builder.getIndexType());
    return types;
  };
  auto plan = func::FuncOp::create(
      builder, loc, name + "_plan",
      builder.getFunctionType(getExtentTypes(inputs), getExtentTypes(outputs)));
  plan.addEntryBlock();
  return plan;
}

Value ProgramBuilder::getExtent(func::FuncOp plan, unsigned input,
                                unsigned dim) const {
  unsigned number = dim;
  for (const Argument &argument : ArrayRef(inputs).take_front(input))
    number += argument.type.getRank();
  return plan.getArgument(number);
}
