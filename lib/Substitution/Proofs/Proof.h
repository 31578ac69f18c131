//===- Proof.h - What a proof consists of, as text --------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_PROOFS_PROOF_H
#define ESPALIER_LIB_SUBSTITUTION_PROOFS_PROOF_H

#include "../Expand.h"

namespace espalier::substitution {

/// Collects normal forms and questions.
class Proof {
public:
  /// Forgets what was not accepted: what follows belongs to another attempt.
  void restart() { current = Part(); }
  /// Keeps what was collected since the last attempt began.
  void accept();
  /// Adds a sum that was shown to be zero.
  void addZero(const Sum &sum, const Instances &instances);
  /// Adds constraints that were found to have no solution.
  void addQuestion(llvm::ArrayRef<Constraint> constraints);
  /// Adds constraints and pieces, one of which was found to have a point
  /// wherever the constraints hold.
  void addCovered(llvm::ArrayRef<Constraint> constraints,
                  llvm::ArrayRef<Points> pieces);
  /// Adds a question in SMT-LIB about real numbers.
  void addReals(llvm::StringRef question);
  /// Adds what a condition promises, as `writeClaim` says it.
  void addClaim(std::string script) {
    current.claims.push_back(std::move(script));
  }
  /// SMT-LIB with the normal forms as comments.
  std::string str(const Rule &rule, llvm::StringRef verdict) const;

private:
  struct Part {
    std::string forms;
    std::vector<std::string> questions, claims;
  };
  Part current, accepted;
};

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_PROOFS_PROOF_H
