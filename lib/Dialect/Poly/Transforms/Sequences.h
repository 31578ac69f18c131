//===- Sequences.h - What runs one after the other --------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_SEQUENCES_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_SEQUENCES_H

#include "ScheduleTree.h"

namespace espalier::poly {

/// Two filters of one sequence.
struct Parts {
  FilterOp first, second;
};

/// Finds the outermost sequence that runs two computations in different parts,
/// and these. Where one has several, the nearest are taken.
llvm::Expected<Parts> findParts(ComputeOp first, ComputeOp second);

/// The set of a filter for its computation number `number`; all points if it
/// has none.
mlir::IntegerSet getSet(FilterOp filter, unsigned number);

/// A tree for some of the points of a band.
struct Version {
  /// The points, for each computation of the band.
  llvm::SmallVector<mlir::IntegerSet> sets;
  /// What is added to the names of its loops, `i.peel` for `i`; empty to keep
  /// them, which one version may.
  std::string name;
};

/// Replaces `band`, with the tree below it, by a sequence of `versions`, of
/// which each point has to be in one; returns their filters.
llvm::SmallVector<FilterOp> createVersions(BandOp band,
                                           llvm::ArrayRef<Version> versions);

/// Puts the filters of sequences that are alone in a filter of `sequence` into
/// this, and removes it if it has one filter, which passes all.
void simplify(SequenceOp sequence);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_SEQUENCES_H
