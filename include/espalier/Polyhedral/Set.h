//===- Set.h - Integer sets and relations -----------------------*- C++ -*-===//
//
// Sets and relations of integer points with parameters, over isl. Values are
// cheap to copy and must not outlive their context. An operation that fails, or
// exceeds the context's limits, yields a null object; operations on null
// objects yield null; questions about them have no answer. `Context::getError`
// then says why.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_POLYHEDRAL_SET_H
#define ESPALIER_POLYHEDRAL_SET_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/SmallVector.h"
#include <memory>
#include <optional>
#include <string>

struct isl_ctx;
struct isl_set;
struct isl_map;

namespace espalier::polyhedral {

/// How much work questions may take. A question is what one method of a set or
/// a map asks, or one function on a program.
struct Limits {
  /// isl's count of elementary operations: some millions per second, but ten
  /// thousand where numbers grow, as in nests of large moduli. Zero means no
  /// limit.
  unsigned long maxOperations = 25'000;
  /// Whether each question may take as much. A context that has left a few
  /// without an answer then answers none any more. If not, it is what all may
  /// take together, from one `restart` to the next.
  bool isPerQuestion = true;
};

/// Owns what sets and relations are made of, and outlives them. To be used by
/// one thread at a time.
class Context {
public:
  explicit Context(const Limits &limits = {});

  isl_ctx *get() const;
  /// Why the last operation failed; empty if none did.
  std::string getError() const;
  /// Forgets errors, and the operations counted so far. With `maxOperations`,
  /// that is the limit from now on.
  void restart(unsigned long maxOperations = 0) const;

  /// Which systems of constraints, over expressions of one MLIRContext, are
  /// known to be empty, or not: commands and checks ask the same of many pairs.
  struct Answers;
  Answers &getAnswers() const { return *answers; }

private:
  std::shared_ptr<isl_ctx> ctx;
  std::shared_ptr<Answers> answers;
};

/// `coefficients` . dimensions + `constant` == 0, or >= 0.
struct LinearConstraint {
  llvm::SmallVector<int64_t> coefficients;
  int64_t constant = 0;
  bool isEquality = false;
};

/// A set of integer points with parameters.
class Set {
public:
  Set() = default;
  explicit Set(isl_set *owned);

  /// The union of `sets`, all with `numDims` dimensions. Their symbols are the
  /// parameters. Null if a constraint is not affine.
  static Set getUnion(const Context &context, unsigned numDims,
                      unsigned numParams,
                      llvm::ArrayRef<mlir::IntegerSet> sets);
  static Set get(const Context &context, mlir::IntegerSet set) {
    return getUnion(context, set.getNumDims(), set.getNumSymbols(), set);
  }
  /// The points of `numDims` dimensions, without parameters, that satisfy all
  /// constraints.
  static Set get(const Context &context, unsigned numDims,
                 llvm::ArrayRef<LinearConstraint> constraints);
  /// Parses isl's notation, such as `[n] -> { [i] : 0 <= i < n }`.
  static Set parse(const Context &context, llvm::StringRef text);

  explicit operator bool() const { return set != nullptr; }
  isl_set *get() const { return set.get(); }

  std::optional<bool> isEmpty() const;
  std::optional<bool> isSubset(const Set &other) const;
  std::optional<bool> isEqual(const Set &other) const;
  Set intersect(const Set &other) const;
  Set unite(const Set &other) const;
  Set subtract(const Set &other) const;
  /// What is left of the points without `count` dimensions from `first` on.
  Set project(unsigned first, unsigned count) const;
  /// Inserts unconstrained dimensions before `first`.
  Set insertDims(unsigned first, unsigned count) const;
  /// A set that agrees with this one on `context`, with fewer constraints.
  Set gist(const Set &context) const;
  /// The equalities that all points satisfy; of sets without parameters.
  /// Nothing if it takes numbers beyond 64 bits.
  std::optional<llvm::SmallVector<LinearConstraint>> getEqualities() const;
  /// The constraints, if one conjunction of them without further variables is
  /// the set; of sets without parameters.
  std::optional<llvm::SmallVector<LinearConstraint>> getConstraints() const;
  /// The least point in lexicographic order, for each value of the parameters.
  Set lexMin() const;
  /// For parameters that are nonnegative only.
  Set assumeNonnegativeParameters() const;
  /// The same set in pieces that have no points in common.
  Set makeDisjoint() const;
  /// The same set in fewer pieces, without what follows from parameters that
  /// are nonnegative.
  Set simplify() const;
  /// Sets whose union this is, with the parameters as symbols. Nothing if that
  /// takes numbers beyond 64 bits.
  std::optional<llvm::SmallVector<mlir::IntegerSet>>
  toIntegerSets(mlir::MLIRContext *context) const;
  /// Parameters, then dimensions of some point; nothing if empty or unknown.
  std::optional<llvm::SmallVector<int64_t>> samplePoint() const;
  /// The least and the largest value of a dimension, over all values of the
  /// parameters; nothing if there is none, or unknown.
  std::optional<int64_t> getMin(unsigned dim) const;
  std::optional<int64_t> getMax(unsigned dim) const;
  /// Whether there are finitely many points for each value of the parameters.
  std::optional<bool> isBounded() const;
  /// The condition on the dimensions, which have these names, in isl's
  /// notation; of sets without parameters.
  std::string getCondition(llvm::ArrayRef<std::string> names) const;
  std::string str() const;

private:
  std::shared_ptr<isl_set> set;
};

/// A relation between integer points, with parameters.
class Map {
public:
  Map() = default;
  explicit Map(isl_map *owned);

  /// What the map does with symbols beyond the parameters and with expressions
  /// that are not affine.
  enum class Inexact {
    Reject, ///< The result is null.
    Any,    ///< They take any value.
  };
  static Map get(const Context &context, unsigned numParams,
                 mlir::AffineMap map, Inexact inexact = Inexact::Reject);
  /// The relation between the first `numIn` dimensions of `pairs` and the rest.
  static Map get(const Set &pairs, unsigned numIn);
  /// Parses isl's notation.
  static Map parse(const Context &context, llvm::StringRef text);

  explicit operator bool() const { return map != nullptr; }
  isl_map *get() const { return map.get(); }

  std::optional<bool> isEmpty() const;
  std::optional<bool> isSubset(const Map &other) const;
  std::optional<bool> isEqual(const Map &other) const;
  std::optional<bool> isSingleValued() const;
  std::optional<bool> isInjective() const;
  Map intersect(const Map &other) const;
  Map intersectDomain(const Set &domain) const;
  Map intersectRange(const Set &range) const;
  Map unite(const Map &other) const;
  Map subtract(const Map &other) const;
  Map inverse() const;
  /// First this, then `other`.
  Map compose(const Map &other) const;
  Set apply(const Set &domain) const;
  Set domain() const;
  Set range() const;
  /// The differences range - domain.
  Set deltas() const;
  /// The least image of each point in lexicographic order, for each value of
  /// the parameters.
  Map lexMin() const;
  /// The pairs, as points with the dimensions of both.
  Set toSet() const;
  /// The affine function that maps each point of the domain to its only image,
  /// with the parameters as symbols. Nothing if no single one does.
  std::optional<mlir::AffineMap> toAffineMap(mlir::MLIRContext *context) const;
  /// The least or the largest value of a dimension of the range, as a function
  /// of the domain's dimensions and the parameters; null if it takes several
  /// cases to say it, or if there is none.
  mlir::AffineExpr getMin(unsigned dim, mlir::MLIRContext *context) const;
  mlir::AffineExpr getMax(unsigned dim, mlir::MLIRContext *context) const;
  std::string str() const;

private:
  std::shared_ptr<isl_map> map;
};

} // namespace espalier::polyhedral

#endif // ESPALIER_POLYHEDRAL_SET_H
