//===- GroupEntries.h - Rows that share what they read ----------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_GROUPENTRIES_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_GROUPENTRIES_H

#include "../StatementList.h"

namespace espalier::graphtopoly {

/// Lets sums over the entries of neighbouring rows run together, where that
/// reads less: for each subset of a group of rows there is a list of the places
/// that these rows, and no others of the group, have an entry at.
void groupEntries(StatementList &program,
                  llvm::MutableArrayRef<FusionGroup> fusionGroups);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_GROUPENTRIES_H
