//===- InitAll.h - Registration of all of Espalier --------------*- C++ -*-===//

#ifndef ESPALIER_INITALL_H
#define ESPALIER_INITALL_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/IR/DialectRegistry.h"

namespace espalier {

/// Adds every Espalier dialect and dialect extension to `registry`.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<poly::PolyDialect>();
}

/// Registers every Espalier pass and pipeline.
inline void registerAllPasses() {}

} // namespace espalier

#endif // ESPALIER_INITALL_H
