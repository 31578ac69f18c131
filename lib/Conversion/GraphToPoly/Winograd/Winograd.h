//===- Winograd.h - The algorithm F(2x2, 3x3) -------------------*- C++ -*-===//
//
// F(2x2, 3x3) of Lavin and Gray, "Fast Algorithms for Convolutional Neural
// Networks" (CVPR 2016): a tile of 2x2 results is
//
//   A' [ (G w G') . (B' d B) ] A
//
// of the 3x3 weights w and the 4x4 elements d under them, where . multiplies
// elements: 16 products in place of 36. The identity holds for real numbers,
// and is checked for the matrices as they stand; with rounding the error is not
// larger than that of the plain sum, which has 9 times as many terms.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_WINOGRAD_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_WINOGRAD_H

#include "../StatementList.h"

namespace espalier::graphtopoly {

/// Results and taps along each dimension, and points of the transforms.
constexpr int64_t kOutputs = 2, kTaps = 3, kPoints = kOutputs + kTaps - 1;

/// An element of a 2-dimensional array of expressions.
using ExprAt = llvm::function_ref<Expr(int64_t row, int64_t column)>;

/// (B' d B)[p, q].
Expr transformInput(int64_t p, int64_t q, ExprAt element);

/// (A' M A)[a, b].
Expr transformOutput(int64_t a, int64_t b, ExprAt product);

/// The same row by row: (M A)[p, b] of the products in row p, and what becomes
/// of the sum of the rows before it, null if there are none, for result (a, b)
/// with `row` = (M A)[p, b]; null if the result is none of that row.
Expr transformOutputRow(int64_t b,
                        llvm::function_ref<Expr(int64_t column)> product);
Expr addOutputRow(int64_t a, int64_t p, Expr sum, Expr row);

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
                                        bool filtersLast);

/// Applies the algorithm to a convolution between rows (PoolInRegisters.cpp)
/// whose windows are its tiles, where that saves time.
mlir::LogicalResult applyWinogradToRows(StatementList &program,
                                        FusionGroup &fusionGroup);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_WINOGRAD_H
