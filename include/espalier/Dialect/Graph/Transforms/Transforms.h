//===- Transforms.h - Transformations of the graph dialect ------*- C++ -*-===//
//
// Each transformation is a function on one target. Passes, transform ops and
// the auto-scheduler all call these functions; none has logic of its own.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_GRAPH_TRANSFORMS_TRANSFORMS_H
#define ESPALIER_DIALECT_GRAPH_TRANSFORMS_TRANSFORMS_H

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/IR/PatternMatch.h"

namespace espalier::graph {

/// Replaces `op` by constants and erases it. Fails, leaving the IR unchanged,
/// when an operand is no constant, when a result would take more than
/// `maxBytes` or would inflate small operands, or when the definition cannot be
/// evaluated.
mlir::LogicalResult foldConstants(mlir::RewriterBase &rewriter,
                                  DefinedOpInterface op, uint64_t maxBytes);

/// Which constants are worth storing without their zeros.
struct SparsifyOptions {
  double maxDensity = 0.3;
  int64_t minElements = 1024;
};

/// A constant that an operator reads in a sum of products.
struct SparseOperand {
  mlir::OpOperand *operand;
  /// By dimension, whether the sum runs over it.
  llvm::SmallVector<bool> summed;
  int64_t numEntries, numElements;
  /// How entries are to be stored (`poly::EntryFormat`); empty: as the steps
  /// that form kernels choose.
  std::string format = "";
  /// Whether it has all elements where its entries cannot be stored, which is
  /// an error otherwise.
  bool mayStayDense = false;

  double getDensity() const {
    return static_cast<double>(numEntries) / static_cast<double>(numElements);
  }
};

/// Returns the constants below `root` that `options` allows and whose entries
/// sums can run over, row by row. Folds transposes of constants that it meets.
llvm::SmallVector<SparseOperand>
findSparseOperands(mlir::RewriterBase &rewriter, mlir::Operation *root,
                   const SparsifyOptions &options);

/// Gives the type of a constant, for the operator that reads it there, an
/// encoding that stores entries row by row, and the format. The sum leaves out
/// products with zero from then on.
void makeSparse(mlir::RewriterBase &rewriter, const SparseOperand &operand);

/// Says so.
void remarkSparse(const SparseOperand &operand);

} // namespace espalier::graph

#endif // ESPALIER_DIALECT_GRAPH_TRANSFORMS_TRANSFORMS_H
