//===- Windows.h - Sliding windows of convolutions and pools ----*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_GRAPH_IR_WINDOWS_H
#define ESPALIER_LIB_DIALECT_GRAPH_IR_WINDOWS_H

#include "DefinitionBuilder.h"

namespace espalier::graph {

/// The attributes of a window that slides over the dimensions from 2 on.
struct Windows {
  llvm::ArrayRef<int64_t> strides, padsLow, padsHigh, dilations;

  /// Checks that there is one entry per spatial dimension and that strides and
  /// dilations are positive.
  mlir::LogicalResult verify(const DefinitionBuilder &builder,
                             unsigned numSpatial) const;
  bool hasPadding(unsigned spatial) const {
    return padsLow[spatial] != 0 || padsHigh[spatial] != 0;
  }
  /// How many elements a window of `kernel` taps spans.
  definition::Expr getSpan(definition::Expr kernel, unsigned spatial) const {
    return (kernel - 1) * dilations[spatial] + 1;
  }
  /// How many windows fit into the padded `extent`.
  definition::Expr getCount(definition::Expr extent, definition::Expr kernel,
                            unsigned spatial) const {
    definition::Expr free = extent + padsLow[spatial] + padsHigh[spatial] -
                            getSpan(kernel, spatial);
    return floorDiv(free, definition::constant(strides[spatial])) + 1;
  }
  /// Where tap `tap` of window `position` lies.
  definition::Expr locate(definition::Expr position, definition::Expr tap,
                          unsigned spatial) const {
    return position * strides[spatial] + tap * dilations[spatial] -
           padsLow[spatial];
  }
};

} // namespace espalier::graph

#endif // ESPALIER_LIB_DIALECT_GRAPH_IR_WINDOWS_H
