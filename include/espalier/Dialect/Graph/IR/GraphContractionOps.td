//===- GraphContractionOps.td - Products and convolutions --*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHCONTRACTIONOPS_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHCONTRACTIONOPS_TD

include "espalier/Dialect/Graph/IR/GraphAttributes.td"

def Graph_MatmulOp : Graph_Op<"matmul"> {
  let summary = "batch matrix product";
  let description = [{
    Multiplies the matrices in the last two dimensions of `A` and `B`; the
    leading dimensions broadcast.

    Constraints:
    - (C1) `A` and `B` have rank 2 or more.
    - (C2) the columns of `A` are as many as the rows of `B`.

    Example:
    ```mlir
    %r = graph.matmul %a, %b {activation = #graph.activation<relu>}
        : (tensor<8x4x16xf32>, tensor<16x32xf32>) -> tensor<8x4x32xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$A, Graph_NumberTensor:$B,
                       Graph_DefaultActivationAttr:$activation);
  let results = (outs Graph_NumberTensor:$result);
  let definition = [{
    R[b.., i, j] = activation(sum(k) A[b.., i, k] * B[b.., k, j])
  }];
}

def Graph_ConvOp : Graph_Op<"conv"> {
  let summary = "convolution over 1, 2 or 3 spatial dimensions";
  let description = [{
    Correlates `X` (batch, channels, spatial..) with `W` (features, channels of
    one group, spatial..). Taps that fall outside of `X` are left out, which is
    what padding with zeros means. Group `g` of the features reads group `g` of
    the channels.

    Constraints:
    - (C1) `X` and `W` have the same rank, from 3 to 5.
    - (C2) `strides`, `pads_low`, `pads_high` and `dilations` have one entry per
      spatial dimension; strides and dilations are positive.
    - (C3) `groups` is positive and divides the channels of `X` and the features
      of `W`, and `X` has `groups` times the channels of `W`.
    - (C4) `X` and `W` have the same element type.

    Example:
    ```mlir
    %r = graph.conv %x, %w {strides = array<i64: 2, 2>, pads_low = array<i64: 3, 3>,
                            pads_high = array<i64: 3, 3>, dilations = array<i64: 1, 1>}
        : (tensor<1x3x224x224xf32>, tensor<64x3x7x7xf32>) -> tensor<1x64x112x112xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$X, Graph_NumberTensor:$W,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads_low,
                       DenseI64ArrayAttr:$pads_high,
                       DenseI64ArrayAttr:$dilations,
                       DefaultValuedAttr<I64Attr, "1">:$groups,
                       Graph_DefaultActivationAttr:$activation);
  let results = (outs Graph_NumberTensor:$result);
}

def Graph_ConvTransposeOp : Graph_Op<"conv_transpose"> {
  let summary = "transposed convolution over 1, 2 or 3 spatial dimensions";
  let description = [{
    The gradient of `graph.conv` by its operand: element `i` of `X` (batch,
    channels, spatial..) contributes to the elements `i * stride + tap * dilation -
    pad_low` of the result, weighed by `W` (channels, features of one group,
    spatial..). `output_padding` lengthens the result.

    Constraints:
    - (C1) `X` and `W` have the same rank, from 3 to 5.
    - (C2) `strides`, `pads_low`, `pads_high`, `dilations` and `output_padding`
      have one entry per spatial dimension; strides and dilations are positive.
    - (C3) `groups` is positive and divides the channels, which `X` and `W` have in
      common.
    - (C4) `X` and `W` have the same element type.

    Example:
    ```mlir
    %r = graph.conv_transpose %x, %w {strides = array<i64: 2>, pads_low = array<i64: 0>,
                                      pads_high = array<i64: 0>, dilations = array<i64: 1>,
                                      output_padding = array<i64: 0>}
        : (tensor<1x3x4xf32>, tensor<3x8x2xf32>) -> tensor<1x8x8xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$X, Graph_NumberTensor:$W,
                       DenseI64ArrayAttr:$strides, DenseI64ArrayAttr:$pads_low,
                       DenseI64ArrayAttr:$pads_high,
                       DenseI64ArrayAttr:$dilations,
                       DenseI64ArrayAttr:$output_padding,
                       DefaultValuedAttr<I64Attr, "1">:$groups);
  let results = (outs Graph_NumberTensor:$result);
}

def Graph_EnlargeOp : Graph_Op<"enlarge"> {
  let summary = "convolution kernel with a border of zeros";
  let description = [{
    Puts the kernel `W` (features, channels, spatial..) in the middle of one with
    the spatial extents `kernel`.

    Constraints:
    - (C1) `kernel` has one entry per spatial dimension of `W`, not smaller than
      its extent.

    Example:
    ```mlir
    %r = graph.enlarge %w {kernel = array<i64: 3, 3>}
        : (tensor<8x4x1x1xf32>) -> tensor<8x4x3x3xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$W, DenseI64ArrayAttr:$kernel);
  let results = (outs Graph_NumberTensor:$result);
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHCONTRACTIONOPS_TD
