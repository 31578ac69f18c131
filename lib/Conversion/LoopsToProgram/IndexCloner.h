//===- IndexCloner.h - Sizes of @main in @main_plan -------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_LOOPSTOPROGRAM_INDEXCLONER_H
#define ESPALIER_LIB_CONVERSION_LOOPSTOPROGRAM_INDEXCLONER_H

#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/IRMapping.h"

namespace espalier {

/// Computes index values of @main again elsewhere, from the extents of its
/// arguments.
class IndexCloner {
public:
  /// `getExtent` yields extent `dim` of argument `argument` at `builder`'s
  /// insertion point.
  IndexCloner(
      mlir::OpBuilder &builder,
      std::function<mlir::Value(mlir::BlockArgument, int64_t)> getExtent)
      : builder(builder), getExtent(std::move(getExtent)) {}

  /// Computes `value`; reports one that does not follow from the extents.
  mlir::FailureOr<mlir::Value> clone(mlir::Value value);

private:
  mlir::FailureOr<mlir::Value> cloneDim(mlir::memref::DimOp op);

  mlir::OpBuilder &builder;
  std::function<mlir::Value(mlir::BlockArgument, int64_t)> getExtent;
  mlir::IRMapping mapping;
};

} // namespace espalier

#endif // ESPALIER_LIB_CONVERSION_LOOPSTOPROGRAM_INDEXCLONER_H
