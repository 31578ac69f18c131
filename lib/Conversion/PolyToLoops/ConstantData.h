//===- ConstantData.h - Data that the compiler knows ------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_POLYTOLOOPS_CONSTANTDATA_H
#define ESPALIER_LIB_CONVERSION_POLYTOLOOPS_CONSTANTDATA_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::polytoloops {

/// Whether `array` is a constant of integers whose values are at hand.
bool isConstantData(mlir::Value array);

/// Checks what the kernel states of the values of argument `number`, which
/// `call` passes constants for. Emits an error that names the element which is
/// wrong.
mlir::LogicalResult evaluateProperties(poly::CallOp call, poly::KernelOp kernel,
                                       unsigned number);

/// Checks `given` for constants, one for each read, and the kernel's
/// parameters, at all its points. Emits an error that names the point and the
/// values, or says what is not known.
mlir::LogicalResult evaluateGiven(poly::GivenOp given,
                                  llvm::ArrayRef<mlir::Value> arrays,
                                  llvm::ArrayRef<mlir::Value> sizes);

} // namespace espalier::polytoloops

#endif // ESPALIER_LIB_CONVERSION_POLYTOLOOPS_CONSTANTDATA_H
