//===- Statement.h - What a proof is about ----------------------*- C++ -*-===//
//
// A rule and the condition under which it is said to hold, as text; and, for
// one rank of the tensors whose rank is open, the uses of its nodes with their
// definitions and extents.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_PROOF_STATEMENT_H
#define ESPALIER_LIB_PROOF_STATEMENT_H

#include "Solver.h"
#include "espalier/Substitution/OperatorSemantics.h"

namespace espalier::proof {

/// Open ranks are proved from 0 up to this one, in all combinations; of a
/// statement with more of them nothing is proved.
constexpr unsigned kMaxOpenRank = 4, kMaxOpenRanks = 4;

/// A variable, or an operator of others.
struct Use {
  std::string name; ///< `?i0` or `conv2d#1`.
  substitution::RuleNode node;
  std::vector<unsigned> operands;
  bool isConstant() const {
    return !node.isVariable() && node.getInfo().isConstant();
  }
};

/// A rule.
struct Statement {
  std::string name;
  std::vector<std::string> src, dst; ///< The outputs' texts.
  std::string guard;                 ///< Empty if it always holds.

  /// With one blank between words.
  std::string str() const;
  bool operator==(const Statement &other) const { return str() == other.str(); }

  std::vector<Use> uses; ///< Those of `src` first.
  unsigned numSrc = 0;
  std::vector<unsigned> srcOutputs, dstOutputs;
};

/// Fills in the uses of a statement's nodes. Returns a complaint, or nothing.
std::string resolve(Statement &statement);

/// The ranks of uses: of those of `src` alone if `dst` does not fit.
using Ranks = std::vector<unsigned>;
/// The combinations of ranks at which a statement is said: those that `src`
/// leaves open take all values, and so do those that only `dst` has. Nothing if
/// ranks of `src` contradict each other, or too many are open.
std::optional<std::vector<Ranks>> listRanks(const Statement &statement);

/// A use at known rank.
struct Instance {
  unsigned rank = 0;
  const substitution::OperatorSemantics *semantics =
      nullptr; ///< Null for variables.
  std::vector<Index> shape, parameters;
  substitution::BoundaryList<Index> boundaries;
};

/// The extents of all uses, and what is known and claimed of them.
struct Typing {
  std::vector<Instance> instances;
  std::vector<Clause> given;       ///< Where `src` and the condition hold.
  std::vector<Condition> claims;   ///< What `dst` asks for.
  std::vector<std::string> chosen; ///< Sizes that a proof has to give.
  /// `src` has no meaning at these ranks, or the condition excludes them.
  bool isVoid = false;
  std::string error; ///< Why `dst` has none.
  /// Why nothing can be said, whatever the steps.
  std::string fault;
};

/// Sizes of constants of `dst` that nothing else says, by name.
using Choices = std::map<std::string, Index>;

/// The extents at known ranks.
Typing type(const Statement &statement, const Ranks &ranks,
            const Choices &choices, substitution::SemanticsCache &semantics);

/// The name of an extent.
std::string getExtentName(const Use &use, unsigned dim);

} // namespace espalier::proof

#endif // ESPALIER_LIB_PROOF_STATEMENT_H
