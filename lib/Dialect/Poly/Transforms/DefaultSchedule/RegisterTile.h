//===- RegisterTile.h - What of a result stays in registers -----*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_REGISTERTILE_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_REGISTERTILE_H

#include "../KernelShape.h"
#include <limits>

namespace espalier::poly {

/// Whatever number of vectors is side by side, it divides this.
inline constexpr int64_t kAnyVectors = 24;

/// A tile of a reduction's result: `vectors` registers along the vectorized
/// dimension times rows along others.
struct RegisterTile {
  int64_t vectors = 1;
  /// Rows along the shared dimensions; 1 where they are not tiled.
  llvm::SmallVector<int64_t> rows;
  /// Whether rows pass all taps between two loads of a vector.
  bool slides = false;
  /// For each step of the sum, or all taps of one if it slides, over all tiles.
  double cycles = std::numeric_limits<double>::infinity();
};

/// How rows share what they read: a row has, at one tap of its sum, the vector
/// or the scalar that its neighbour had `step` taps later.
struct Slide {
  int64_t taps = 1, step = 1;
};

/// What the choice depends on.
struct TileProblem {
  TargetAttr target;
  int64_t lanes;
  /// Extents of the shared dimensions; nothing if not known.
  llvm::SmallVector<std::optional<int64_t>> extents;
  unsigned vectorDim;
  /// The dimensions that may be tiled: not indices of the panel.
  llvm::SmallVector<unsigned> rowDims;
  /// Rows are scalars that are broadcast to so many vectors (a contraction),
  /// or, if 0, vectors that are loaded (a depthwise convolution, pooling).
  int64_t broadcastVectors = 0;
  /// How many vectors lie side by side in each panel of an operand that is
  /// fetched ahead if tiles have whole panels; 0 if none is.
  int64_t panelVectors = 0;
  /// Whether rows read scalars that their neighbours read at other taps, which
  /// LLVM holds in registers meanwhile.
  bool sharesScalars = false;
  /// Whether each step reads its vectors, which no rows share, at a place that
  /// data says.
  bool isScattered = false;
  /// The taps of a row that are written out, one after the other, if several
  /// are: LLVM holds the scalars that more than one of them reads.
  Slide written = {};
  /// How far apart scalars are that neighbours along the last two of `rowDims`
  /// read, the last one first; 0 if that is not known.
  int64_t innerRowBytes = 0, outerRowBytes = 0;
  /// Whether rows along the last two of `rowDims`, the last one first, read
  /// vectors of their own.
  bool innerHasVectors = false, outerHasVectors = false;
  /// How many results each point of the tile has: those of a window.
  int64_t window = 1;
  /// How many results of other computations are in use at each point meanwhile.
  int64_t others = 0;
  /// How the last of `rowDims` shares vectors; one tap if it does not.
  Slide slide = {};
};

/// Chooses the tile that takes the fewest cycles by a model of one core: two
/// fused multiply-adds and two loads per cycle, four cycles of latency.
RegisterTile chooseRegisterTile(const TileProblem &problem);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_REGISTERTILE_H
