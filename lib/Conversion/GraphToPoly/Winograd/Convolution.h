//===- Convolution.h - What a convolution computes --------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_WINOGRAD_CONVOLUTION_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_WINOGRAD_CONVOLUTION_H

#include "Winograd.h"

namespace espalier::graphtopoly {

/// Reads `base + result + dilation * tap`, of a dimension of the target and a
/// reduced one.
struct Window {
  unsigned result, tap;
  int64_t dilation;
  mlir::AffineExpr base; ///< Over other dimensions of the target.
  /// Where it is cut into tiles: how, their number, and how many of the last
  /// ones overlap others, starting `dilation` earlier, to stay inside.
  const Transform *transform = &getTransformOfTwo();
  int64_t numTiles = 0, numOverlapping = 0;

  /// Cuts it into tiles of results that are `dilation` apart, if all can lie
  /// inside `extent`. Else, nothing is changed.
  mlir::LogicalResult cut(int64_t extent, const Transform &transform);
  /// The first result of a tile.
  mlir::AffineExpr getStart(mlir::AffineExpr tile) const;
};

/// `target[.., f, .., z.., y, x] = sum(c, kz.., ky, kx) image[.., c, .., z +
/// kz, .., y + ky, x + kx] * weights[f, c, kz.., ky, kx]`, with numbers of
/// dimensions. The batch may add to the image's indices, as rows of windows do
/// whose pooling is in the kernel.
struct Convolution {
  unsigned f, c;
  Expr image;
  ConvolutionWeights weights;
  Window rows, columns;
  llvm::SmallVector<Window> depth;
  llvm::SmallVector<unsigned> batch; ///< The other dimensions of the target.
};

/// Recognizes a convolution whose last two windows have three taps each, with
/// stride 1 and constant weights.
std::optional<Convolution> getConvolution(const StatementList &program,
                                          const Statement &statement);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_WINOGRAD_CONVOLUTION_H
