//===- PairSet.h - Pairs of points ------------------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_PAIRSET_H
#define ESPALIER_LIB_POLYHEDRAL_PAIRSET_H

#include "Isl.h"
#include "Paths.h"
#include "Question.h"
#include "espalier/Polyhedral/ReadValues.h"

namespace espalier::polyhedral {

/// Pairs of points of two statements, as a convex set over the dimensions of
/// the first (the source), then of the second (the sink), then of values.
class PairSet {
public:
  /// All pairs of points with so many dimensions. Behind those are `values`,
  /// which outlive the set.
  PairSet(const Context &context, const Program &program, unsigned numSource,
          unsigned numSink, const ReadValues *values = nullptr);
  /// All pairs of points on two paths, but for their domains.
  PairSet(const Context &context, const Program &program, const Path &source,
          const Path &sink, const ReadValues *values = nullptr);

  /// The value of `there` at the sink minus that of `here` at the source.
  mlir::AffineExpr getDifference(mlir::AffineExpr here,
                                 mlir::AffineExpr there) const;
  /// `expr`, over the dimensions and values of one of the points, over all
  /// dimensions.
  mlir::AffineExpr at(mlir::AffineExpr expr, bool isSink) const;
  /// Requires the two maps to agree, where both are affine.
  void addEqual(mlir::AffineMap here, mlir::AffineMap there);
  /// Restricts both points to sets of their domains.
  void addDomains(mlir::IntegerSet source, mlir::IntegerSet sink);

  /// Adds `expr` == 0 or `expr` >= 0, if it is affine.
  void add(mlir::AffineExpr expr, bool isEquality);
  /// Adds the constraints of `set`, on the dimensions from `offset` on. What is
  /// not affine makes the set unknown.
  void add(mlir::IntegerSet set, unsigned offset);
  PairSet with(mlir::AffineExpr expr, bool isEquality) const {
    addPending();
    PairSet result = *this;
    result.add(expr, isEquality);
    return result;
  }

  /// Empty, not empty, or unknown.
  std::optional<bool> isEmpty() const;
  /// Rewrites `expr` by the equalities that hold in the set.
  mlir::AffineExpr simplify(mlir::AffineExpr expr);
  /// Parameters and dimensions of a small point.
  std::optional<llvm::SmallVector<int64_t>> sample() const;
  /// The values of `here` at the source and `there` at the sink, for all pairs;
  /// null if they are not affine.
  Map toPairs(mlir::AffineMap here, mlir::AffineMap there) const;
  bool isAffine(mlir::AffineExpr expr) const {
    return isl::isAffine(expr, program.numParams);
  }

  /// Whether the linear constraints have no solution in rational numbers, which
  /// takes a fraction of the time and settles most cases.
  bool isEmptyForRationals() const;

private:
  void detectEqualities();
  /// Brings `points` up to date. Most sets are never asked for.
  void addPending() const;

  const Context &context;
  const Program &program;
  const ReadValues *values;
  unsigned numSource;
  unsigned numDims; ///< Of both, and of values.
  isl::Space space;
  mutable isl::BasicSet points; ///< Without what is pending.
  mutable llvm::SmallVector<isl::Constraint> pending;
  /// All that were added.
  llvm::SmallVector<isl::Constraint> constraints;
  /// For each dimension its value in terms of others; filled on demand.
  std::optional<llvm::SmallVector<mlir::AffineExpr>> substitution;
};
} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_PAIRSET_H
