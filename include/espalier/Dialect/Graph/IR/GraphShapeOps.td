//===- GraphShapeOps.td - Operators that move elements -----*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHSHAPEOPS_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHSHAPEOPS_TD

include "espalier/Dialect/Graph/IR/GraphAttributes.td"

def Graph_TransposeOp : Graph_Op<"transpose"> {
  let summary = "permutation of the dimensions";
  let description = [{
    Dimension `d` of the result is dimension `permutation[d]` of `X`.

    Constraints:
    - (C1) `permutation` is a permutation of the dimensions of `X`.

    Example:
    ```mlir
    %r = graph.transpose %x {permutation = array<i64: 1, 0>}
        : (tensor<2x3xf32>) -> tensor<3x2xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$X, DenseI64ArrayAttr:$permutation);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

def Graph_ReshapeOp : Graph_Op<"reshape"> {
  let summary = "the same elements in another shape";
  let description = [{
    The elements of `X` in row-major order, in a tensor of the given sizes: those
    of `static_sizes`, or, where one is dynamic, the next of `sizes`.

    Constraints:
    - (C1) there is one of `sizes` per dynamic entry of `static_sizes`, and the
      others are not negative.
    - (C2) the result has as many elements as `X`.

    Example:
    ```mlir
    %r = graph.reshape %x to [%n, 12] : (tensor<?x3x4xf32>) -> tensor<?x12xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$X, Variadic<Index>:$sizes,
                       DenseI64ArrayAttr:$static_sizes);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $X `to` custom<DynamicIndexList>($sizes, $static_sizes) attr-dict
    `:` functional-type($X, results)
  }];
  let hasFolder = 1;
  let hasCanonicalizer = 1;
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHSHAPEOPS_TD
