//===- GraphReductionOps.td - Reductions -------------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHREDUCTIONOPS_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHREDUCTIONOPS_TD

include "espalier/Dialect/Graph/IR/GraphAttributes.td"

/// A reduction over some dimensions.
class Graph_ReduceOp<string mnemonic, string title, string empty>
    : Graph_Op<"reduce_" # mnemonic> {
  let summary = title # " over some dimensions";
  let description = "\n    Computes the " # title # [{ of the elements along `axes`,
    which leave the shape or, with `keepdims`, become 1. Of no elements, it is
    }] # empty # [{.

    Constraints:
    - (C1) `axes` are distinct dimensions of `X`.

    Example:
    ```mlir
    %r = graph.reduce_}] # mnemonic # [{ %x {axes = array<i64: 1>}
        : (tensor<2x3xf32>) -> tensor<2xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$X, DenseI64ArrayAttr:$axes,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdims);
  let results = (outs Graph_NumberTensor:$result);
}

def Graph_ReduceSumOp : Graph_ReduceOp<"sum", "sum", "0">;
def Graph_ReduceMeanOp : Graph_ReduceOp<"mean", "mean", "not-a-number">;
def Graph_ReduceProdOp : Graph_ReduceOp<"prod", "product", "1">;
def Graph_ReduceMaxOp
    : Graph_ReduceOp<"max", "maximum", "minus infinity or the least integer">;
def Graph_ReduceMinOp
    : Graph_ReduceOp<"min", "minimum", "infinity or the greatest integer">;

/// The position of an extreme element.
class Graph_ArgReduceOp<string mnemonic, string title>
    : Graph_Op<"arg_" # mnemonic> {
  let summary = "position of the " # title # " along one axis";
  let description = "\n    Finds the position of the " # title # [{ along `axis`, the
    first one or, with `select_last`, the last one. Not-a-number counts as
    extreme.

    Constraints:
    - (C1) `axis` is a dimension of `X`.

    Example:
    ```mlir
    %r = graph.arg_}] # mnemonic # [{ %x {axis = 1 : i64}
        : (tensor<2x3xf32>) -> tensor<2xi64>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$X, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$keepdims,
                       DefaultValuedAttr<BoolAttr, "false">:$select_last);
  let results = (outs RankedTensorOf<[I64]>:$result);
}

def Graph_ArgMaxOp : Graph_ArgReduceOp<"max", "maximum">;
def Graph_ArgMinOp : Graph_ArgReduceOp<"min", "minimum">;

def Graph_CumsumOp : Graph_Op<"cumsum"> {
  let summary = "running sum along one axis";
  let description = [{
    Sums the elements up to each position along `axis`: including it or, with
    `exclusive`, not; from the start or, with `reverse`, from the end.

    Constraints:
    - (C1) `axis` is a dimension of `X`.

    Example:
    ```mlir
    %r = graph.cumsum %x {axis = 0 : i64} : (tensor<5xf32>) -> tensor<5xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$X, I64Attr:$axis,
                       DefaultValuedAttr<BoolAttr, "false">:$exclusive,
                       DefaultValuedAttr<BoolAttr, "false">:$reverse);
  let results = (outs Graph_NumberTensor:$result);
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHREDUCTIONOPS_TD
