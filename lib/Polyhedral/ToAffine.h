//===- ToAffine.h - isl's expressions in MLIR's language --------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_TOAFFINE_H
#define ESPALIER_LIB_POLYHEDRAL_TOAFFINE_H

#include "Isl.h"

namespace espalier::polyhedral::isl {

/// A fraction: `numerator` / `denominator`, which is positive.
struct Fraction {
  mlir::AffineExpr numerator; ///< Null if it takes numbers beyond 64 bits.
  int64_t denominator = 1;
};

/// Translates `aff`: its dimensions become dimensions, its parameters symbols.
Fraction toFraction(mlir::MLIRContext *context, isl_aff *aff);

} // namespace espalier::polyhedral::isl

#endif // ESPALIER_LIB_POLYHEDRAL_TOAFFINE_H
