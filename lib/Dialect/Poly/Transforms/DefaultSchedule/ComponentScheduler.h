//===- ComponentScheduler.h - The schedule of one component -----*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_COMPONENTSCHEDULER_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_COMPONENTSCHEDULER_H

#include "../KernelShape.h"
#include "RegisterTile.h"
#include "Segments.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/Transforms/Commands.h"
#include "mlir/IR/Builders.h"

namespace espalier::poly {

/// Neighbours in a column that are as far apart are on different pages.
inline constexpr int64_t kPageBytes = 1 << 12;

/// The loops around a component that are there already.
struct OuterLoops {
  unsigned count = 0; ///< The first shared dimensions.
  bool areParallel = false;
};

/// The dimensions of a band of one computation, outermost first.
struct Loops {
  llvm::SmallVector<mlir::AffineExpr> results;
  llvm::SmallVector<LoopAttr> kinds;

  void add(mlir::AffineExpr result, LoopAttr kind) {
    results.push_back(result);
    kinds.push_back(kind);
  }
};

/// Chooses lanes, register tile and storage for the computations of a component
/// (DefaultSchedule.cpp), and writes the tree (EmitSchedule.cpp).
class ComponentScheduler {
public:
  ComponentScheduler(KernelOp kernel, llvm::ArrayRef<ComputeShape> shapes,
                     const Component &component, TargetAttr target,
                     mlir::OpBuilder &builder, OuterLoops outer = {})
      : kernel(kernel), shapes(shapes), component(component), builder(builder),
        context(kernel.getContext()), target(target), outer(outer),
        numShared(component.sharedDims) {}

  void run();

private:
  /// Writes the shared loops and, inside, each group as a component of its own.
  void runGroups(llvm::ArrayRef<Component> groups);
  const ComputeShape &shape(unsigned position) const {
    return shapes[component.computes[position]];
  }
  std::optional<int64_t> getSharedExtent(unsigned dim) const;
  mlir::AffineExpr getSharedBound(unsigned dim) const;
  /// Whether some computation leaves out points along a shared dimension.
  bool isRestricted(unsigned dim) const {
    return llvm::any_of(component.computes,
                        [&](unsigned i) { return shapes[i].restricted[dim]; });
  }
  /// The reduction whose result deserves a register tile: the one with the
  /// most work.
  std::optional<unsigned> findReduction() const;
  bool readsBroadcast(const ComputeShape &reduction) const;
  int64_t getRowBytes(const ComputeShape &compute, unsigned dim) const;
  void chooseVectorDim();
  void chooseTile();
  /// Cuts a long sum into parts if what one panel and its rows take does not
  /// fit the second-level cache: all rows pass one part after the other.
  void cutSum();
  /// The same for few rows that pass a matrix with long rows: blocks of columns
  /// pass a part, so that several panels use a page. Whether it did.
  bool cutThinSum();
  /// Whether other components use `array` too.
  bool isShared(mlir::Value array) const;
  void placeArrays();
  int64_t scoreVectorDim(const ComputeShape &compute, unsigned dim,
                         int64_t lanes) const;
  llvm::SmallVector<Segment> getSegments(unsigned dim) const;
  void emitSegments();
  /// The dimension of the terms, if the component is the product of a vector
  /// and a matrix that is better read row by row (StreamRows.cpp).
  std::optional<unsigned> findStreamedRows() const;
  /// The columns of such a matrix that one thread reads.
  int64_t getChunk() const;
  void emitStreamedRows(unsigned term);
  void emitTree(llvm::ArrayRef<Segment> segments);
  /// Writes the loops over tiles along `order` of all computations.
  void emitTileLoops(llvm::ArrayRef<unsigned> order,
                     llvm::ArrayRef<Segment> segments, bool parallel);
  /// Writes the loop over panels above the parts of the rows, so that each
  /// panel is read once for all of them.
  void emitPanelLoop(llvm::ArrayRef<llvm::SmallVector<Segment>> segments);
  void emitCompute(unsigned position, llvm::ArrayRef<Segment> segments);
  /// The dimension of `own` that serves best as lanes, if any does.
  std::optional<unsigned> chooseOwnVector(const ComputeShape &compute,
                                          llvm::ArrayRef<unsigned> own) const;
  /// The point along `dim`, counted from the segment's begin.
  mlir::AffineExpr getOffset(unsigned dim, const Segment &segment) const;
  /// Adds the loops over the parts of a sum, the rows and the terms of a part.
  void addPartLoops(llvm::ArrayRef<unsigned> own,
                    llvm::ArrayRef<Segment> segments, Loops &loops);
  /// Adds the loops of a computation inside the shared ones.
  void addOwnLoops(const ComputeShape &compute, llvm::ArrayRef<unsigned> own,
                   Loops &loops);
  llvm::SmallVector<unsigned> getLoopOrder() const;
  /// Bytes that a reduction reads: of one panel, of how many, and beside them.
  struct PassBytes {
    int64_t panel = 0, numPanels = 0, rows = 0;
  };
  /// Nothing if that is not known.
  std::optional<PassBytes> getPassBytes() const;
  /// How many of the loops over rows should be around the loop over panels, so
  /// that least is read from far away.
  unsigned countRowsAroundPanels(llvm::ArrayRef<unsigned> rows) const;
  /// The first of a computation's own loops: after the shared ones, and after
  /// those over a window.
  unsigned getFirstOwn(const ComputeShape &compute) const {
    return numShared +
           (compute.getNumDims() > numShared ? component.numWindow : 0);
  }
  llvm::SmallVector<unsigned> getOwnOrder(const ComputeShape &compute) const;
  /// Whether the last of a sum's own loops is written out: its body, a window,
  /// is short and has another address for each of its points.
  bool isUnrolled(const ComputeShape &compute, unsigned dim) const;
  LoopAttr getLoop(LoopKind kind) { return LoopAttr::get(context, kind); }
  void emitBand(llvm::ArrayRef<unsigned> positions,
                llvm::ArrayRef<llvm::SmallVector<mlir::AffineExpr>> results,
                llvm::ArrayRef<LoopAttr> loops);
  bool isParallelWorthwhile() const;
  /// The read of a reduction whose elements are lanes and not computed by this
  /// kernel: the panel of a product. Its number among the reads.
  std::optional<unsigned> getPanel(const ComputeShape &compute) const;
  /// Whether one thread reads the panel from memory that is far away.
  bool isPanelStreamed() const;
  /// What the steps of a computation, whose own loops are `own`, fetch for
  /// later ones; nothing if nothing is far away (FetchAhead.cpp).
  std::optional<Prefetch> getPrefetch(unsigned position,
                                      llvm::ArrayRef<unsigned> own);
  /// Fetches the next panel while the rows of an image pass this one; nothing
  /// if it passes only once.
  std::optional<Prefetch> getPanelPrefetch(llvm::ArrayRef<unsigned> own);
  /// Fetches the rows that pass the panels after these.
  std::optional<Prefetch> getRowPrefetch(llvm::ArrayRef<unsigned> own);
  /// Fetches what other computations will copy, for the reduction to read, in
  /// the next iteration of the loops around.
  std::optional<Prefetch> getCopyPrefetch();
  /// Fetches what the read of `reader` with number `read` needs at the point
  /// `at`, and what follows it within `bytes`.
  Prefetch getPrefetchOf(const ComputeShape &reader, unsigned read,
                         llvm::ArrayRef<mlir::AffineExpr> at, int64_t bytes);
  /// The copy of an argument that made the element which `read` has at a point,
  /// and the point that made it; nothing if there is no such copy.
  std::optional<
      std::pair<const ComputeShape *, llvm::SmallVector<mlir::AffineExpr>>>
  findCopy(const ComputeAccess &read) const;

  KernelOp kernel;
  llvm::ArrayRef<ComputeShape> shapes;
  const Component &component;
  mlir::OpBuilder &builder;
  mlir::MLIRContext *context;
  TargetAttr target;
  OuterLoops outer;

  unsigned numShared;
  /// Lanes of a vector, by the widest element type that is computed with.
  int64_t lanes = 1;
  /// The shared dimension whose elements are lanes, if it is a shared one.
  std::optional<unsigned> vectorDim;
  std::optional<unsigned> reduction;
  RegisterTile tile;
  /// The dimensions whose loops are inside those over the parts of a sum, the
  /// first `vectorDim` where columns pass a part side by side; and how many
  /// terms along the innermost loop of the sum a part has.
  llvm::SmallVector<unsigned> rowsInsideSum;
  int64_t termsOfPart = 0;
  /// The dimension that is cut into blocks of this many: the first of them, or
  /// a row whose blocks all panels pass, one after the other.
  std::optional<unsigned> blockedRow;
  int64_t rowsOfBlock = 0;
  /// Whether the loop over panels is around all others already.
  bool hasPanelLoop = false;
};

/// Writes a sequence with a filter for each of `parts`, and inside what `emit`
/// makes of it. A single part is not filtered.
void emitSequence(KernelOp kernel, llvm::ArrayRef<ComputeShape> shapes,
                  llvm::ArrayRef<Component> parts, mlir::OpBuilder &builder,
                  llvm::function_ref<void(const Component &)> emit);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_COMPONENTSCHEDULER_H
