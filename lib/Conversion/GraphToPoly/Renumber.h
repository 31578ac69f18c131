//===- Renumber.h - The points of a kernel in other dimensions --*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_RENUMBER_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_RENUMBER_H

#include "StatementList.h"

namespace espalier::graphtopoly {

/// Other dimensions for the points that the statements of a kernel share.
struct Renumbering {
  llvm::SmallVector<mlir::AffineExpr> extents; ///< Of the new dimensions.
  /// Each shared dimension of before, over the new ones.
  llvm::SmallVector<mlir::AffineExpr> before;
};

/// Writes a statement in other dimensions: its dimension i is `dims[i]`, over
/// the new ones, whose extents are `extents`. Its target stays as it is.
Statement substitute(const StatementList &program, const Statement &statement,
                     llvm::ArrayRef<mlir::AffineExpr> dims,
                     llvm::ArrayRef<mlir::AffineExpr> extents);

/// Whether all statements of `fusionGroup` have the same dimensions but for
/// those of reductions, and compute and read the arrays in `local` at these.
bool isPointwise(const StatementList &program, const FusionGroup &fusionGroup,
                 const llvm::DenseSet<ArrayId> &local);

/// The arrays that `fusionGroup` computes and nobody else sees.
llvm::DenseSet<ArrayId> findLocal(const StatementList &program,
                                  const FusionGroup &fusionGroup,
                                  const llvm::DenseSet<ArrayId> &escaping);

/// Whether, of all kernels, only `fusionGroup` writes `array`.
bool isWrittenBy(const StatementList &program, const FusionGroup &fusionGroup,
                 llvm::ArrayRef<FusionGroup> all, ArrayId array);

/// Lets `fusionGroup` store its last result, of which it writes all, with
/// `layout`, and returns the kernel that copies it to where it belongs.
FusionGroup storeElsewhere(StatementList &program,
                           const FusionGroup &fusionGroup,
                           mlir::AffineMap layout);

/// Rewrites the statements of a kernel that computes and reads its own arrays
/// at the shared dimensions; arrays may have more dimensions, which stay.
class Renumberer {
public:
  Renumberer(StatementList &program, Renumbering renumbering)
      : program(program), renumbering(std::move(renumbering)) {}

  /// Gives `array`, local to the kernel, a version with the new dimensions,
  /// which the statements use from now on.
  ArrayId replace(ArrayId array);
  ArrayId getReplacement(ArrayId array) const {
    return replacement.lookup(array);
  }
  Statement apply(const Statement &statement) const;

private:
  StatementList &program;
  Renumbering renumbering;
  llvm::DenseMap<ArrayId, ArrayId> replacement;
};

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_RENUMBER_H
