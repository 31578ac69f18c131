//===- PackConstant.h - Constants under other shapes ------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_PACKCONSTANT_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_PACKCONSTANT_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/BuiltinAttributes.h"

namespace espalier::graphtopoly {

/// Returns the same row-major elements under the shape of `type`; null if the
/// attribute is of a kind that holds no bytes.
mlir::ElementsAttr reshapeConstant(mlir::ElementsAttr constant,
                                   mlir::RankedTensorType type);

/// If the values of `constant` are missing, as those of a resource that is only
/// named, returns a constant of `type` that misses them too; else null. Which
/// kernels compute with it does not depend on them.
mlir::ElementsAttr getWithoutValues(mlir::ElementsAttr constant,
                                    mlir::RankedTensorType type);

/// Returns `constant` rearranged by `layout` into `storedShape`, padded with
/// zeros.
mlir::ElementsAttr packConstant(mlir::ElementsAttr constant,
                                mlir::AffineMap layout,
                                llvm::ArrayRef<int64_t> storedShape);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_PACKCONSTANT_H
