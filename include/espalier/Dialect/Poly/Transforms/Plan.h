//===- Plan.h - A schedule as a few decisions -------------------*- C++ -*-===//
//
// Most good schedules of a kernel have one form: tile loops that computations
// share; in each tile one computation after the other, its own loops around the
// points of the tile, which are written out; another tile for what is left of
// an extent; results that stay in registers meanwhile. A plan says which loops
// and how large a tile, `applyPlan` writes the tree. What the compiler does by
// itself is a list of plans (`chooseSchedule`).
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMS_PLAN_H
#define ESPALIER_DIALECT_POLY_TRANSFORMS_PLAN_H

#include "espalier/Dialect/Poly/Transforms/Commands.h"

namespace espalier::poly {

/// The loops of one computation inside those that are shared, around the points
/// of a tile.
struct OwnLoops {
  /// Dimensions after the shared ones and those of the window, outermost first.
  llvm::SmallVector<unsigned> order;
  /// The one whose elements are lanes, if the shared ones have none; and how
  /// many vectors of it are side by side, inside the loops that follow it.
  std::optional<unsigned> lanes;
  int64_t vectors = 1;
  /// The one that is written out.
  std::optional<unsigned> unrolled;
};

/// How computations that share loops run. Shared dimensions are the first ones
/// of each, so that one number means the same in all.
struct Plan {
  /// In the order in which they run.
  llvm::SmallVector<std::string> computations;
  unsigned numInside =
      0; ///< Loops over the first dimensions are there already.
  unsigned numShared = 0;
  /// The dimensions after the shared ones that are a window: few points, whose
  /// results are in registers side by side.
  unsigned numWindow = 0;

  /// The loops over tiles, outermost first. That of `block` may be there twice:
  /// over blocks, and over the tiles of one.
  llvm::SmallVector<unsigned> loops;
  unsigned numParallel = 0; ///< The first loops, run by different threads.
  unsigned numAroundRest =
      0; ///< The first loops, around tiles and rests alike.
  /// Points of a tile along each shared dimension.
  llvm::SmallVector<int64_t> tile;
  std::optional<unsigned> lanes; ///< The shared dimension that is lanes.
  int64_t width = 1;             ///< Lanes of a vector.
  std::optional<unsigned> block;
  int64_t blockSize = 0;

  /// Loops over tiles that are inside the part of a sum which has at most this
  /// many terms; none if the sum is not cut.
  llvm::SmallVector<unsigned> insideSum;
  int64_t terms = 0;
  bool unrollTerms = false;

  /// One for each computation.
  llvm::SmallVector<OwnLoops> own;
  /// Computations whose results in local arrays are kept for one tile.
  llvm::SmallVector<std::string> kept;

  /// What the sum with the most loops fetches in each of its steps, for
  /// `ahead` terms, tiles or iterations on.
  Fetch fetch = Fetch::None;
  int64_t ahead = 1;
  /// Whether a tile, when its sums start, fetches what it will write of the
  /// kernel's arguments.
  bool fetchResults = false;
};

/// Writes the tree of a plan in place of what runs its computations; checked
/// like any command. `compute` is its first computation.
llvm::Error applyPlan(ComputeTarget compute, const Plan &plan);

/// Fails if a plan does not fit the computations of `kernel`: whether a
/// dependence would be broken is not looked at.
llvm::Error checkPlan(KernelOp kernel, const Plan &plan);

/// The plans that make a good schedule of a kernel in program order, to be
/// applied in this order, for the target. For kernels that are not elementwise
/// functions and reductions over boxes they may be refused. Without `fuse`, no
/// computations share loops but those that the program runs around them, and
/// what starts a sum with it.
std::vector<Plan> chooseSchedule(KernelOp kernel, TargetAttr target,
                                 bool fuse = true);

/// The same; none if they would be refused.
std::vector<Plan> chooseLegalSchedule(KernelOp kernel, TargetAttr target);

/// Whether a kernel has no schedule, or that of its program order.
bool hasProgramOrder(KernelOp kernel);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMS_PLAN_H
