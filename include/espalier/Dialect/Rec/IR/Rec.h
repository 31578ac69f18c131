//===- Rec.h - The rec dialect ----------------------------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_REC_IR_REC_H
#define ESPALIER_DIALECT_REC_IR_REC_H

#include "mlir/Bytecode/BytecodeOpInterface.h"
#include "mlir/IR/BuiltinTypes.h"
#include "mlir/IR/Dialect.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/IR/OpImplementation.h"
#include "mlir/IR/SymbolTable.h"
#include "mlir/Interfaces/ControlFlowInterfaces.h"
#include "mlir/Interfaces/FunctionInterfaces.h"
#include "mlir/Interfaces/SideEffectInterfaces.h"

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Dialect/Graph/IR/RepeatsBody.h"

#include "espalier/Dialect/Rec/IR/RecDialect.h.inc"
#include "espalier/Dialect/Rec/IR/RecEnums.h.inc"

#define GET_ATTRDEF_CLASSES
#include "espalier/Dialect/Rec/IR/RecAttributes.h.inc"

#define GET_TYPEDEF_CLASSES
#include "espalier/Dialect/Rec/IR/RecTypes.h.inc"

#define GET_OP_CLASSES
#include "espalier/Dialect/Rec/IR/RecOps.h.inc"

namespace espalier::rec {

/// Whether `op` computes numbers, or reads at places that are numbers it reads.
/// Such operators stand before the recurrence, hoisted or not, where no child
/// has a part in them: inside of it, nothing would be known of the numbers that
/// say where rows lie, and a kernel reads only where it can show that arrays
/// are.
bool looksUp(graph::DefinedOpInterface op);

} // namespace espalier::rec

#endif // ESPALIER_DIALECT_REC_IR_REC_H
