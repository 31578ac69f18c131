//===- ProgramData.h - Where a program's data comes from --------*- C++ -*-===//

#ifndef ESPALIER_LIB_CONVERSION_POLYTOLOOPS_PROGRAMDATA_H
#define ESPALIER_LIB_CONVERSION_POLYTOLOOPS_PROGRAMDATA_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::polytoloops {

/// On a call: the operands of whose values the program has checked, before it,
/// all that the kernel states. -poly-check-givens alone sets it.
constexpr llvm::StringLiteral kCheckedAttr = "poly.checked";

/// Whether `array` is an input of the program, or a part of one, that the
/// program never writes: so it holds what callers pass.
bool isUnchangedInput(mlir::Value array);

/// Whether callers of the program are held to all that `kernel` states of the
/// values of argument `number`, which `call` passes an input for.
bool isCheckedOfCallers(poly::CallOp call, poly::KernelOp kernel,
                        unsigned number);

} // namespace espalier::polytoloops

#endif // ESPALIER_LIB_CONVERSION_POLYTOLOOPS_PROGRAMDATA_H
