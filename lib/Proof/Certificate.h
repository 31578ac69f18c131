//===- Certificate.h - A statement and the steps that prove it --*- C++ -*-===//

#ifndef ESPALIER_LIB_PROOF_CERTIFICATE_H
#define ESPALIER_LIB_PROOF_CERTIFICATE_H

#include "Goal.h"
#include "Statement.h"
#include "mlir/IR/MLIRContext.h"

namespace espalier::proof {

/// The version of the files that are written and read.
constexpr unsigned kVersion = 3;

/// A statement, and for each combination of ranks what shows it.
struct Certificate {
  Statement statement;
  std::vector<SExpr> cases;

  std::string str() const;
};

/// Reads a certificate; otherwise returns nothing, and a complaint.
std::optional<Certificate> parseCertificate(llvm::StringRef text,
                                            std::string &error);

/// What has to be proved at some ranks.
struct Obligation {
  Typing typing;
  std::vector<Goal> goals;     ///< One for each output.
  std::vector<SExpr> src, dst; ///< What these unfold to.
  /// Where outputs have values: what holds if `src` has, and what must.
  std::vector<Demand> offered, demanded;
};

/// Unfolds a statement. Nothing, and a complaint, if that is not possible.
std::optional<Obligation> unfold(const Statement &statement, const Ranks &ranks,
                                 const Choices &choices,
                                 substitution::SemanticsCache &semantics,
                                 std::string &error);

/// The ranks of the variables, as a proof says them.
SExpr print(const Statement &statement, const Ranks &ranks);

/// Checks certificates.
class Checker {
public:
  explicit Checker(Solver &solver) : steps(solver) {}

  /// A complaint, or nothing if the certificate proves its statement.
  std::string check(Certificate &certificate);

private:
  bool checkAt(const Statement &statement, const Ranks &ranks,
               const SExpr &proof);
  /// Whether the steps prove the goal.
  bool check(Goal goal, const SExpr &proof);
  /// Whether what is asked for holds where `src` has values.
  bool checkDemand(const Goal &goal, Demand::Kind kind, const SExpr &proof);
  /// One of the steps `name`, `replace`, `rewrite` and `lemma`.
  bool changeSizes(Goal &goal, const SExpr &step);
  bool checkAll(const std::vector<Goal> &goals, const SExpr &proof,
                size_t first);
  bool checkMatch(const Goal &goal, const SExpr &proof);
  bool checkScalar(const Goal &goal, const SExpr &proof);
  bool fail(const llvm::Twine &reason);

  Steps steps;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  substitution::SemanticsCache semantics{context};
  std::vector<Demand> offered; ///< What holds where `src` has values.
  std::string error;
};

} // namespace espalier::proof

#endif // ESPALIER_LIB_PROOF_CERTIFICATE_H
