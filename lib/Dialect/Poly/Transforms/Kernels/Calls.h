//===- Calls.h - Kernels as a program calls them ----------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_KERNELS_CALLS_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_KERNELS_CALLS_H

#include "../ScheduleTree.h"

namespace espalier::poly {

/// `@kernel`, for messages.
std::string quote(KernelOp kernel);

/// The one call of a kernel, or a refusal.
llvm::Expected<CallOp> findCall(KernelOp kernel);

/// Whether a kernel writes an argument.
bool writesArgument(KernelOp kernel, unsigned number);

/// Whether two buffers of a program may have elements in common. Arguments of
/// functions, allocations and constants are apart; what else there is may be
/// anything.
bool mayOverlap(mlir::Value first, mlir::Value second);

/// Refuses if `first`, a call, cannot wait until right before `second`, which
/// follows it in its block: because something between uses its buffers.
llvm::Error checkDelay(CallOp first, CallOp second);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_KERNELS_CALLS_H
