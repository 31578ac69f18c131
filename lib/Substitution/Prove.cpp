//===- Prove.cpp - Decides whether a sum of products is zero --------------===//
//
// Terms are put into buckets, each in the variables of its first term. A bucket
// is zero if at every point the coefficients of the terms that are there add up
// to zero. That needs no canonical form: a sum over [0, a + b) and two sums
// over [0, a) and [a, a + b) end up in the same bucket and cancel.
//
//===----------------------------------------------------------------------===//

#include "Prove.h"
#include "llvm/ADT/STLExtras.h"

using namespace espalier::substitution;

/// Nested functions, and distinctions of cases, beyond these are not followed.
static constexpr unsigned kMaxDepth = 6;
static constexpr unsigned kMaxLevel = 24;

bool Prover::isZero(Sum sum, const Assumed &assumed) {
  if (!budget.check() || depth > kMaxDepth)
    return false;
  ++depth;
  bool result = isZeroWithin(std::move(sum), assumed);
  --depth;
  return result;
}

bool Prover::isZeroWithin(Sum sum, const Assumed &assumed) {
  for (Term &term : sum)
    freshen(term, nextVar);
  simplify(sum, assumed);
  if (sum.empty() || isZeroByMatching(sum, assumed))
    return true;
  simplify(sum, assumed, /*thorough=*/true);
  if (sum.empty() || isZeroByMatching(sum, assumed))
    return true;
  // Where conditions are decided, less is left.
  for (const Term &term : sum)
    for (const Constraint &constraint : term.constraints) {
      bool isOuter = !constraint.expr.any([&](Var var) {
        return llvm::is_contained(term.bound, var) ||
               llvm::any_of(term.bases,
                            [&](const Base &base) { return base.var == var; });
      });
      if (!isOuter || constraint.expr.isPoisoned())
        continue;
      Constraints options{constraint};
      llvm::append_range(options, negate(constraint));
      return llvm::all_of(options, [&](const Constraint &option) {
        return assumed.isImpossible(option) ||
               isZero(sum, assumed.with(option));
      });
    }
  if (isZeroBySummands(sum, assumed))
    return true;
  if (comparesMaxima)
    return false;
  comparesMaxima = true;
  bool isSame = isZeroByMaxima(sum, assumed);
  comparesMaxima = false;
  if (isSame)
    return true;
  return isZeroByScalars(
      sum,
      [&](const Sum &lhs, const Sum &rhs) {
        Sum difference = add(lhs, scale(rhs, Rational::get(-1)));
        for (Term &term : difference)
          freshen(term, nextVar);
        return isZeroByMatching(difference, assumed);
      },
      [&](const Sum &maximum, const Sum &value) {
        return isElement(maximum, value, assumed);
      },
      budget, assumed);
}

bool Prover::isZeroByMatching(const Sum &sum, const Assumed &assumed) {
  std::vector<Bucket> buckets;
  return assign(sum, 0, buckets, assumed);
}

bool Prover::assign(const Sum &sum, unsigned number,
                    std::vector<Bucket> &buckets, const Assumed &assumed) {
  if (!budget.check())
    return false;
  if (number == sum.size())
    return llvm::all_of(buckets, [&](const Bucket &bucket) {
      return cancels(bucket.members, assumed, 0);
    });
  const Term &term = sum[number];
  if (term.coefficient.poisoned)
    return false;
  for (Bucket &bucket : buckets) {
    auto image = unify(bucket.representative, term, assumed);
    if (!image)
      continue;
    // Terms that fit one another fit the same others: no second choice.
    bucket.members.push_back(std::move(*image));
    return assign(sum, number + 1, buckets, assumed);
  }
  Bucket bucket;
  bucket.representative = term;
  Member first{term.coefficient, term.constraints, {}};
  for (const Base &base : term.bases)
    llvm::append_range(first.facts, base.facts);
  bucket.members.push_back(std::move(first));
  buckets.push_back(std::move(bucket));
  return assign(sum, number + 1, buckets, assumed);
}

bool Prover::areOpposite(const Member &lhs, const Member &rhs,
                         const Assumed &assumed) {
  if (!(lhs.coefficient + rhs.coefficient).isZero())
    return false;
  for (auto [here, there] : {std::pair(&lhs, &rhs), {&rhs, &lhs}}) {
    Assumed inside = assumed.with(here->domain).with(here->facts);
    for (const Constraint &constraint : there->domain)
      if (!inside.implies(constraint))
        return false;
  }
  return true;
}

bool Prover::cancels(std::vector<Member> members, const Assumed &assumed,
                     unsigned level) {
  if (!budget.check() || level > kMaxLevel)
    return false;
  for (Member &member : members)
    llvm::erase_if(member.domain, [&](const Constraint &constraint) {
      return assumed.implies(constraint);
    });
  for (unsigned i = 0; i < members.size(); ++i)
    for (unsigned j = i + 1; j < members.size(); ++j)
      if (areOpposite(members[i], members[j], assumed)) {
        members.erase(members.begin() + j);
        members.erase(members.begin() + i);
        --i;
        break;
      }
  llvm::erase_if(members, [&](const Member &member) {
    Constraints all = member.domain;
    llvm::append_range(all, member.facts);
    return !member.domain.empty() && assumed.isImpossible(all);
  });
  for (const Member &member : members)
    if (!member.domain.empty()) {
      Constraints options{member.domain.front()};
      llvm::append_range(options, negate(options.front()));
      return llvm::all_of(options, [&](const Constraint &option) {
        return assumed.isImpossible(option) ||
               cancels(members, assumed.with(option), level + 1);
      });
    }
  Rational total = Rational::get(0);
  for (const Member &member : members)
    total = total + member.coefficient;
  return total.isZero();
}
