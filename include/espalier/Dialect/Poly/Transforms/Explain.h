//===- Explain.h - What the default schedule makes of kernels ---*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMS_EXPLAIN_H
#define ESPALIER_DIALECT_POLY_TRANSFORMS_EXPLAIN_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// Says, line by line, which computations of a recurrence of `kernel`, which
/// has no schedule yet, the default schedule computes in one loop nest in each
/// step, what these compute, and why the next ones have a nest of their own.
/// Says nothing of other kernels.
void explainFusion(KernelOp kernel, TargetAttr target,
                   llvm::function_ref<void(const llvm::Twine &)> say);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMS_EXPLAIN_H
