//===- CheckKernels.h - Kernels that look at data ---------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_POLYTOLOOPS_CHECKKERNELS_H
#define ESPALIER_LIB_CONVERSION_POLYTOLOOPS_CHECKKERNELS_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::polytoloops {

/// The record that a check writes, its last argument: 0, or a message, counted
/// from 1, then the point and the values, which replace the `%` of it.
mlir::MemRefType getRecordType(mlir::MLIRContext *context);

/// Makes a kernel `name` that checks `given`. Its arguments are `arrays`, which
/// that reads, then the parameters of its kernel and the record. Appends what
/// it may say to `messages`.
poly::KernelOp
makeStatementCheck(mlir::OpBuilder &builder, poly::GivenOp given,
                   mlir::ArrayRef<mlir::Value> arrays, mlir::StringRef name,
                   mlir::SmallVectorImpl<mlir::Attribute> &messages);

/// Makes a kernel `name` that checks what `kernel` states of the values of
/// argument `number` by attributes. Its arguments are that array, its extents,
/// what the values are less than if there is such a bound, and the record.
/// Appends what it may say to `messages`.
poly::KernelOp
makePropertyCheck(mlir::OpBuilder &builder, poly::KernelOp kernel,
                  unsigned number, mlir::StringRef name,
                  mlir::SmallVectorImpl<mlir::Attribute> &messages);

} // namespace espalier::polytoloops

#endif // ESPALIER_LIB_CONVERSION_POLYTOLOOPS_CHECKKERNELS_H
