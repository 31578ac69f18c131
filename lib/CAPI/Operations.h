//===- Operations.h - Adding operations to a module -------------*- C++ -*-===//

#ifndef ESPALIER_LIB_CAPI_OPERATIONS_H
#define ESPALIER_LIB_CAPI_OPERATIONS_H

#include "Script.h"
#include "espalier-c/IRBuilder.h"
#include "mlir/IR/OperationSupport.h"

namespace espalier::capi {

inline mlir::Value unwrap(espalier_value value) {
  return mlir::Value::getFromOpaquePointer(value.ptr);
}
inline espalier_value wrap(mlir::Value value) {
  return {value.getAsOpaquePointer()};
}

/// Records that `what` is missing if `pointer` is null, and says whether it is.
bool isMissing(espalier_module *module, const void *pointer,
               const llvm::Twine &what);

/// Says whether operations can be added, or records an error.
bool isUnderConstruction(espalier_module *module);

/// Returns what an operation comes from; nothing is known of "" and null.
mlir::Location getLocation(espalier_module *module, const char *location);

/// Adds an operation, whose types are inferred. Returns the number of its
/// results, of which the first `maxResults` are stored, or records an error.
int addOperation(espalier_module *module, mlir::OperationState &state,
                 espalier_value *results, size_t maxResults);

} // namespace espalier::capi

#endif // ESPALIER_LIB_CAPI_OPERATIONS_H
