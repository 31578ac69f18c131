//===- ChooseSparse.h - Which weights are sparse ----------------*- C++ -*-===//

#ifndef ESPALIER_OPTIMIZE_CHOOSESPARSE_H
#define ESPALIER_OPTIMIZE_CHOOSESPARSE_H

#include "espalier/Optimize/OptimizeProgram.h"

namespace espalier {

/// What somebody chose for the weights of one operator.
struct SparseChoice {
  std::string node;
  bool isSparse;
  std::string format; ///< `poly::EntryFormat`; empty for what kernels choose.
  /// The part of the elements that are not zero, if the choice is for weights
  /// of which it is known.
  std::optional<double> density;
};

/// What becomes of weights that no choice is about.
enum class OtherWeights {
  Refused, ///< They are an error, if they might be sparse.
  Dense,
  Few,    ///< Those are sparse of which few elements are not zero.
  Faster, ///< Those are sparse that make their operator faster when run.
};

/// Which weights are sparse.
struct SparseChoices {
  std::vector<SparseChoice> named;
  OtherWeights others = OtherWeights::Faster;
};

/// Reads choices: `others` is "none", "off", "all" or "auto", in the order of
/// `OtherWeights`; `named` is a JSON array of objects, of which `node`,
/// `choice`, `format` and `density` are looked at, as `chooseSparse` returns
/// it, or empty.
llvm::Expected<SparseChoices> readSparseChoices(llvm::StringRef others,
                                                llvm::StringRef named);

/// Stores the constants of `module`, which is at stage `graph`, without their
/// zeros, as `choices` say. To find what is faster each operator is compiled
/// both ways, by itself, and run in turns. Times are those of the table where
/// it has them; after the seconds of `options.cost`, operators that it has not
/// stay dense. Returns one object for each operator that was looked at: its
/// node, the density, the choice, and both times or the reason. Names of nodes
/// that occur again have `#2` and so on behind them. On failure an error was
/// reported.
mlir::FailureOr<llvm::json::Array> chooseSparse(mlir::ModuleOp module,
                                                const OptimizeOptions &options,
                                                const SparseChoices &choices);

} // namespace espalier

#endif // ESPALIER_OPTIMIZE_CHOOSESPARSE_H
