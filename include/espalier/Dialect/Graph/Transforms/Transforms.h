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

} // namespace espalier::graph

#endif // ESPALIER_DIALECT_GRAPH_TRANSFORMS_TRANSFORMS_H
