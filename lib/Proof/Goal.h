//===- Goal.h - What is left to prove, and steps that prove it --*- C++ -*-===//
//
// A goal says that a sum is zero wherever integers fulfil conditions and other
// sums are zero or not negative. Each step here replaces a goal by others from
// which it follows; what a step needs to be sound, it asks Z3.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_PROOF_GOAL_H
#define ESPALIER_LIB_PROOF_GOAL_H

#include "Solver.h"
#include "Sum.h"

namespace espalier::proof {

/// A sum that is 0, or at least 0.
struct Fact {
  Sum sum;
  bool isEquality;
};

/// That `sum` is zero.
struct Goal {
  std::vector<Clause> given;
  std::vector<Fact> facts;
  Sum sum;
  unsigned next = 0; ///< New variables are v`next`, ...

  /// Adds what is given, unless it is already.
  void give(const Clause &clause);
  Goal with(const Conditions &more) const;
};

/// What a demand asks for, at any of its points: `sum` is what it is about.
Goal pose(const std::vector<Clause> &given, Demand demand);

/// Term `term` is a part of what term `into` adds up: a map of points whose
/// inverse is another, along which factors are equal.
struct Merge {
  unsigned term = 0, into = 0;
  std::vector<unsigned> pairing; ///< Of the factors of `into`.
  std::vector<Index> to;         ///< The variables of `into`.
  std::vector<Index> from;       ///< Those of `term`.
};

/// The part of a term that another one is.
struct Member {
  Fraction coefficient;
  Conditions domain; ///< In the variables of the other one.
};

/// What scalar arithmetic knows only by name: elements, maxima, whole sums.
using Units = std::vector<Sum>;

class Steps {
public:
  explicit Steps(Solver &solver) : solver(solver) {}

  /// Brings sums to a simple form: bound variables that an equation determines
  /// are replaced, terms over nothing and conditions that hold are dropped.
  void simplify(Goal &goal);

  /// The goals where a condition holds, and where it does not.
  std::vector<Goal> distinguish(const Goal &goal, const Condition &condition);

  /// One term as several, over the points that fulfil a condition and those
  /// that do not. False if there is no such term.
  bool split(Goal &goal, unsigned term, const Condition &condition);

  /// One term as several, one for each value, from `least` to `most`, that a
  /// variable of it has. False if it may have others.
  bool expand(Goal &goal, unsigned term, unsigned variable, int64_t least,
              int64_t most);

  /// In a term, replaces factors of which one is 1 over the other by 1, and two
  /// roots by what they are of. What has to be shown for it: that `equal` is
  /// zero, and that there is what `defined` asks for.
  bool cancelFactors(Goal &goal, unsigned term, unsigned first, unsigned second,
                     Goal &equal, Goal &defined, Demand::Kind &kind);

  /// Gives an integer a name, v`next`. False if it is made of what is bound.
  bool name(Goal &goal, const Index &value);
  /// Replaces a variable by what is equal, in what is given too. False if that
  /// is not so.
  bool replace(Goal &goal, const Index &variable, const Index &value);

  /// Replaces what is not linear in an index by what is equal. False if that is
  /// not so.
  bool rewrite(Goal &goal, const Index &part, const Index &value);

  /// The member that a merge makes, and goals: that opaque factors are equal.
  std::optional<Member> merge(const Goal &goal, const Merge &merge,
                              std::vector<Goal> &goals);
  /// Terms become one sum over the points of term `base`, to which maps lead
  /// from theirs, and `inner` is that its summands are zero at each.
  bool gather(Goal &goal, unsigned base, const std::vector<Merge> &maps,
              Goal &inner);
  /// The member that a term is of itself.
  static Member getMember(const Term &term);
  /// Whether coefficients of members add up to 0 everywhere.
  bool cancel(const Goal &goal, const std::vector<Member> &members);

  /// Units of the sum and of all facts, those that are equal only once.
  static Units getUnits(const Goal &goal);
  /// A maximum is the value at some point, which gets a name. False if it may
  /// be over nothing, or is no maximum.
  bool attain(Goal &goal, const Sum &unit);
  /// A maximum is at least its value at a point that fulfils the conditions,
  /// which gets a name. False if there may be no such point.
  bool compare(Goal &goal, const Sum &unit, const Conditions &conditions);
  /// The goal that two units are equal.
  static Goal equate(const Goal &goal, const Sum &lhs, const Sum &rhs);
  /// Whether scalar arithmetic shows the goal, where units are equal that have
  /// one number.
  bool decide(const Goal &goal, const Units &units,
              const std::vector<unsigned> &numbers);

  /// Whether the sum of a goal that was posed is not 0, not negative or
  /// positive by signs; or a maximum over something.
  bool hasSign(Goal goal, Demand::Kind kind);
  /// Whether what is asked for follows from the other demand, at a point that
  /// `map` says, if the goal holds: that the one is a multiple of the other.
  bool meet(Goal &goal, Demand::Kind kind, const Demand &other,
            const Fraction &factor, const std::vector<Index> &map);
  /// Adds what a demand of `src` says at a point.
  bool use(Goal &goal, const Demand &demand, const std::vector<Index> &map);

  /// Whether conditions cannot hold, or one of them must.
  bool isImpossible(const std::vector<Clause> &given,
                    const Conditions &conditions);
  bool implies(const std::vector<Clause> &given, const Conditions &conditions,
               const Condition &conclusion);
  bool implyAll(const std::vector<Clause> &given, const Conditions &conditions,
                const Conditions &conclusions);

private:
  /// What a demand is about at a point that `map` says; nothing if that may be
  /// none of its points.
  std::optional<Sum> getAt(Goal &goal, Demand demand,
                           const std::vector<Index> &map);
  /// Whether there are points.
  bool hasPoints(const std::vector<Clause> &given, const Names &bound,
                 const Conditions &conditions);
  void simplify(Sum &sum, const std::vector<Clause> &given,
                const Conditions &outer);
  Sum simplifyTerm(Term term, const std::vector<Clause> &given,
                   const Conditions &outer);
  void simplifyAtom(Atom &atom, const std::vector<Clause> &given,
                    const Conditions &outer);

  Solver &solver;
};

/// Whether an index of a proof mentions only variables that `own` binds, or
/// nothing in the goal, and none that is still to come: nothing is captured.
bool isClear(const Goal &goal, const Names &own, const Index &index);

/// Replaces bound variables that an equation determines; false if there are no
/// points.
bool eliminate(Atom &atom);
bool eliminate(Term &term);
bool isNonnegative(const Sum &sum);

/// exp(a) * exp(b) is exp(a + b); false if there was nothing to do.
bool mergeExponentials(Term &term);
/// Takes factors out of a sum that all its terms have, exponentials in part.
std::vector<Atom> takeCommon(Sum &sum,
                             llvm::function_ref<bool(const Atom &)> mayTake);
/// Divides by a positive number, so that equal multiples look alike.
Fraction takeScale(Sum &sum);
/// 1 / sum, factor by factor; 1 / 0 is 0.
Sum invert(Sum sum);

/// What holds of all integers, and is not linear:
/// `(quotient A B K)`: floor(A / B) is K if K * B <= A < (K + 1) * B, B >= 1;
/// `(product X Y)`: X * Y is at least 0 if X and Y are.
/// Nothing if the list is no such.
std::optional<Clause> getLemma(const SExpr &list);
/// The first of these.
Clause getQuotientLemma(const Index &a, const Index &b, const Index &k);

/// The maximum that a unit is, or null.
const Atom *getMaximum(const Sum &unit);

} // namespace espalier::proof

#endif // ESPALIER_LIB_PROOF_GOAL_H
