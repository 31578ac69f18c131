//===- LoadedProgram.cpp - Links a compiled program into this process -----===//
//
// The objects are given to ORC's LLJIT as they are: mlir::ExecutionEngine takes
// a module, never an object, so it could not load what the cache holds.
//
//===----------------------------------------------------------------------===//

#include "espalier/ExecutionEngine/LoadedProgram.h"
#include "Codegen.h"
#include "espalier/Conversion/ProgramToLLVM/EntryPoints.h"
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
          return (*name).starts_with("__kmpc_") || (*name).starts_with("omp_");
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

  llvm::orc::SymbolMap constants;
  constants[loaded->jit->mangleAndIntern(getConstantsSymbol(info.name))] = {
      llvm::orc::ExecutorAddr::fromPtr(
          loaded->compiled.getConstants().getBufferStart()),
      llvm::JITSymbolFlags::Exported};
  if (llvm::Error error =
          dylib.define(llvm::orc::absoluteSymbols(std::move(constants))))
    return error;
  for (const auto &object : loaded->compiled.getObjects())
    if (llvm::Error error =
            loaded->jit->addObjectFile(llvm::MemoryBuffer::getMemBuffer(
                object->getMemBufferRef(), /*RequiresNullTerminator=*/false)))
      return error;
  auto description = loaded->jit->lookup(getDescriptorSymbol(info.name));
  if (!description)
    return description.takeError();
  loaded->description = description->toPtr<const espalier_program *>();
  return loaded;
}
