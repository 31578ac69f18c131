//===- CheckStorage.h - May elements share a place? -------------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_CHECKSTORAGE_H
#define ESPALIER_LIB_POLYHEDRAL_CHECKSTORAGE_H

#include "Paths.h"
#include "espalier/Polyhedral/Dependence.h"

namespace espalier::polyhedral {

/// The answer when `context` could not give one.
Legality makeUnknown(const Context &context);

/// Checks that the schedule with these paths suits `storage`. Looks for a
/// number of outer levels such that all uses of an element agree in them, and
/// elements that share a place differ in them: each value of those levels is a
/// tile that has the memory to itself. Refuses schedules for which there is no
/// such number, even where lifetimes would be disjoint for another reason.
Legality checkStorage(const Context &context, const Program &program,
                      llvm::ArrayRef<Path> paths, const Storage &storage);

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_CHECKSTORAGE_H
