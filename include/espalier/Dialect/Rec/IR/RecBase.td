//===- RecBase.td - The rec dialect ------------------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_REC_IR_RECBASE_TD
#define ESPALIER_DIALECT_REC_IR_RECBASE_TD

include "mlir/IR/OpBase.td"

def Rec_Dialect : Dialect {
  let name = "rec";
  let cppNamespace = "::espalier::rec";
  let summary = "models over trees, sequences and acyclic graphs";
  let description = [{
    A model is a function of a node: tensors that are computed from the node's
    features and from the same function of its children. What a cell computes
    is said by operators of the `graph` dialect.

    No operation lets control flow depend on a tensor, a recursive call has no
    operand but the node, and its results are whole tensors. So calls are
    independent, and the structure alone decides what is computed.

    A model that is applied to structures is one definition, whose recurrence
    goes through the array of children; `rec.apply` says how structures are
    numbered.
  }];
  let useDefaultAttributePrinterParser = 1;
  let useDefaultTypePrinterParser = 1;
  let dependentDialects = ["::espalier::graph::GraphDialect"];
}

#endif // ESPALIER_DIALECT_REC_IR_RECBASE_TD
