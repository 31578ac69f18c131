//===- CheckStorage.h - May elements share a place? -------------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_CHECKSTORAGE_H
#define ESPALIER_LIB_POLYHEDRAL_CHECKSTORAGE_H

#include "Paths.h"
#include "espalier/Polyhedral/Dependence.h"

namespace espalier::polyhedral {

/// The answer when `context` could not give one.
Legality makeUnknown(const Context &context);

/// Checks that the schedule with these paths suits `storage`. Goes down the
/// tree as long as all uses of an element agree in a level; what is below is a
/// tile, which has the memory to itself, so its elements must lie in different
/// places. Refuses other schedules, even where lifetimes are disjoint for
/// another reason.
Legality checkStorage(const Context &context, const Program &program,
                      llvm::ArrayRef<Path> paths, const Storage &storage);

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_CHECKSTORAGE_H
