//===- GraphConstantOps.td - Constants ---------------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHCONSTANTOPS_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHCONSTANTOPS_TD

include "mlir/IR/BuiltinAttributeInterfaces.td"
include "mlir/IR/OpAsmInterface.td"
include "espalier/Dialect/Graph/IR/GraphAttributes.td"

def Graph_ConstantOp
    : Op<Graph_Dialect, "constant",
         [Pure, ConstantLike, AllTypesMatch<["value", "result"]>]> {
  let summary = "tensor known at compile time";
  let description = [{
    Produces the tensor `value`: `dense<..>` for small ones, `dense_resource<..>`
    for weights, whose bytes are not part of the text.

    Constraints:
    - (C1) `value` is dense or a dense resource, of a ranked tensor type.

    Example:
    ```mlir
    %c = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
    ```
  }];
  let arguments = (ins ElementsAttr:$value);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = "attr-dict $value";
  let hasFolder = 1;
  let hasVerifier = 1;
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHCONSTANTOPS_TD
