//===- EmitVersions.h - A block in two versions -----------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_CHECKS_EMITVERSIONS_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_CHECKS_EMITVERSIONS_H

#include "../BlockGraph.h"
#include "Extents.h"

namespace espalier::substitution {

/// Whether a block may be put into two versions: it is all of a function.
bool canHaveVersions(mlir::Block &block);

/// Puts the block, but for its terminator, into two versions: the operators
/// that `choice` chooses for where `clauses` hold, and what is there otherwise.
/// Afterwards, the e-graph is of no use any more.
void emitVersions(BlockGraph &block, const Choice &choice,
                  llvm::ArrayRef<Clause> clauses, const ExtentTable &extents,
                  mlir::RewriterBase &rewriter);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_CHECKS_EMITVERSIONS_H
