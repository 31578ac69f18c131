//===- Groups.h - Operations that become one kernel -------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_LINALGTOPOLY_GROUPS_H
#define ESPALIER_LIB_CONVERSION_LINALGTOPOLY_GROUPS_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Linalg/IR/Linalg.h"

namespace espalier::linalgtopoly {

/// Operations that run in one kernel, in their order. What all but the last one
/// compute is used inside the group only.
using Group = llvm::SmallVector<mlir::linalg::LinalgOp>;

/// Cuts a function into groups: an operation joins the one whose only use it
/// is, if it maps the other's result element by element or accumulates into it.
/// `linalg.fill` is in no group.
llvm::SmallVector<Group> formGroups(mlir::func::FuncOp function);

/// What is known of a tensor while its function is converted.
struct Tensor {
  llvm::SmallVector<mlir::OpFoldResult> sizes;
  /// The memory that holds it; null if there is none (yet).
  mlir::Value buffer;
  /// Without memory: the element that fills it. Null if it is undefined.
  mlir::Value fill;
};
using TensorMap = llvm::DenseMap<mlir::Value, Tensor>;

/// A kernel, and what it is called with.
struct EmittedKernel {
  poly::KernelOp kernel;
  llvm::SmallVector<mlir::Value> arguments;
};

/// Emits the kernel of `group` at `kernels`, and at `body` what its call needs
/// (loop bounds that are numbers there). `destinations` are the memrefs that
/// receive the results of the last operation; `scalars` maps the scalar values
/// of the original function to those at `body`. Fails with a diagnostic at the
/// operation that has no counterpart in `poly`.
mlir::FailureOr<EmittedKernel>
emitKernel(const Group &group, const TensorMap &tensors,
           mlir::ValueRange destinations, const mlir::IRMapping &scalars,
           llvm::StringRef name, mlir::OpBuilder &kernels);

/// Emits a kernel for an operation that moves elements: `tensor.pad`,
/// `tensor.extract_slice`, `tensor.insert_slice` or `tensor.concat`.
mlir::FailureOr<EmittedKernel>
emitMoves(mlir::Operation *op, const TensorMap &tensors,
          mlir::Value destination, const mlir::IRMapping &scalars,
          llvm::StringRef name, mlir::OpBuilder &kernels);

} // namespace espalier::linalgtopoly

#endif // ESPALIER_LIB_CONVERSION_LINALGTOPOLY_GROUPS_H
