//===- Target.h - Machines to compile for -----------------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_TARGET_H
#define ESPALIER_DIALECT_POLY_IR_TARGET_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// Bytes of a cache line, on every target.
inline constexpr int64_t kLineBytes = 64;
/// Bytes of a way of the first-level cache, whose lines this far apart share a
/// set: a page, since it is looked up while addresses are translated.
inline constexpr int64_t kWayBytes = 4096;
/// Machines with fewer vector registers hold little besides results: their
/// tiles are small.
inline constexpr int64_t kManyRegisters = 32;

/// Describes the machine that this process runs on.
TargetAttr detectHostTarget(mlir::MLIRContext *context);

/// Describes a processor by LLVM's name for it, such as `znver4`; `native` is
/// the host. Caches and cores are those usual for it. Null if the name is not
/// known here.
TargetAttr getNamedTarget(mlir::MLIRContext *context, llvm::StringRef cpu);

/// Describes the processor that LLVM calls `cpu` and that has the `features`
/// for which the predicate holds; these decide the width and number of
/// registers. Caches and cores are those usual for it, or, if the name is not
/// known here, for any processor of that kind.
TargetAttr describeTarget(mlir::MLIRContext *context, llvm::StringRef cpu,
                          llvm::function_ref<bool(llvm::StringRef)> hasFeature);

/// The names that `getNamedTarget` knows.
llvm::SmallVector<llvm::StringRef> getTargetNames();

/// The target that `op` or the module around it is for, or the host.
TargetAttr getTarget(mlir::Operation *op);

/// A copy of `kernel` in no module, which is for the same target.
mlir::OwningOpRef<KernelOp> cloneAlone(KernelOp kernel);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_IR_TARGET_H
