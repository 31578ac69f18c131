//===- TunedSchedules.h - What searches found, when compiling ---*- C++ -*-===//

#ifndef ESPALIER_TUNING_TUNEDSCHEDULES_H
#define ESPALIER_TUNING_TUNEDSCHEDULES_H

#include "espalier/Measurement/MeasureKernel.h"
#include "mlir/IR/BuiltinOps.h"

namespace espalier::tuning {

/// Lets compilation with `codegen` schedule the kernels of `module` as searches
/// did that won on the same machine, by the records in the file `path`, which
/// may be missing. A kernel is known by what it computes and by how it was
/// measured, `options`. Scripts are applied with all checks; one of another
/// build that does not fit any more is a warning, and the kernel gets its
/// default schedule. So is a file that cannot be read.
void useRecords(mlir::ModuleOp module, llvm::StringRef path,
                const MeasureOptions &options, CodegenOptions &codegen);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_TUNEDSCHEDULES_H
