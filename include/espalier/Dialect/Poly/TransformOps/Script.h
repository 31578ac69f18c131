//===- Script.h - What a schedule script may hold ---------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_SCRIPT_H
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_SCRIPT_H

#include "mlir/IR/Operation.h"

namespace espalier::poly {

/// Returns the first operation in `sequence`, or in a sequence that it names,
/// that changes the payload and is no command of `poly`; null if there is none.
/// Operations that find, match, choose, print or repeat are none.
mlir::Operation *findForeignEdit(mlir::Operation *sequence);

/// The sequence that holds `command`, and those that run it.
llvm::SmallVector<mlir::Operation *> getScriptOf(mlir::Operation *command);

/// Emits an error at an operation that `findForeignEdit` returned.
mlir::LogicalResult reportForeignEdit(mlir::Operation *edit);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_SCRIPT_H
