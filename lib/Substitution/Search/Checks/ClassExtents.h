//===- ClassExtents.h - The extents of what a graph computes ----*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_CHECKS_CLASSEXTENTS_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_CHECKS_CLASSEXTENTS_H

#include "../../ConstraintStore.h"
#include "../EGraph.h"
#include "Extents.h"

namespace espalier::substitution {

/// The extents of a tensor. They are these forms where `needs` hold, which is
/// that windows fit into what they slide over.
struct TensorExtents {
  llvm::SmallVector<Linear, 4> forms;
  Constraints needs;
};

/// The extents of the classes of an e-graph, from the definitions of operators,
/// and what is known of them for all sizes of at least 1.
class ClassExtents {
public:
  ClassExtents(const EGraph &graph, ExtentTable &table)
      : graph(graph), table(table), facts(integers) {}

  /// Of the node of a class that came first.
  const TensorExtents &get(ClassId id);
  /// Takes for granted what the definition of an operator says that extents
  /// have in common.
  void addAgreements(ENodeId id);

  /// What is known. Forms that were made since the last call are, too.
  const ConstraintStore &getFacts() { return learn(facts, numLearned); }
  /// Adds what is known of the variables after the first `numLearned` of the
  /// table.
  const ConstraintStore &learn(ConstraintStore &facts,
                               unsigned &numLearned) const;

  const Integers &getIntegers() const { return integers; }
  ExtentTable &getTable() { return table; }

private:
  using Agreements = llvm::SmallVectorImpl<Constraint>;
  TensorExtents compute(ClassId id);
  TensorExtents computeOperator(ENodeId id, Agreements *agreements);
  TensorExtents makeUnknown(mlir::RankedTensorType type);

  const EGraph &graph;
  ExtentTable &table;
  Integers integers;
  ConstraintStore facts;
  unsigned numLearned = 0;
  /// Null while it is computed.
  llvm::DenseMap<ClassId, std::unique_ptr<TensorExtents>> known;
};

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_CHECKS_CLASSEXTENTS_H
