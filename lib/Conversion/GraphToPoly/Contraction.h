//===- Contraction.h - Sums of products with reuse --------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_CONTRACTION_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_CONTRACTION_H

#include "StatementList.h"

namespace espalier::graphtopoly {

/// What a sum of products reads, and the dimension whose elements lie side by
/// side in a vector register.
struct Contraction {
  unsigned vectorDim;
  /// The access that has the vectorized dimension as an index, and which index.
  Expr panel;
  unsigned panelIndex;
  /// The number that is added to the dimension there, where the operand is a
  /// part of a constant, or one in a recurrence.
  int64_t offset = 0;
};

/// Vectors side by side in a packed panel.
constexpr int64_t kPanelVectors = 2;

/// Terms of a sum up to which lanes may lie along the rows of an image.
constexpr int64_t kFewTermsOfWindow = 64;

/// Rows below which a product has too little reuse of its other operand.
constexpr int64_t kMinProductRows = 16;

/// Recognizes `target[i...] (+)= A[...] * B[...]` where some dimension of the
/// target is an index of only one of the two: a matrix product or convolution.
std::optional<Contraction> getContraction(const StatementList &program,
                                          const Statement &statement);

/// The index of `array` along which its elements are neighbours in memory; none
/// if it is stored in another way than by the order of its indices.
std::optional<unsigned> getInnermost(const Array &array);

/// The factors of a product, conversions looked through.
void getFactors(Expr expr, llvm::SmallVectorImpl<Expr> &factors);

/// The dimensions of a statement that an expression depends on.
llvm::SmallVector<unsigned> getDims(Expr expr);

/// Stores `array` in panels of a few vectors along `panelIndex`: the indices
/// `outer`, then the panel, then those in `inner`, then the place in the panel.
void setPanelLayout(const StatementList &program, Array &array,
                    unsigned panelIndex, llvm::ArrayRef<unsigned> outer,
                    llvm::ArrayRef<unsigned> inner);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_CONTRACTION_H
