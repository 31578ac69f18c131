//===- GraphPoolingOps.td - Pools and resampling -----------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHPOOLINGOPS_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHPOOLINGOPS_TD

include "espalier/Dialect/Graph/IR/GraphAttributes.td"

defvar Graph_WindowArguments = (ins DenseI64ArrayAttr:$kernel,
                                    DenseI64ArrayAttr:$strides,
                                    DenseI64ArrayAttr:$pads_low,
                                    DenseI64ArrayAttr:$pads_high,
                                    DenseI64ArrayAttr:$dilations,
                                    DefaultValuedAttr<BoolAttr, "false">:
                                        $ceil_mode);

def Graph_MaxPoolOp : Graph_Op<"max_pool"> {
  let summary = "maximum over sliding windows";
  let description = [{
    Takes the maximum of the taps of each window that lie inside of `X` (batch,
    channels, spatial..). With `ceil_mode`, a last window that lies partly
    outside of the padded tensor counts too, if it begins inside.

    Constraints:
    - (C1) `X` has rank 3 or more.
    - (C2) `kernel`, `strides`, `pads_low`, `pads_high` and `dilations` have one
      entry per spatial dimension; kernel, strides and dilations are positive.

    Example:
    ```mlir
    %r = graph.max_pool %x {kernel = array<i64: 3, 3>, strides = array<i64: 2, 2>,
                            pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>,
                            dilations = array<i64: 1, 1>}
        : (tensor<1x8x8x8xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = !con((ins Graph_NumberTensor:$X), Graph_WindowArguments);
  let results = (outs Graph_NumberTensor:$result);
}

def Graph_AvgPoolOp : Graph_Op<"avg_pool"> {
  let summary = "mean over sliding windows";
  let description = [{
    Averages the taps of each window that lie inside of `X` or, with
    `count_include_pad`, divides their sum by the number of taps inside of the
    padded tensor. Windows are those of `graph.max_pool`.

    Constraints:
    - (C1) `X` has rank 3 or more.
    - (C2) `kernel`, `strides`, `pads_low`, `pads_high` and `dilations` have one
      entry per spatial dimension; kernel, strides and dilations are positive.

    Example:
    ```mlir
    %r = graph.avg_pool %x {kernel = array<i64: 2>, strides = array<i64: 2>,
                            pads_low = array<i64: 0>, pads_high = array<i64: 0>,
                            dilations = array<i64: 1>}
        : (tensor<1x8x8xf32>) -> tensor<1x8x4xf32>
    ```
  }];
  let arguments = !con((ins Graph_FloatTensor:$X), Graph_WindowArguments,
                       (ins DefaultValuedAttr<BoolAttr, "false">:
                                $count_include_pad));
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_ResizeOp : Graph_Op<"resize"> {
  let summary = "resampling to another size";
  let description = [{
    Samples `X` at a grid of the given sizes: those of `static_sizes` or, where
    one is dynamic, the next of `sizes`. `coordinate_mode` says which position of
    the operand an element of the result has, as ONNX defines it; the scale of a
    dimension is that of `scales` or, without it, the quotient of the sizes.
    Positions outside take the value of the border. Position arithmetic is in f64.

    - `nearest` takes the element that `nearest_mode` chooses,
    - `linear` weighs the two neighbours in each dimension,
    - `cubic` weighs four, by the cubic kernel with coefficient `cubic_coefficient`.

    With `exclude_outside`, neighbours outside of `X` have weight 0, and the others
    weigh more.

    Constraints:
    - (C1) `static_sizes` has one entry per dimension of `X`, with one of `sizes`
      per dynamic entry and no negative one.
    - (C2) `scales` is empty or has one positive entry per dimension.
    - (C3) `X` has elements along each dimension that changes, if the result has
      any.

    Example:
    ```mlir
    %r = graph.resize %x to [1, 3, 8, 8] {
          mode = #graph.resize_mode<linear>,
          coordinate_mode = #graph.coordinate_mode<half_pixel>}
        : (tensor<1x3x4x4xf32>) -> tensor<1x3x8x8xf32>
    ```
  }];
  let arguments = (ins Graph_NumberTensor:$X, Variadic<Index>:$sizes,
                       DenseI64ArrayAttr:$static_sizes,
                       DefaultValuedAttr<DenseF64ArrayAttr, "{}">:$scales,
                       Graph_ResizeModeAttr:$mode,
                       DefaultValuedAttr<
                           Graph_CoordinateModeAttr,
                           "::espalier::graph::CoordinateMode::HalfPixel">:
                           $coordinate_mode,
                       DefaultValuedAttr<
                           Graph_NearestModeAttr,
                           "::espalier::graph::NearestMode::RoundPreferFloor">:
                           $nearest_mode,
                       DefaultValuedAttr<F64Attr, "-0.75">:$cubic_coefficient,
                       DefaultValuedAttr<BoolAttr, "false">:$exclude_outside);
  let results = (outs Graph_NumberTensor:$result);
  let assemblyFormat = [{
    $X `to` custom<DynamicIndexList>($sizes, $static_sizes) attr-dict
    `:` functional-type($X, results)
  }];
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHPOOLINGOPS_TD
