//===- PartialReduction.h - Reductions in parts -----------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_PARTIALREDUCTION_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_PARTIALREDUCTION_H

#include "Tile.h"
#include "espalier/Dialect/Poly/IR/Reduction.h"

namespace espalier::poly {

/// The update of `compute`, or a refusal if it is not marked as a reduction, or
/// uses the element in other ways.
llvm::Expected<ReductionUpdate> getUpdate(ComputeOp compute);

/// Lets `compute`, a reduction, accumulate in each tile into elements of its
/// own, of which there is one for each value of `factors`, functions of its
/// dimensions that are called `names`. They start neutral and are combined
/// with the array's elements at the end of the tile.
llvm::Expected<LocalCopy> makePartial(const Tile &tile, ComputeOp compute,
                                      llvm::ArrayRef<mlir::AffineExpr> factors,
                                      llvm::ArrayRef<mlir::StringAttr> names,
                                      const LocalOptions &options);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_PARTIALREDUCTION_H
