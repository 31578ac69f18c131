//===- Codegen.h - From LLVM IR to objects ----------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_EXECUTIONENGINE_CODEGEN_H
#define ESPALIER_LIB_EXECUTIONENGINE_CODEGEN_H

#include "espalier/Conversion/LoopsToProgram/Program.h"
#include "espalier/ExecutionEngine/Compile.h"
#include "llvm/IR/Module.h"
#include "llvm/IR/PassManager.h"
#include "llvm/Target/TargetMachine.h"

namespace espalier {

/// The CPU and features that code is made for.
struct TargetCPU {
  std::string cpu;
  std::string features;
};

/// Replaces an empty CPU by the one at hand. Fails for a name or a feature that
/// LLVM does not know.
llvm::Expected<TargetCPU> resolveTarget(const CodegenOptions &options);

/// Makes a target machine, which serves one thread.
llvm::Expected<std::unique_ptr<llvm::TargetMachine>>
createTargetMachine(const TargetCPU &target, const CodegenOptions &options);

/// Marks the loops of `function` whose unrolling would exceed the budget of
/// straight-line code, so that LLVM leaves them as they are.
void limitUnrolling(llvm::Function &function,
                    llvm::FunctionAnalysisManager &analyses,
                    unsigned vectorBits);

/// Lets parallel regions of `module` run without a call of OpenMP's library
/// where the calling thread is the only one that it may have.
void runRegionsAlone(llvm::Module &module);

/// Optimizes `module` and generates a relocatable object.
llvm::Expected<std::unique_ptr<llvm::MemoryBuffer>>
emitObject(llvm::Module &module, llvm::TargetMachine &machine,
           const CodegenOptions &options);

/// Returns the extensions of `target` among those that the runtime checks for.
std::vector<std::string> getCheckedFeatures(const TargetCPU &target);

/// Adds to `module` the constant `espalier_program` of the program with the
/// given signature. `withThreads` says whether it may set a number of threads.
void addDescriptor(llvm::Module &module, const ProgramSignature &signature,
                   const TargetCPU &target, bool withThreads);

/// The symbol of what `addDescriptor` adds.
std::string getDescriptorSymbol(llvm::StringRef name);

/// Another symbol of it, that no other program of its name has: `hash` is that
/// of all that the program is made of.
std::string getUniqueSymbol(llvm::StringRef name, uint64_t hash);

/// Adds that symbol to the module of the descriptor.
void addUniqueSymbol(llvm::Module &module, llvm::StringRef name, uint64_t hash);

/// Splits `module`, which is the program `program` at stage `llvm`, into
/// modules that can be compiled on their own and then linked, the largest
/// first: one for the entry points and one for each kernel or group of small
/// kernels.
std::vector<mlir::OwningOpRef<mlir::ModuleOp>>
splitByKernel(mlir::ModuleOp module, llvm::StringRef program);

/// Returns the text of the C header of a program. `hash` tells it from others
/// of its name, in one process and in one file of C, which it is an error to
/// include both in.
std::string makeHeader(const ProgramSignature &signature, uint64_t hash);

/// The contents of files that travel inside the compiler.
llvm::StringRef getEmbeddedRuntimeArchive();
llvm::StringRef getEmbeddedRuntimeHeader();

/// Returns the C compiler that links, or an error that says where it was looked
/// for: in `toolsDir` or, if that is empty, in LLVM's folder and on the PATH.
llvm::Expected<std::string> findCompiler(llvm::StringRef toolsDir);

} // namespace espalier

#endif // ESPALIER_LIB_EXECUTIONENGINE_CODEGEN_H
