//===- Tile.h - What runs in one iteration of a loop ------------*- C++ -*-===//
//
// Commands on data work tile by tile: a tile is one iteration of a loop and of
// those around it. A relation from tiles to elements says what each one
// touches; computations that are added get the loops as their first dimensions.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_TILE_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_TILE_H

#include "ScheduleTree.h"
#include "espalier/Dialect/Poly/Transforms/DataCommands.h"
#include "espalier/Polyhedral/Box.h"
#include "espalier/Polyhedral/Union.h"

namespace espalier::poly {

/// The iterations of a loop and those around it, and what runs in them.
struct Tile {
  /// The band of the loop; or the schedule, for the whole kernel.
  mlir::Operation *parent = nullptr;
  unsigned position = 0; ///< Of the loop in its band.
  /// The loops' names, outermost first.
  llvm::SmallVector<mlir::StringAttr> loops;
  /// In program order.
  llvm::SmallVector<ComputeOp> computes;
  /// The loops' values at each point of the computations.
  llvm::SmallVector<mlir::AffineMap> maps;

  unsigned getNumLoops() const { return loops.size(); }
  /// The position of `compute`, which is one of those below.
  unsigned getNumber(ComputeOp compute) const;
};

/// The tiles of `loop`, or the whole kernel if it is empty. Refused if there is
/// no such loop, or if a filter lets only some points reach it.
llvm::Expected<Tile> getTile(ComputeOp compute, llvm::StringRef loop);

/// The same for commands that need a loop: an empty name is refused, too.
llvm::Expected<Tile> getTileOfLoop(ComputeOp compute, llvm::StringRef loop);

/// Where a computation is added to a tile.
enum class TileSide { Before, After };

/// Adds `compute`, which has the tile's loops as its first dimensions, to the
/// schedule of each tile: before or after `uses`, which are in it. With
/// `loops`, these give the tile of each of its points instead, whose dimensions
/// all run inside. Returns the filter for it.
FilterOp addToTile(const Tile &tile, ComputeOp compute,
                   llvm::ArrayRef<ComputeOp> uses, TileSide side,
                   std::optional<mlir::AffineMap> loops = {});

/// Takes `compute` out of the schedule.
void removeFromSchedule(ComputeOp compute);

/// Takes `compute` out of the schedule, and erases it.
void removeCompute(ComputeOp compute,
                   llvm::function_ref<void(mlir::Operation *)> erase);

/// The computation that `first` is interleaved with and that is the first of
/// those.
ComputeOp getGroupBegin(ComputeOp first);

/// The same in the program order. `uses` are in program order.
void setInsertionPoint(mlir::OpBuilder &builder, llvm::ArrayRef<ComputeOp> uses,
                       TileSide side);

//===----------------------------------------------------------------------===//
// What tiles touch
//===----------------------------------------------------------------------===//

/// The points of `compute`.
polyhedral::Set getDomain(const polyhedral::Context &context,
                          ComputeOp compute);

/// From tiles to the values of `map` at the points of `compute`, such as the
/// elements that it touches. An index that is not affine makes it null, or is
/// any number, as `inexact` says.
polyhedral::Map getFootprint(
    const polyhedral::Context &context, const Tile &tile, ComputeOp compute,
    mlir::AffineMap map,
    polyhedral::Map::Inexact inexact = polyhedral::Map::Inexact::Reject);

/// A local array that holds, for each tile, the box of another one's elements.
struct TileArray {
  mutable ArrayOp op;
  polyhedral::Box box;

  /// The access to the local array in place of one through `map` by a
  /// computation whose loops have the values `loops`.
  mlir::AffineMap getMap(mlir::AffineMap loops, mlir::AffineMap map) const;
};

/// Makes a local array for the elements of `array` that `footprint` maps the
/// tiles to. Its memory holds those of one tile.
llvm::Expected<TileArray> makeLocalArray(const Tile &tile, mlir::Value array,
                                         const polyhedral::Context &context,
                                         const polyhedral::Map &footprint,
                                         const LocalOptions &options);

/// Makes `array`, all of whose accesses the caller redirects to `local`, what
/// that is; `local` then is `array`, and its own op is gone.
void replaceArray(ArrayOp array, TileArray &local);

/// How the elements of an array lie in memory.
struct Storage {
  mlir::AffineMap map;
  mlir::MemRefType type;
  mlir::AffineMapAttr extents; ///< Null for constant extents.
};

/// The extents of memory in which element x of a box lies at `layout(x)`, or a
/// refusal if that is not one to one or does not start at 0.
llvm::Expected<llvm::SmallVector<mlir::AffineExpr>>
getLayoutExtents(const polyhedral::Context &context, unsigned numParams,
                 llvm::ArrayRef<mlir::AffineExpr> extents,
                 mlir::AffineMap layout);

/// Memory with `extents`.
Storage makeStorage(mlir::AffineMap map,
                    llvm::ArrayRef<mlir::AffineExpr> extents,
                    unsigned numParams, mlir::Type elementType);

/// Lets the elements of `array` lie as `storage` says.
void setStorage(ArrayOp array, const Storage &storage);

/// Where an element is, for a computation over tiles and indices of their boxes
/// that copies between an array and its local form.
struct CopyAccesses {
  ComputeAccess global, local;
};
/// The first `numFactors` indices of the local array are not the other's.
CopyAccesses getCopyAccesses(const Tile &tile, mlir::Value array,
                             const TileArray &local, unsigned numFactors = 0);

/// The domain of such a computation, over the elements of `footprint`.
llvm::Expected<llvm::SmallVector<mlir::IntegerSet>>
getCopyDomain(const Tile &tile, const TileArray &local,
              const polyhedral::Context &context,
              const polyhedral::Map &footprint);

/// Names the dimensions of such a computation: the tile's loops, `others`, and
/// `e0`, `e1`, ...
void nameDims(const Tile &tile, ComputeOp compute,
              llvm::ArrayRef<mlir::StringAttr> others = {});

/// The two lists of accesses of a computation.
enum class TileAccess { Read, Write };
llvm::SmallVector<ComputeAccess> getAccesses(ComputeOp compute,
                                             TileAccess kind);

/// The refusal of a command that needs a set which takes too much to compute.
llvm::Error refuseUnknown(const polyhedral::Context &context);

/// The elements of `array` that `computes` read or write, per tile; a null map
/// if they do not. Refused for accesses that are not affine.
llvm::Expected<polyhedral::Map> getElements(const polyhedral::Context &context,
                                            const Tile &tile,
                                            llvm::ArrayRef<ComputeOp> computes,
                                            mlir::Value array,
                                            llvm::ArrayRef<TileAccess> kinds);

/// Lets `compute` use the local array where it uses `array`.
void redirect(const Tile &tile, ComputeOp compute, mlir::Value array,
              const TileArray &local, llvm::ArrayRef<TileAccess> kinds);

/// Lets an access of `compute` go to `array`, through `map`.
void setAccess(ComputeOp compute, TileAccess kind, unsigned number,
               ArrayOp array, mlir::AffineMap map);

/// A name of a computation that starts with `base` and is not taken.
std::string getFreeName(KernelOp kernel, const llvm::Twine &base);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_TILE_H
