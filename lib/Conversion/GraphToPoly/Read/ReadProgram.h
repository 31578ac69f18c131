//===- ReadProgram.h - From poly.kernel to statements -----------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_READ_READPROGRAM_H
#define ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_READ_READPROGRAM_H

#include "../Emit/KernelEmitter.h"

namespace espalier::graphtopoly {

/// A block of a function on memory, as a program.
struct ReadBlock {
  DispatchVariant variant;
  /// What it is read from: buffers, views, copies and calls, in their order.
  llvm::SmallVector<mlir::Operation *> operations;
  /// Whether an array is written by several statements.
  bool hasParts = false;
  /// Whether a statement does not compute elements in their order.
  bool hasOrders = false;
  /// Whether `emitKernels` has written it, in `Form::Attributes`.
  bool isOwn = true;
};

/// Why a block cannot be read.
struct NotRead {
  mlir::Operation *op = nullptr;
  std::string reason;
  bool isError = false; ///< An attribute of StepAttributes.h is wrong.
};

/// Reads the kernels that `block` of `main` calls: the inverse of
/// `emitKernels`. Fails, and says why, where statements cannot say what is
/// computed, or more is known of a kernel than statements can say: its
/// schedule, what holds of values.
mlir::FailureOr<ReadBlock> readKernels(mlir::func::FuncOp main,
                                       mlir::Block &block, NotRead &notRead);

} // namespace espalier::graphtopoly

#endif // ESPALIER_LIB_CONVERSION_GRAPHTOPOLY_READ_READPROGRAM_H
