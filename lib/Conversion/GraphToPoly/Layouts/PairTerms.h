//===- PairTerms.h - Terms that an instruction takes two by two -*- C++ -*-===//
//
// Some machines add the products of two pairs of bf16 to a lane of f32. For
// them, two terms of a sum lie side by side within the lanes of its panel, and
// the sum has a dimension of them:
//
//   R[i, j] = sum(k) A[i, k] * B[k, j],  B[k, j] at [j / 32, k, j % 32]
//   R[i, j] = sum(k, p) A[i, 2k + p] * B[2k + p, j],
//             B[k, j] at [j / 32, k / 2, j % 32, k % 2]
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_PAIRTERMS_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_PAIRTERMS_H

#include "../Contraction.h"

namespace espalier::graphtopoly {

/// The index of `panel`, an operand of the sum of products that `statement` is,
/// along which its terms are taken in pairs; nothing if the machine or the sum
/// is not for that. It is a reduced dimension of known, even extent along which
/// the elements of the other operand are neighbours in memory.
std::optional<unsigned> findPairedIndex(const StatementList &program,
                                        const Statement &statement, Expr panel);

/// Returns `layout`, whose memory has `storedExtents`, with neighbours along
/// index number `index` side by side, innermost.
mlir::AffineMap
pairTerms(mlir::AffineMap layout, unsigned index,
          llvm::SmallVectorImpl<mlir::AffineExpr> &storedExtents);

/// Gives `statement` a last dimension of the two terms of a pair along `term`.
void splitIntoPairs(const StatementList &program, Statement &statement,
                    unsigned term);

/// Whether an operand of a sum of products of bf16 lies in pairs.
bool readsPairs(const StatementList &program, const Statement &statement);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_PAIRTERMS_H
