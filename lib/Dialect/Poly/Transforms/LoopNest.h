//===- LoopNest.h - Several loops of one computation ------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_LOOPNEST_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_LOOPNEST_H

#include "ScheduleTree.h"

namespace espalier::poly {

/// Loops of one band.
struct LoopNest {
  BandOp band;
  llvm::SmallVector<unsigned> positions; ///< In the order of the names.

  /// The positions, outermost first.
  llvm::SmallVector<unsigned> getPlaces() const {
    llvm::SmallVector<unsigned> places = positions;
    llvm::sort(places);
    return places;
  }
};

/// Finds the loops with these names and makes one band of those that they are
/// in. Refuses if the bands are not directly nested, saying what is between.
llvm::Expected<LoopNest> getNest(ComputeOp compute,
                                 llvm::ArrayRef<llvm::StringRef> names);

/// Makes the loops of `band` from `position` on a band of their own, below it,
/// and returns that. Leaves the band alone where that needs no cut: returns it
/// at position 0, the band directly below, if there is one, at its end.
BandOp splitBand(BandOp band, unsigned position);

/// Makes one band of `band` and the bands directly below it, as far as they
/// are plain.
void mergeChildren(BandOp band);

/// Cuts `loop` into one loop more than there are factors, outermost first: see
/// `split`. A parallel loop passes that on to the outermost part, a vector loop
/// to the innermost.
llvm::SmallVector<BandLoop>
stripMine(const BandLoop &loop, llvm::ArrayRef<int64_t> factors,
          llvm::ArrayRef<llvm::StringRef> names = {});

/// Adds multiples of other loops to one: see `skew`.
llvm::Error skewLoop(ComputeOp compute, llvm::StringRef loop,
                     llvm::ArrayRef<int64_t> factors,
                     llvm::ArrayRef<llvm::StringRef> others);

/// For each computation of the band of `loop`, the values of the loops around.
llvm::SmallVector<llvm::SmallVector<mlir::AffineExpr>>
getOuterValues(LoopPosition loop);

/// The least or largest value of a loop for given values of those around it, as
/// an expression for each computation of its band.
llvm::Expected<llvm::SmallVector<mlir::AffineExpr>> getBounds(LoopPosition loop,
                                                              bool isUpper);

/// Whether a loop can be cut into pieces of `size` iterations; if not, the
/// message calls these `what`.
llvm::Error checkSize(LoopPosition loop, int64_t size, llvm::StringRef what);

/// Whether `expr`, over `numDims` loops and the kernel's parameters, may be
/// part of a loop.
llvm::Error checkExpr(ComputeOp compute, mlir::AffineExpr expr,
                      unsigned numDims);

/// `a sequence` and so on, for messages.
std::string describeNode(mlir::Operation *node);
/// `"i"`, for messages.
std::string quote(llvm::StringRef loop);
/// `["i", "j"]`, for messages.
std::string quote(llvm::ArrayRef<llvm::StringRef> loops);
/// `[1, 2]`, for messages.
std::string print(llvm::ArrayRef<int64_t> numbers);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_LOOPNEST_H
