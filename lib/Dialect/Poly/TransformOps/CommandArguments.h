//===- CommandArguments.h - From attributes to arguments --------*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMOPS_COMMANDARGUMENTS_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMOPS_COMMANDARGUMENTS_H

#include "mlir/IR/BuiltinAttributes.h"

namespace espalier::poly {

/// The strings of an array, none if there is no array.
inline llvm::SmallVector<llvm::StringRef>
toStrings(std::optional<mlir::ArrayAttr> strings) {
  if (!strings)
    return {};
  return llvm::to_vector(strings->getAsValueRange<mlir::StringAttr>());
}

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMOPS_COMMANDARGUMENTS_H
