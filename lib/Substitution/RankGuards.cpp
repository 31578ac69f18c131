//===- RankGuards.cpp - Conditions at several ranks -----------------------===//

#include "RankGuards.h"
#include "espalier/Substitution/Shapes.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::substitution;

std::vector<Ranks> espalier::substitution::listRanks(unsigned count) {
  std::vector<Ranks> result(1);
  for (unsigned number = 0; number < count; ++number) {
    std::vector<Ranks> shorter = std::exchange(result, {});
    for (const Ranks &ranks : shorter)
      for (unsigned rank = 1; rank <= kMaxOpenRank + 1; ++rank) {
        result.push_back(ranks);
        result.back().push_back(rank % (kMaxOpenRank + 1));
      }
  }
  return result;
}

static GuardAtom getAtLeast(SizeExpr lhs, SizeExpr rhs) {
  return {GuardAtom::Kind::AtLeast, std::move(lhs), std::move(rhs)};
}

void RankGuards::add(const Ranks &ranks, const Guard &guard) {
  all.push_back(ranks);
  for (const GuardClause &clause : guard.clauses)
    getUsers(clause).push_back(ranks);
}

void RankGuards::exclude(const Ranks &ranks) {
  all.push_back(ranks);
  // No alternative but other ranks.
  getUsers({}).push_back(ranks);
}

std::vector<Ranks> &RankGuards::getUsers(const GuardClause &clause) {
  for (auto &[known, users] : clauses)
    if (known == clause)
      return users;
  return clauses.emplace_back(clause, std::vector<Ranks>()).second;
}

Guard RankGuards::join() const {
  Guard guard;
  for (const auto &[clause, users] : clauses) {
    if (users.size() == all.size()) {
      guard.clauses.push_back(clause);
    } else if (instances.openRanks.size() == 1) {
      addOtherRanks(users, guard.clauses.emplace_back(clause));
    } else {
      for (const Ranks &ranks : users)
        addBeside(ranks, guard.clauses.emplace_back(clause));
    }
  }
  return guard;
}

void RankGuards::addOtherRanks(llvm::ArrayRef<Ranks> users,
                               GuardClause &clause) const {
  auto isUser = [&](unsigned rank) {
    return llvm::is_contained(users, Ranks{rank});
  };
  for (unsigned first = 0; first <= kMaxOpenRank; ++first) {
    // Ranks at which nothing is said do not begin a run.
    if (isUser(first) || !llvm::is_contained(all, Ranks{first}))
      continue;
    unsigned last = first;
    while (last < kMaxOpenRank && !isUser(last + 1))
      ++last;
    std::vector<GuardAtom> run;
    if (first > 0)
      run.push_back(getAtLeast(getRank(0), SizeExpr::get(first)));
    if (last < kMaxOpenRank)
      run.push_back(getAtLeast(SizeExpr::get(last), getRank(0)));
    clause.push_back(std::move(run));
    first = last;
  }
}

void RankGuards::addBeside(const Ranks &ranks, GuardClause &clause) const {
  for (auto [number, rank] : llvm::enumerate(ranks)) {
    if (rank > 0)
      clause.push_back({getAtLeast(SizeExpr::get(rank - 1), getRank(number))});
    if (rank < kMaxOpenRank)
      clause.push_back({getAtLeast(getRank(number), SizeExpr::get(rank + 1))});
  }
}
