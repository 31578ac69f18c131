//===- Compile.cpp - From a module to machine code ------------------------===//

#include "espalier/ExecutionEngine/Compile.h"
#include "Codegen.h"
#include "espalier/Conversion/ProgramToLLVM/EntryPoints.h"
#include "espalier/Pipeline/Pipeline.h"
#include "espalier/Support/WorkerPool.h"
#include "mlir/Dialect/LLVMIR/LLVMDialect.h"
#include "mlir/Pass/Pass.h"
#include "mlir/Target/LLVMIR/Dialect/Builtin/BuiltinToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/LLVMIR/LLVMToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Dialect/OpenMP/OpenMPToLLVMIRTranslation.h"
#include "mlir/Target/LLVMIR/Export.h"
#include "llvm/Support/xxhash.h"
#include "llvm/Target/TargetMachine.h"
#include <chrono>
#include <mutex>

using namespace mlir;
using namespace espalier;

void espalier::registerCompilation(DialectRegistry &registry) {
  registerBuiltinDialectTranslation(registry);
  registerLLVMDialectTranslation(registry);
  registerOpenMPDialectTranslation(registry);
}

InterruptiblePasses::InterruptiblePasses(MLIRContext *given,
                                         std::function<bool()> isCancelled) {
  if (!isCancelled)
    return;
  context = given;
  context->registerActionHandler(
      [isCancelled = std::move(isCancelled)](function_ref<void()> run,
                                             const tracing::Action &action) {
        if (!isa<PassExecutionAction>(action) || !isCancelled())
          run();
      });
}

InterruptiblePasses::~InterruptiblePasses() {
  if (context)
    context->registerActionHandler(nullptr);
}

static llvm::Error makeInterrupted() {
  return llvm::createStringError("compilation was interrupted");
}

namespace {
/// Compiles the parts of a program on several threads.
class PartCompiler {
public:
  PartCompiler(const TargetCPU &target, const CodegenOptions &options)
      : target(target), options(options) {}

  using Object = std::unique_ptr<llvm::MemoryBuffer>;

  /// Compiles `parts`. The objects have their order.
  llvm::Expected<std::vector<CompiledProgram::Buffer>>
  run(ArrayRef<ModuleOp> parts);
  /// Compiles the descriptor, whose content becomes part of `hash`.
  llvm::Expected<Object> compileDescriptor(const ProgramSignature &signature,
                                           bool withThreads, uint64_t &hash);

private:
  using Machine = std::unique_ptr<llvm::TargetMachine>;

  llvm::Expected<Object> compilePart(ModuleOp part);
  /// A machine that no other thread has, to be given back: what it knows of the
  /// target takes as long as a small part.
  llvm::Expected<Machine> takeMachine();
  void giveBack(Machine machine);

  const TargetCPU &target;
  const CodegenOptions &options;
  std::mutex idleLock;
  std::vector<Machine> idle;
  std::mutex translation;
  std::mutex report;
};
} // namespace

llvm::Expected<PartCompiler::Machine> PartCompiler::takeMachine() {
  {
    std::lock_guard<std::mutex> lock(idleLock);
    if (!idle.empty()) {
      Machine machine = std::move(idle.back());
      idle.pop_back();
      return machine;
    }
  }
  return createTargetMachine(target, options);
}

void PartCompiler::giveBack(Machine machine) {
  std::lock_guard<std::mutex> lock(idleLock);
  idle.push_back(std::move(machine));
}

llvm::Expected<PartCompiler::Object> PartCompiler::compilePart(ModuleOp part) {
  if (options.mustStop())
    return makeInterrupted();
  auto machine = takeMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  std::unique_ptr<llvm::Module> module;
  {
    // Without its own locks, the MLIR context serves one thread.
    std::unique_lock<std::mutex> lock(translation, std::defer_lock);
    if (!part.getContext()->isMultithreadingEnabled())
      lock.lock();
    module = translateModuleToLLVMIR(part, context, "espalier");
  }
  if (!module)
    return llvm::createStringError("expects IR that translates to LLVM");
  module->setDataLayout((*machine)->createDataLayout());
  module->setTargetTriple((*machine)->getTargetTriple());
  options.finishStep("translate");
  llvm::Expected<Object> object = emitObject(*module, **machine, options);
  giveBack(std::move(*machine));
  return object;
}

llvm::Expected<PartCompiler::Object>
PartCompiler::compileDescriptor(const ProgramSignature &signature,
                                bool withThreads, uint64_t &hash) {
  auto machine = takeMachine();
  if (!machine)
    return machine.takeError();
  llvm::LLVMContext context;
  llvm::Module module("descriptor", context);
  module.setDataLayout((*machine)->createDataLayout());
  module.setTargetTriple((*machine)->getTargetTriple());
  addDescriptor(module, signature, target, withThreads);
  std::string text;
  llvm::raw_string_ostream(text) << module;
  hash = hash * 31 + llvm::xxh3_64bits(text);
  addUniqueSymbol(module, signature.name, hash);
  llvm::Expected<Object> object = emitObject(module, **machine, options);
  giveBack(std::move(*machine));
  return object;
}

llvm::Expected<std::vector<CompiledProgram::Buffer>>
PartCompiler::run(ArrayRef<ModuleOp> parts) {
  std::vector<CompiledProgram::Buffer> objects(parts.size());
  llvm::Error error = llvm::Error::success();
  unsigned done = 0;
  WorkerPool pool(options.jobs);
  for (size_t i = 0; i < parts.size(); ++i)
    pool.async([&, i] {
      llvm::Expected<Object> object = compilePart(parts[i]);
      std::lock_guard<std::mutex> lock(report);
      if (object)
        objects[i] = std::move(*object);
      else
        error = llvm::joinErrors(std::move(error), object.takeError());
      if (options.progress)
        options.progress(++done, parts.size());
    });
  pool.wait();
  if (options.mustStop()) {
    // Once, however many parts say so.
    llvm::consumeError(std::move(error));
    return makeInterrupted();
  }
  if (error)
    return error;
  return objects;
}

/// Lays out the constants of `module` in memory.
static std::unique_ptr<llvm::MemoryBuffer> layOutConstants(ModuleOp module) {
  // One byte at least, so that the symbol has a place.
  uint64_t size = std::max<uint64_t>(getConstantsSize(module), 1);
  auto buffer = llvm::WritableMemoryBuffer::getNewUninitMemBuffer(
      size, "constants", llvm::Align(kBufferAlignment));
  if (!buffer)
    return nullptr;
  char *begin = buffer->getBufferStart();
  uint64_t written = 0;
  writeConstants(module, [&](uint64_t offset, ArrayRef<char> bytes) {
    std::fill(begin + written, begin + offset, 0);
    std::copy(bytes.begin(), bytes.end(), begin + offset);
    written = offset + bytes.size();
  });
  std::fill(begin + written, begin + size, 0);
  return buffer;
}

/// Whether `module` calls the OpenMP runtime.
static bool usesThreads(ModuleOp module) {
  WalkResult result = module.walk([](Operation *op) {
    return op->getName().getDialectNamespace() == "omp"
               ? WalkResult::interrupt()
               : WalkResult::advance();
  });
  return result.wasInterrupted();
}

/// Runs `module` to a stage; one by one, if somebody wants to know.
static LogicalResult lower(ModuleOp module, Stage to,
                           const CodegenOptions &options) {
  if (!options.stepDone)
    return compileToStage(module, to, options.pipeline);
  FailureOr<Stage> from = detectStage(module);
  if (failed(from))
    return failure();
  for (const StageInfo &info : getStages()) {
    if (info.stage <= *from || info.stage > to)
      continue;
    if (failed(compileToStage(module, info.stage, options.pipeline)))
      return failure();
    options.finishStep(info.name);
  }
  return success();
}

/// Lets `change`, if there is one, have a module that is not beyond `stage`.
static LogicalResult interpose(ModuleOp module, Stage stage,
                               const std::function<void(ModuleOp)> &change,
                               const CodegenOptions &options) {
  if (!change)
    return success();
  FailureOr<Stage> now = detectStage(module);
  if (failed(now) || (*now < stage && failed(lower(module, stage, options))))
    return failure();
  if (*now <= stage && !options.mustStop())
    change(module);
  return success();
}

FailureOr<CompiledProgram>
espalier::compileModule(ModuleOp module, const CodegenOptions &options) {
  auto start = std::chrono::steady_clock::now();
  // No place in the module is to blame.
  auto unknown = UnknownLoc::get(module.getContext());
  llvm::Expected<TargetCPU> target = resolveTarget(options);
  if (!target)
    return emitError(unknown, llvm::toString(target.takeError()));
  if (llvm::Error error = setMachine(module, options))
    return emitError(unknown, llvm::toString(std::move(error)));
  if (failed(interpose(module, Stage::Statements, options.chooseStatements,
                       options)) ||
      failed(interpose(module, Stage::Poly, options.scheduleKernels, options)))
    return failure();
  if (failed(lower(module, Stage::LLVM, options)))
    return failure();
  if (options.mustStop())
    return emitError(unknown, llvm::toString(makeInterrupted()));
  FailureOr<ProgramSignature> signature = getSignature(module);
  if (failed(signature))
    return failure();

  std::vector<OwningOpRef<ModuleOp>> owned =
      splitByKernel(module, signature->name);
  SmallVector<ModuleOp> parts;
  for (auto &part : owned)
    parts.push_back(*part);
  ProgramInfo info;
  info.name = signature->name;
  info.cpu = target->cpu;
  info.features = target->features;
  info.threads = usesThreads(module);
  for (auto function : module.getOps<LLVM::LLVMFuncOp>())
    info.numKernels += !function.isExternal();
  // The entry points and the two functions behind them are no kernels.
  info.numKernels -= std::min<uint64_t>(info.numKernels, 4);

  PartCompiler compiler(*target, options);
  auto objects = compiler.run(parts);
  if (!objects)
    return emitError(module.getLoc(), llvm::toString(objects.takeError()));
  std::unique_ptr<llvm::MemoryBuffer> constants = layOutConstants(module);
  if (!constants)
    return emitError(module.getLoc(), "expects memory for ")
           << getConstantsSize(module) << " bytes of constants, but got none";
  // Two programs of one name are told apart by what they are.
  uint64_t hash = llvm::xxh3_64bits(constants->getBuffer());
  for (const auto &object : *objects)
    hash = hash * 31 + llvm::xxh3_64bits(object->getBuffer());
  auto descriptor = compiler.compileDescriptor(*signature, info.threads, hash);
  if (!descriptor)
    return emitError(module.getLoc(), llvm::toString(descriptor.takeError()));
  objects->push_back(std::move(*descriptor));
  info.header = makeHeader(*signature, hash);
  info.compileSeconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  return CompiledProgram(std::move(info), std::move(*objects),
                         std::move(constants));
}
