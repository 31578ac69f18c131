//===- MicroKernels.h - Random micro-kernels --------------------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_MICROKERNELS_H
#define ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_MICROKERNELS_H

#include "Random.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/IR/OwningOpRef.h"

namespace espalier::poly::fuzz {

/// A kernel of what a computation does along its dimensions from `first` on,
/// for all of them or a tile, under a random schedule. Null if the parameters,
/// data or the other dimensions say more than where that is.
mlir::OwningOpRef<KernelOp> makeMicroKernel(Random &random, ComputeOp model,
                                            unsigned first);

} // namespace espalier::poly::fuzz

#endif // ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_MICROKERNELS_H
