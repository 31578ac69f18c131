//===- PlanChooser.h - The plan of one component ----------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_PLANCHOOSER_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_PLANCHOOSER_H

#include "../Plan/TiledComponent.h"
#include "RegisterTile.h"
#include "espalier/Dialect/Poly/IR/Target.h"

namespace espalier::poly {

/// Rows of a tile where data says how many there are, at most: there is code
/// for each number of them. They are taken to be few.
inline constexpr int64_t kMaxLimitedRows = 6;

/// What choosing the plans of a kernel has come to.
struct Choices {
  TargetAttr target;
  bool fuse; ///< Whether computations may share loops.
  std::vector<Plan> plans;
  /// Arrays that some plan keeps for one tile.
  llvm::SmallDenseSet<mlir::Value> kept;
};

/// The loops around a component that are there already.
struct OuterLoops {
  unsigned count = 0; ///< The first shared dimensions.
  bool areParallel = false;
  /// Whether something inside of them is parallel in each iteration of a
  /// recurrence. Then everything is that can be, so that threads are woken once
  /// and not in each iteration.
  bool haveThreads = false;
};

/// Chooses the plan of a component, and those of the groups inside.
class PlanChooser : public TiledComponent {
public:
  PlanChooser(KernelOp kernel, llvm::ArrayRef<ComputeShape> shapes,
              const Component &component, Choices &choices,
              OuterLoops outer = {});

  void run();

private:
  /// Chooses the shared loops and, inside, each group as a component of its
  /// own.
  void runGroups(llvm::ArrayRef<Component> groups);
  /// Whether loops that are not there already have to run in order.
  bool isSequential() const {
    return llvm::is_contained(
        llvm::drop_begin(component.sequential, plan.numInside), true);
  }
  /// Whether some computation leaves out points along a shared dimension, other
  /// than behind a number that data says.
  bool isCut(unsigned dim) const {
    return llvm::any_of(computes, [&](unsigned i) {
      return shapes[i].restricted[dim] ||
             shapes[i].begins[dim] != getBegin(dim);
    });
  }
  bool isRestricted(unsigned dim) const { return isCut(dim) || isLimited(dim); }
  /// Whether a tile has several rows.
  bool hasRows() const {
    return llvm::any_of(llvm::seq(0u, plan.numShared),
                        [&](unsigned dim) { return getRows(dim) > 1; });
  }

  // Lanes and register tile (ChooseLanes.cpp).
  int64_t countBroadcastVectors(const ComputeShape &reduction) const;
  /// Whether neighbours along `rows` read the same scalars at other taps.
  bool sharesScalars(const ComputeShape &reduction,
                     llvm::ArrayRef<unsigned> rows) const;
  int64_t getRowBytes(const ComputeShape &compute, unsigned dim) const;
  int64_t scoreVectorDim(const ComputeShape &compute, unsigned dim) const;
  /// Whether maps compute functions other than roots.
  bool hasFunctions() const;
  void chooseVectorDim();
  void chooseTile();
  /// How many results of other computations, at each point, wait for the end of
  /// a sum with a window.
  int64_t countOthers() const;
  void chooseSquare();
  /// What all vectors of the lines that a tile reads come to.
  int64_t countLineBytes() const;
  /// Halves the tile's rows along `row` if only then the lines that it reads
  /// stay in the first-level cache until the last vector of them has passed:
  /// the hardware fetches a line together with the next ones.
  void keepLines(unsigned row);
  void chooseRowVectors();
  /// The loop of a sum whose next steps read the vectors that the neighbours
  /// along `row` read now, and how it slides over them.
  std::optional<std::pair<unsigned, Slide>>
  findSlide(const ComputeShape &compute, unsigned row) const;
  /// The taps that decide which terms of a row lie in a border, and how its
  /// neighbours along `row` share what they read.
  Slide getWrittenTaps(const ComputeShape &compute, unsigned row) const;
  llvm::SmallVector<unsigned> getOwnOrder(const ComputeShape &compute) const;
  /// Whether a loop over `dim` has so few steps that it is written out.
  bool isFewSteps(const ComputeShape &compute, unsigned dim) const;
  /// The dimension of `own` that serves best as lanes, if any does.
  std::optional<unsigned> chooseOwnVector(const ComputeShape &compute,
                                          llvm::ArrayRef<unsigned> own) const;
  void chooseOwnLoops();

  // Order of the loops (LoopOrder.cpp).
  /// Bytes that a reduction reads: of one panel, of how many, and beside them.
  struct PassBytes {
    int64_t panel = 0, numPanels = 0, rows = 0;
  };
  /// Nothing if that is not known.
  std::optional<PassBytes> getPassBytes() const;
  /// Whether one thread reads the panel from memory that is far away.
  bool isPanelStreamed() const;
  /// Whether each step of a tile in few registers has time to fetch a part of
  /// the next panel: one that is a piece of memory and passes in one long loop,
  /// or that is far, one of more than what a core can expect the cache that all
  /// share to hold.
  bool mayFetchPanels() const;
  /// Whether all that the sum reads depends on `dim`.
  bool isBatch(unsigned dim) const;
  /// How many of the loops over rows should be around the loop over panels, so
  /// that least is read from far away.
  unsigned countRowsAroundPanels(llvm::ArrayRef<unsigned> rows) const;
  /// Whether parts of lines, or of pages, that a tile stores would leave the
  /// cache while the loops over `inside` pass one panel, before the next panel
  /// stores what is beside them, although all panels stay there.
  bool storesFarRows(llvm::ArrayRef<unsigned> inside) const;
  /// Whether panels stay in the cache, but the rows that pass one of them, in
  /// the loops inside of `around`, would leave it before the next panel wants
  /// them.
  bool leavesCache(llvm::ArrayRef<unsigned> around) const;
  /// Whether a sum reads elements of its own in each lane, so that tiles of
  /// rows take all vectors of a line.
  bool passesLines() const;
  /// Orders the loops of a map as its result lies in memory, if that is known.
  void orderAsStored(llvm::SmallVectorImpl<unsigned> &order) const;
  /// Orders the loops of sums without lanes so that an operand which alone does
  /// not stay in the second-level cache is read once, if that is known.
  void orderFarFirst(llvm::SmallVectorImpl<unsigned> &order) const;
  llvm::SmallVector<unsigned> getLoopOrder() const;
  /// Cuts a long sum into parts if what one panel and its rows take does not
  /// fit the second-level cache: all rows pass one part after the other.
  void cutSum();
  /// The same for few rows that pass a matrix with long rows: blocks of columns
  /// pass a part, so that several panels use a page. Whether it did.
  bool cutThinSum();
  /// Lets each tile of rows, of which there is code for each number, pass some
  /// panels one after the other: with few rows, their sums are computed side by
  /// side.
  void chooseNeighbours();
  /// The part of a sum over entries in blocks that its last loop is, if all
  /// rows are to pass one block before the next.
  const Part *findBlockOfEntries() const;

  // Products of a matrix that is better read row by row (GemvByRows.cpp).
  bool isGemvByRows() const;
  /// The rows of such a matrix that are read side by side.
  int64_t getRowsAtOnce() const;
  /// The columns of such a matrix that one thread reads.
  int64_t getChunk() const;
  void chooseGemvByRows();

  // What remains (ChoosePlan.cpp).
  /// Whether the last of a sum's own loops is written out: its body, a window,
  /// is short and has another address for each of its points.
  bool isUnrolled(const ComputeShape &compute, unsigned dim) const;
  /// Whether all loops of a sum inside of a tile are written out. LLVM moves
  /// what it reads out of the next loop then: rather vectors than scalars, each
  /// of which would become a vector on the stack.
  bool isWrittenOut(unsigned position) const;
  bool isParallelWorthwhile() const;
  /// Whether there is so much to do that threads are woken for it.
  bool hasParallelWork() const;
  /// Whether the loop over panels is around tiles and rests alike, so that each
  /// panel is read once for all of them.
  bool isPanelAroundRest() const;
  void chooseParallelLoops();
  /// What is fetched ahead: nothing, if nothing is far away.
  void chooseFetch();
  bool chooseFetchOfWindow();
  /// Whether a tile has so many results, or but one row.
  bool hasRoom(int64_t results) const;
  bool chooseFetchOfPanel();
  /// The bytes of the rows that pass one panel before the next.
  int64_t countPassedBytes() const;
  bool chooseFetchOfRows();
  /// Fetches rows that all pass again for the next panel, from beyond the
  /// caches of a core, and lie too far apart for the processor to foresee.
  bool chooseFetchOfColumns();
  bool chooseFetchOfNumberedRows();
  bool chooseFetchOfCopies();
  /// Whether the results of a tile are fetched before they are written: if all
  /// together have left the cache by then.
  bool areResultsFar() const;
  /// Multiply-adds of vectors in a tile of a sum without loops of its own.
  int64_t countTileProducts() const;
  void chooseKept(Plan &chosen);

  const Component &component;
  Choices &choices;
  TargetAttr target;
  OuterLoops outer;
  std::optional<unsigned> reduction;
  /// The loop of the reduction along which the tile's rows slide.
  std::optional<unsigned> sliding;
  /// The loop of the reduction that is written out in tiles at a border.
  std::optional<unsigned> borderTap;
};

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_PLANCHOOSER_H
