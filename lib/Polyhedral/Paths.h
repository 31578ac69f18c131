//===- Paths.h - Statements by their way through the tree -------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_PATHS_H
#define ESPALIER_LIB_POLYHEDRAL_PATHS_H

#include "espalier/Polyhedral/Schedule.h"

namespace espalier::polyhedral {

/// One coordinate of a statement's place in the schedule: a loop of a band, or
/// a position in a sequence.
struct Level {
  const ScheduleNode *node;
  unsigned position;     ///< Loop, or child of the sequence.
  mlir::AffineExpr expr; ///< Band: the coordinate as a function of the point.

  bool isBand() const { return node->kind == ScheduleNode::Kind::Band; }
  const BandMember &getMember() const { return node->members[position]; }
  bool isParallel() const {
    return isBand() && getMember().concurrency == Concurrency::Parallel;
  }
  bool isLanes() const {
    return isBand() && getMember().concurrency == Concurrency::Lanes;
  }
};

/// The points of a statement that reach one leaf of the tree.
struct Path {
  unsigned statement;
  llvm::SmallVector<mlir::IntegerSet> filters; ///< All of them hold.
  llvm::SmallVector<Level> levels;             ///< Outermost first.
};

/// All paths through the tree (null: a leaf).
std::vector<Path> getPaths(const Program &program, const ScheduleNode *root);

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_PATHS_H
