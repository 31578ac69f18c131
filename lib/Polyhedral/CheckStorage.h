//===- CheckStorage.h - May elements share a place? -------------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_CHECKSTORAGE_H
#define ESPALIER_LIB_POLYHEDRAL_CHECKSTORAGE_H

#include "Paths.h"
#include "espalier/Polyhedral/Dependence.h"
#include "espalier/Polyhedral/Storage.h"

namespace espalier::polyhedral {

/// The answer when `context` could not give one.
Legality makeUnknown(const Context &context);

/// Whether a schedule suits a storage.
struct StorageAnswer {
  Legality legality;
  LoopSet privateLoops; ///< If it does.
};

/// Checks that the schedule with these paths suits `storage`. Goes down the
/// tree as long as all uses of an element agree in a level; what is below is a
/// tile. There, elements of one place must not be in use at the same time. Each
/// iteration of the parallel loops above has memory of its own, those inside
/// share it.
StorageAnswer checkStorage(const Context &context, const Program &program,
                           llvm::ArrayRef<Path> paths, const Storage &storage);

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_CHECKSTORAGE_H
