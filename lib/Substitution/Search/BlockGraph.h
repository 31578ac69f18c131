//===- BlockGraph.h - A block as an e-graph, and back -----------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_BLOCKGRAPH_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_BLOCKGRAPH_H

#include "EGraph.h"
#include "mlir/IR/PatternMatch.h"

namespace espalier::substitution {

/// A node for each class that is needed, by canonical number; `kNone` for
/// others.
using Choice = std::vector<ENodeId>;

/// What a block computes.
struct BlockGraph {
  explicit BlockGraph(mlir::Block &block)
      : block(&block), graph(block.getParentOp()->getContext()) {}

  mlir::Block *block;
  EGraph graph;
  /// The last barrier, on which the others depend; `kNone` if the block is not
  /// in the order of its uses.
  ClassId root = kNone;
  /// In the order of the program.
  llvm::SmallVector<mlir::Operation *> barriers;
  /// Values of the block that regions of a barrier use and, with the last one,
  /// other blocks. They are further operands of its node.
  llvm::DenseMap<mlir::Operation *, llvm::SmallVector<mlir::Value>> captured;
  /// How many operators a rule could match.
  unsigned numOperators = 0;
};

/// Reads a block.
std::unique_ptr<BlockGraph> importBlock(mlir::Block &block);

/// Replaces the operators of the block by those that `choice` chooses. It has a
/// node for each class that the root needs, without a cycle. Afterwards, the
/// e-graph is of no use any more.
void emitBlock(BlockGraph &block, const Choice &choice,
               mlir::RewriterBase &rewriter);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_BLOCKGRAPH_H
