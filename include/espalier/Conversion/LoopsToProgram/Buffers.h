//===- Buffers.h - What happens to buffers ----------------------*- C++ -*-===//

#ifndef ESPALIER_CONVERSION_LOOPSTOPROGRAM_BUFFERS_H
#define ESPALIER_CONVERSION_LOOPSTOPROGRAM_BUFFERS_H

#include "mlir/IR/Value.h"

namespace espalier {

/// Whether `buffer`, or a view of it, may be written.
bool mayBeWritten(mlir::Value buffer);

} // namespace espalier

#endif // ESPALIER_CONVERSION_LOOPSTOPROGRAM_BUFFERS_H
