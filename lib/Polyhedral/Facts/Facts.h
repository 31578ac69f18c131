//===- Facts.h - What is known of data --------------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_FACTS_H
#define ESPALIER_LIB_POLYHEDRAL_FACTS_H

#include "../AccessPairs.h"

namespace espalier::polyhedral {

/// A union of sets of pairs of points; of each, the constraints `expr` >= 0,
/// over the dimensions of the source, then of the sink.
using PairCases = llvm::SmallVector<llvm::SmallVector<mlir::AffineExpr>>;

/// Sets that hold all pairs of points of `pair` that touch the same element and
/// run, by what is stated of values in arrays: how large they are, and how they
/// are ordered. At least one; without constraints, if nothing is known.
PairCases getPairCases(const Program &program, const AccessPair &pair);

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_FACTS_H
