//===- Proof.h - Proofs of rules that a small program checks ----*- C++ -*-===//

#ifndef ESPALIER_PROOF_PROOF_H
#define ESPALIER_PROOF_PROOF_H

#include "llvm/ADT/ArrayRef.h"
#include "llvm/ADT/StringRef.h"
#include "llvm/Support/raw_ostream.h"
#include <memory>
#include <optional>
#include <string>

namespace espalier::proof {

/// Checks the proofs at `paths`, files or folders, and prints what each states.
/// If `rules` is the path of a file, each of its rules must have a proof, of
/// just what it says. Returns 0 if all is well, 1 if something is not proved
/// and 2 if a file cannot be read.
int checkProofs(llvm::ArrayRef<std::string> paths, llvm::StringRef rules,
                llvm::raw_ostream &os, llvm::raw_ostream &errors);

/// Finds proofs, by search. What it finds is nothing to trust.
class ProofFinder {
public:
  ProofFinder();
  ~ProofFinder();

  /// The proof that a rule holds under a condition, as text. `outputs` are the
  /// texts of those of `src`, and as many of `dst`. Otherwise nothing, and why.
  std::optional<std::string> find(llvm::StringRef name,
                                  llvm::ArrayRef<std::string> src,
                                  llvm::ArrayRef<std::string> dst,
                                  llvm::StringRef condition,
                                  std::string &error);

private:
  struct State;
  std::unique_ptr<State> state;
};

} // namespace espalier::proof

#endif // ESPALIER_PROOF_PROOF_H
