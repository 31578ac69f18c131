//===- DefaultSchedule.h - A good schedule for most kernels -----*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_DEFAULTSCHEDULE_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_DEFAULTSCHEDULE_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// Writes a schedule for `kernel`, which has computations and no schedule, and
/// places its arrays, as is good for `target`. For kernels that are not
/// elementwise functions and reductions over boxes the result may be illegal.
void writeDefaultSchedule(KernelOp kernel, TargetAttr target);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMS_DEFAULTSCHEDULE_H
