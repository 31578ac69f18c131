//===- RankGuards.h - Conditions at several ranks ---------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_RANKGUARDS_H
#define ESPALIER_LIB_SUBSTITUTION_RANKGUARDS_H

#include "Typing.h"

namespace espalier::substitution {

/// Values of the ranks that a rule leaves open.
using Ranks = llvm::SmallVector<unsigned, 2>;

/// All values of `count` open ranks, from 1 to `kMaxOpenRank` and then 0.
std::vector<Ranks> listRanks(unsigned count);

/// Joins the conditions under which a rule holds at each of some ranks.
class RankGuards {
public:
  explicit RankGuards(const Instances &instances) : instances(instances) {}

  /// The rule holds at these ranks under a condition.
  void add(const Ranks &ranks, const Guard &guard);
  /// `src` has a meaning at these ranks, and the rule does not hold.
  void exclude(const Ranks &ranks);

  /// What is asked for at all ranks stands alone, anything else beside the
  /// ranks at which it is not.
  Guard join() const;

private:
  std::vector<Ranks> &getUsers(const GuardClause &clause);
  /// Adds alternatives: each run of ranks that are no users.
  void addOtherRanks(llvm::ArrayRef<Ranks> users, GuardClause &clause) const;
  /// Adds alternatives: another rank than these.
  void addBeside(const Ranks &ranks, GuardClause &clause) const;
  SizeExpr getRank(unsigned number) const {
    return getRankOf(instances, instances.openRanks[number]);
  }

  const Instances &instances;
  std::vector<Ranks> all;
  std::vector<std::pair<GuardClause, std::vector<Ranks>>> clauses;
};

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_RANKGUARDS_H
