//===- FullTiles.h - Tiles that no domain cuts ------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_FULLTILES_H
#define ESPALIER_LIB_POLYHEDRAL_FULLTILES_H

#include "Isl.h"
#include "Paths.h"

namespace espalier::polyhedral {

/// The values of the loops of `band`, as a relation from those of the bands
/// above it, for which its tiles are full: moving a point inside its tile never
/// leaves the domain. A tile is what the loops of `band` and above keep
/// together, of points that differ only in dimensions that a loop of `band`
/// divides. Wrapped into a set, as isl's option `isolate` wants it.
isl::SetPtr getFullTiles(const Context &context, const Program &program,
                         llvm::ArrayRef<Path> paths, const ScheduleNode *band);

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_FULLTILES_H
