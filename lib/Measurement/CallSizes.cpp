//===- CallSizes.cpp - What kernels are called with -----------------------===//
//
// A copy of the program is made for the sizes: its inputs have types without
// unknown extents, and folding does the rest.
//
//===----------------------------------------------------------------------===//

#include "CallSizes.h"
#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "espalier/Measurement/KernelCost.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/MemRef/Transforms/Passes.h"
#include "mlir/Dialect/Utils/StaticValueUtils.h"
#include "mlir/Pass/PassManager.h"
#include "mlir/Transforms/Passes.h"

using namespace mlir;
using namespace espalier;

/// Numbers calls, whatever becomes of those before them.
static constexpr llvm::StringLiteral kNumberAttr = "espalier.number";

static bool haveNames(ArrayRef<MeasuredSizes> all) {
  return llvm::any_of(
      all, [](const MeasuredSizes &one) { return !one.named.empty(); });
}

/// Gives the inputs of `function` the extents that their names stand for.
static void fixInputs(func::FuncOp function,
                      const std::map<std::string, int64_t> &named) {
  OpBuilder builder = OpBuilder::atBlockBegin(&function.getBody().front());
  for (BlockArgument argument : function.getArguments()) {
    auto type = dyn_cast<MemRefType>(argument.getType());
    auto names = function.getArgAttrOfType<ArrayAttr>(argument.getArgNumber(),
                                                      kDimsAttr);
    if (!type || type.hasStaticShape() || !names)
      continue;
    SmallVector<int64_t> shape(type.getShape());
    for (auto [extent, name] :
         llvm::zip_equal(shape, names.getAsValueRange<StringAttr>()))
      if (auto known = named.find(name.str()); known != named.end())
        extent = ShapedType::isDynamic(extent) ? known->second : extent;
    argument.setType(MemRefType::Builder(type).setShape(shape));
    auto cast =
        memref::CastOp::create(builder, argument.getLoc(), type, argument);
    argument.replaceAllUsesExcept(cast, cast);
  }
  function.setFunctionType(builder.getFunctionType(
      function.getBody().getArgumentTypes(), function.getResultTypes()));
}

/// What is known of one call's arguments.
static llvm::StringMap<int64_t> readCall(poly::CallOp call,
                                         poly::KernelOp kernel) {
  llvm::StringMap<int64_t> sizes;
  for (auto [number, value] : llvm::enumerate(call.getArgOperands())) {
    std::string name = kernel.getArgumentName(number);
    if (std::optional<int64_t> constant = getConstantIntValue(value))
      sizes[name] = *constant;
    auto unknown = dyn_cast<MemRefType>(value.getType());
    if (!unknown)
      continue;
    while (auto cast = value.getDefiningOp<memref::CastOp>())
      value = cast.getSource();
    auto known = cast<MemRefType>(value.getType());
    for (int64_t dim = 0; dim < known.getRank(); ++dim)
      if (unknown.isDynamicDim(dim) && !known.isDynamicDim(dim))
        sizes[(name + "." + Twine(dim)).str()] = known.getDimSize(dim);
  }
  return sizes;
}

CallSizes::CallSizes(ModuleOp module, ArrayRef<MeasuredSizes> all) {
  if (!haveNames(all))
    return;
  SmallVector<poly::CallOp> calls;
  module.walk([&](poly::CallOp call) { calls.push_back(call); });
  Builder builder(module.getContext());
  for (auto [place, one] : llvm::enumerate(all)) {
    OwningOpRef<ModuleOp> copy = module.clone();
    unsigned next = 0;
    copy->walk([&](poly::CallOp call) {
      call->setAttr(kNumberAttr, builder.getI64IntegerAttr(next++));
    });
    for (auto function : copy->getOps<func::FuncOp>())
      if (!function.isExternal())
        fixInputs(function, one.named);
    PassManager passes(module.getContext());
    passes.addPass(memref::createResolveRankedShapeTypeResultDimsPass());
    passes.addPass(createCanonicalizerPass());
    // What cannot be folded is not known.
    if (failed(passes.run(*copy)))
      return;
    SymbolTable symbols(*copy);
    copy->walk([&, place = place](poly::CallOp call) {
      auto number = call->getAttrOfType<IntegerAttr>(kNumberAttr);
      auto kernel = symbols.lookup<poly::KernelOp>(call.getCallee());
      if (!number || !kernel)
        return;
      Sizes &own = sizes[calls[number.getInt()]];
      own.resize(all.size());
      own[place] = readCall(call, kernel);
    });
  }
}

std::set<std::string> espalier::getSizeNames(ModuleOp module) {
  std::set<std::string> result;
  for (auto function : module.getOps<func::FuncOp>())
    for (unsigned number = 0; number < function.getNumArguments(); ++number)
      if (auto names = function.getArgAttrOfType<ArrayAttr>(number, kDimsAttr))
        for (StringRef name : names.getAsValueRange<StringAttr>())
          if (!name.empty())
            result.insert(name.str());
  if (module.getOps<func::FuncOp>().empty())
    for (auto kernel : module.getOps<poly::KernelOp>())
      for (BlockArgument parameter : kernel.getParameters())
        result.insert(kernel.getArgumentName(parameter.getArgNumber()));
  return result;
}

CallSizes::Sizes CallSizes::find(poly::KernelOp kernel,
                                 ArrayRef<MeasuredSizes> all) {
  if (!haveNames(all))
    return {};
  Sizes result;
  for (const MeasuredSizes &one : all) {
    llvm::StringMap<int64_t> &sizes = result.emplace_back();
    for (BlockArgument parameter : kernel.getParameters()) {
      std::string name = kernel.getArgumentName(parameter.getArgNumber());
      if (auto known = one.named.find(name); known != one.named.end())
        sizes[name] = known->second;
    }
  }
  return result;
}
