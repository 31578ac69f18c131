//===- Winograd.h - The algorithm F(2x2, 3x3) -------------------*- C++ -*-===//
//
// F(2x2, 3x3) of Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks" (CVPR 2016): a tile of 2x2 results is
//
//   A' [ (G w G') . (B' d B) ] A
//
// of the 3x3 weights w and the 4x4 elements d under them, where . multiplies
// elements: 16 products in place of 36. Rows and columns may have matrices of
// their own: those of F(4, 3) along one of them make it F(2x4, 3x3), 24
// products in place of 72. The identities hold for real numbers, and are
// checked for the matrices as they stand. With rounding, the largest error of
// 2x2 is half of that of the plain sum, which has 9 times as many terms, and
// that of 2x4 about as large; 4x4 would have more than twice of it, and is not
// there.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_WINOGRAD_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_WINOGRAD_H

#include "../StatementList.h"

namespace espalier::graphtopoly {

/// Taps along each dimension.
constexpr int64_t kTaps = 3;

/// F(outputs, 3) along one dimension, with matrices row by row: A' and B', and
/// G times `divisor`.
struct Transform {
  int64_t outputs;
  llvm::ArrayRef<double> output, input, weights;
  double divisor;

  int64_t getPoints() const { return outputs + kTaps - 1; }
};

/// F(2, 3) and F(4, 3).
const Transform &getTransformOfTwo();
const Transform &getTransformOfFour();

/// The transforms along the rows and columns of a tile.
struct TileTransform {
  const Transform *rows = &getTransformOfTwo(), *columns = &getTransformOfTwo();

  int64_t countPoints() const {
    return rows->getPoints() * columns->getPoints();
  }
  int64_t countOutputs() const { return rows->outputs * columns->outputs; }
};

/// An element of a 2-dimensional array of expressions.
using ExprAt = llvm::function_ref<Expr(int64_t row, int64_t column)>;

/// (B' d B)[p, q].
Expr transformInput(const TileTransform &tile, int64_t p, int64_t q,
                    ExprAt element);

/// (A' M A)[a, b].
Expr transformOutput(const TileTransform &tile, int64_t a, int64_t b,
                     ExprAt product);

/// The same row by row: (M A)[p, b] of the products in row p, and what becomes
/// of the sum of the rows before it, null if there are none, for result (a, b)
/// with `row` = (M A)[p, b]; null if the result is none of that row.
Expr transformOutputRow(const TileTransform &tile, int64_t b,
                        llvm::function_ref<Expr(int64_t column)> product);
Expr addOutputRow(const TileTransform &tile, int64_t a, int64_t p, Expr sum,
                  Expr row);

/// How a convolution reads its weights: `access` has these dimensions, and no
/// others, as indices.
struct ConvolutionWeights {
  Expr access;
  unsigned filter, ky, kx;
  /// Those of the sum that are not transformed: channels, and taps along a
  /// third dimension of the image.
  llvm::SmallVector<unsigned> summed;
};

/// Checks that the weights are constant, of f32, and read so.
bool isConvolutionWeights(const StatementList &program,
                          const ConvolutionWeights &weights);

/// Makes the constant U[p, q, summed.., filter] = (G w G')[p, q], or U[p, q,
/// filter, summed..]. Fails if the value of the weights is not at hand.
mlir::FailureOr<Array> transformWeights(const StatementList &program,
                                        const ConvolutionWeights &weights,
                                        const TileTransform &tile,
                                        bool filtersLast);

/// Applies the algorithm to a convolution between rows (PoolInRegisters.cpp)
/// whose windows are its tiles, where that saves time.
mlir::LogicalResult applyWinogradToRows(StatementList &program,
                                        FusionGroup &fusionGroup);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_WINOGRAD_H
