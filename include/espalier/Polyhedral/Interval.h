//===- Interval.h - What values an expression takes on a box ----*- C++ -*-===//
//
// Of a loop over a box the least and the greatest value are a matter of form,
// and need no integer programming.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_POLYHEDRAL_INTERVAL_H
#define ESPALIER_POLYHEDRAL_INTERVAL_H

#include "mlir/IR/IntegerSet.h"
#include <limits>
#include <optional>

namespace espalier::polyhedral {

/// Values from `least` to `most`, both of which are taken, or without an end.
struct Interval {
  static constexpr int64_t kNoLeast = std::numeric_limits<int64_t>::min();
  static constexpr int64_t kNoMost = std::numeric_limits<int64_t>::max();

  bool isClosed() const { return least != kNoLeast && most != kNoMost; }

  int64_t least = 0, most = 0;
  /// Whether every number between them is taken, too.
  bool isDense = true;
};

/// The intervals of the dimensions of `set`, if it is a box that is not empty
/// and has constant bounds in all of them. Nothing if its form does not show
/// that.
std::optional<llvm::SmallVector<Interval>> readBox(mlir::IntegerSet set);
/// The same of the points of `set` for all symbols that are not negative; what
/// grows with these is no end.
std::optional<llvm::SmallVector<Interval>>
readBoxOfAllSizes(mlir::IntegerSet set);

/// The values of `expr` on a box, exactly. Nothing if the form of `expr` does
/// not show them: symbols, a dimension that is used twice, the remainder of
/// values with gaps, numbers beyond 64 bits.
std::optional<Interval> getInterval(mlir::AffineExpr expr,
                                    llvm::ArrayRef<Interval> box);

} // namespace espalier::polyhedral

#endif // ESPALIER_POLYHEDRAL_INTERVAL_H
