//===- Normalize.h - What becomes of definitions at first -------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_NORMALIZE_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_NORMALIZE_H

#include "StatementList.h"

namespace espalier::graphtopoly {

/// Which statements on constants alone are evaluated.
enum class FoldedStatements {
  /// Those that compute. A mere rearrangement may still become part of its
  /// reader, and a packed constant costs nothing then.
  Computing,
  All,
};

/// Replaces the targets of statements on constants alone by constants, rounded
/// as the program would round (`interpreter::Rounding::Functions`), and returns
/// how many. A statement stays if its target is an output, is more than 4 MiB
/// larger than what it reads, or takes long to compute.
unsigned foldConstants(StatementList &program, FoldedStatements which);

/// Splits affine conditionals into pieces, gives computed indices statements of
/// their own, and moves the padding of sums and maxima into padded arrays, so
/// that every access is in bounds wherever its piece is evaluated.
void normalize(StatementList &program);

/// The constants that statements read and whose entries somebody has asked to
/// be stored, by a type or a format.
llvm::DenseSet<ArrayId> findAskedFor(const StatementList &program);

/// Lets sums of products with constants whose type says that they are sparse
/// run over their entries, and returns how many; none if that is not `wanted`.
/// A remark says so of each. Fails after an error if a constant is not as its
/// type says, or if one of those `askedFor` is read by anything else.
mlir::FailureOr<unsigned> storeEntries(StatementList &program, bool wanted,
                                       const llvm::DenseSet<ArrayId> &askedFor);

/// Lets windows that move by several points read phases of an image that lie
/// side by side, in sums over entries.
void separateStrides(StatementList &program);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_NORMALIZE_H
