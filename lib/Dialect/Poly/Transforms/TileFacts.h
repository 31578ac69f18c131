//===- TileFacts.h - What data decides about tiles --------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_TILEFACTS_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_TILEFACTS_H

#include "Tile.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"

namespace espalier::poly {

/// Uses of an array in tiles, as far as points run at all: where data decides
/// that, what is stated of the data counts.
class TileFacts {
public:
  TileFacts(const polyhedral::Context &context, const Tile &tile,
            mlir::Value array, llvm::ArrayRef<ComputeOp> users);

  /// From tiles to the elements that they use, or may, where data decides
  /// which; or a refusal. A null map if they use none.
  llvm::Expected<polyhedral::Map>
  getElements(llvm::ArrayRef<TileAccess> kinds) const;
  /// Whether data decides which elements `compute` uses.
  bool isIndexedByData(ComputeOp compute,
                       llvm::ArrayRef<TileAccess> kinds) const;
  /// Whether all uses of each element are in one tile.
  bool useElementsOnce() const;
  /// Whether all uses of a tile come before those of later ones in program
  /// order.
  bool runTileByTile() const;
  /// Refuses if a tile reads elements that it has not written before, in
  /// program order.
  llvm::Error checkReads() const;

  /// From points of `compute` that run to the tiles that use the element which
  /// `map` gives.
  polyhedral::Map getTilesOf(ComputeOp compute, mlir::AffineMap map) const;

private:
  /// Calls `visit` for each access of `compute`, until it says no.
  bool forEachUseOf(ComputeOp compute, llvm::ArrayRef<TileAccess> kinds,
                    llvm::function_ref<bool(mlir::AffineMap)> visit) const;
  /// The same for all users.
  bool
  forEachUse(llvm::function_ref<bool(ComputeOp, mlir::AffineMap)> visit) const;
  unsigned getNumber(ComputeOp compute) const {
    return llvm::find(model.computes, compute) - model.computes.begin();
  }
  polyhedral::Map getOrder(ComputeOp first, ComputeOp second) const {
    return polyhedral::getProgramOrder(context, model.program, getNumber(first),
                                       getNumber(second));
  }
  polyhedral::Map getMap(ComputeOp compute, mlir::AffineMap map) const {
    return polyhedral::Map::get(context, model.program.numParams, map)
        .intersectDomain(getDomain(context, compute));
  }
  polyhedral::Map getTiles(ComputeOp compute) const {
    return getMap(compute, tile.maps[tile.getNumber(compute)]);
  }
  /// The elements that `compute` uses through `map`, per tile, by what is known
  /// of the values in it; null if that is nothing.
  polyhedral::Map getElementsOfData(ComputeOp compute,
                                    mlir::AffineMap map) const;
  /// The elements that read `number` of `reader` takes and that the tile has
  /// not written before, at points that run.
  polyhedral::Map getExposed(ComputeOp reader, unsigned number) const;

  const polyhedral::Context &context;
  const Tile &tile;
  mlir::Value array;
  llvm::ArrayRef<ComputeOp> users;
  KernelModel model;
};

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_TILEFACTS_H
