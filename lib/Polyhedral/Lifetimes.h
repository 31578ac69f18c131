//===- Lifetimes.h - Elements in use at the same time -----------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_LIFETIMES_H
#define ESPALIER_LIB_POLYHEDRAL_LIFETIMES_H

#include "ArrayAccesses.h"
#include "espalier/Polyhedral/Set.h"

namespace espalier::polyhedral {

/// Pairs of different elements of one tile (a value of the first `numLevels`
/// levels, which `uses` have in common) of which neither is done with before
/// the other is first used; the lesser element first. With `places`, only those
/// that it maps to the same place. Null if a level or an access is not affine,
/// or if it takes too long.
Map getConflicts(const Context &context, const Program &program,
                 const ArrayAccesses &uses, size_t numLevels,
                 std::optional<mlir::AffineMap> places);

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_LIFETIMES_H
