//===- ConstraintStore.h - What is known of sizes and indices ---*- C++ -*-===//
//
// A conjunction of linear facts. Equalities are solved where a variable can be
// isolated, so that what is equal looks equal; the rest goes to isl.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_CONSTRAINTSTORE_H
#define ESPALIER_LIB_SUBSTITUTION_CONSTRAINTSTORE_H

#include "Linear.h"
#include "espalier/Polyhedral/Set.h"
#include "llvm/ADT/DenseMap.h"
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace espalier::substitution {

/// The values of variables that satisfy constraints, which may mention others.
struct Points {
  llvm::SmallVector<Var, 4> bound;
  Constraints constraints;
};

/// What answers questions about integer points.
struct Integers {
  polyhedral::Context isl;
  /// What asks Z3 about real numbers; it takes long to make.
  mutable std::shared_ptr<void> reals;
  /// Its answers so far, by questions.
  mutable std::map<std::string, bool> knownReals;
  /// Answers so far, by constraints up to the names of variables. The same are
  /// asked again and again while assumptions are tried.
  mutable std::map<std::vector<int64_t>, bool> known;
};

/// The points of `vars`, in that order, that satisfy the constraints, which
/// mention no others. Null if a number does not fit.
polyhedral::Set makeSet(const Integers &integers, llvm::ArrayRef<Var> vars,
                        llvm::ArrayRef<Constraint> constraints);

/// The variables of constraints, ascending.
llvm::SmallVector<Var> getVars(llvm::ArrayRef<Constraint> constraints);

/// Those of `facts` that are connected to `query` by shared variables: if the
/// others can be satisfied, these decide whether the whole can.
llvm::SmallVector<Constraint, 16>
getConnected(llvm::ArrayRef<Constraint> facts,
             llvm::ArrayRef<Constraint> query);

class ConstraintStore {
public:
  explicit ConstraintStore(const Integers &integers) : integers(&integers) {}

  void add(Constraint constraint);
  void add(llvm::ArrayRef<Constraint> constraints) {
    for (const Constraint &constraint : constraints)
      add(constraint);
  }
  void addEqual(const Linear &lhs, const Linear &rhs) {
    add(Constraint::equal(lhs, rhs));
  }

  /// `expr` in terms of variables that are not isolated.
  Linear simplify(const Linear &expr) const;
  Constraint simplify(const Constraint &constraint) const {
    return {simplify(constraint.expr), constraint.isEquality};
  }

  /// Whether it is certain that nothing satisfies the facts and `more`.
  bool isImpossible(llvm::ArrayRef<Constraint> more = {}) const;
  /// Whether it is certain that the constraint follows.
  bool implies(const Constraint &constraint) const;
  bool areEqual(const Linear &lhs, const Linear &rhs) const {
    return implies(Constraint::equal(lhs, rhs));
  }

  /// The facts that are not solved equalities.
  llvm::ArrayRef<Constraint> getRest() const { return rest; }
  /// All facts, solved equalities included.
  Constraints getAll() const;
  const Integers &getIntegers() const { return *integers; }

private:
  const Integers *integers;
  llvm::DenseMap<Var, Linear> solved;
  Constraints rest;
  bool contradictory = false;
};

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_CONSTRAINTSTORE_H
