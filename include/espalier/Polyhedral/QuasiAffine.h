//===- QuasiAffine.h - Expressions by the values of others ------*- C++ -*-===//
//
// Loops and subscripts that tiles make are digits of numbers: `i floordiv 48`,
// `(i mod 48) floordiv 6` and `i mod 6`. What one of them says of another is a
// matter of form, and needs no integer programming.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_POLYHEDRAL_QUASIAFFINE_H
#define ESPALIER_POLYHEDRAL_QUASIAFFINE_H

#include "mlir/IR/AffineExpr.h"
#include "llvm/ADT/ArrayRef.h"

namespace espalier::polyhedral {

/// `expr` as a function of `values`: in the result, dimension i stands for the
/// i-th of them. Null if their form does not show it, which may be although
/// they determine `expr`.
///
/// Example: `i floordiv 48` by [`i floordiv 6`, `i mod 6`] is `d0 floordiv 8`,
/// and `2 * i` is `12 * d0 + 2 * d1`.
mlir::AffineExpr expressIn(mlir::AffineExpr expr,
                           llvm::ArrayRef<mlir::AffineExpr> values);

} // namespace espalier::polyhedral

#endif // ESPALIER_POLYHEDRAL_QUASIAFFINE_H
