//===- Expand.h - Expands a rule's outputs by definitions -------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_EXPAND_H
#define ESPALIER_LIB_SUBSTITUTION_EXPAND_H

#include "NormalForm.h"
#include "Typing.h"

namespace espalier::substitution {

/// Quotients below this are told apart.
constexpr int64_t kMaxMultiples = 4;
/// Parameters have smaller numbers.
constexpr Var kFirstIndex = 1u << 20;

/// What must hold of a value at some points, so that a function of it is a
/// number. Variables beside sizes stand for each of their values that satisfies
/// the conditions.
struct Demand {
  enum class Kind { NotZero, NotNegative, Positive } kind;
  Sum value;
  Constraints conditions;
};

/// Expands instances at symbolic indices. Knows the constructs of definitions,
/// and no operator.
class Expander {
public:
  /// The sizes of one case; they may grow.
  Expander(const Instances &instances, Sizes &sizes, Budget &budget)
      : instances(instances), sizes(sizes), budget(budget) {}

  /// The element of an instance at `indices`, which are known to lie inside of
  /// it. Empty after a failure, of which `getError` tells.
  Sum expand(unsigned instance, llvm::ArrayRef<Linear> indices,
             const Assumed &assumed);
  const std::string &getError() const { return error; }
  /// What the elements that were read since the last call ask for to be
  /// numbers.
  std::vector<Demand> takeDemands() { return std::exchange(demands, {}); }
  /// The values of floor(..) that have a name: variables that no one chooses.
  llvm::ArrayRef<Var> getBaseVars() const { return baseVars; }
  Var makeVar() { return nextVar++; }
  Var &getNextVar() { return nextVar; }

private:
  /// What evaluating an index leaves behind: variables that it determines.
  struct Pending {
    llvm::SmallVector<Var, 2> bound;
    Constraints constraints;
    llvm::SmallVector<Base, 1> bases;
    void attachTo(Sum &sum) const;
  };
  struct Scope {
    explicit Scope(const Instance &instance) : instance(instance) {}
    const Instance &instance;
    llvm::DenseMap<definition::VarId, Linear> vars;
  };
  using Expr = definition::Expr;

  Sum expandStep(const Instance &instance, unsigned step,
                 llvm::ArrayRef<Linear> indices, const Assumed &assumed);
  Sum evaluate(Expr expr, const Scope &scope, const Assumed &assumed);
  Sum evaluateAccess(Expr expr, const Scope &scope, const Assumed &assumed);
  Sum evaluateApply(Expr expr, const Scope &scope, const Assumed &assumed);
  Sum evaluateSelect(Expr expr, const Scope &scope, const Assumed &assumed);
  Sum evaluateReduce(Expr expr, const Scope &scope, const Assumed &assumed);

  std::optional<Linear> evaluateIndex(Expr expr, const Scope &scope,
                                      const Assumed &assumed, Pending &pending);
  /// floor(value / size) * scale.
  std::optional<Linear> makeBase(const Linear &value, const Linear &size,
                                 const Linear &scale, const Assumed &assumed,
                                 Pending &pending);
  /// Disjoint conjunctions that together say `condition` (or its opposite).
  std::optional<std::vector<Constraints>>
  evaluateCondition(Expr condition, bool isTrue, const Scope &scope,
                    const Assumed &assumed, Pending &pending);
  std::optional<std::vector<Constraints>> compare(Expr condition, bool isTrue,
                                                  const Scope &scope,
                                                  const Assumed &assumed,
                                                  Pending &pending);

  Sum fail(const llvm::Twine &reason);
  /// Notes what a function asks of its argument. Returns false if that is not
  /// known.
  bool demand(definition::ScalarFn fn, const Sum &argument,
              const Assumed &assumed);
  /// Evaluates where the condition holds and where it does not.
  Sum distinguish(const Constraint &condition, const Assumed &assumed,
                  llvm::function_ref<Sum(const Assumed &)> evaluate);

  const Instances &instances;
  Sizes &sizes;
  Budget &budget;
  /// A condition that would decide a quotient.
  std::optional<Constraint> undecided;
  Var nextVar = kFirstIndex;
  std::vector<Demand> demands;
  llvm::SmallVector<Var, 4> baseVars;
  std::string error;
};

/// Facts about floor(argument / size) * scale that are linear: P = v * size and
/// Q = v * scale bound it by Q where P bounds the argument.
Constraints getBaseFacts(const Base &base, const Sizes &sizes,
                         const Assumed &assumed);
/// For size == scale: argument - base is a remainder.
Constraints getRemainderFacts(const Base &base);
/// Pairs v * size, v * scale.
llvm::SmallVector<std::pair<Linear, Linear>>
getShifts(const Linear &size, const Linear &scale, const Sizes &sizes);

/// Replaces bound variables that equalities determine. Returns false if the
/// constraints cannot hold, and leaves them as they are.
bool eliminateDetermined(Term &term, const ConstraintStore &facts);

/// Whether it is certain that wherever `points` hold, some of the pieces has a
/// point.
bool isCovered(llvm::ArrayRef<Constraint> points, llvm::ArrayRef<Points> pieces,
               const Assumed &assumed);
/// Whether it is certain that there is always a point.
bool isNeverEmpty(llvm::ArrayRef<Var> bound, const Constraints &constraints,
                  const Assumed &assumed);

/// Simplifies terms under what is assumed, and drops those over nothing. With
/// `thorough`, looks for variables that have one value only.
void simplify(Sum &sum, const Assumed &assumed, bool thorough = false);

/// Whether a sum is certainly not negative, by the signs of its terms.
bool isNonnegative(const Sum &sum);
/// Whether it is certainly more than 0, by these.
bool isPositive(const Sum &sum, const Assumed &assumed);

/// Calls `visit` with what a sum is in the parts where all of its conditions on
/// outer variables are decided.
void forEachCell(Sum sum, const Assumed &assumed,
                 llvm::function_ref<void(Sum, const Assumed &)> visit);

/// Takes out a positive number, the same for multiples of one sum.
Rational takeScale(Sum &sum);
/// 1 / inner, where inner is not 0.
Sum makeReciprocal(Sum inner);
/// relu(inner), max(inner) and other functions, brought to a form in which the
/// conditions on outer variables stand outside.
Sum makeRelu(Sum inner, const Assumed &assumed);
Sum makeMax(llvm::ArrayRef<Var> bound, const Constraints &constraints,
            Sum inner, const Assumed &assumed);
Sum makeFunction(definition::ScalarFn fn, std::vector<Sum> args,
                 const Assumed &assumed);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_EXPAND_H
