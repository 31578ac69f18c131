//===- KernelCost.h - What kernels and programs cost ------------*- C++ -*-===//

#ifndef ESPALIER_MEASUREMENT_KERNELCOST_H
#define ESPALIER_MEASUREMENT_KERNELCOST_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Measurement/KernelTimes.h"
#include "espalier/Measurement/MeasureKernel.h"
#include "llvm/ADT/StringMap.h"
#include <set>

namespace espalier {

/// What a kernel computes and touches, as far as it is known before it runs.
struct KernelWork {
  double flops = 0;
  double bytes = 0;
};

/// A kernel of a program, and how often it is called on arguments of which the
/// same ones are constants.
struct ProgramKernel {
  KernelModule module;
  KernelWork work;
  unsigned numCalls = 1;
  /// What the program calls it; in `module` it is `kKernelName`.
  std::string name;
};

/// What a kernel is called in a module of its own.
inline constexpr llvm::StringLiteral kKernelName = "kernel";

/// Returns a module for the machine `target` that is `kernel` alone.
mlir::OwningOpRef<mlir::ModuleOp> copyAlone(poly::KernelOp kernel,
                                            mlir::Attribute target);

/// Returns the kernels that `module`, which is at stage `poly` and has a
/// target, calls. Of two versions of a program, these are the first one's. Of a
/// module without functions, these are its kernels. What `sizes` stand for is
/// read of the first call that is known to have some.
std::vector<ProgramKernel>
collectKernels(mlir::ModuleOp module, llvm::ArrayRef<MeasuredSizes> sizes = {});

/// Returns the kernels that `module`, which is at stage `graph`, becomes for
/// the machine of `codegen`; `module` stays as it is. Of two versions of it,
/// these are the first one's. Empty if it has no operators. On failure an error
/// was reported.
mlir::FailureOr<std::vector<ProgramKernel>>
formKernels(mlir::ModuleOp module, const CodegenOptions &codegen,
            llvm::ArrayRef<MeasuredSizes> sizes = {});

/// Returns the names of the sizes that `module`, whose functions are programs
/// or which is kernels alone, does not know.
std::set<std::string> getSizeNames(mlir::ModuleOp module);

/// Names a kernel and whatever else its time depends on, but for the build.
std::string computeKernelKey(const ProgramKernel &kernel,
                             const MeasureOptions &options);

/// Where costs come from.
struct KernelCostOptions {
  MeasureOptions measure;
  /// The file of the table; empty for none.
  std::string table;
  /// Seconds for measuring altogether; after that, and with 0, costs that are
  /// not in the table are estimates.
  double budget = 0;
};

/// How many different kernels got their cost in which way.
struct KernelCostCounts {
  unsigned numFound = 0;
  unsigned numMeasured = 0;
  unsigned numEstimated = 0;
  double secondsMeasuring = 0;
};

/// Knows what kernels cost: from the table, by measuring, or by an estimate.
class KernelCost {
public:
  /// `context` has the dialects of kernels. What is wrong with the table goes
  /// to `warn`, after which it is not used any more.
  KernelCost(mlir::MLIRContext *context, const KernelCostOptions &options,
             std::function<void(const std::string &)> warn);

  /// The seconds that one call of `kernel` takes.
  double getSeconds(const ProgramKernel &kernel);

  /// The seconds that all kernels of `module` take, which is at stage `graph`
  /// and stays as it is. On failure an error was reported.
  mlir::FailureOr<double> getProgramSeconds(mlir::ModuleOp module);

  /// The seconds of what `text` describes and `compute` knows; the table
  /// remembers them if none of the kernels that `compute` asks for was
  /// estimated. Nothing if `compute` returns nothing.
  std::optional<double>
  getSeconds(llvm::StringRef text,
             llvm::function_ref<std::optional<double>()> compute);

  const KernelCostCounts &getCounts() const { return counts; }
  const KernelCostOptions &getOptions() const { return options; }

private:
  std::optional<double> lookUp(llvm::StringRef key, bool &isKnown);
  void store(llvm::StringRef key, const KernelTime &time,
             llvm::StringRef label);
  std::optional<double> measure(llvm::StringRef key,
                                const ProgramKernel &kernel);
  double estimate(const KernelWork &work);
  void openTable();
  void dropTable(llvm::Error error);

  mlir::MLIRContext *context;
  KernelCostOptions options;
  std::function<void(const std::string &)> warn;
  std::unique_ptr<KernelTimes> table;
  llvm::StringMap<double> known;
  KernelCostCounts counts;
  /// What kernels that were measured reached at best.
  double flopsPerSecond = 0, bytesPerSecond = 0;
};

} // namespace espalier

#endif // ESPALIER_MEASUREMENT_KERNELCOST_H
