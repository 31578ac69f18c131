//===- NestDistances.h - Distances along a band's loops ---------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_NESTDISTANCES_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_NESTDISTANCES_H

#include "ScheduleTree.h"

namespace espalier::poly {

/// How far apart, along the loops of one band, the points are that these loops
/// have to order: those in dependence that nothing above the band orders.
class NestDistances {
public:
  static llvm::Expected<NestDistances> compute(BandOp band);

  /// Keeps dependences between some computations only.
  void
  keep(llvm::function_ref<bool(llvm::StringRef source, llvm::StringRef sink)>
           condition);
  /// Forgets those that join the updates of a reduction.
  void dropReductions();
  /// Keeps distances at which `expr`, over the loops, is zero.
  void restrictToZero(mlir::AffineExpr expr);

  /// The least distance along a loop; nothing if there is none, or unknown.
  std::optional<int64_t> getMin(unsigned loop) const;
  /// Whether `expr`, over the loops, is at least `bound` at all distances.
  bool isAtLeast(mlir::AffineExpr expr, int64_t bound) const;

private:
  struct Entry {
    llvm::StringRef source, sink;
    bool isReduction;
    polyhedral::Set distances;
  };

  NestDistances(BandOp band);
  /// The distances at which `expr` is zero, or not negative.
  polyhedral::Set getSet(mlir::AffineExpr expr, bool isEquality) const;

  polyhedral::Context context;
  unsigned numLoops, numParams;
  llvm::SmallVector<Entry> entries;
};

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_NESTDISTANCES_H
