//===- GraphRecurrentOps.td - Recurrent layers -------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHRECURRENTOPS_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHRECURRENTOPS_TD

include "espalier/Dialect/Graph/IR/GraphAttributes.td"

def Graph_LstmOp : Graph_Op<"lstm"> {
  let summary = "long short-term memory over a sequence, in one direction";
  let description = [{
    Runs over dimension 0 of `X` (time, batch, features), backwards if the
    direction is `reverse`. Gates are stacked in the order input, output, forget,
    cell in `W` (4 hidden, features), `R` (4 hidden, hidden) and `bias` (8 hidden:
    that of `W`, then that of `R`). `H0` and `C0` (batch, hidden) are the initial
    states. The results are the hidden states of all times, and the last hidden
    and cell states.

    Constraints:
    - (C1) `X` has rank 3, `bias` rank 1, and the other operands rank 2.
    - (C2) all operands have the same element type.
    - (C3) extents agree as described.

    Example:
    ```mlir
    %y, %h, %c = graph.lstm %x, %w, %r, %b, %h0, %c0
        {direction = #graph.direction<forward>}
        : (tensor<5x2x3xf32>, tensor<16x3xf32>, tensor<16x4xf32>, tensor<32xf32>,
           tensor<2x4xf32>, tensor<2x4xf32>)
        -> (tensor<5x2x4xf32>, tensor<2x4xf32>, tensor<2x4xf32>)
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$X, Graph_FloatTensor:$W,
                       Graph_FloatTensor:$R, Graph_FloatTensor:$bias,
                       Graph_FloatTensor:$H0, Graph_FloatTensor:$C0,
                       DefaultValuedAttr<
                           Graph_DirectionAttr,
                           "::espalier::graph::Direction::Forward">:$direction);
  let results = (outs Graph_FloatTensor:$Y, Graph_FloatTensor:$H,
                      Graph_FloatTensor:$C);
}

def Graph_GruOp : Graph_Op<"gru"> {
  let summary = "gated recurrent unit over a sequence, in one direction";
  let description = [{
    Runs over dimension 0 of `X` (time, batch, features), backwards if the
    direction is `reverse`. Gates are stacked in the order update, reset, hidden in
    `W` (3 hidden, features), `R` (3 hidden, hidden) and `bias` (6 hidden: that of
    `W`, then that of `R`). `H0` (batch, hidden) is the initial state. The reset
    gate multiplies the state or, with `linear_before_reset`, the product of `R`
    and the state, plus its bias. The results are the hidden states of all times,
    and the last one.

    Constraints:
    - (C1) `X` has rank 3, `bias` rank 1, and the other operands rank 2.
    - (C2) all operands have the same element type.
    - (C3) extents agree as described.

    Example:
    ```mlir
    %y, %h = graph.gru %x, %w, %r, %b, %h0
        : (tensor<5x2x3xf32>, tensor<12x3xf32>, tensor<12x4xf32>, tensor<24xf32>,
           tensor<2x4xf32>) -> (tensor<5x2x4xf32>, tensor<2x4xf32>)
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$X, Graph_FloatTensor:$W,
                       Graph_FloatTensor:$R, Graph_FloatTensor:$bias,
                       Graph_FloatTensor:$H0,
                       DefaultValuedAttr<
                           Graph_DirectionAttr,
                           "::espalier::graph::Direction::Forward">:$direction,
                       DefaultValuedAttr<BoolAttr, "false">:
                           $linear_before_reset);
  let results = (outs Graph_FloatTensor:$Y, Graph_FloatTensor:$H);
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHRECURRENTOPS_TD
