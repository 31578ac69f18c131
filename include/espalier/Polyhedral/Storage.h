//===- Storage.h - Memory that elements share -------------------*- C++ -*-===//

#ifndef ESPALIER_POLYHEDRAL_STORAGE_H
#define ESPALIER_POLYHEDRAL_STORAGE_H

#include "espalier/Polyhedral/Schedule.h"
#include "espalier/Polyhedral/Set.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/Error.h"

namespace espalier::polyhedral {

/// Loops of a schedule tree.
using LoopSet = llvm::SmallPtrSet<const BandMember *, 4>;

/// For each of the program's storages the parallel loops whose iterations need
/// memory of their own: those in which all uses of an element agree. The
/// iterations of others share the memory, and so do all of them if each element
/// has a place of its own. Fails if the storage does not suit the schedule.
llvm::Expected<std::vector<LoopSet>>
findPrivateLoops(const Program &program, const ScheduleNode *root,
                 const Limits &limits = {});

} // namespace espalier::polyhedral

#endif // ESPALIER_POLYHEDRAL_STORAGE_H
