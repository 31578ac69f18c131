//===- FunctionPatterns.h - Functions without calls -------------*- C++ -*-===//

#ifndef ESPALIER_CONVERSION_PROGRAMTOLLVM_FUNCTIONPATTERNS_H
#define ESPALIER_CONVERSION_PROGRAMTOLLVM_FUNCTIONPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace espalier {
/// Whether a value is rounded to f16 or bf16, and has no other users.
bool becomesShort(mlir::Value value);

/// Adds patterns that compute `exp` of f32, and `sin` and `cos` of vectors of
/// f32, by polynomials. Their error is at most 2 units in the last place for
/// all arguments, but results of `exp` below 1.7e-38 are zero, which is half as
/// much again as the smallest normal number.
void populateFunctionPatterns(mlir::RewritePatternSet &patterns);

/// Adds patterns that convert f16 and bf16 less often, with the same results.
void populateShortFloatPatterns(mlir::RewritePatternSet &patterns);
} // namespace espalier

#endif // ESPALIER_CONVERSION_PROGRAMTOLLVM_FUNCTIONPATTERNS_H
