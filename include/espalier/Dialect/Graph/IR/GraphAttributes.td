//===- GraphAttributes.td - Attributes of graph operators --*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHATTRIBUTES_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHATTRIBUTES_TD

include "mlir/IR/EnumAttr.td"
include "espalier/Dialect/Graph/IR/GraphBase.td"

class Graph_EnumAttr<string mnemonic, EnumInfo info>
    : EnumAttr<Graph_Dialect, info, mnemonic> {
  let assemblyFormat = "`<` $value `>`";
}

def Graph_ActivationEnum
    : I32Enum<"Activation", "function applied to each result",
              [I32EnumCase<"None", 0, "none">, I32EnumCase<"Relu", 1, "relu">,
               I32EnumCase<"Sigmoid", 2, "sigmoid">,
               I32EnumCase<"Tanh", 3, "tanh">]> {
  let cppNamespace = "::espalier::graph";
}
def Graph_ActivationAttr : Graph_EnumAttr<"activation", Graph_ActivationEnum>;
def Graph_DefaultActivationAttr
    : DefaultValuedAttr<Graph_ActivationAttr,
                        "::espalier::graph::Activation::None">;

def Graph_GeluApproximationEnum
    : I32Enum<"GeluApproximation", "formula of gelu",
              [I32EnumCase<"None", 0, "none">,
               I32EnumCase<"Tanh", 1, "tanh">]> {
  let cppNamespace = "::espalier::graph";
}
def Graph_GeluApproximationAttr
    : Graph_EnumAttr<"gelu", Graph_GeluApproximationEnum>;

def Graph_PadModeEnum
    : I32Enum<"PadMode", "what padded elements are",
              [I32EnumCase<"Constant", 0, "constant">,
               I32EnumCase<"Reflect", 1, "reflect">,
               I32EnumCase<"Edge", 2, "edge">,
               I32EnumCase<"Wrap", 3, "wrap">]> {
  let cppNamespace = "::espalier::graph";
}
def Graph_PadModeAttr : Graph_EnumAttr<"pad_mode", Graph_PadModeEnum>;

def Graph_ResizeModeEnum
    : I32Enum<"ResizeMode", "interpolation of a resize",
              [I32EnumCase<"Nearest", 0, "nearest">,
               I32EnumCase<"Linear", 1, "linear">,
               I32EnumCase<"Cubic", 2, "cubic">]> {
  let cppNamespace = "::espalier::graph";
}
def Graph_ResizeModeAttr : Graph_EnumAttr<"resize_mode", Graph_ResizeModeEnum>;

def Graph_CoordinateModeEnum
    : I32Enum<"CoordinateMode", "where a result element lies in the operand",
              [I32EnumCase<"HalfPixel", 0, "half_pixel">,
               I32EnumCase<"HalfPixelSymmetric", 1, "half_pixel_symmetric">,
               I32EnumCase<"PytorchHalfPixel", 2, "pytorch_half_pixel">,
               I32EnumCase<"AlignCorners", 3, "align_corners">,
               I32EnumCase<"Asymmetric", 4, "asymmetric">]> {
  let cppNamespace = "::espalier::graph";
}
def Graph_CoordinateModeAttr
    : Graph_EnumAttr<"coordinate_mode", Graph_CoordinateModeEnum>;

def Graph_NearestModeEnum
    : I32Enum<"NearestMode", "which neighbour is nearest",
              [I32EnumCase<"RoundPreferFloor", 0, "round_prefer_floor">,
               I32EnumCase<"RoundPreferCeil", 1, "round_prefer_ceil">,
               I32EnumCase<"Floor", 2, "floor">,
               I32EnumCase<"Ceil", 3, "ceil">]> {
  let cppNamespace = "::espalier::graph";
}
def Graph_NearestModeAttr
    : Graph_EnumAttr<"nearest_mode", Graph_NearestModeEnum>;

def Graph_DirectionEnum
    : I32Enum<"Direction", "order of the time steps",
              [I32EnumCase<"Forward", 0, "forward">,
               I32EnumCase<"Reverse", 1, "reverse">]> {
  let cppNamespace = "::espalier::graph";
}
def Graph_DirectionAttr : Graph_EnumAttr<"direction", Graph_DirectionEnum>;

def Graph_ScatterReductionEnum
    : I32Enum<"ScatterReduction", "how an update meets an element",
              [I32EnumCase<"None", 0, "none">, I32EnumCase<"Add", 1, "add">,
               I32EnumCase<"Mul", 2, "mul">, I32EnumCase<"Max", 3, "max">,
               I32EnumCase<"Min", 4, "min">]> {
  let cppNamespace = "::espalier::graph";
}
def Graph_ScatterReductionAttr
    : Graph_EnumAttr<"scatter_reduction", Graph_ScatterReductionEnum>;

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHATTRIBUTES_TD
