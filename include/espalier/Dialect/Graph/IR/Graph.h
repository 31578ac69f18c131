//===- Graph.h - The graph dialect ------------------------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPH_H
#define ESPALIER_DIALECT_GRAPH_IR_GRAPH_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/Interfaces/InferTypeOpInterface.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "espalier/Dialect/Graph/IR/DefinedOp.h"
#include "espalier/Dialect/Graph/IR/RepeatsBody.h"

#include "espalier/Dialect/Graph/IR/GraphDialect.h.inc"
#include "espalier/Dialect/Graph/IR/GraphEnums.h.inc"

#include "espalier/Dialect/Graph/IR/GraphInterfaces.h.inc"

#define GET_ATTRDEF_CLASSES
#include "espalier/Dialect/Graph/IR/GraphAttributes.h.inc"

#define GET_OP_CLASSES
#include "espalier/Dialect/Graph/IR/GraphOps.h.inc"

namespace espalier::graph {

/// The function that an activation applies.
definition::Expr applyActivation(Activation activation, definition::Expr value);

} // namespace espalier::graph

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPH_H
