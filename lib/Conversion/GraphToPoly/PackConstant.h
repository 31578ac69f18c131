//===- PackConstant.h - Constants under other shapes ------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_PACKCONSTANT_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_PACKCONSTANT_H

#include "mlir/IR/AffineMap.h"
#include "mlir/IR/AsmState.h"
#include "mlir/IR/BuiltinAttributes.h"
#include <optional>

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

/// Returns memory for the values of a constant, if there is any.
/// `HeapAsmResourceBlob` ends the process where there is none.
std::optional<mlir::AsmResourceBlob> allocateBlob(size_t size);

/// Returns `constant` rearranged by `layout` into `storedShape`, padded with
/// zeros; null if there is no memory for it.
mlir::ElementsAttr packConstant(mlir::ElementsAttr constant,
                                mlir::AffineMap layout,
                                llvm::ArrayRef<int64_t> storedShape);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_PACKCONSTANT_H
