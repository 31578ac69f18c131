//===- Extents.h - The box around a domain ----------------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_ANALYSIS_EXTENTS_H
#define ESPALIER_DIALECT_POLY_ANALYSIS_EXTENTS_H

#include "mlir/IR/IntegerSet.h"
#include "llvm/ADT/SmallVector.h"
#include <optional>

namespace espalier::poly {

/// Returns the extents of the box around `set`, 0 for an empty one; nothing for
/// dimensions whose extent depends on a size.
llvm::SmallVector<std::optional<int64_t>> getBoxExtents(mlir::IntegerSet set);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_ANALYSIS_EXTENTS_H
