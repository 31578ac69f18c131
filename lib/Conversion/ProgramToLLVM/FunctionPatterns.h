//===- FunctionPatterns.h - Functions without calls -------------*- C++ -*-===//

#ifndef ESPALIER_CONVERSION_PROGRAMTOLLVM_FUNCTIONPATTERNS_H
#define ESPALIER_CONVERSION_PROGRAMTOLLVM_FUNCTIONPATTERNS_H

#include "mlir/IR/PatternMatch.h"

namespace espalier {
/// Whether a value is rounded to f16 or bf16, and has no other users.
bool becomesShort(mlir::Value value);

/// Adds patterns that compute `exp` and `erf` of f32, and `sin`, `cos` and
/// `tan` of vectors of f32, by polynomials. Their error is at most 2 units in
/// the last place for all arguments, and 2.5 of `erf` and `tan`, but results of
/// `exp` below 1.7e-38 are zero, which is half as much again as the smallest
/// normal number.
void populateFunctionPatterns(mlir::RewritePatternSet &patterns);

/// The same for `expm1`, `log1p`, and the hyperbolic functions but `tanh` with
/// their inverses, of f32, with an error of at most 2.5 units; and for `tanh`
/// of f64, with one of at most 3.
void populateHyperbolicPatterns(mlir::RewritePatternSet &patterns);

/// The same for `atan`, `asin` and `acos` of f32. Their error is at most 2.5
/// units.
void populateArcPatterns(mlir::RewritePatternSet &patterns);

/// Adds patterns that compute quotients and remainders of vectors of integers
/// of up to 32 bits, and remainders of vectors of floats, by quotients of
/// floats. They are exact. Divisors are such that the quotients exist.
void populateQuotientPatterns(mlir::RewritePatternSet &patterns);

/// Adds patterns that convert f16 and bf16 less often, with the same results.
void populateShortFloatPatterns(mlir::RewritePatternSet &patterns);
} // namespace espalier

#endif // ESPALIER_CONVERSION_PROGRAMTOLLVM_FUNCTIONPATTERNS_H
