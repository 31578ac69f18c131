//===- Verify.h - Proves or refutes substitution rules ----------*- C++ -*-===//
//
// Decides rules from the definitions of their operators, for all sizes of at
// least 1, over the real numbers.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_VERIFY_H
#define ESPALIER_SUBSTITUTION_VERIFY_H

#include "espalier/Substitution/Rule.h"
#include "mlir/IR/MLIRContext.h"
#include <chrono>
#include <memory>

namespace espalier::substitution {

struct Verdict {
  enum class Kind {
    Proved,   ///< Holds wherever `src` is defined.
    ProvedIf, ///< Holds where `detail`, a condition, does too.
    Refuted,  ///< `detail` gives shapes and values that show it.
    Unknown,  ///< `detail` says why.
  } kind = Kind::Unknown;
  std::string detail;
  /// The rule makes no sense, for any shapes. `kind` is `Unknown`.
  bool isIllTyped = false;
  /// Where a proof is contradicted by an evaluation that was asked for by
  /// `VerifyOptions::numRechecks`: a bug of the verifier.
  std::string contradiction;
};

/// Prints `proved`, `proved-if GUARD`, `refuted SHAPES AND VALUES` or `unknown
/// REASON`.
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Verdict &verdict);

struct VerifyOptions {
  /// A rule that takes longer is unknown.
  std::chrono::milliseconds deadline{2000};
  /// Evaluates a proved rule at so many further shapes that fit its condition.
  unsigned numRechecks = 0;
};

class Verifier {
public:
  explicit Verifier(const VerifyOptions &options = {});
  ~Verifier();

  Verdict verify(const Rule &rule);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Reads a rule file and prints a line for each rule and one that counts them.
/// Returns the exit code: 0 if every rule was proved, perhaps under a
/// condition; 1 if one was not; 2 if the file has a fault.
int verifyFile(llvm::StringRef path, llvm::raw_ostream &os,
               llvm::raw_ostream &errors);

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_VERIFY_H
