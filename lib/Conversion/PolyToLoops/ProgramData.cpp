//===- ProgramData.cpp - Where a program's data comes from ----------------===//

#include "ProgramData.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

using namespace mlir;
using namespace espalier;

/// The argument of @main that `array` is a part of; null for others.
static BlockArgument findRoot(Value array) {
  while (Operation *op = array.getDefiningOp()) {
    auto isArray = [](Value operand) {
      return isa<MemRefType>(operand.getType());
    };
    auto source = llvm::find_if(op->getOperands(), isArray);
    if (source == op->operand_end())
      return {};
    array = *source;
  }
  return cast<BlockArgument>(array);
}

/// Whether the program may write `array`, or parts of it.
static bool isWritten(Value array) {
  return llvm::any_of(array.getUses(), [&](OpOperand &use) {
    Operation *user = use.getOwner();
    if (auto call = dyn_cast<poly::CallOp>(user)) {
      auto kernel = SymbolTable::lookupNearestSymbolFrom<poly::KernelOp>(
          call, call.getCalleeAttr());
      Value own = kernel.getArgument(use.getOperandNumber());
      return llvm::any_of(kernel.getComputes(), [&](poly::ComputeOp compute) {
        return llvm::is_contained(compute.getWrites(), own);
      });
    }
    if (isPure(user) &&
        (!user->hasTrait<OpTrait::IsTerminator>() || isa<func::ReturnOp>(user)))
      return llvm::any_of(user->getResults(), [](Value result) {
        return isa<MemRefType>(result.getType()) && isWritten(result);
      });
    return !isa<memref::DimOp, memref::LoadOp>(user);
  });
}

/// The number of `value` among the inputs of @main, if it is one.
static std::optional<unsigned> findInput(Value value) {
  auto argument = dyn_cast_if_present<BlockArgument>(value);
  auto main = argument
                  ? dyn_cast<func::FuncOp>(argument.getOwner()->getParentOp())
                  : func::FuncOp();
  if (!main || main.getName() != kMainName)
    return std::nullopt;
  auto numInputs = main->getAttrOfType<IntegerAttr>(kNumInputsAttr);
  if (!numInputs || argument.getArgNumber() >= numInputs.getInt())
    return std::nullopt;
  return argument.getArgNumber();
}

bool polytoloops::isUnchangedInput(Value array) {
  BlockArgument root = findRoot(array);
  return findInput(root) && !isWritten(root);
}

/// Whether `size` is the extent that the program calls `name`.
static bool isNamedExtent(Value size, StringAttr name) {
  auto dim = size.getDefiningOp<memref::DimOp>();
  std::optional<int64_t> index = dim ? dim.getConstantIndex() : std::nullopt;
  std::optional<unsigned> input =
      index ? findInput(dim.getSource()) : std::nullopt;
  if (!input)
    return false;
  auto main = dim->getParentOfType<func::FuncOp>();
  auto dims = main.getArgAttrOfType<ArrayAttr>(*input, kDimsAttr);
  return dims && *index >= 0 && *index < static_cast<int64_t>(dims.size()) &&
         dims[*index] == name;
}

/// Whether values below what `stated` says, of an input, are below `bound`.
static bool isBelow(Attribute stated, AffineExpr bound, poly::CallOp call,
                    poly::KernelOp kernel) {
  auto number = dyn_cast_if_present<IntegerAttr>(stated);
  auto name = dyn_cast_if_present<StringAttr>(stated);
  auto sum = dyn_cast_if_present<ArrayAttr>(stated);
  if (sum && sum.size() == 2) {
    name = dyn_cast<StringAttr>(sum[0]);
    number = dyn_cast<IntegerAttr>(sum[1]);
  }
  if (!name && !number)
    return false;
  int64_t offset = number ? number.getInt() : 0;
  if (auto constant = dyn_cast<AffineConstantExpr>(bound))
    return !name && offset <= constant.getValue();
  // A parameter, or one plus a number.
  int64_t own = 0;
  if (auto binary = dyn_cast<AffineBinaryOpExpr>(bound)) {
    own = cast<AffineConstantExpr>(binary.getRHS()).getValue();
    bound = binary.getLHS();
  }
  unsigned parameter = cast<AffineSymbolExpr>(bound).getPosition();
  Value size =
      call.getArguments()[kernel.getParameters()[parameter].getArgNumber()];
  return name && offset <= own && isNamedExtent(size, name);
}

bool polytoloops::isCheckedOfCallers(poly::CallOp call, poly::KernelOp kernel,
                                     unsigned number) {
  Value array = call.getArguments()[number];
  std::optional<unsigned> input = findInput(array);
  if (!input || isWritten(array))
    return false;
  auto main = call->getParentOfType<func::FuncOp>();
  auto isStated = [&](StringRef property, StringRef checked) {
    return !kernel.getArgAttr(number, property) ||
           main.getArgAttr(*input, checked);
  };
  auto bound = kernel.getArgAttrOfType<AffineMapAttr>(
      number, poly::KernelOp::getBoundAttrName());
  return isStated(poly::KernelOp::getInjectiveAttrName(), kInjectiveAttr) &&
         isStated(poly::KernelOp::getMonotonicAttrName(), kMonotonicAttr) &&
         (!bound || isBelow(main.getArgAttr(*input, kBoundAttr),
                            bound.getValue().getResult(0), call, kernel));
}
