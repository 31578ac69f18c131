//===- Prove.h - Decides whether a sum of products is zero ------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_PROVE_H
#define ESPALIER_LIB_SUBSTITUTION_PROVE_H

#include "Expand.h"

namespace espalier::substitution {

/// Some of the values of a maximum: `value` at all points.
struct Piece {
  Points points;
  Sum value;
};

/// Lists of equations that may say at which points `other` is about the same
/// elements as `sum`. The first has all of them, in order.
std::vector<Constraints> equateReads(const Sum &sum, const Sum &other);

/// Solves linear equations for variables, by those with unit coefficients, and
/// leaves the others. Returns the solutions in an order in which they can be
/// substituted.
llvm::SmallVector<std::pair<Var, Linear>>
solve(Constraints &equations, llvm::SmallVectorImpl<Var> &unknowns);
/// Simplifies equations, and leaves those out that hold for sure. Nothing if
/// one of them does not hold.
std::optional<Constraints> simplifyEquations(const Constraints &equations,
                                             const ConstraintStore &facts);

/// Demands on what products are made of, which say the same together.
std::vector<Demand> splitDemands(std::vector<Demand> demands);

/// Proves that sums are zero. An answer of false means nothing.
class Prover {
public:
  Prover(const Sizes &sizes, Var &nextVar, Budget &budget)
      : sizes(sizes), nextVar(nextVar), budget(budget) {}

  /// Whether the sum is certainly zero wherever `assumed` holds.
  bool isZero(Sum sum, const Assumed &assumed);

  /// Whether a demand is certainly met where all of `given` are, and those of
  /// the functions inside of it.
  bool isMet(const Demand &demand, llvm::ArrayRef<Demand> given,
             const Assumed &assumed);

private:
  /// By one of `given` at each point.
  bool isMetBySource(const Demand &demand, llvm::ArrayRef<Demand> given,
                     const Assumed &assumed);

  /// A term in the variables of its bucket: its domain there, and facts that
  /// hold on that domain.
  struct Member {
    Rational coefficient;
    Constraints domain, facts;
  };
  /// Terms that were brought to the bound variables of one of them.
  struct Bucket {
    Term representative;
    std::vector<Member> members;
  };
  using Image = Member;

  bool isZeroWithin(Sum sum, const Assumed &assumed);
  bool isZeroByMatching(const Sum &sum, const Assumed &assumed);
  bool assign(const Sum &sum, unsigned number, std::vector<Bucket> &buckets,
              const Assumed &assumed);
  /// Two members have the same domain and opposite coefficients.
  bool areOpposite(const Member &lhs, const Member &rhs,
                   const Assumed &assumed);
  /// The members add up to nothing everywhere.
  bool cancels(std::vector<Member> members, const Assumed &assumed,
               unsigned level);

  /// Expresses `term` in the bound variables of `into`, such that each summand
  /// becomes an equal one and no two the same.
  std::optional<Image> unify(const Term &into, const Term &term,
                             const Assumed &assumed);
  /// The same, with factor k of `into` for factor `pairing[k]` of `term`.
  std::optional<Image> unifyFactors(const Term &into, const Term &term,
                                    llvm::ArrayRef<unsigned> pairing,
                                    const Assumed &assumed);
  /// The same, where indices are equal; variables that they do not mention are
  /// paired in some order.
  std::optional<Image> unifyInOrder(const Term &into, const Term &term,
                                    llvm::ArrayRef<unsigned> pairing,
                                    const Constraints &equations,
                                    const Assumed &assumed);
  std::optional<Image> unifyBy(const Term &into, Term term,
                               llvm::ArrayRef<unsigned> pairing,
                               Constraints equations, const Assumed &assumed);
  /// The same where indices are mixed, as in a sum over 4 a + b for one over c.
  std::optional<Image> unifyByRelation(const Term &into, const Term &term,
                                       llvm::ArrayRef<unsigned> pairing,
                                       const Constraints &equations,
                                       const Assumed &assumed);
  /// The points of `into` that `pairs` relates to points of `term`.
  std::optional<Image> getImage(const Term &into, const Term &term,
                                const Constraints &pairs,
                                const Assumed &assumed);
  /// Names the bases of `term` that are certainly equal to some of `into`, or
  /// differ by a known shift, as these; removes them, and keeps their facts.
  llvm::SmallVector<std::pair<Var, Linear>> linkBases(const Term &into,
                                                      Term &term,
                                                      Constraints &facts,
                                                      const Assumed &assumed);
  bool areEqual(const Atom &lhs, const Atom &rhs, const Assumed &assumed);
  bool areEqualMaxima(const Atom &lhs, const Atom &rhs, const Assumed &assumed);
  bool haveEqualImages(const Atom &lhs, const Atom &rhs,
                       const Assumed &assumed);

  /// Sums over the same points, as one sum.
  bool isZeroBySummands(Sum sum, const Assumed &assumed);
  bool isZeroByMaxima(const Sum &sum, const Assumed &assumed);
  /// Appends the pieces whose maximum, at some points, is a sum. False if there
  /// are too many, or a maximum may be over nothing.
  bool addPieces(Sum sum, const Points &points, const Assumed &assumed,
                 unsigned nesting, std::vector<Piece> &pieces);
  /// The same for `rest` and `inner`, whose conditions are decided first.
  bool addCells(Sum inner, Sum rest, const Points &points,
                const Assumed &assumed, unsigned nesting,
                std::vector<Piece> &pieces);
  /// Whether each value of a piece is at most some value of others.
  bool isBelow(const Piece &piece, llvm::ArrayRef<Piece> others,
               const Assumed &assumed);
  bool isNotNegative(Sum sum, const Assumed &assumed);
  /// Whether a value is certainly at most a maximum.
  bool isElement(const Sum &maximum, const Sum &value, const Assumed &assumed);
  /// Without terms that certainly cancel.
  Sum cancel(Sum sum, const Assumed &assumed);

  const Sizes &sizes;
  Var &nextVar;
  Budget &budget;
  unsigned depth = 0;
  /// Whether what is compared are pieces of maxima: simple means must do.
  bool comparesMaxima = false;
};

/// Whether scalar arithmetic alone makes the sum zero, whatever its elements
/// are; by Z3. `isSame` tells of sums whether they are certainly equal, and
/// `isElement` whether the second is certainly at most the first, a maximum.
bool isZeroByScalars(
    const Sum &sum, llvm::function_ref<bool(const Sum &, const Sum &)> isSame,
    llvm::function_ref<bool(const Sum &, const Sum &)> isElement,
    Budget &budget, const Assumed &assumed);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_PROVE_H
