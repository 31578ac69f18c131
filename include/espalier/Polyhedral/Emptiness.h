//===- Emptiness.h - Whether constraints have a solution --------*- C++ -*-===//

#ifndef ESPALIER_POLYHEDRAL_EMPTINESS_H
#define ESPALIER_POLYHEDRAL_EMPTINESS_H

#include "espalier/Polyhedral/Set.h"

namespace espalier::polyhedral {

/// Whether no integer point of `numDims` dimensions satisfies all constraints.
/// The same as asking a `Set` made of them, but most answers come from MLIR's
/// simplex in a small part of the time; isl decides the others.
std::optional<bool> isEmpty(const Context &context, unsigned numDims,
                            llvm::ArrayRef<LinearConstraint> constraints);

} // namespace espalier::polyhedral

#endif // ESPALIER_POLYHEDRAL_EMPTINESS_H
