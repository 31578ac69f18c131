//===- Skews.h - What makes loops permutable --------------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMS_SKEWS_H
#define ESPALIER_DIALECT_POLY_TRANSFORMS_SKEWS_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include <optional>
#include <string>

namespace espalier::poly {

/// A loop to which multiples of loops around it are added.
struct Skew {
  std::string loop;
  llvm::SmallVector<int64_t> factors;
  llvm::SmallVector<std::string> others; ///< One for each factor.
};

/// The skews, from outer to inner loops and with the least factors, after which
/// all loops from the first to the last of `loops` in the nest of `compute` may
/// run in any order, as far as the nest alone orders them (Wolf and Lam, A Data
/// Locality Optimizing Algorithm, PLDI 1991). Empty if none are needed; nothing
/// if there are none, or if the loops are not in one nest.
std::optional<llvm::SmallVector<Skew>>
computeSkews(ComputeOp compute, llvm::ArrayRef<llvm::StringRef> loops);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMS_SKEWS_H
