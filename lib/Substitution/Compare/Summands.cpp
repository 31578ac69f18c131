//===- Summands.cpp - Sums that are zero summand by summand ---------------===//
//
// Sums over the same points add up to zero if their summands do:
//
//   sum(k) max(a[k], b[k]) * c[k] - sum(k) max(b[k], a[k]) * c[k]
//
// is the sum of something that is 0 at each k, which it takes more to see than
// to bring one term to the variables of another.
//
//===----------------------------------------------------------------------===//

#include "../Prove.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace espalier;
using namespace espalier::substitution;

/// Orders of more variables than these are not tried.
static constexpr unsigned kMaxPermuted = 4;

/// Whether scalar arithmetic knows something of a factor, or of what is in it.
/// Otherwise matching has seen all there is to see.
static bool hasKnownFunction(const Term &term) {
  using definition::ScalarFn;
  return llvm::any_of(term.factors, [](const Atom &atom) {
    bool isKnown = atom.kind == Atom::Kind::Relu ||
                   atom.kind == Atom::Kind::Max ||
                   (atom.kind == Atom::Kind::Function &&
                    (atom.fn == ScalarFn::Div || atom.fn == ScalarFn::Sqrt));
    return isKnown || llvm::any_of(atom.args, [](const Sum &arg) {
             return llvm::any_of(arg, hasKnownFunction);
           });
  });
}

/// Whether both read an element in common.
static bool haveCommonRead(const Term &lhs, const Term &rhs) {
  return llvm::any_of(lhs.factors, [&](const Atom &atom) {
    return atom.kind == Atom::Kind::Read &&
           llvm::is_contained(rhs.factors, atom);
  });
}

/// Renames the variables of `term` such that equations hold, if these make
/// points of `into` and of `term` pairs.
static bool renameBy(const Term &into, Term &term, const Constraints &equations,
                     const ConstraintStore &facts) {
  Constraints forward = equations, backward = equations;
  llvm::SmallVector<Var, 4> theirs(term.bound), ours(into.bound);
  auto solutions = solve(forward, theirs);
  solve(backward, ours);
  auto left = simplifyEquations(forward, facts);
  if (!theirs.empty() || !ours.empty() || !left || !left->empty())
    return false;
  for (const auto &[var, value] : solutions)
    substitute(term, var, value);
  return true;
}

/// `term` in the variables of `into`, if it is then over the same points. One
/// that reads an element of `into` is preferred.
static std::optional<Term> align(const Term &into, const Term &term,
                                 const Assumed &assumed) {
  if (term.bound.size() != into.bound.size() || !term.bases.empty())
    return std::nullopt;
  std::optional<Term> found;
  Assumed inInto = assumed.with(into.constraints);
  auto isBest = [&](Term other) {
    other.bound = into.bound;
    Assumed inOther = assumed.with(other.constraints);
    bool isSame =
        llvm::all_of(other.constraints,
                     [&](const Constraint &c) { return inInto.implies(c); }) &&
        llvm::all_of(into.constraints,
                     [&](const Constraint &c) { return inOther.implies(c); });
    bool isCommon = isSame && haveCommonRead(into, other);
    if (isCommon || (isSame && !found))
      found = std::move(other);
    return isCommon;
  };
  llvm::SmallVector<unsigned, 4> order(into.bound.size());
  std::iota(order.begin(), order.end(), 0);
  do {
    Term other = term;
    for (auto [number, var] : llvm::enumerate(term.bound))
      substitute(other, var, Linear::var(into.bound[order[number]]));
    if (isBest(std::move(other)))
      return found;
  } while (std::next_permutation(order.begin(), order.end()));
  // Sums may begin elsewhere.
  Term summand = into, otherSummand = term;
  summand.bound.clear();
  otherSummand.bound.clear();
  if (!found)
    for (const auto &equations : equateReads({summand}, {otherSummand})) {
      Term other = term;
      if (renameBy(into, other, equations, *assumed.facts) &&
          isBest(std::move(other)))
        return found;
    }
  return found;
}

bool Prover::isZeroBySummands(Sum sum, const Assumed &assumed) {
  if (!llvm::any_of(sum, hasKnownFunction))
    return false;
  while (!sum.empty()) {
    Term into = std::move(sum.front());
    sum.erase(sum.begin());
    if (into.bound.empty() || into.bound.size() > kMaxPermuted ||
        !into.bases.empty() || !budget.check())
      return false;
    // What reads nothing in common with one may do so with another.
    Sum summands{into};
    for (unsigned i = 0; i < summands.size(); ++i)
      for (unsigned j = 0; j < sum.size(); ++j)
        if (std::optional<Term> aligned = align(summands[i], sum[j], assumed)) {
          summands.push_back(std::move(*aligned));
          sum.erase(sum.begin() + j--);
        }
    for (Term &term : summands) {
      term.bound.clear();
      term.constraints.clear();
    }
    if (!isZero(std::move(summands), assumed.with(into.constraints)))
      return false;
  }
  return true;
}
