//===- PlanScript.h - The default schedule as a script ----------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_PLANSCRIPT_H
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_PLANSCRIPT_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Dialect/Poly/Transforms/Plan.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace espalier::poly {

/// The script that does to the kernels of a module, those without a schedule,
/// what the pass `poly-default-schedule` does: a `transform.poly.plan` for each
/// part of a kernel, for the target of the module or `target`. Kernels that
/// keep their program order are not in it. With `name`, of that kernel only,
/// which may have the schedule of its program order.
mlir::OwningOpRef<mlir::ModuleOp> makeDefaultScript(mlir::ModuleOp module,
                                                    TargetAttr target = {},
                                                    llvm::StringRef name = {});

/// The plans that `script` gives to the computations of `kernel`, in its order,
/// with what knobs select. Fails where a number is open, or a plan does not fit
/// the computations; whether it is legal is not looked at.
llvm::Expected<std::vector<Plan>> readPlans(mlir::ModuleOp script,
                                            KernelOp kernel);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_PLANSCRIPT_H
