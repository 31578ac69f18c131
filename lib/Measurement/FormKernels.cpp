//===- FormKernels.cpp - The kernels that a program becomes ---------------===//

#include "CallSizes.h"
#include "espalier/Dialect/Poly/Analysis/Extents.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Measurement/KernelCost.h"
#include "espalier/Pipeline/Pipeline.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/SCF/IR/SCF.h"
#include "llvm/ADT/SmallPtrSet.h"
#include <map>

using namespace mlir;
using namespace espalier;

/// Functions such as exp take about as long as this many additions.
static constexpr double kFunctionFlops = 10;

/// Returns the number of points of the box around `set`; nothing if that
/// depends on a size.
static std::optional<double> countPoints(IntegerSet set) {
  double points = 1;
  for (std::optional<int64_t> extent : poly::getBoxExtents(set)) {
    if (!extent)
      return std::nullopt;
    points *= *extent;
  }
  return points;
}

/// Returns the floating-point operations of one point.
static double countFlops(poly::ComputeOp compute) {
  double flops = 0;
  compute.getBody().walk([&](Operation *op) {
    if (op->getNumResults() == 0 || op->hasTrait<OpTrait::ConstantLike>() ||
        !getElementTypeOrSelf(op->getResult(0)).isFloat())
      return;
    StringRef dialect = op->getName().getDialectNamespace();
    flops += dialect == "math" ? kFunctionFlops : dialect == "arith" ? 1 : 0;
  });
  return flops;
}

/// Returns the bytes of an array; 0 where they are unknown.
static double countArrayBytes(Type type) {
  auto memref = dyn_cast<MemRefType>(type);
  if (!memref || !memref.hasStaticShape() ||
      !memref.getElementType().isIntOrFloat())
    return 0;
  return double(memref.getNumElements()) *
         llvm::divideCeil(memref.getElementType().getIntOrFloatBitWidth(), 8);
}

static KernelWork countWork(poly::KernelOp kernel) {
  KernelWork work;
  for (poly::ComputeOp compute : kernel.getComputes()) {
    double flops = countFlops(compute);
    for (IntegerSet set : compute.getDomainSets())
      work.flops += flops * countPoints(set).value_or(0);
  }
  for (Type type : kernel.getArgumentTypes())
    work.bytes += countArrayBytes(type);
  return work;
}

OwningOpRef<ModuleOp> espalier::copyAlone(poly::KernelOp kernel,
                                          Attribute target) {
  OwningOpRef<ModuleOp> module = ModuleOp::create(kernel.getLoc());
  (*module)->setAttr(poly::TargetAttr::getAttrName(), target);
  poly::KernelOp copy = kernel.clone();
  copy.setSymName(kKernelName);
  copy.removeSymVisibilityAttr();
  module->push_back(copy);
  return module;
}

static std::string printAlone(poly::KernelOp kernel, Attribute target) {
  std::string text;
  llvm::raw_string_ostream os(text);
  copyAlone(kernel, target)->print(os);
  return text;
}

/// Says, for each argument of `kernel` that is only read, whether the caller
/// passes a constant of the program. Without a call, none is one.
static std::vector<bool> findConstants(poly::KernelOp kernel,
                                       poly::CallOp call) {
  llvm::SmallPtrSet<Value, 8> written;
  for (poly::ComputeOp compute : kernel.getComputes())
    for (const poly::ComputeAccess &write : compute.getWriteAccesses())
      written.insert(write.array);
  std::vector<bool> isConstant;
  for (auto [number, argument] : llvm::enumerate(kernel.getArguments()))
    if (!written.contains(argument))
      isConstant.push_back(
          call &&
          call.getArgOperands()[number].getDefiningOp<memref::GetGlobalOp>());
  return isConstant;
}

/// Whether no value that is read decides where or whether something happens.
static bool isIndependentOfData(poly::KernelOp kernel) {
  if (!kernel.getOps<poly::GivenOp>().empty())
    return false;
  return llvm::all_of(kernel.getComputes(), [](poly::ComputeOp compute) {
    unsigned numParameters = compute.getDomainSets().front().getNumSymbols();
    auto isIndirect = [&](const poly::ComputeAccess &access) {
      return access.map.getNumSymbols() > numParameters;
    };
    return !compute.getWhere() &&
           llvm::none_of(compute.getReadAccesses(), isIndirect) &&
           llvm::none_of(compute.getWriteAccesses(), isIndirect);
  });
}

/// Whether the program makes the call where a condition on sizes does not hold,
/// which is taken to be rare.
static bool isInSecondVersion(poly::CallOp call) {
  auto choice = dyn_cast<scf::IfOp>(call->getParentOp());
  return choice && call->getBlock() == choice.elseBlock();
}

/// What is known of a kernel that nobody has counted the calls of.
static ProgramKernel describe(poly::KernelOp kernel, Attribute target,
                              std::vector<bool> isConstant) {
  return {{printAlone(kernel, target), std::move(isConstant),
           isIndependentOfData(kernel)},
          countWork(kernel),
          /*numCalls=*/0,
          kernel.getSymName().str()};
}

std::vector<ProgramKernel>
espalier::collectKernels(ModuleOp module, ArrayRef<MeasuredSizes> sizes) {
  Attribute target = module->getAttr(poly::TargetAttr::getAttrName());
  SymbolTable symbols(module);
  std::vector<ProgramKernel> kernels;
  // Where each kernel is in the result, by which arguments are constants.
  std::map<std::pair<Operation *, std::vector<bool>>, size_t> places;
  CallSizes callSizes(module, sizes);
  auto addCall = [&](poly::KernelOp kernel, poly::CallOp call) {
    std::vector<bool> isConstant = findConstants(kernel, call);
    auto [place, isNew] =
        places.try_emplace({kernel.getOperation(), isConstant}, kernels.size());
    if (isNew)
      kernels.push_back(describe(kernel, target, std::move(isConstant)));
    ProgramKernel &entry = kernels[place->second];
    ++entry.numCalls;
    if (entry.module.sizes.empty())
      entry.module.sizes =
          call ? callSizes.find(call) : CallSizes::find(kernel, sizes);
  };
  module->walk([&](poly::CallOp call) {
    if (!isInSecondVersion(call))
      addCall(symbols.lookup<poly::KernelOp>(call.getCallee()), call);
  });
  // Without a program, a kernel is called by who has it.
  if (module.getOps<func::FuncOp>().empty())
    for (auto kernel : module.getOps<poly::KernelOp>())
      addCall(kernel, /*call=*/{});
  return kernels;
}

FailureOr<std::vector<ProgramKernel>>
espalier::formKernels(ModuleOp module, const CodegenOptions &codegen,
                      ArrayRef<MeasuredSizes> sizes) {
  MLIRContext *context = module.getContext();
  OwningOpRef<ModuleOp> copy = module.clone();
  if (llvm::Error error = setMachine(*copy, codegen))
    return emitError(module.getLoc(), llvm::toString(std::move(error)));
  // Kernels are measured on made-up numbers, which are no lists of entries.
  PipelineOptions pipeline = codegen.pipeline;
  pipeline.sparse = pipeline.entries = false;
  if (codegen.chooseStatements) {
    FailureOr<Stage> stage = detectStage(*copy);
    if (failed(stage) ||
        failed(compileToStage(*copy, Stage::Statements, pipeline)))
      return failure();
    if (*stage <= Stage::Statements)
      codegen.chooseStatements(*copy);
  }
  if (failed(compileToStage(*copy, Stage::Poly, pipeline)))
    return failure();
  return collectKernels(*copy, sizes);
}
