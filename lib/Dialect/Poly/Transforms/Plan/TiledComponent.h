//===- TiledComponent.h - A plan and what it is for -------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_TILEDCOMPONENT_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_TILEDCOMPONENT_H

#include "../KernelShape.h"
#include "espalier/Dialect/Poly/Transforms/Plan.h"

namespace espalier::poly {

/// Points of one shared dimension that are tiled alike: from `begin` to `end`
/// in tiles of `size`, counted from `begin`.
struct IndexRange {
  mlir::AffineExpr begin; ///< Null: from 0.
  mlir::AffineExpr end;   ///< Null: the whole dimension.
  int64_t size;
  bool isOneTile = false; ///< Of just these points.
};

/// Neighbours in a column that are as far apart are on different pages.
inline constexpr int64_t kPageBytes = 1 << 12;
/// Processors foresee reads that are as regular, but no farther apart.
inline constexpr int64_t kUnforeseenBytes = 1 << 11;

/// The steps of a sum over a window, whose panel has no gaps.
struct WindowSteps {
  int64_t taps;           ///< Of the innermost loop.
  int64_t numSteps;       ///< Of all loops.
  mlir::AffineExpr outer; ///< Counts those of the loops around the taps.
};

/// What rows that are fetched ahead come to.
struct RowFetch {
  Prefetch prefetch;
  int64_t bytes; ///< Of the rows that are new in one pass of the panels.
  bool fillsPages = true; ///< Whether each row is on a page, without gaps.
};

/// What one computation fetches in each step of its own loops.
struct StepFetches {
  unsigned position = 0;
  llvm::SmallVector<Prefetch> prefetches;
};

/// Where the parts of a sum begin: one of its own loops, by its number, of
/// which each part has `terms` points. The loops inside pass completely in a
/// part.
struct PartLoop {
  unsigned number;
  int64_t terms;
};

/// The memory of a local array that is kept for one tile.
struct TileStorage {
  mlir::AffineMap map;
  mlir::MemRefType type;
  MemorySpaceAttrInterface placement;
};

/// Computations of a kernel that share loops, and the plan for them: what
/// choosing it and carrying it out both look at.
class TiledComponent {
public:
  TiledComponent(KernelOp kernel, llvm::ArrayRef<ComputeShape> shapes,
                 llvm::ArrayRef<unsigned> computes, Plan plan)
      : kernel(kernel), context(kernel.getContext()), shapes(shapes),
        computes(computes), plan(std::move(plan)) {}

  const ComputeShape &shape(unsigned position) const {
    return shapes[computes[position]];
  }
  /// The extent of a shared dimension, if all computations agree in it.
  mlir::AffineExpr getSharedBound(unsigned dim) const;
  std::optional<int64_t> getSharedExtent(unsigned dim) const;
  /// Whether data ends a shared dimension: a tile has as many rows as there
  /// are.
  bool isLimited(unsigned dim) const {
    return llvm::any_of(computes,
                        [&](unsigned i) { return shapes[i].limited[dim]; });
  }
  /// The number from which lanes along a shared dimension are counted: where
  /// all computations begin, unless tiles of rows are to fit together.
  int64_t getBegin(unsigned dim) const;
  /// The sum with the most loops of its own: its position.
  std::optional<unsigned> findReduction() const;
  /// The first of a computation's own loops: after the shared ones, and after
  /// those over a window.
  unsigned getFirstOwn(const ComputeShape &compute) const {
    return plan.numShared +
           (compute.getNumDims() > plan.numShared ? plan.numWindow : 0);
  }
  /// Rows of a tile along a dimension: 1 along that of the lanes.
  int64_t getRows(unsigned dim) const {
    return plan.lanes == dim ? 1 : plan.tile[dim];
  }
  /// Whether the main reduction reads elements a few apart along the lanes.
  bool hasStridedLanes() const;
  /// Whether a tile of maps has several vectors.
  bool isSquare() const {
    return !findReduction() &&
           llvm::any_of(llvm::seq(0u, plan.numShared),
                        [&](unsigned dim) { return getRows(dim) > 1; });
  }
  /// Vectors of a tile side by side.
  int64_t getVectors() const {
    return plan.lanes ? plan.tile[*plan.lanes] / plan.width : 1;
  }
  /// The read of a reduction whose elements are lanes and not computed by this
  /// kernel: the panel of a product. Its number among the reads.
  std::optional<unsigned> getPanel(const ComputeShape &compute) const;
  /// Whether the last tile of a sum has as many rows as are left, of an extent
  /// that is not known: there is code for each number.
  bool hasRowVersions(unsigned dim) const;
  /// The loop of the main reduction that, with the position along `dim`,
  /// decides which terms are left out, if nothing else does and the dimension
  /// is short: terms of a window that lie in a border. Tiles along it have code
  /// of their own then, in which that is decided for each point.
  std::optional<unsigned> findBorderTap(unsigned dim) const;
  /// The parts into which whole tiles cut a shared dimension.
  llvm::SmallVector<IndexRange> getIndexRanges(unsigned dim) const;
  /// All loops over tiles, outermost first.
  llvm::SmallVector<unsigned> getTileOrder() const {
    llvm::SmallVector<unsigned> order = plan.loops;
    order.append(plan.insideSum);
    return order;
  }

  /// The loop of the computation at `position`, which has some of its own, that
  /// parts of at most `terms` terms cut.
  PartLoop getPartLoop(unsigned position, llvm::ArrayRef<unsigned> order,
                       int64_t terms) const;

  /// Whether a map runs over the rows and vectors of a tile in loops: there is
  /// code for each number of rows where data says how many there are, and what
  /// computes functions such as `exp`, written out for each vector, is long and
  /// leaves no registers.
  bool hasTileLoops(unsigned position) const;

  /// The memory for one tile of a local array that `write` makes; nothing if
  /// others use it, or iterations would share it.
  std::optional<TileStorage> findStorage(const ComputeAccess &write) const;
  /// The first writes of arrays, and the positions of their computations.
  llvm::SmallVector<std::pair<unsigned, const ComputeAccess *>>
  getFirstWrites() const;

  /// What is fetched by `plan.fetch`: no prefetches if that is not known.
  StepFetches findFetches() const;
  /// The computation that starts the sums of a tile, and the arguments that the
  /// tile writes from then on, in rows of so many columns along its lanes: no
  /// prefetches if there are none.
  StepFetches findResults(int64_t columns) const;
  /// The number of tiles of rows that pass a panel, and what counts them;
  /// nothing if that is not known.
  std::optional<std::pair<int64_t, mlir::AffineExpr>> countRowTiles() const;
  std::optional<RowFetch> findRowPrefetch() const;
  /// The steps of the sum, if the innermost ones are few and the place of the
  /// panel's next row is that of the next step; nothing otherwise.
  std::optional<WindowSteps> findWindowSteps() const;

protected:
  /// What the sum fetches; nothing if that is not known.
  std::optional<Prefetch> findPrefetch() const;
  /// What a map without sums reads along its lanes of rows whose numbers are
  /// read, such as those of an image that is resized: the hardware does not see
  /// which are next.
  StepFetches findNumberedRows() const;
  /// What the next pass of the panels reads, if that is a piece of memory: each
  /// step fetches its share.
  std::optional<RowFetch> findSharePrefetch() const;
  /// What a window reads of the rows that are next, at the same place of each:
  /// they lie on a page for each term.
  std::optional<RowFetch> findWindowPrefetch() const;
  /// What the next tile reads of rows that lie along it, on a page for each
  /// term: the hardware does not see that they are read next.
  std::optional<RowFetch> findColumnPrefetch() const;
  /// What copies beside the sum, in the loops around both, will read of rows
  /// that lie on several pages: each tile fetches its share. Only if all steps
  /// of the sum are written out, so that the place is found once.
  std::optional<RowFetch> findCopiedRows() const;
  /// What a copy beside the sum will read for the next panel, in the loops
  /// around both: each step fetches its share.
  std::optional<Prefetch> findCopiedPanel() const;
  /// The number of a tile in the loops over them, and how many there are; null
  /// if that is not known.
  std::pair<mlir::AffineExpr, int64_t> countTiles() const;
  /// Whether other computations of the kernel use `array` too.
  bool isShared(mlir::Value array) const;
  /// Whether some elements of an array are not written in every iteration.
  bool isPartlyWritten(mlir::Value array) const;
  /// Whether the tile of `array`, of so many elements, can be in registers from
  /// its first write to its last use: everything that uses it is written out,
  /// and no other sum takes the registers meanwhile.
  bool fitsRegisters(mlir::Value array, int64_t elements) const;
  /// Whether data says the same of the shared loops in all computations.
  bool haveSameConditions() const;
  std::optional<Prefetch> findPanelPrefetch() const;
  std::optional<Prefetch> findCopyPrefetch() const;
  Prefetch getPrefetchOf(const ComputeShape &reader, unsigned read,
                         llvm::ArrayRef<mlir::AffineExpr> at,
                         int64_t bytes) const;
  /// The copy of an argument that made the element which `read` has at a point,
  /// and the point that made it; nothing if there is no such copy.
  std::optional<
      std::pair<const ComputeShape *, llvm::SmallVector<mlir::AffineExpr>>>
  findCopy(const ComputeAccess &read) const;
  /// The point itself, as the place of a prefetch.
  llvm::SmallVector<mlir::AffineExpr> getPoint(const ComputeShape &shape) const;

  mutable KernelOp kernel;
  mlir::MLIRContext *context;
  llvm::ArrayRef<ComputeShape> shapes; ///< Of all of the kernel.
  llvm::SmallVector<unsigned> computes;
  Plan plan;
};

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_TILEDCOMPONENT_H
