//===- InitAll.h - Registration of all of Espalier --------------*- C++ -*-===//

#ifndef ESPALIER_INITALL_H
#define ESPALIER_INITALL_H

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Dialect/Graph/Transforms/Passes.h"
#include "mlir/IR/DialectRegistry.h"

namespace espalier {

/// Adds every Espalier dialect and dialect extension to `registry`.
inline void registerAllDialects(mlir::DialectRegistry &registry) {
  registry.insert<graph::GraphDialect>();
}

/// Registers every Espalier pass and pipeline.
inline void registerAllPasses() { graph::registerGraphPasses(); }

} // namespace espalier

#endif // ESPALIER_INITALL_H
