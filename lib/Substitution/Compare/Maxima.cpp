//===- Maxima.cpp - Sums that are maxima of others ------------------------===//
//
// With M a relu or a maximum and h not negative, t + h * M is the maximum of
// t + h * f over what M is the maximum of: 0 and f, or f at many points. A sum
// without negative maxima is one maximum over pieces:
//
//   b + relu(max(i) a[i] - b)  =  max { b, max(i) a[i] }
//   max(k) (k < n ? a[k] : b[k - n])  =  max { max(k < n) a[k], max(k >= n) ..
//   }
//
// Two such maxima are equal if each value of the one is at most some value of
// the other, in both directions.
//
//===----------------------------------------------------------------------===//

#include "../Prove.h"
#include "llvm/ADT/STLExtras.h"
#include <numeric>

using namespace espalier::substitution;

/// More pieces than these are not compared.
static constexpr size_t kMaxPieces = 24;
static constexpr unsigned kMaxNesting = 8;
/// Orders of more variables than these are not tried.
static constexpr unsigned kMaxPermuted = 3;

static bool isMaximum(const Atom &atom) {
  return atom.kind == Atom::Kind::Relu || atom.kind == Atom::Kind::Max;
}

static bool hasKind(const Atom &atom, Atom::Kind kind) {
  return atom.kind == kind || llvm::any_of(atom.args, [&](const Sum &sum) {
           return llvm::any_of(sum, [&](const Term &term) {
             return llvm::any_of(term.factors, [&](const Atom &inner) {
               return hasKind(inner, kind);
             });
           });
         });
}

/// How deep relu is nested.
static unsigned getDepth(const Atom &atom) {
  unsigned depth = 0;
  for (const Sum &arg : atom.args)
    for (const Term &term : arg)
      for (const Atom &inner : term.factors)
        depth = std::max(depth, getDepth(inner));
  return depth + (atom.kind == Atom::Kind::Relu);
}

/// Which factor is a maximum that the others, not negative, can be moved into.
static std::optional<unsigned> getMaximum(const Term &term) {
  if (!term.bound.empty() || !term.constraints.empty() || !term.bases.empty() ||
      term.coefficient.poisoned)
    return std::nullopt;
  for (auto [number, atom] : llvm::enumerate(term.factors)) {
    if (!isMaximum(atom))
      continue;
    Term others = term;
    others.coefficient = Rational::get(1);
    others.factors.erase(others.factors.begin() + number);
    if (isNonnegative({others}))
      return number;
  }
  return std::nullopt;
}

/// A condition inside of a maximum that mentions none but outer variables and
/// those of the maximum.
static std::optional<Constraint> findCondition(const Sum &sum) {
  for (const Term &term : sum)
    for (const Constraint &constraint : term.constraints)
      if (!constraint.expr.isPoisoned() && term.bases.empty() &&
          !constraint.expr.any(
              [&](Var var) { return llvm::is_contained(term.bound, var); }))
        return constraint;
  return std::nullopt;
}

Sum Prover::cancel(Sum sum, const Assumed &assumed) {
  for (unsigned i = 0; i < sum.size(); ++i)
    for (unsigned j = i + 1; j < sum.size(); ++j) {
      bool mayCancel = (sum[i].coefficient + sum[j].coefficient).isZero() &&
                       sum[i].factors.size() == sum[j].factors.size();
      if (!mayCancel || !isZeroByMatching({sum[i], sum[j]}, assumed))
        continue;
      sum.erase(sum.begin() + j);
      sum.erase(sum.begin() + i--);
      break;
    }
  return sum;
}

bool Prover::addPieces(Sum sum, const Points &points, const Assumed &assumed,
                       unsigned nesting, std::vector<Piece> &pieces) {
  if (!budget.check() || nesting > kMaxNesting || pieces.size() > kMaxPieces)
    return false;
  for (Term &term : sum)
    freshen(term, nextVar);
  sum = cancel(std::move(sum), assumed);
  // What relu adds may cancel with other maxima, so it comes first, and before
  // it the one that has it inside.
  std::optional<unsigned> position, factor;
  unsigned deepest = 0;
  for (auto [number, term] : llvm::enumerate(sum)) {
    std::optional<unsigned> maximum =
        term.coefficient.isPositive() ? getMaximum(term) : std::nullopt;
    if (!maximum)
      continue;
    const Atom &atom = term.factors[*maximum];
    unsigned depth = atom.kind == Atom::Kind::Relu ? getDepth(atom) : 0;
    if (factor && depth <= deepest)
      continue;
    factor = maximum;
    position = number;
    deepest = depth;
  }
  if (!factor) {
    pieces.push_back({points, std::move(sum)});
    return true;
  }
  Term term = sum[*position];
  Atom atom = term.factors[*factor];
  term.factors.erase(term.factors.begin() + *factor);
  sum.erase(sum.begin() + *position);
  Sum inner = multiply({term}, atom.args[0]);
  if (atom.kind == Atom::Kind::Relu)
    return addPieces(sum, points, assumed, nesting + 1, pieces) &&
           addPieces(add(sum, std::move(inner)), points, assumed, nesting + 1,
                     pieces);
  if (!isNeverEmpty(atom.bound, atom.constraints, assumed))
    return false;
  Points within = points;
  llvm::append_range(within.bound, atom.bound);
  llvm::append_range(within.constraints, atom.constraints);
  return addCells(std::move(inner), std::move(sum), within,
                  assumed.with(atom.constraints), nesting + 1, pieces);
}

bool Prover::addCells(Sum inner, Sum rest, const Points &points,
                      const Assumed &assumed, unsigned nesting,
                      std::vector<Piece> &pieces) {
  if (!budget.check() || pieces.size() > kMaxPieces)
    return false;
  simplify(inner, assumed);
  std::optional<Constraint> condition = findCondition(inner);
  if (!condition)
    return addPieces(add(std::move(rest), std::move(inner)), points, assumed,
                     nesting, pieces);
  Constraints options{*condition};
  llvm::append_range(options, negate(*condition));
  return llvm::all_of(options, [&](const Constraint &option) {
    if (assumed.isImpossible(option))
      return true;
    Points cell = points;
    cell.constraints.push_back(option);
    return addCells(inner, rest, cell, assumed.with(option), nesting, pieces);
  });
}

//===----------------------------------------------------------------------===//
// Comparison
//===----------------------------------------------------------------------===//

/// The first element of a variable that a term reads, and the term.
static std::pair<const Term *, const Atom *> findRead(const Sum &sum,
                                                      unsigned leaf) {
  for (const Term &term : sum)
    for (const Atom &atom : term.factors)
      if (atom.kind == Atom::Kind::Read && atom.leaf == leaf)
        return {&term, &atom};
  return {};
}

/// Equations that may say which point of `other` has a value like one of
/// `piece`: those of elements that both read, orders of the variables, none.
static std::vector<Constraints> listPartners(const Piece &piece,
                                             const Piece &other) {
  std::vector<Constraints> partners;
  for (const Term &term : piece.value)
    for (const Atom &atom : term.factors) {
      if (atom.kind != Atom::Kind::Read)
        continue;
      auto [user, read] = findRead(other.value, atom.leaf);
      if (!read)
        continue;
      // Over what a term sums is its own.
      auto isSummed = [](const Linear &index, const Term &within) {
        return index.any(
            [&](Var var) { return llvm::is_contained(within.bound, var); });
      };
      Constraints equations;
      for (auto [lhs, rhs] : llvm::zip_equal(atom.indices, read->indices))
        if (!isSummed(lhs, term) && !isSummed(rhs, *user))
          equations.push_back(Constraint::equal(lhs, rhs));
      if (!equations.empty())
        partners.push_back(equations);
    }
  const auto &ours = piece.points.bound, &theirs = other.points.bound;
  if (!ours.empty() && ours.size() == theirs.size() &&
      ours.size() <= kMaxPermuted) {
    llvm::SmallVector<unsigned, 4> order(ours.size());
    std::iota(order.begin(), order.end(), 0);
    do {
      Constraints equations;
      for (auto [number, var] : llvm::enumerate(ours))
        equations.push_back(Constraint::equal(
            Linear::var(var), Linear::var(theirs[order[number]])));
      partners.push_back(equations);
    } while (std::next_permutation(order.begin(), order.end()));
  }
  partners.emplace_back();
  return partners;
}

bool Prover::isNotNegative(Sum sum, const Assumed &assumed) {
  for (Term &term : sum)
    freshen(term, nextVar);
  simplify(sum, assumed);
  sum = cancel(std::move(sum), assumed);
  return isNonnegative(sum) || isZeroByMatching(sum, assumed);
}

bool Prover::isBelow(const Piece &piece, llvm::ArrayRef<Piece> others,
                     const Assumed &assumed) {
  Assumed inside = assumed.with(piece.points.constraints);
  std::vector<Points> partners;
  for (const Piece &other : others) {
    Sum difference = add(other.value, scale(piece.value, Rational::get(-1)));
    for (const Constraints &equations : listPartners(piece, other)) {
      Points points = other.points;
      llvm::append_range(points.constraints, equations);
      Assumed at = inside.with(points.constraints);
      if (at.isImpossible() || !isNotNegative(difference, at))
        continue;
      partners.push_back(std::move(points));
      if (isCovered(piece.points.constraints, partners, assumed))
        return true;
    }
  }
  return false;
}

bool Prover::isZeroByMaxima(const Sum &sum, const Assumed &assumed) {
  // Maxima with negative coefficients are those of the other side.
  Sum sides[2];
  bool hasMaximum = false;
  for (const Term &term : sum) {
    if (term.coefficient.poisoned)
      return false;
    bool isTaken = getMaximum(term).has_value();
    hasMaximum |= llvm::any_of(term.factors, [](const Atom &atom) {
      return hasKind(atom, Atom::Kind::Max);
    });
    bool isRight = isTaken && !term.coefficient.isPositive();
    Term moved = term;
    if (isRight)
      moved.coefficient = -moved.coefficient;
    sides[isRight].push_back(std::move(moved));
  }
  // Where all are relu, scalar arithmetic decides.
  if (!hasMaximum)
    return false;
  std::vector<Piece> pieces[2];
  for (unsigned side : {0, 1})
    if (!addPieces(sides[side], {}, assumed, 0, pieces[side]))
      return false;
  for (unsigned side : {0, 1})
    for (const Piece &piece : pieces[side])
      if (!isBelow(piece, pieces[1 - side], assumed))
        return false;
  return true;
}

bool Prover::isElement(const Sum &maximum, const Sum &value,
                       const Assumed &assumed) {
  std::vector<Piece> pieces;
  return addPieces(maximum, {}, assumed, 0, pieces) &&
         isBelow({{}, value}, pieces, assumed);
}
