//===- Compile.h - From a module to machine code ----------------*- C++ -*-===//

#ifndef ESPALIER_EXECUTIONENGINE_COMPILE_H
#define ESPALIER_EXECUTIONENGINE_COMPILE_H

#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/ExecutionEngine/CompiledProgram.h"
#include "espalier/Pipeline/Pipeline.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/DialectRegistry.h"
#include <functional>

namespace espalier {

/// How machine code is to be made.
struct CodegenOptions {
  /// LLVM's name of the CPU; empty for the one at hand with its features.
  std::string cpu;
  /// Differences to `cpu`, such as "+avx2,-avx512f".
  std::string features;
  /// 0 to 3, as -O of clang.
  unsigned optLevel = 3;
  /// Width in bits that vectors should have if the CPU has a choice.
  unsigned vectorBits = 512;
  /// What leads to the module of which code is generated.
  PipelineOptions pipeline;
  /// Number of kernels to compile at once, 0 for one per core. Does not change
  /// the result.
  unsigned jobs = 0;
  /// Called after each finished object with the number of finished and of all,
  /// from any thread but one at a time.
  std::function<void(unsigned done, unsigned all)> progress;
  /// Called after each step with its name: that of the stage which was reached,
  /// or "translate", "optimize", "emit", of each part. Null for nobody who
  /// wants to know; otherwise with one job only.
  std::function<void(llvm::StringRef step)> stepDone;
  /// Says what has to be kept where kernels are formed, at stage `statements`;
  /// null for nothing.
  std::function<void(mlir::ModuleOp)> chooseStatements;
  /// Schedules kernels, before those that have no schedule get the default one;
  /// null for none. What both do follows from the module and from a text.
  std::function<void(mlir::ModuleOp)> scheduleKernels;
  std::string schedulesKey;
  /// Asked between steps, from any thread; once it says so, compilation fails
  /// soon. Null for a compilation that nothing interrupts.
  std::function<bool()> isCancelled;

  bool mustStop() const { return isCancelled && isCancelled(); }
  void finishStep(llvm::StringRef step) const {
    if (stepDone)
      stepDone(step);
  }
};

/// While this lives, no more passes run in a context once `isCancelled`, which
/// may be null, says so; whoever runs them has to ask whether they have run.
class InterruptiblePasses {
public:
  InterruptiblePasses(mlir::MLIRContext *context,
                      std::function<bool()> isCancelled);
  ~InterruptiblePasses();
  InterruptiblePasses(const InterruptiblePasses &) = delete;
  InterruptiblePasses &operator=(const InterruptiblePasses &) = delete;

private:
  mlir::MLIRContext *context = nullptr;
};

/// Adds what compilation needs to `registry`: the translations to LLVM IR.
void registerCompilation(mlir::DialectRegistry &registry);

/// Compiles `module`, at whichever stage it is, and changes it on the way: its
/// default schedules are those for the CPU of `options`, unless the module has
/// a `poly.target` of its own. On failure errors were reported. The registry of
/// the module's context must have seen `registerCompilation`.
mlir::FailureOr<CompiledProgram> compileModule(mlir::ModuleOp module,
                                               const CodegenOptions &options);

/// Describes the machine that code is made for, from which the default schedule
/// follows.
llvm::Expected<poly::TargetAttr> describeMachine(mlir::MLIRContext *context,
                                                 const CodegenOptions &options);

/// Says in `module` for which machine code is made, unless it does so itself:
/// layouts, kernels and default schedules follow from that.
llvm::Error setMachine(mlir::ModuleOp module, const CodegenOptions &options);

/// Returns the identity of this build of the compiler.
std::string getCompilerIdentity();

/// Returns a name for the result of compiling `module` with `options`: a hash
/// of the module's text, the bytes of its resources, the options, and the
/// identity of this compiler.
std::string computeCacheKey(mlir::ModuleOp module,
                            const CodegenOptions &options);

/// The folder of compiled programs, which several processes may use at once.
struct CacheOptions {
  /// Empty for no cache.
  std::string dir;
  /// Bytes of all entries together; 0 for three quarters of what the disk has
  /// left, which is never exceeded.
  uint64_t limit = uint64_t(8) << 30;
};

/// What `compileCached` found in the cache.
enum class CacheResult { Disabled, Hit, Miss, Damaged };

/// As `compileModule`, but looks in the cache first and stores the result
/// there, after which the least recently used entries beyond the limit are
/// removed. A damaged entry is replaced. That the cache cannot be written is a
/// warning, not a failure.
mlir::FailureOr<CompiledProgram> compileCached(mlir::ModuleOp module,
                                               const CodegenOptions &options,
                                               const CacheOptions &cache,
                                               CacheResult *result = nullptr);

/// Looks for the program called `key` in the cache, and otherwise stores what
/// `compile` makes, as above. Messages are about `loc`.
mlir::FailureOr<CompiledProgram>
compileCached(llvm::StringRef key, mlir::Location loc,
              const CacheOptions &cache,
              llvm::function_ref<mlir::FailureOr<CompiledProgram>()> compile,
              CacheResult *result = nullptr);

} // namespace espalier

#endif // ESPALIER_EXECUTIONENGINE_COMPILE_H
