//===- Script.h - Transform scripts of C callers ----------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CAPI_SCRIPT_H
#define ESPALIER_LIB_CAPI_SCRIPT_H

#include "espalier/CAPI/Module.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/IR/OwningOpRef.h"

namespace espalier::capi {

/// Sets the module's error, if it has none; returns -1.
int fail(espalier_module *module, const llvm::Twine &message);

inline constexpr llvm::StringLiteral kMainSequence =
    mlir::transform::TransformDialect::kTransformEntryPointSymbolName;
/// The sequence for modules whose kernels are not formed yet.
inline constexpr llvm::StringLiteral kStatementsSequence =
    "__transform_statements";

mlir::transform::NamedSequenceOp
findSequence(mlir::ModuleOp script, llvm::StringRef name = kMainSequence);

/// Reads a script with a main sequence of one argument; or, with `mayChoose`,
/// one for statements. Null after an error.
mlir::OwningOpRef<mlir::ModuleOp> parseScript(espalier_module *module,
                                              const char *text, size_t size,
                                              bool mayChoose = false);

/// Applies a sequence of a script to a copy of the module, which then takes its
/// place. A module with kernels takes scheduling alone.
int applySequence(espalier_module *module,
                  mlir::transform::NamedSequenceOp sequence);

} // namespace espalier::capi

#endif // ESPALIER_LIB_CAPI_SCRIPT_H
