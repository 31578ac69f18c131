//===- Box.h - Boxes that hold what tiles touch -----------------*- C++ -*-===//

#ifndef ESPALIER_POLYHEDRAL_BOX_H
#define ESPALIER_POLYHEDRAL_BOX_H

#include "espalier/Polyhedral/Set.h"

namespace espalier::polyhedral {

/// A box that moves with the points of another space, its size does not.
struct Box {
  /// The least index in each dimension: over the dimensions of that space, with
  /// the parameters as symbols.
  llvm::SmallVector<mlir::AffineExpr> offsets;
  /// The number of indices in each dimension, over the parameters alone.
  llvm::SmallVector<mlir::AffineExpr> extents;
};

/// A box that holds the images of each point of `map`'s domain, of constant
/// size where there is one. Nothing if the images have no bounds.
std::optional<Box> getBoundingBox(mlir::MLIRContext *context, const Map &map);
/// A box that holds `set`: its offsets too are over the parameters alone.
std::optional<Box> getBoundingBox(mlir::MLIRContext *context, const Set &set);

/// A map with the images of `map` and, if that takes a single convex piece, the
/// points between them: all within the smallest box around the images.
Map fillHoles(const Map &map);

} // namespace espalier::polyhedral

#endif // ESPALIER_POLYHEDRAL_BOX_H
