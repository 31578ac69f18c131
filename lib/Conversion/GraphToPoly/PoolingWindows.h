//===- PoolingWindows.h - How a pooling reads a contraction -----*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_POOLINGWINDOWS_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_POOLINGWINDOWS_H

#include "StatementList.h"

namespace espalier::graphtopoly {

/// How a pooling reads its operand: one entry per index of that.
struct PoolingWindows {
  struct Index {
    unsigned dim;                  ///< Of the pooling's result.
    int64_t stride = 1;            ///< Distance of two windows.
    std::optional<unsigned> local; ///< The reduced dimension inside a window.
    int64_t size = 1;              ///< Its extent.
  };
  llvm::SmallVector<Index> indices;
  unsigned row; ///< The first index with windows.
};

/// Reads `pooling` as a reduction over windows of `pooled` that do not overlap.
std::optional<PoolingWindows> getWindows(const StatementList &program,
                                         const Statement &pooling,
                                         ArrayId pooled);

/// Whether the rows that a row of `windows` needs are long enough for tiles of
/// `sum`, over the entries of filters, with lanes along the last dimension.
bool hasRowsOfTiles(const StatementList &program, const Statement &sum,
                    const PoolingWindows &windows);

/// Computes the pooling `consumer` of what `producer` computes, a contraction
/// that `keepsRowMajor`, in the kernel of `consumer`, tile by tile in
/// registers. Fails, with nothing changed, if the image is not read as such a
/// kernel can.
mlir::LogicalResult
poolInRegisters(StatementList &program, FusionGroup &producer,
                FusionGroup &consumer, ArrayId pooled,
                const PoolingWindows &windows,
                const llvm::DenseSet<ArrayId> &escaping,
                llvm::MutableArrayRef<FusionGroup> fusionGroups);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_POOLINGWINDOWS_H
