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

/// An operator whose result has the sizes of `static_sizes` or, where one is
/// dynamic, the next of `sizes`.
class Graph_SizedOp<string mnemonic> : Graph_Op<mnemonic> {
  let results = (outs Graph_Tensor:$result);
}

def Graph_FillOp : Graph_SizedOp<"fill"> {
  let summary = "tensor of one value";
  let description = [{
    A tensor whose elements all equal the scalar `value`.

    Constraints:
    - (C1) `value` has rank 0.
    - (C2) there is one of `sizes` per dynamic entry of `static_sizes`, and the
      others are not negative.

    Example:
    ```mlir
    %r = graph.fill %v to [%n, 4] : (tensor<f32>) -> tensor<?x4xf32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$value, Variadic<Index>:$sizes,
                       DenseI64ArrayAttr:$static_sizes);
  let assemblyFormat = [{
    $value `to` custom<DynamicIndexList>($sizes, $static_sizes) attr-dict
    `:` functional-type($value, results)
  }];
}

/// A sized tensor that depends on nothing else.
class Graph_GeneratedOp<string mnemonic> : Graph_SizedOp<mnemonic> {
  let assemblyFormat = [{
    custom<DynamicIndexList>($sizes, $static_sizes) attr-dict
    `:` type($result)
  }];
}

def Graph_IotaOp : Graph_GeneratedOp<"iota"> {
  let summary = "position along one axis";
  let description = [{
    Each element is its index along `axis`, as an `element_type`.

    Constraints:
    - (C1) there is one of `sizes` per dynamic entry of `static_sizes`, and the
      others are not negative.
    - (C2) `element_type` is a number's.
    - (C3) `axis` is a dimension of the result.

    Example:
    ```mlir
    %r = graph.iota [4, %n] {axis = 1 : i64, element_type = i64} : tensor<4x?xi64>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_sizes,
                       I64Attr:$axis, TypeAttr:$element_type);
}

/// One of the constant tensors that substitutions speak of.
class Graph_KnownTensorOp<string mnemonic, string title, string text,
                          string constraint, string sizes>
    : Graph_GeneratedOp<"const_" # mnemonic> {
  let summary = title;
  let description = "\n    " # text # [{

    Constraints:
    - (C1) there is one of `sizes` per dynamic entry of `static_sizes`, and the
      others are not negative.
    - (C2) `element_type` is a number's.}] #
      !if(!empty(constraint), "", "\n    - (C3) " # constraint # ".") # [{

    Example:
    ```mlir
    %r = graph.const_}] # mnemonic # " [" # !subst("x", ", ", sizes) #
        "] {element_type = f32} : tensor<" # sizes # [{xf32>
    ```
  }];
  let arguments = (ins Variadic<Index>:$sizes, DenseI64ArrayAttr:$static_sizes,
                       TypeAttr:$element_type);
}

def Graph_ConstOneOp
    : Graph_KnownTensorOp<"one", "tensor of ones",
                          "The neutral element of `graph.mul`.",
                          "", "2x3">;
def Graph_ConstImmOp
    : Graph_KnownTensorOp<"imm", "identity matrix",
                          "The neutral element of `graph.matmul`.",
                          "the rank is 2", "4x4">;
def Graph_ConstIconvOp
    : Graph_KnownTensorOp<
          "iconv", "identity kernel",
          "The kernel with which `graph.conv`, padded to keep the extents, "
          "returns its operand: 1 in the middle, from each channel to its feature "
          "(counted within the group).",
          "the rank is 3 or more", "8x8x3x3">;
def Graph_ConstPoolOp
    : Graph_KnownTensorOp<
          "pool", "averaging kernel",
          "The kernel with which `graph.conv` is `graph.avg_pool` with "
          "`count_include_pad`: each tap weighs one over their number, from each "
          "channel to its feature (counted within the group).",
          "the rank is 3 or more", "8x1x3x3">;

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHCONSTANTOPS_TD
