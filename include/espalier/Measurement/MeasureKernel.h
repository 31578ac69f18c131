//===- MeasureKernel.h - The time of one kernel -----------------*- C++ -*-===//

#ifndef ESPALIER_MEASUREMENT_MEASUREKERNEL_H
#define ESPALIER_MEASUREMENT_MEASUREKERNEL_H

#include "espalier/ExecutionEngine/Compile.h"
#include "espalier/Measurement/Rounding.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/Support/MemoryBuffer.h"
#include <chrono>
#include <map>
#include <memory>

namespace espalier {

/// What stands for sizes that only the run knows, and how much its time counts.
struct MeasuredSizes {
  /// Of each one that does not follow from those with a name.
  int64_t extent = 1;
  double weight = 1;
  /// By the names that the extents of a program's inputs have, or the
  /// parameters of a kernel without a program.
  std::map<std::string, int64_t> named = {};
};

/// How kernels are measured.
struct MeasureOptions {
  CodegenOptions codegen;
  /// Number of threads that a kernel may use.
  unsigned threads = 1;
  /// What one kernel may take, compilation included.
  std::chrono::milliseconds timeLimit{10000};
  /// Bytes that one kernel may take beyond those of this process.
  uint64_t memoryLimit = uint64_t(4) << 30;
  /// A kernel of sizes that are not known runs with each of these, and its time
  /// is the geometric mean, with weights; with none, it is not measured.
  std::vector<MeasuredSizes> sizes;
  /// The seconds of the fastest rival with each of these sizes, or one number
  /// if all are known; what is hopeless beside it runs once. Empty for none.
  std::vector<double> best;
  /// What a program reads of constants before it reads the same one again, as
  /// far as that matters: bytes of copies that the calls of a kernel take in
  /// turns. With the default, constants are never in a cache.
  uint64_t constantBytes = kMaxConstantBytes;

  /// More than the caches of a core; copies of more only take memory.
  static constexpr uint64_t kMaxConstantBytes = 32 << 20;
};

/// Returns the bytes of all different constants of `module`.
uint64_t countConstantBytes(mlir::ModuleOp module);

/// Returns one of few numbers, so that networks of a like size share the times
/// of their kernels.
uint64_t roundConstantBytes(uint64_t bytes);

/// A module that is one kernel, for which `poly-add-main` can make a program.
struct KernelModule {
  /// In MLIR's text form.
  std::string text;
  /// By argument that is only read, whether it is a constant of the program.
  /// Constants are measured as they are found in a program: in the cache of a
  /// core only if all constants of the program are (see `constantBytes`).
  std::vector<bool> isConstant;
  /// Whether integers may be any, since none of them is an index or a bound.
  bool takesAnyInteger = false;
  /// What it is run on, and how far results may be apart.
  KernelNumbers numbers = {};
  /// By element of `MeasureOptions::sizes`, what the names of extents in the
  /// program of `poly-add-main` stand for, as far as those with names say.
  std::vector<llvm::StringMap<int64_t>> sizes = {};
};

/// What one run of a program gave: an array of elements of type `dtype`.
struct MeasuredOutput {
  int32_t dtype = 0;
  std::unique_ptr<llvm::MemoryBuffer> buffer;

  llvm::StringRef getBytes() const { return buffer->getBuffer(); }
};

/// Whether it is empty or has a number that is finite.
bool hasNumbers(const MeasuredOutput &output);

/// The time of a program, and what it computes from made-up inputs, of several
/// sizes one after the other.
struct MeasuredProgram {
  /// The median, of the thread's own time for one thread, else of the time that
  /// passes.
  double seconds = 0;
  /// What it is the median of, the shortest first, by what stands for sizes
  /// that are not known.
  std::vector<std::vector<double>> times;
  std::vector<MeasuredOutput> outputs;
};

/// A program computes something else than another one.
class WrongResult : public llvm::ErrorInfo<WrongResult, llvm::StringError> {
public:
  static char ID;
  explicit WrongResult(const llvm::Twine &message)
      : ErrorInfo(message, llvm::inconvertibleErrorCode()) {}
};

/// Runs a program that is compiled of `kernel` in this
/// process. Fails if sizes are not known, and with `WrongResult` if outputs
/// differ by more than rounding from `expected`, if that is not empty: by more
/// than the kernel's numbers say or, where these say nothing, than 1e-4 of the
/// largest value.
llvm::Expected<MeasuredProgram>
measureProgram(CompiledProgram program, const KernelModule &kernel,
               const MeasureOptions &options,
               llvm::ArrayRef<MeasuredOutput> expected = {});

/// Compiles and runs a kernel in a child process and returns the median of its
/// times in seconds: of the thread's own time for one thread, else of the time
/// that passes. Fails if that does not end within the limits, or if sizes are
/// not known. Dialects come from `registry`. Only one thread of this process
/// may be at work inside the compiler meanwhile.
llvm::Expected<double> measureKernel(const KernelModule &kernel,
                                     const mlir::DialectRegistry &registry,
                                     const MeasureOptions &options);

} // namespace espalier

#endif // ESPALIER_MEASUREMENT_MEASUREKERNEL_H
