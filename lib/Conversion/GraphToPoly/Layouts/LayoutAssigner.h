//===- LayoutAssigner.h - Where the elements of arrays lie ------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_LAYOUTASSIGNER_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_LAYOUTASSIGNER_H

#include "../Contraction.h"
#include "../StatementList.h"

namespace espalier::graphtopoly {

/// Where lanes of a sum over entries lie: the order of an array's dimensions in
/// memory, of which the last has neighbours; if `width` is not 0, so many of
/// them lie together with those of the other dimensions.
struct LaneOrder {
  llvm::SmallVector<unsigned> order;
  int64_t width = 0;
};

/// Chooses the layout of every array, statement by statement.
class LayoutAssigner {
public:
  explicit LayoutAssigner(StatementList &program) : program(program) {
    for (Array &array : program.arrays)
      array.isLayoutGiven = bool(array.layout);
  }
  void run();

  /// The place of `dim` among the indices of `access`, where neighbours along
  /// it are neighbours in the array; nothing if it is in none, or in several.
  std::optional<unsigned> findPlace(Expr access, unsigned dim) const;

private:
  /// The order of an array's dimensions in memory, outermost first; nothing if
  /// the layout is not a permutation.
  std::optional<llvm::SmallVector<unsigned>> getOrder(ArrayId array) const;
  void setOrder(Array &array, llvm::ArrayRef<unsigned> order);
  void assignContraction(Statement &statement, const Contraction &contraction);
  /// Lets what a contraction reads beside its panels, if it is copied for this
  /// alone, have terms side by side that would be on pages of their own.
  void alignTerms(const Statement &statement, const Contraction &contraction);
  void assignOther(Statement &statement);
  void assignOrder(Statement &statement);
  void storePanel(Statement &statement, const Contraction &contraction);
  /// Whether the other operand of a contraction, or this one, is a constant.
  bool readsConstant(const Statement &statement) const;
  /// Whether the operand of `contraction` that is no constant is passed so
  /// often that it pays to copy it into panels.
  bool paysInPanels(const Statement &statement,
                    const Contraction &contraction) const;
  /// If the sum at place `number` passes far images (JoinRows.cpp), joins the
  /// rows of each, here and in what follows up to a result, and returns the
  /// contraction with lanes along them.
  std::optional<Contraction> joinFarRows(unsigned number,
                                         const Contraction &weights);
  /// How many last dimensions of the sum an image that it reads has as its last
  /// indices, one after the other as in memory; 0 if its images are not far, or
  /// lanes along them do not pay.
  unsigned countFarRows(const Statement &statement, const Contraction &weights,
                        Expr image) const;
  /// Whether a register tile has elements of an array that are less than half
  /// of a line.
  bool hasPartsOfLines(ArrayId number) const;
  /// Whether such lines, at one place of the last index, share a set of the
  /// cache for all values of the index before, and are too many for it.
  bool isCrowded(ArrayId number) const;
  /// The statements from `number` on that become a result, each the only reader
  /// of the one before, if all they read has the last `numRows` dimensions as
  /// its own last ones or not at all; or none.
  llvm::SmallVector<unsigned> findResultOfRows(unsigned number, Expr image,
                                               unsigned numRows) const;
  /// Lets `statement` read the elements of `source` in this layout.
  void storeAs(Statement &statement, ArrayId source, mlir::AffineMap layout,
               llvm::ArrayRef<mlir::AffineExpr> storedExtents);
  void assignEntries(Statement &statement);
  /// Lets all that a recurrence with sums over entries computes lie with the
  /// lanes of these innermost, where that can be.
  void alignRecurrences();
  void alignRecurrence(unsigned group);
  /// Whether maps make `array` for one statement, and nobody has chosen where
  /// its elements lie.
  bool isCopyForOne(ArrayId array) const;
  /// Lets a copy lie in panels that a recurrence makes for this product alone:
  /// the operand with the last dimension of the result, so that results lie as
  /// other steps read them. Returns whether there is one.
  bool layCopyInPanels(const Statement &statement);
  /// The dimensions in order, but for `last`.
  static llvm::SmallVector<unsigned> getOrderWithLast(unsigned numDims,
                                                      unsigned last);
  /// Whether a recurrence reads `array`, and runs along its index `place`.
  bool isReadInSteps(ArrayId array, unsigned place) const;
  /// Lets the target of a sum over entries, or of a map that follows one, lie
  /// in `order`. What the caller has in another order is copied at the end.
  void followEntries(Statement &statement, const LaneOrder &lanes);
  /// The layout of `array` that this is.
  mlir::AffineMap
  getLaneLayout(const Array &array, const LaneOrder &lanes,
                llvm::SmallVectorImpl<mlir::AffineExpr> &storedExtents) const;
  /// The order of what a map reads at its own indices that follows a sum over
  /// entries; null if there is none, or if the target lies elsewhere.
  const LaneOrder *findEntryOrder(const Statement &statement) const;
  mlir::AffineMap
  getPanelLayout(const Statement &statement, const Contraction &contraction,
                 llvm::SmallVectorImpl<mlir::AffineExpr> &storedExtents);
  void alignConstants(Statement &statement, unsigned innermost);
  unsigned countReaders(ArrayId array) const;
  /// Whether maps of `array`, each the only reader of what is before it, become
  /// a result of the function.
  bool isReturned(ArrayId array) const;
  /// Whether what `access` reads is there, all of it, before the recurrence
  /// that `statement` belongs to.
  bool isThereBefore(const Statement &statement, Expr access) const;
  /// Whether a sum has few terms.
  bool isShort(const Statement &statement,
               const Contraction &contraction) const;
  /// Whether the vectorized dimension leaves most lanes empty, or the sum is
  /// short and returned, while the last dimension, along which the other
  /// operand lies in memory, fills them.
  bool fillsLanesInRows(const Statement &statement,
                        const Contraction &contraction) const;
  /// Whether the elements along `index` are neighbours in memory.
  bool isInRows(ArrayId array, unsigned index) const;
  /// Whether one dimension is summed, along which all that is read lies.
  bool isProductOfRows(const Statement &statement) const;

  StatementList &program;
  std::vector<Statement> result;
  llvm::DenseMap<std::pair<ArrayId, mlir::AffineMap>, ArrayId> copies;
  /// The order of what follows sums over entries.
  llvm::DenseMap<ArrayId, LaneOrder> entryOrders;
  /// The index that is innermost in what an aligned recurrence computes, and
  /// the one that had best be in what it reads.
  llvm::DenseMap<ArrayId, unsigned> aligned, wanted;
  /// The result that a copy of what the statement computes becomes.
  std::optional<ArrayId> copied;
};

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_LAYOUTASSIGNER_H
