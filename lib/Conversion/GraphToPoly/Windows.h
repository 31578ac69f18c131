//===- Windows.h - How a pooling reads a contraction ------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_WINDOWS_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_WINDOWS_H

#include "StepProgram.h"

namespace espalier::graphtopoly {

/// How a pooling reads its operand: one entry per index of that.
struct Windows {
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
std::optional<Windows> getWindows(const StepProgram &program,
                                  const Statement &pooling, ArrayId pooled);

/// Computes the pooling `consumer` of what `producer` computes, a contraction
/// that `keepsRows`, in the kernel of `consumer`, tile by tile in registers.
/// Fails, with nothing changed, if the image is not read as such a kernel can.
mlir::LogicalResult closeWindows(StepProgram &program, Cluster &producer,
                                 Cluster &consumer, ArrayId pooled,
                                 const Windows &windows,
                                 const llvm::DenseSet<ArrayId> &escaping,
                                 llvm::MutableArrayRef<Cluster> clusters);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_WINDOWS_H
