//===- Codegen.cpp - From LLVM IR to objects ------------------------------===//

#include "Codegen.h"
#include "espalier/Support/Subtarget.h"
#include "llvm/Analysis/LoopInfo.h"
#include "llvm/IR/InstIterator.h"
#include "llvm/IR/LegacyPassManager.h"
#include "llvm/Passes/PassBuilder.h"
#include "llvm/Support/SmallVectorMemoryBuffer.h"
#include "llvm/TargetParser/Host.h"
#include "llvm/TargetParser/SubtargetFeature.h"

using namespace espalier;

/// Accesses without a branch between them that LLVM compares in pairs, at most.
static constexpr int64_t kMaxComparedAccesses = 32;

/// Returns the features of the machine at hand, sorted, so that the text is the
/// same every time.
static std::vector<std::string> getHostFeatures() {
  std::vector<std::string> features;
  llvm::StringMap<bool> host = llvm::sys::getHostCPUFeatures();
  for (const auto &entry : host)
    features.push_back((entry.second ? "+" : "-") + entry.first().str());
  llvm::sort(features);
  return features;
}

llvm::Expected<TargetCPU>
espalier::resolveTarget(const CodegenOptions &options) {
  // LLVM takes unknown names with no more than a message on standard error.
  auto baseline = createSubtarget("", "");
  if (!baseline)
    return baseline.takeError();
  if (!options.cpu.empty() && !(*baseline)->isCPUStringValid(options.cpu))
    return llvm::createStringError("expects the name of a CPU that LLVM knows, "
                                   "but got '" +
                                   options.cpu + "'");
  auto known = (*baseline)->getAllProcessorFeatures();
  llvm::SubtargetFeatures stated(options.features);
  for (const std::string &feature : stated.getFeatures()) {
    llvm::StringRef name = llvm::SubtargetFeatures::StripFlag(feature);
    bool isKnown = llvm::any_of(
        known, [&](const auto &entry) { return name == entry.Key; });
    if (!isKnown)
      return llvm::createStringError("expects the name of a CPU feature that "
                                     "LLVM knows, but got '" +
                                     name + "'");
  }
  if (!options.cpu.empty())
    return TargetCPU{options.cpu, stated.getString()};
  llvm::SubtargetFeatures features;
  features.addFeaturesVector(getHostFeatures());
  features.addFeaturesVector(stated.getFeatures());
  return TargetCPU{llvm::sys::getHostCPUName().str(), features.getString()};
}

llvm::Expected<poly::TargetAttr>
espalier::describeMachine(mlir::MLIRContext *context,
                          const CodegenOptions &options) {
  context->loadDialect<poly::PolyDialect>();
  if (options.cpu.empty() && options.features.empty())
    return poly::detectHostTarget(context);
  auto target = resolveTarget(options);
  if (!target)
    return target.takeError();
  auto subtarget = createSubtarget(target->cpu, target->features);
  if (!subtarget)
    return subtarget.takeError();
  poly::TargetAttr usual =
      poly::describeTarget(context, target->cpu, [&](llvm::StringRef feature) {
        return (*subtarget)->checkFeatures(("+" + feature).str());
      });
  return poly::TargetAttr::get(context, target->cpu, target->features,
                               usual.getVectorBits(), usual.getRegisters(),
                               usual.getL1(), usual.getL2(), usual.getL3(),
                               usual.getCores());
}

llvm::Error espalier::setMachine(mlir::ModuleOp module,
                                 const CodegenOptions &options) {
  llvm::StringRef name = poly::TargetAttr::getAttrName();
  if (module->hasAttr(name))
    return llvm::Error::success();
  auto machine = describeMachine(module.getContext(), options);
  if (!machine)
    return machine.takeError();
  module->setAttr(name, *machine);
  return llvm::Error::success();
}

std::vector<std::string> espalier::getCheckedFeatures(const TargetCPU &target) {
  std::vector<std::string> features;
  auto subtarget = createSubtarget(target.cpu, target.features);
  if (!subtarget) {
    // Nothing can be compiled for it either, which is reported then.
    llvm::consumeError(subtarget.takeError());
    return features;
  }
  if (!getTriple().isX86())
    return features;
  for (const char *name : {
#define X86_FEATURE(name, leaf, subleaf, register, bit, state) name,
#include "espalier-c/CpuFeatures.def"
       })
    if ((*subtarget)->checkFeatures(std::string("+") + name))
      features.push_back(name);
  return features;
}

llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
espalier::createTargetMachine(const TargetCPU &cpu,
                              const CodegenOptions &options) {
  llvm::Triple triple = getTriple();
  llvm::Expected<const llvm::Target *> target = lookupTarget(triple);
  if (!target)
    return target.takeError();
  llvm::TargetOptions targetOptions;
  // A product and a sum of a kernel may become one operation, which is more
  // exact; nothing else is reassociated.
  targetOptions.AllowFPOpFusion = llvm::FPOpFusion::Fast;
  auto level = llvm::CodeGenOpt::getLevel(options.optLevel);
  std::unique_ptr<llvm::TargetMachine> machine((*target)->createTargetMachine(
      triple, cpu.cpu, cpu.features, targetOptions, llvm::Reloc::PIC_,
      /*CM=*/std::nullopt, level.value_or(llvm::CodeGenOptLevel::Aggressive)));
  if (!machine)
    return llvm::createStringError("expects a target machine for " +
                                   triple.str() + ", but got none");
  return machine;
}

static llvm::OptimizationLevel getLevel(unsigned optLevel) {
  switch (optLevel) {
  case 0:
    return llvm::OptimizationLevel::O0;
  case 1:
    return llvm::OptimizationLevel::O1;
  case 2:
    return llvm::OptimizationLevel::O2;
  default:
    return llvm::OptimizationLevel::O3;
  }
}

/// Whether LLVM should spend time on the pass `name` of `unit`. Some compare
/// accesses to memory in pairs, for what a loop carries from one iteration to
/// the next, for values that are stored twice, and for what is a copy. Register
/// tiles have many accesses, and nothing of that.
static bool isWorthwhile(llvm::StringRef name, const llvm::Any &unit) {
  llvm::ArrayRef<llvm::BasicBlock *> blocks;
  llvm::SmallVector<llvm::BasicBlock *> own;
  if (name == "LoopLoadEliminationPass" || name == "DSEPass") {
    if (auto *function = llvm::any_cast<const llvm::Function *>(&unit))
      for (const llvm::BasicBlock &block : **function)
        own.push_back(const_cast<llvm::BasicBlock *>(&block));
    blocks = own;
  } else if (name == "LoopIdiomRecognizePass") {
    if (auto *loop = llvm::any_cast<const llvm::Loop *>(&unit))
      blocks = (*loop)->getBlocks();
  }
  return llvm::all_of(blocks, [](const llvm::BasicBlock *block) {
    return llvm::count_if(*block, [](const llvm::Instruction &instruction) {
             return instruction.mayReadOrWriteMemory();
           }) <= kMaxComparedAccesses;
  });
}

static void optimize(llvm::Module &module, llvm::TargetMachine &machine,
                     const CodegenOptions &options) {
  llvm::PipelineTuningOptions tuning;
  tuning.LoopUnrolling = true;
  tuning.LoopInterleaving = true;
  tuning.LoopVectorization = true;
  tuning.SLPVectorization = true;
  llvm::PassInstrumentationCallbacks callbacks;
  callbacks.registerShouldRunOptionalPassCallback(
      [&](llvm::StringRef name, llvm::Any unit) {
        return !options.mustStop() && isWorthwhile(name, unit);
      });
  llvm::PassBuilder builder(&machine, tuning, std::nullopt, &callbacks);
  llvm::LoopAnalysisManager loops;
  llvm::FunctionAnalysisManager functions;
  llvm::CGSCCAnalysisManager components;
  llvm::ModuleAnalysisManager modules;
  builder.registerModuleAnalyses(modules);
  builder.registerCGSCCAnalyses(components);
  builder.registerFunctionAnalyses(functions);
  builder.registerLoopAnalyses(loops);
  builder.crossRegisterProxies(loops, functions, components, modules);
  for (llvm::Function &function : module)
    limitUnrolling(function, functions, options.vectorBits);
  builder.buildPerModuleDefaultPipeline(getLevel(options.optLevel))
      .run(module, modules);
}

/// The bytes of the widest vector that a function computes.
static uint64_t getVectorBytes(const llvm::Function &function) {
  uint64_t bytes = 0;
  for (const llvm::Instruction &instruction : llvm::instructions(function))
    if (auto *type =
            llvm::dyn_cast<llvm::FixedVectorType>(instruction.getType()))
      bytes = std::max<uint64_t>(bytes, type->getPrimitiveSizeInBits() / 8);
  return bytes;
}

/// Has functions align their frames to `vectorBits`, so that vectors that are
/// spilled lie in one cache line each. LLVM leaves them where the caller's
/// stack happens to end.
static void alignFrames(llvm::Module &module, unsigned vectorBits) {
  for (llvm::Function &function : module)
    if (uint64_t bytes =
            std::min<uint64_t>(getVectorBytes(function), vectorBits / 8);
        bytes > 16)
      function.addFnAttr(llvm::Attribute::getWithStackAlignment(
          module.getContext(), llvm::Align(llvm::PowerOf2Ceil(bytes))));
}

llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
espalier::emitObject(llvm::Module &module, llvm::TargetMachine &machine,
                     const CodegenOptions &options) {
  runRegionsAlone(module);
  for (llvm::Function &function : module) {
    if (function.isDeclaration())
      continue;
    function.addFnAttr("prefer-vector-width",
                       std::to_string(options.vectorBits));
    function.addFnAttr(llvm::Attribute::NoUnwind);
  }
  optimize(module, machine, options);
  if (options.mustStop())
    return llvm::createStringError("compilation was interrupted");
  alignFrames(module, options.vectorBits);
  options.finishStep("optimize");
  llvm::SmallVector<char, 0> bytes;
  llvm::raw_svector_ostream stream(bytes);
  llvm::legacy::PassManager passes;
  if (machine.addPassesToEmitFile(passes, stream, nullptr,
                                  llvm::CodeGenFileType::ObjectFile))
    return llvm::createStringError("expects a target that can emit objects");
  passes.run(module);
  options.finishStep("emit");
  return std::make_unique<llvm::SmallVectorMemoryBuffer>(
      std::move(bytes), module.getName(), /*RequiresNullTerminator=*/false);
}
