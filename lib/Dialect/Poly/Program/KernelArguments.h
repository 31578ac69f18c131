//===- KernelArguments.h - What a kernel is called with ---------*- C++ -*-===//
//
// Edits of a kernel's arguments together with those of its only call.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_DIALECT_POLY_PROGRAM_KERNELARGUMENTS_H
#define ESPALIER_LIB_DIALECT_POLY_PROGRAM_KERNELARGUMENTS_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// A kernel that is private and called in one place.
struct KernelCall {
  CallOp call;
  KernelOp kernel;

  /// The argument that `value` is passed as; null if it is none.
  mlir::BlockArgument findArgument(mlir::Value value);
  /// What is passed as an argument of the kernel.
  mlir::Value getOperand(mlir::BlockArgument argument) {
    return call.getArguments()[argument.getArgNumber()];
  }
};

/// Adds an argument for `value` after all others. A size becomes the last
/// parameter.
mlir::BlockArgument addArgument(KernelCall call, mlir::Value value);

/// Passes `value` as `argument` in place of what is passed. The accesses to it
/// are to be edited, too.
void replaceOperand(KernelCall call, mlir::BlockArgument argument,
                    mlir::Value value);

/// Removes arguments that the kernel does not use, there and in all its calls.
void eraseUnusedArguments(KernelOp kernel, llvm::ArrayRef<CallOp> calls);

/// Edits the maps of the accesses of `compute`, and the memory that they are
/// to.
void updateAccesses(ComputeOp compute,
                    llvm::function_ref<void(ComputeAccess &access)> edit);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_PROGRAM_KERNELARGUMENTS_H
