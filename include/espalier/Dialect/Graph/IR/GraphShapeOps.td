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

def Graph_ExpandOp : Graph_Op<"expand"> {
  let summary = "repetition along dimensions of extent 1";
  let description = [{
    Broadcasts `X` to the given sizes: those of `static_sizes`, or, where one is
    dynamic, the next of `sizes`. Dimensions align at the right.

    Constraints:
    - (C1) there is one of `sizes` per dynamic entry of `static_sizes`, and the
      others are not negative.
    - (C2) `X` has no more dimensions than the result, and its extents are 1 or
      those of the result.

    Example:
    ```mlir
    %r = graph.expand %x to [%n, 3] : (tensor<1x3xf32>) -> tensor<?x3xf32>
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
}

def Graph_SliceOp : Graph_Op<"slice", [AttrSizedOperandSegments]> {
  let summary = "box of elements";
  let description = [{
    Element `i` of the result is element `offset + i * step` of `X`, in each
    dimension. Offsets and sizes are given as in `tensor.extract_slice`; steps are
    numbers and may be negative. Elements outside of `X` must not be named.

    Constraints:
    - (C1) there is one offset, size and step per dimension of `X`; sizes are not
      negative.
    - (C2) the first and last element named lie inside of `X`.

    Example:
    ```mlir
    %r = graph.slice %x [0, %o] [2, 3] {steps = array<i64: 1, 2>}
        : (tensor<4x?xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$X, Variadic<Index>:$offsets,
                       Variadic<Index>:$sizes,
                       DenseI64ArrayAttr:$static_offsets,
                       DenseI64ArrayAttr:$static_sizes,
                       DenseI64ArrayAttr:$steps);
  let results = (outs Graph_Tensor:$result);
  let assemblyFormat = [{
    $X custom<DynamicIndexList>($offsets, $static_offsets)
    custom<DynamicIndexList>($sizes, $static_sizes) attr-dict
    `:` functional-type($X, results)
  }];
  let hasFolder = 1;
}

def Graph_ConcatOp : Graph_Op<"concat"> {
  let summary = "tensors joined along one axis";
  let description = [{
    Joins `inputs` end to end along `axis`, in operand order.

    Constraints:
    - (C1) there is at least one input.
    - (C2) `axis` is a dimension of the first input.
    - (C3) inputs agree in rank, in element type, and in every extent except along
      `axis`.

    Example:
    ```mlir
    %r = graph.concat %a, %b {axis = 1 : i64}
        : (tensor<2x3xf32>, tensor<2x5xf32>) -> tensor<2x8xf32>
    ```
  }];
  let arguments = (ins Variadic<Graph_Tensor>:$inputs, I64Attr:$axis);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

def Graph_PadOp : Graph_Op<"pad"> {
  let summary = "border of further elements";
  let description = [{
    Adds `low` elements before and `high` after each dimension; negative numbers
    remove elements, before any are added. New elements are the scalar `value`, or mirror the elements inside
    (`reflect`), repeat the outermost one (`edge`), or continue from the other end
    (`wrap`).

    Constraints:
    - (C1) `low` and `high` have one entry per dimension of `X`.
    - (C2) `value` is a tensor of rank 0 with the element type of `X`.
    - (C3) in a mode that repeats elements, some remain along each dimension that
      is padded, if the result has any.

    Example:
    ```mlir
    %r = graph.pad %x, %v {low = array<i64: 0, 1>, high = array<i64: 0, 2>}
        : (tensor<2x3xf32>, tensor<f32>) -> tensor<2x6xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$X, Graph_Tensor:$value,
                       DenseI64ArrayAttr:$low, DenseI64ArrayAttr:$high,
                       DefaultValuedAttr<
                           Graph_PadModeAttr,
                           "::espalier::graph::PadMode::Constant">:$mode);
  let results = (outs Graph_Tensor:$result);
  let hasFolder = 1;
}

def Graph_TileOp : Graph_Op<"tile"> {
  let summary = "repetition of the whole tensor";
  let description = [{
    Puts `repeats[d]` copies of `X` end to end along each dimension `d`.

    Constraints:
    - (C1) `repeats` has one entry per dimension of `X`, none negative.

    Example:
    ```mlir
    %r = graph.tile %x {repeats = array<i64: 2, 1>}
        : (tensor<2x3xf32>) -> tensor<4x3xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$X, DenseI64ArrayAttr:$repeats);
  let results = (outs Graph_Tensor:$result);
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHSHAPEOPS_TD
