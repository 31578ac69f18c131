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
#include "espalier/Substitution/Meaning.h"

namespace espalier::proof {

/// Open ranks are proved up to this one.
constexpr unsigned kMaxOpenRank = 4;

/// A variable, or an operator of others.
struct Use {
  std::string name; ///< `?i0` or `conv2d#1`.
  substitution::Node node;
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
  bool hasOpenRank = false;
};

/// Fills in the uses of a statement's nodes. Returns a complaint, or nothing.
std::string resolve(Statement &statement);

/// The rank of each use; nothing if ranks contradict each other.
std::optional<std::vector<unsigned>> inferRanks(Statement &statement,
                                                unsigned openRank);

/// A use at known rank.
struct Instance {
  unsigned rank = 0;
  const substitution::Meaning *meaning = nullptr; ///< Null for variables.
  std::vector<Index> shape, parameters;
  substitution::BoundaryList<Index> boundaries;
};

/// The extents of all uses, and what is known and claimed of them.
struct Typing {
  std::vector<Instance> instances;
  std::vector<Clause> given;       ///< Where `src` and the condition hold.
  std::vector<Condition> claims;   ///< What `dst` asks for.
  std::vector<std::string> chosen; ///< Sizes that a proof has to give.
  bool isVoid = false;             ///< `src` has no meaning at these ranks.
  std::string error;               ///< Why `dst` has none.
};

/// Sizes of constants of `dst` that nothing else says, by name.
using Choices = std::map<std::string, Index>;

/// The extents at known ranks.
Typing type(const Statement &statement, const std::vector<unsigned> &ranks,
            const Choices &choices, substitution::Meanings &meanings);

/// The name of an extent.
std::string getExtentName(const Use &use, unsigned dim);

} // namespace espalier::proof

#endif // ESPALIER_LIB_PROOF_STATEMENT_H
