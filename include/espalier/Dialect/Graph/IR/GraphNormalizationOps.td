//===- GraphNormalizationOps.td - Normalizations -----------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHNORMALIZATIONOPS_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHNORMALIZATIONOPS_TD

include "espalier/Dialect/Graph/IR/GraphAttributes.td"

def Graph_SoftmaxOp : Graph_Op<"softmax"> {
  let summary = "exponentials, normalized along one axis";
  let description = [{
    Divides the exponential of each element by the sum of exponentials along
    `axis`; the maximum is subtracted first, so that nothing overflows.

    Constraints:
    - (C1) `axis` is a dimension of `X`.

    Example:
    ```mlir
    %r = graph.softmax %x {axis = 1 : i64} : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$X, I64Attr:$axis);
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_LogSoftmaxOp : Graph_Op<"log_softmax"> {
  let summary = "logarithm of softmax";
  let description = [{
    Subtracts from each element the logarithm of the sum of exponentials along
    `axis`.

    Constraints:
    - (C1) `axis` is a dimension of `X`.

    Example:
    ```mlir
    %r = graph.log_softmax %x {axis = 1 : i64}
        : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$X, I64Attr:$axis);
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_LayerNormOp : Graph_Op<"layer_norm"> {
  let summary = "normalization over the last dimensions";
  let description = [{
    Subtracts the mean over the dimensions from `axis` on, divides by the
    standard deviation (of variance plus `epsilon`), multiplies by `scale` and
    adds `bias`. `scale` and `bias` broadcast to `X`.

    Constraints:
    - (C1) `axis` is a dimension of `X`.
    - (C2) `scale` and `bias` have the element type of `X` and extents that
      broadcast to those of `X`.

    Example:
    ```mlir
    %r = graph.layer_norm %x, %s, %b {axis = 1 : i64, epsilon = 1.0e-5 : f64}
        : (tensor<2x3xf32>, tensor<3xf32>, tensor<3xf32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$X, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias, I64Attr:$axis,
                       F64Attr:$epsilon);
  let results = (outs Graph_FloatTensor:$result);
}

def Graph_BatchNormOp : Graph_Op<"batch_norm"> {
  let summary = "normalization by given mean and variance of each channel";
  let description = [{
    A multiplication and an addition per channel (dimension 1).

    Constraints:
    - (C1) `X` has rank 2 or more; the other operands have rank 1 and its number
      of channels, and all have the same element type.

    Example:
    ```mlir
    %r = graph.batch_norm %x, %s, %b, %m, %v {epsilon = 1.0e-5 : f64}
        : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>, tensor<8xf32>,
           tensor<8xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$X, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias, Graph_FloatTensor:$mean,
                       Graph_FloatTensor:$variance, F64Attr:$epsilon);
  let results = (outs Graph_FloatTensor:$result);
  let definition = [{
    F[c] = scale[c] / sqrt(variance[c] + epsilon);
    G[c] = bias[c] - mean[c] * F[c];
    R[n, c, s..] = X[n, c, s..] * F[c] + G[c]
  }];
}

def Graph_InstanceNormOp : Graph_Op<"instance_norm"> {
  let summary = "normalization of each channel of each sample";
  let description = [{
    Normalizes over the spatial dimensions (from 2 on), then scales and shifts
    each channel.

    Constraints:
    - (C1) `X` has rank 2 or more; `scale` and `bias` have rank 1 and its number
      of channels, and all have the same element type.

    Example:
    ```mlir
    %r = graph.instance_norm %x, %s, %b {epsilon = 1.0e-5 : f64}
        : (tensor<1x8x4x4xf32>, tensor<8xf32>, tensor<8xf32>)
        -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$X, Graph_FloatTensor:$scale,
                       Graph_FloatTensor:$bias, F64Attr:$epsilon);
  let results = (outs Graph_FloatTensor:$result);
  let definition = [{
    M[n, c] = mean(s..) X[n, c, s..];
    V[n, c] = mean(s..) (X[n, c, s..] - M[n, c]) * (X[n, c, s..] - M[n, c]);
    F[n, c] = scale[c] / sqrt(V[n, c] + epsilon);
    R[n, c, s..] = (X[n, c, s..] - M[n, c]) * F[n, c] + bias[c]
  }];
}

def Graph_LrnOp : Graph_Op<"lrn"> {
  let summary = "local response normalization across channels";
  let description = [{
    Divides each element by a power of the sum of squares over `window`
    neighbouring channels (dimension 1), the element's own in the middle or, of
    an even number, just before it.

    Constraints:
    - (C1) `X` has rank 2 or more.

    Example:
    ```mlir
    %r = graph.lrn %x {alpha = 1.0e-4 : f64, beta = 0.75 : f64, bias = 1.0 : f64,
                       window = 5 : i64}
        : (tensor<1x8x4x4xf32>) -> tensor<1x8x4x4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$X, F64Attr:$alpha, F64Attr:$beta,
                       F64Attr:$bias,
                       ConfinedAttr<I64Attr, [IntPositive]>:$window);
  let results = (outs Graph_FloatTensor:$result);
  let definition = [{
    S[n, c < size(X, 1), s..] = sum(k < window | and(c + k - (window - 1) // 2 >= 0,
                           c + k - (window - 1) // 2 < size(X, 1)))
                   X[n, c + k - (window - 1) // 2, s..] *
                   X[n, c + k - (window - 1) // 2, s..];
    R[n, c, s..] = X[n, c, s..] / pow(bias + alpha / window * S[n, c, s..], beta)
  }];
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHNORMALIZATIONOPS_TD
