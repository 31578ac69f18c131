//===- GraphIndexingOps.td - Operators with indices as data -*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHINDEXINGOPS_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHINDEXINGOPS_TD

include "espalier/Dialect/Graph/IR/GraphAttributes.td"

/// What every operator of this file says of its indices.
defvar Graph_IndexRule = [{

    An index that is negative counts from the end, once; what is still out of
    range is moved to the nearest index in range. There is one: where extents are
    known at run time only, this is checked then.

}];

def Graph_GatherOp : Graph_Op<"gather"> {
  let summary = "slices along one axis, chosen by indices";
  let description = !strconcat([{
    Replaces dimension `axis` of `X` by the dimensions of `indices`.
  }], Graph_IndexRule, [{
    Constraints:
    - (C1) `axis` is a dimension of `X`.
    - (C2) `X` has elements along `axis`, if the result has any.

    Example:
    ```mlir
    %r = graph.gather %x, %i {axis = 0 : i64}
        : (tensor<100x8xf32>, tensor<2x3xi64>) -> tensor<2x3x8xf32>
    ```
  }]);
  let arguments = (ins Graph_Tensor:$X, Graph_IndexTensor:$indices,
                       I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
}

def Graph_GatherElementsOp : Graph_Op<"gather_elements"> {
  let summary = "elements along one axis, chosen by indices";
  let description = !strconcat([{
    The result has the shape of `indices`; each element comes from its own
    position in `X`, except along `axis`, where the index says which.
  }], Graph_IndexRule, [{
    Constraints:
    - (C1) `axis` is a dimension of `X`.
    - (C2) `indices` has the rank of `X`, and no larger extents except along
      `axis`, where `X` has elements if `indices` has any.

    Example:
    ```mlir
    %r = graph.gather_elements %x, %i {axis = 1 : i64}
        : (tensor<2x8xf32>, tensor<2x3xi64>) -> tensor<2x3xf32>
    ```
  }]);
  let arguments = (ins Graph_Tensor:$X, Graph_IndexTensor:$indices,
                       I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
}

def Graph_GatherNdOp : Graph_Op<"gather_nd"> {
  let summary = "slices chosen by tuples of indices";
  let description = !strconcat([{
    The last dimension of `indices` holds a tuple of indices into the dimensions
    of `X` after the first `batch_dims`, which both have in common.
  }], Graph_IndexRule, [{
    Constraints:
    - (C1) the last extent of `indices` is known, positive, and at most the rank
      of `X` less `batch_dims`.
    - (C2) `batch_dims` is not negative and below the ranks of `X` and `indices`,
      and the batch dimensions agree.
    - (C3) the dimensions of `X` that are indexed have elements, if the result
      has any.

    Example:
    ```mlir
    %r = graph.gather_nd %x, %i {batch_dims = 0 : i64}
        : (tensor<4x5x6xf32>, tensor<7x2xi64>) -> tensor<7x6xf32>
    ```
  }]);
  let arguments = (ins Graph_Tensor:$X, Graph_IndexTensor:$indices,
                       DefaultValuedAttr<I64Attr, "0">:$batch_dims);
  let results = (outs Graph_Tensor:$result);
}

def Graph_ScatterElementsOp : Graph_Op<"scatter_elements"> {
  let summary = "a copy with elements replaced along one axis";
  let description = !strconcat([{
    A copy of `X` in which each element of `updates` replaces the element at its
    own position, except along `axis`, where the index says which; or, with a
    `reduction`, is combined with it. Of several replacements of one element, the
    one with the greatest index along `axis` counts.
  }], Graph_IndexRule, [{
    Constraints:
    - (C1) `axis` is a dimension of `X`.
    - (C2) `indices` and `updates` have the same shape, of the rank of `X`, and no
      larger extents except along `axis`, where `X` has elements if they have any.
    - (C3) `X` and `updates` have the same element type.

    Example:
    ```mlir
    %r = graph.scatter_elements %x, %i, %u {axis = 1 : i64}
        : (tensor<2x8xf32>, tensor<2x3xi64>, tensor<2x3xf32>) -> tensor<2x8xf32>
    ```
  }]);
  let arguments = (ins Graph_Tensor:$X, Graph_IndexTensor:$indices,
                       Graph_Tensor:$updates, I64Attr:$axis,
                       DefaultValuedAttr<
                           Graph_ScatterReductionAttr,
                           "::espalier::graph::ScatterReduction::None">:
                           $reduction);
  let results = (outs Graph_Tensor:$result);
}

def Graph_ScatterNdOp : Graph_Op<"scatter_nd"> {
  let summary = "a copy with slices replaced at tuples of indices";
  let description = !strconcat([{
    A copy of `X` in which each slice of `updates` replaces the slice that the
    tuple in the last dimension of `indices` names; or, with a `reduction`, is
    combined with it. Of several replacements of one slice, the last counts.
  }], Graph_IndexRule, [{
    Constraints:
    - (C1) the last extent of `indices` is known, positive, and at most the rank
      of `X`.
    - (C2) `updates` has the leading dimensions of `indices`, and then those of
      `X` that the tuples do not index.
    - (C3) `X` and `updates` have the same element type.
    - (C4) the dimensions of `X` that are indexed have elements, if `updates` has
      any.

    Example:
    ```mlir
    %r = graph.scatter_nd %x, %i, %u
        : (tensor<4x5xf32>, tensor<2x1xi64>, tensor<2x5xf32>) -> tensor<4x5xf32>
    ```
  }]);
  let arguments = (ins Graph_Tensor:$X, Graph_IndexTensor:$indices,
                       Graph_Tensor:$updates,
                       DefaultValuedAttr<
                           Graph_ScatterReductionAttr,
                           "::espalier::graph::ScatterReduction::None">:
                           $reduction);
  let results = (outs Graph_Tensor:$result);
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHINDEXINGOPS_TD
