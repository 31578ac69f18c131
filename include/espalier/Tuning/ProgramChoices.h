//===- ProgramChoices.h - Choices before kernels are formed -----*- C++ -*-===//
//
// Above the schedules of kernels: how the sums of a program are computed, and
// which statements are one kernel. What is chosen is a script for modules at
// stage `statements`.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TUNING_PROGRAMCHOICES_H
#define ESPALIER_TUNING_PROGRAMCHOICES_H

#include "espalier/Measurement/KernelCost.h"
#include "espalier/Tuning/Tuner.h"

namespace espalier::tuning {

/// The scripts of choices, by what the program calls the statement's kernel at
/// stage `statements`: a name that says what it computes.
using StatementScripts = std::vector<std::pair<std::string, std::string>>;

/// The seconds of one call of a kernel; nothing if they are not known.
using KernelTimer = std::function<std::optional<double>(const ProgramKernel &)>;

/// Compares, for each convolution of `module` that may be computed in two ways,
/// and each result that may be read in the kernel that computes it or in
/// others, the sums over the program's kernels, as `timer` times them; the
/// choices that differ from the default's and are faster. `module` is at stage
/// `graph` and stays as it is. Returns what was compared. Fails if it cannot be
/// compiled.
llvm::Expected<std::vector<TunedStatement>>
compareChoices(mlir::ModuleOp module, const TuneOptions &options,
               const KernelTimer &timer);

/// The same, with kernels that are measured as they are by default.
llvm::Expected<std::vector<TunedStatement>>
chooseStatements(mlir::ModuleOp module, const TuneOptions &options);

/// Applies scripts to `module`, which is at stage `statements`; what names no
/// statement of it is passed over. Does nothing and returns what is wrong where
/// kernels cannot be formed with what is chosen.
llvm::Error applyChoices(mlir::ModuleOp module, const StatementScripts &scripts,
                         const CodegenOptions &codegen);

/// The key of a choice in records.
std::string getChoiceKey(const TunedStatement &statement,
                         const MeasureOptions &options);
/// The statement of such a key; nothing if it is none, or for other options.
std::optional<std::string> parseChoiceKey(llvm::StringRef key,
                                          const MeasureOptions &options);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_PROGRAMCHOICES_H
