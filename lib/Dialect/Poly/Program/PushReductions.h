//===- PushReductions.h - Updates of what data names ------------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_PROGRAM_PUSHREDUCTIONS_H
#define ESPALIER_LIB_DIALECT_POLY_PROGRAM_PUSHREDUCTIONS_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// Lets each point of `compute`, a reduction or an update that replaces its
/// element under a condition, update the element that it names. Returns how
/// many dimensions that saves; none if the computation stays as it is: nothing
/// names an element, there are fewer than `minPoints` of them, or fewer than
/// `minUpdates` points for an element of type `index`.
unsigned pushReduction(ComputeOp compute, int64_t minPoints,
                       int64_t minUpdates);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_PROGRAM_PUSHREDUCTIONS_H
