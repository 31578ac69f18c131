//===- Kernels.h - Random kernels -------------------------------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_KERNELS_H
#define ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_KERNELS_H

#include "Random.h"
#include <string>

namespace espalier::poly::fuzz {

/// The text of a random kernel `@k`. Its computations `@c0`, `@c1`, ... have at
/// most three dimensions and extents of at most 7; they compute with integers,
/// so that any change of order that matters shows. Arguments of type i32 are
/// index arrays, which are read only; some decide between which values a loop
/// runs. Some make a local array and use it. With `hasData`, all have such
/// arrays: increasing ones, or ones whose values are all different.
std::string makeKernel(Random &random, bool hasData = false);

/// One with a reduction to two values at once, by a combiner that keeps the
/// order of updates or does not, and maybe a reader of both.
std::string makePairs(Random &random);

} // namespace espalier::poly::fuzz

#endif // ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_KERNELS_H
