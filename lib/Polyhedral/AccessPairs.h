//===- AccessPairs.h - Candidates for dependences ---------------*- C++ -*-===//

#ifndef ESPALIER_LIB_POLYHEDRAL_ACCESSPAIRS_H
#define ESPALIER_LIB_POLYHEDRAL_ACCESSPAIRS_H

#include "espalier/Polyhedral/Dependence.h"

namespace espalier::polyhedral {

/// Two accesses to one array, at least one of them a write.
struct AccessPair {
  DependenceKind kind;
  unsigned source; ///< Statement with points before some of the sink's.
  unsigned sink;   ///< Possibly the same.
  const Access &sourceAccess;
  const Access &sinkAccess;
  /// Their places among the reads or writes of the statements.
  unsigned sourceNumber, sinkNumber;
  /// Both are the accumulator of one reduction.
  bool isReduction;
  /// It is one that lanes of a vector may update at once.
  bool joinsLanes;
  /// It is one that parallel iterations may update, each at once.
  bool isAtomic;
};

/// Visits the pairs of `program` until `visit` returns false.
void forEachAccessPair(const Program &program,
                       llvm::function_ref<bool(const AccessPair &)> visit);

} // namespace espalier::polyhedral

#endif // ESPALIER_LIB_POLYHEDRAL_ACCESSPAIRS_H
