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

def Graph_ScanOp
    : Graph_Op<"scan", [AttrSizedOperandSegments, IsolatedFromAbove,
                        SingleBlock, Graph_RepeatsBody]> {
  let summary = "a cell for each step of a sequence, with states";
  let description = [{
    Computes the body once for each element of dimension 0 of the sequences, one
    after the other. Its arguments are the states, the elements of the
    sequences, and the other operands as they are. It yields the states of the
    next step, and then any number of tensors. The results are the states after
    the last step, which are the initial ones where there is none, and these
    tensors of all steps, joined along a new dimension 0.

    What depends on no state is computed for all steps at once, before the
    recurrence, as are products with the inputs of a recurrent layer. What no
    state depends on is computed for all steps after it.

    Constraints:
    - (C1) there is a sequence; sequences have a dimension 0, of one extent.
    - (C2) the body's arguments have the types of the states, of the elements of
      the sequences, and of the other operands, without an encoding.
    - (C3) the body ends in `graph.yield`, which has a tensor for each state, of
      its element type and rank.
    - (C4) states keep their extents.
    - (C5) operations are those of a cell: operators that a definition gives
      without a recurrence and with tensors as their only operands, and
      constants of one value.

    Example:
    ```mlir
    %last, %sums = graph.scan %s over %x with %w {
    ^bb0(%state: tensor<4xf32>, %row: tensor<4xf32>, %weight: tensor<4xf32>):
      %p = graph.mul %row, %weight
          : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      %sum = graph.add %state, %p
          : (tensor<4xf32>, tensor<4xf32>) -> tensor<4xf32>
      graph.yield %sum, %sum : tensor<4xf32>, tensor<4xf32>
    } : (tensor<4xf32>, tensor<?x4xf32>, tensor<4xf32>)
        -> (tensor<4xf32>, tensor<?x4xf32>)
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$states,
                       Variadic<Graph_Tensor>:$sequences,
                       Variadic<Graph_Tensor>:$others);
  let results = (outs Variadic<Graph_Tensor>:$results);
  let regions = (region SizedRegion<1>:$body);
  let assemblyFormat = [{
    ($states^)? `over` $sequences (`with` $others^)? $body attr-dict
    `:` functional-type(operands, results)
  }];
}

def Graph_YieldOp
    : Op<Graph_Dialect, "yield", [Pure, Terminator, ParentOneOf<["ScanOp"]>]> {
  let summary = "the results of a step";
  let description = [{
    Gives the next states, and then what is collected over all steps.

    Example:
    ```mlir
    graph.yield %sum, %sum : tensor<4xf32>, tensor<4xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$operands);
  let assemblyFormat = "($operands^ `:` type($operands))? attr-dict";
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHRECURRENTOPS_TD
