//===- WritePlan.h - The tree that a plan stands for ------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_WRITEPLAN_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_WRITEPLAN_H

#include "TiledComponent.h"
#include "mlir/IR/Builders.h"

namespace espalier::poly {

/// Writes the nodes of a plan that fits the kernel, where the builder is.
void writePlan(const TiledComponent &component, mlir::OpBuilder &builder);

/// Applies a plan without looking at dependences; loops are left without names.
/// Refuses what does not fit the kernel.
llvm::Error editByPlan(KernelOp kernel, const Plan &plan);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_WRITEPLAN_H
