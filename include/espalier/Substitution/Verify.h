//===- Verify.h - Proves or refutes substitution rules ----------*- C++ -*-===//
//
// Decides rules from the definitions of their operators, for all sizes of at
// least 1, over the real numbers.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_VERIFY_H
#define ESPALIER_SUBSTITUTION_VERIFY_H

#include "espalier/Substitution/Guard.h"
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
  /// The condition, of `ProvedIf`.
  Guard guard;
  /// Whether the condition says no more than that both sides have a meaning and
  /// outputs of equal shapes, so that none is weaker. Otherwise it is enough,
  /// and there may be a weaker one.
  bool isWeakest = false;
  /// Where a proof is contradicted by an evaluation that was asked for by
  /// `VerifyOptions::numRechecks`: a bug of the verifier.
  std::string contradiction;
  /// The proof, if `VerifyOptions::writesProofs` asks for it, which the program
  /// espalier-proof-check checks; or why none was found.
  std::string proof, missing;

  /// Perhaps under a condition.
  bool isProved() const {
    return kind == Kind::Proved || kind == Kind::ProvedIf;
  }
};

/// Prints `proved`, `proved-if GUARD`, `refuted SHAPES AND VALUES` or `unknown
/// REASON`.
llvm::raw_ostream &operator<<(llvm::raw_ostream &os, const Verdict &verdict);

struct VerifyOptions {
  /// A rule that takes longer, in processor time, is unknown.
  std::chrono::milliseconds deadline{1800};
  /// Evaluates a proved rule at so many further shapes that fit its condition.
  unsigned numRechecks = 0;
  bool writesProofs = false;
  /// Decides the rule with an unknown function around each sum, product and
  /// reduction, which stands for rounding.
  bool rounds = false;
  /// Of the numbers at which rules are evaluated. What is proved, and under
  /// which condition, does not depend on it.
  uint64_t seed = 0;
};

class Verifier {
public:
  explicit Verifier(const VerifyOptions &options = {});
  ~Verifier();

  /// Under the rule's own condition if it holds there, perhaps under a further
  /// one; otherwise as if it stated none.
  Verdict verify(const Rule &rule);

private:
  struct State;
  std::unique_ptr<State> state;
};

/// Reads a rule file and prints a line for each rule and one that counts them.
/// Returns the exit code: 0 if every rule was proved, perhaps under a
/// condition; 1 if one was not; 2 if the file has a fault. Puts the proofs into
/// the folder `proofs`, unless that is empty: `<rule>.proof` each. A rule that
/// is proved and of which no steps were found then counts as not proved.
int verifyFile(llvm::StringRef path, llvm::StringRef proofs,
               llvm::raw_ostream &os, llvm::raw_ostream &errors);

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_VERIFY_H
