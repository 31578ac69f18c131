//===- PartialReduction.h - Reductions in parts -----------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_PARTIALREDUCTION_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_PARTIALREDUCTION_H

#include "Tile.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"
#include <functional>

namespace espalier::poly {

/// How a reduction updates the elements that it writes.
struct PartialUpdate {
  /// The number of the read of each.
  llvm::SmallVector<unsigned> reads;
  /// What partial results start from.
  llvm::SmallVector<mlir::TypedAttr> neutral;
  /// The updates of an element, and so its partial results, have an order.
  bool isOrdered = false;
  /// Emits the combination of two partial results.
  std::function<llvm::SmallVector<mlir::Value>(
      mlir::OpBuilder &, mlir::Location, mlir::ValueRange, mlir::ValueRange)>
      combine;
};

/// The update of `compute`, or a refusal if it is not marked as a reduction and
/// has no combiner, or uses the elements in other ways.
llvm::Expected<PartialUpdate> getUpdate(ComputeOp compute);

/// Lets `compute`, a reduction, accumulate in each tile into elements of its
/// own, of which there is one for each value of `factors`, functions of its
/// dimensions that are called `names`. They start neutral and are combined
/// with the arrays' elements at the end of the tile, in the order of `factors`.
/// Of several arrays, the result has the first.
llvm::Expected<LocalCopy> makePartial(const Tile &tile, ComputeOp compute,
                                      llvm::ArrayRef<mlir::AffineExpr> factors,
                                      llvm::ArrayRef<mlir::StringAttr> names,
                                      const LocalOptions &options);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_PARTIALREDUCTION_H
