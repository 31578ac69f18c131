//===- LoadedProgram.cpp - Links a compiled program into this process -----===//
//
// The objects are given to ORC's LLJIT as they are: mlir::ExecutionEngine takes
// a module, never an object, so it could not load what the cache holds.
//
//===----------------------------------------------------------------------===//

#include "espalier/ExecutionEngine/LoadedProgram.h"
#include "Codegen.h"
#include "espalier/Conversion/ProgramToLLVM/EntryPoints.h"
#include "espalier/Runtime/ShortFloats.h"
#include "espalier/Support/Subtarget.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ExecutionEngine/Orc/AbsoluteSymbols.h"
#include "llvm/ExecutionEngine/Orc/ExecutionUtils.h"
#include "llvm/ExecutionEngine/Orc/LLJIT.h"

using namespace espalier;

LoadedProgram::LoadedProgram(CompiledProgram program)
    : compiled(std::move(program)) {}

LoadedProgram::~LoadedProgram() = default;

/// Makes the functions of the OpenMP runtime known to `dylib`, and those of
/// that library only: another OpenMP in the process has functions of the same
/// names.
static llvm::Error addOpenMP(llvm::orc::LLJIT &jit, llvm::orc::JITDylib &dylib,
                             llvm::StringRef library) {
  std::vector<std::string> candidates = getOpenMPCandidates();
  if (!library.empty())
    candidates = {library.str()};
  std::string reasons;
  for (const std::string &candidate : candidates) {
    auto generator = llvm::orc::DynamicLibrarySearchGenerator::Load(
        candidate.c_str(), jit.getDataLayout().getGlobalPrefix(),
        [](const llvm::orc::SymbolStringPtr &name) {
          return (*name).starts_with("__kmpc_") ||
                 (*name).starts_with("kmp_") || (*name).starts_with("omp_");
        });
    if (generator) {
      dylib.addGenerator(std::move(*generator));
      return llvm::Error::success();
    }
    reasons += "\n  " + llvm::toString(generator.takeError());
  }
  return llvm::createStringError(
      "expects the OpenMP runtime, but got none of " +
      llvm::join(candidates, ", ") +
      "; install libomp5-22 or compile without threads" + reasons);
}

/// Makes `symbols` known to `dylib`.
static llvm::Error
define(llvm::orc::LLJIT &jit, llvm::orc::JITDylib &dylib,
       llvm::ArrayRef<std::pair<std::string, const void *>> symbols) {
  llvm::orc::SymbolMap addresses;
  for (const auto &[name, address] : symbols)
    addresses[jit.mangleAndIntern(name)] = {
        llvm::orc::ExecutorAddr::fromPtr(address),
        llvm::JITSymbolFlags::Exported};
  return dylib.define(llvm::orc::absoluteSymbols(std::move(addresses)));
}

/// Makes the C library, libm and the compiler's support library known to
/// `dylib`. The last two need not be visible to the whole process, for example
/// where a Python extension depends on them.
static llvm::Error addSystem(llvm::orc::LLJIT &jit,
                             llvm::orc::JITDylib &dylib) {
  using Generator = llvm::orc::DynamicLibrarySearchGenerator;
  char prefix = jit.getDataLayout().getGlobalPrefix();
  auto process = Generator::GetForCurrentProcess(prefix);
  if (!process)
    return process.takeError();
  dylib.addGenerator(std::move(*process));
  for (const char *name : {"libm.so.6", "libgcc_s.so.1"}) {
    auto library = Generator::Load(name, prefix);
    if (library)
      dylib.addGenerator(std::move(*library));
    else
      // What it lacks then is reported by name.
      llvm::consumeError(library.takeError());
  }
  return llvm::Error::success();
}

llvm::Expected<std::unique_ptr<LoadedProgram>>
LoadedProgram::create(CompiledProgram program, llvm::StringRef ompLibrary) {
  initializeTargets();
  std::unique_ptr<LoadedProgram> loaded(new LoadedProgram(std::move(program)));
  const ProgramInfo &info = loaded->compiled.getInfo();
  auto jit = llvm::orc::LLJITBuilder().create();
  if (!jit)
    return jit.takeError();
  loaded->jit = std::move(*jit);
  llvm::orc::JITDylib &dylib = loaded->jit->getMainJITDylib();
  if (info.threads)
    if (llvm::Error error = addOpenMP(*loaded->jit, dylib, ompLibrary))
      return error;
  if (llvm::Error error = addSystem(*loaded->jit, dylib))
    return error;

  if (llvm::Error error =
          define(*loaded->jit, dylib,
                 {
#define CONVERSION(name, type) {#name, reinterpret_cast<const void *>(name)},
                     ESPALIER_FOR_EACH_BF16_CONVERSION(CONVERSION)
#undef CONVERSION
                         {getConstantsSymbol(info.name),
                          loaded->compiled.getConstants().getBufferStart()}}))
    return error;
  for (const auto &object : loaded->compiled.getObjects())
    if (llvm::Error error =
            loaded->jit->addObjectFile(llvm::MemoryBuffer::getMemBuffer(
                object->getMemBufferRef(), /*RequiresNullTerminator=*/false)))
      return error;
  // What is missing is told to the session; the lookup tells what for.
  std::string reasons;
  llvm::orc::ExecutionSession &session = loaded->jit->getExecutionSession();
  session.setErrorReporter(
      [&](llvm::Error error) { reasons += llvm::toString(std::move(error)); });
  auto description = loaded->jit->lookup(getDescriptorSymbol(info.name));
  session.setErrorReporter(llvm::consumeError);
  if (!description) {
    std::string what = llvm::toString(description.takeError());
    return llvm::createStringError("cannot load program '" + info.name +
                                   "': " + (reasons.empty() ? what : reasons));
  }
  loaded->description = description->toPtr<const espalier_program *>();
  return loaded;
}
