//===- IndexData.h - Values of arrays that expressions use ------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_INDEXDATA_H
#define ESPALIER_DIALECT_POLY_IR_INDEXDATA_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// Subscripts and conditions extend values by their sign, up to 64 bits.
/// Returns what `array` holds if it is anything else, as in "holds u8" or "is
/// 'f32'"; otherwise "".
std::string describeOtherData(mlir::Value array);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_IR_INDEXDATA_H
