//===- GraphElementwiseOps.td - Element-wise operators -----*- tablegen -*-===//
//
// Operands broadcast as in NumPy: dimensions align at the right, and a static
// extent of 1 repeats. Unknown extents must be equal at run time.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_GRAPH_IR_GRAPHELEMENTWISEOPS_TD
#define ESPALIER_DIALECT_GRAPH_IR_GRAPHELEMENTWISEOPS_TD

include "espalier/Dialect/Graph/IR/GraphAttributes.td"

//===----------------------------------------------------------------------===//
// One operand
//===----------------------------------------------------------------------===//

/// The types of the example of an operator: `element` for its operands.
class Graph_Example<Type operandType, bit isTest> {
  string element = !if(!eq(operandType, Graph_IntegerTensor), "i32", "f32");
  string result = !if(isTest, "i1", element);
}

/// `R[b..] = formula`, where the formula speaks of `X[b..]`; the result of a
/// test is boolean. What changes nothing more the second time is idempotent.
class Graph_UnaryOp<string mnemonic, string title, string formula,
                    Type operandType = Graph_FloatTensor, bit isTest = false,
                    bit isIdempotent = false>
    : Graph_Op<mnemonic> {
  defvar example = Graph_Example<operandType, isTest>;
  let summary = title;
  let description = "\n    Computes, for each element, `" # formula # [{`.

    Example:
    ```mlir
    %r = graph.}] # mnemonic # " %x : (tensor<2x3x" # example.element #
         ">) -> tensor<2x3x" # example.result # [{>
    ```
  }];
  let arguments = (ins operandType:$X);
  let results = (outs Graph_Tensor:$result);
  let definition = "R[b..] = " # formula;
  let hasFolder = isIdempotent;
}

def Graph_AbsOp : Graph_UnaryOp<"abs", "magnitude", "abs(X[b..])",
                                Graph_NumberTensor, isIdempotent = true>;
def Graph_AcosOp : Graph_UnaryOp<"acos", "arc cosine", "acos(X[b..])">;
def Graph_AcoshOp : Graph_UnaryOp<"acosh", "inverse hyperbolic cosine",
                                  "acosh(X[b..])">;
def Graph_AsinOp : Graph_UnaryOp<"asin", "arc sine", "asin(X[b..])">;
def Graph_AsinhOp : Graph_UnaryOp<"asinh", "inverse hyperbolic sine",
                                  "asinh(X[b..])">;
def Graph_AtanOp : Graph_UnaryOp<"atan", "arc tangent", "atan(X[b..])">;
def Graph_AtanhOp : Graph_UnaryOp<"atanh", "inverse hyperbolic tangent",
                                  "atanh(X[b..])">;
def Graph_CeilOp : Graph_UnaryOp<"ceil", "rounding up", "ceil(X[b..])",
                                 isIdempotent = true>;
def Graph_CosOp : Graph_UnaryOp<"cos", "cosine", "cos(X[b..])">;
def Graph_CoshOp : Graph_UnaryOp<"cosh", "hyperbolic cosine", "cosh(X[b..])">;
def Graph_ErfOp : Graph_UnaryOp<"erf", "error function", "erf(X[b..])">;
def Graph_ExpOp : Graph_UnaryOp<"exp", "exponential", "exp(X[b..])">;
def Graph_FloorOp : Graph_UnaryOp<"floor", "rounding down", "floor(X[b..])",
                                  isIdempotent = true>;
def Graph_IsNaNOp : Graph_UnaryOp<"is_nan", "test for not-a-number",
                                  "isnan(X[b..])", isTest = true>;
def Graph_LogOp : Graph_UnaryOp<"log", "natural logarithm", "log(X[b..])">;
def Graph_NegOp : Graph_UnaryOp<"neg", "negation", "-X[b..]",
                                Graph_NumberTensor>;
def Graph_NotOp : Graph_UnaryOp<"not", "complement of every bit",
                                "not(X[b..])", Graph_IntegerTensor>;
def Graph_ReciprocalOp : Graph_UnaryOp<"reciprocal", "reciprocal",
                                       "1 / X[b..]">;
def Graph_ReluOp : Graph_UnaryOp<"relu", "rectified linear unit",
                                 "relu(X[b..])", Graph_NumberTensor,
                                 isIdempotent = true>;
def Graph_RoundOp : Graph_UnaryOp<"round", "rounding, half to even",
                                  "round(X[b..])", isIdempotent = true>;
def Graph_SigmoidOp : Graph_UnaryOp<"sigmoid", "logistic function",
                                    "sigmoid(X[b..])">;
def Graph_SignOp : Graph_UnaryOp<"sign", "sign: -1, 0 or 1", "sign(X[b..])",
                                 Graph_NumberTensor, isIdempotent = true>;
def Graph_SinOp : Graph_UnaryOp<"sin", "sine", "sin(X[b..])">;
def Graph_SinhOp : Graph_UnaryOp<"sinh", "hyperbolic sine", "sinh(X[b..])">;
def Graph_SiluOp : Graph_UnaryOp<"silu", "sigmoid linear unit",
                                 "X[b..] * sigmoid(X[b..])">;
def Graph_SoftplusOp
    : Graph_UnaryOp<"softplus", "log(1 + exp(x)), without overflow",
                    "relu(X[b..]) + log1p(exp(-abs(X[b..])))">;
def Graph_HardSwishOp
    : Graph_UnaryOp<"hard_swish", "piecewise-linear stand-in for silu",
                    "X[b..] * max(0, min(1, X[b..] / 6 + 0.5))">;
def Graph_SqrtOp : Graph_UnaryOp<"sqrt", "square root", "sqrt(X[b..])">;
def Graph_TanOp : Graph_UnaryOp<"tan", "tangent", "tan(X[b..])">;
def Graph_TanhOp : Graph_UnaryOp<"tanh", "hyperbolic tangent", "tanh(X[b..])">;

def Graph_GeluOp : Graph_Op<"gelu"> {
  let summary = "Gaussian error linear unit";
  let description = [{
    Multiplies each element by the normal distribution's probability of a smaller
    one: exactly, or by the usual approximation with `tanh`.

    Example:
    ```mlir
    %r = graph.gelu %x {approximate = #graph.gelu<tanh>}
        : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$X,
                       DefaultValuedAttr<
                           Graph_GeluApproximationAttr,
                           "::espalier::graph::GeluApproximation::None">:
                           $approximate);
  let results = (outs Graph_FloatTensor:$result);
  let definition = [{
    R[b..] = 0.5 * X[b..] * (1 + erf(0.7071067811865476 * X[b..]))
             if approximate == 0 else
             0.5 * X[b..] * (1 + tanh(0.7978845608028654 *
                 (X[b..] + 0.044715 * X[b..] * X[b..] * X[b..])))
  }];
}

/// A unary operator with the parameter `alpha`.
class Graph_AlphaOp<string mnemonic, string title, string formula>
    : Graph_Op<mnemonic> {
  let summary = title;
  let description = "\n    Computes, for each element, `" # formula # [{`.

    Example:
    ```mlir
    %r = graph.}] # mnemonic # [{ %x {alpha = 0.1 : f64}
        : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$X, F64Attr:$alpha);
  let results = (outs Graph_FloatTensor:$result);
  let definition = "R[b..] = " # formula;
}

def Graph_LeakyReluOp
    : Graph_AlphaOp<"leaky_relu", "identity, scaled below zero",
                    "X[b..] if X[b..] >= 0 else alpha * X[b..]">;
def Graph_EluOp
    : Graph_AlphaOp<"elu", "identity, exponential below zero",
                    "X[b..] if X[b..] > 0 else alpha * expm1(X[b..])">;

def Graph_HardSigmoidOp : Graph_Op<"hard_sigmoid"> {
  let summary = "piecewise-linear stand-in for sigmoid";
  let description = [{
    Clamps `alpha` times the element plus `beta` to the range from 0 to 1.

    Example:
    ```mlir
    %r = graph.hard_sigmoid %x {alpha = 0.2 : f64, beta = 0.5 : f64}
        : (tensor<4xf32>) -> tensor<4xf32>
    ```
  }];
  let arguments = (ins Graph_FloatTensor:$X, F64Attr:$alpha, F64Attr:$beta);
  let results = (outs Graph_FloatTensor:$result);
  let definition = "R[b..] = max(0, min(1, alpha * X[b..] + beta))";
}

def Graph_CastOp : Graph_Op<"cast"> {
  let summary = "conversion to another element type";
  let description = [{
    Converts each element to the type `to`. Numbers become integers by truncation
    and Booleans by comparison with zero; a number that is out of the range of
    the integer type gives an unspecified integer.

    Example:
    ```mlir
    %r = graph.cast %x {to = i32} : (tensor<4xf32>) -> tensor<4xi32>
    ```
  }];
  let arguments = (ins Graph_Tensor:$X, TypeAttr:$to);
  let results = (outs Graph_Tensor:$result);
  let definition = "R[b..] = X[b..]";
  let hasFolder = 1;
}

//===----------------------------------------------------------------------===//
// Two and more operands
//===----------------------------------------------------------------------===//

/// `R[b..] = formula`, where the formula speaks of `A[b..]` and `B[b..]`; the
/// result of a test is boolean.
class Graph_BinaryOp<string mnemonic, string title, string formula,
                     Type operandType = Graph_NumberTensor,
                     list<Trait> traits = [], bit isTest = false>
    : Graph_Op<mnemonic, traits> {
  defvar example = Graph_Example<operandType, isTest>;
  let summary = title;
  let description = "\n    Computes, for each pair of elements, `" # formula # [{`.

    Constraints:
    - (C1) the operands have the same element type, and extents that broadcast.

    Example:
    ```mlir
    %r = graph.}] # mnemonic # [{ %a, %b
        : (tensor<2x3x}] # example.element # ">, tensor<3x" # example.element #
         ">) -> tensor<2x3x" # example.result # [{>
    ```
  }];
  let arguments = (ins operandType:$A, operandType:$B);
  let results = (outs Graph_Tensor:$result);
  let definition = "R[b..] = " # formula;
}

def Graph_AddOp : Graph_BinaryOp<"add", "sum", "A[b..] + B[b..]",
                                 Graph_NumberTensor, [Commutative]> {
  let hasFolder = 1;
}
def Graph_SubOp : Graph_BinaryOp<"sub", "difference", "A[b..] - B[b..]">;
def Graph_MulOp : Graph_BinaryOp<"mul", "product", "A[b..] * B[b..]",
                                 Graph_NumberTensor, [Commutative]> {
  let hasFolder = 1;
}
def Graph_DivOp
    : Graph_BinaryOp<"div", "quotient, of integers truncated and 0 for x / 0",
                     "A[b..] / B[b..]">;
def Graph_PowOp
    : Graph_BinaryOp<"pow", "power, of integers truncated and 0 for 0^-n",
                     "pow(A[b..], B[b..])">;
def Graph_MaxOp : Graph_BinaryOp<"max", "greater one, or not-a-number",
                                 "max(A[b..], B[b..])", Graph_NumberTensor,
                                 [Commutative]>;
def Graph_MinOp : Graph_BinaryOp<"min", "smaller one, or not-a-number",
                                 "min(A[b..], B[b..])", Graph_NumberTensor,
                                 [Commutative]>;
def Graph_ModOp
    : Graph_BinaryOp<"mod", "remainder with the divisor's sign, of integers "
                            "0 for a divisor of 0",
                     "A[b..] % B[b..]">;
def Graph_RemOp
    : Graph_BinaryOp<"rem", "remainder with the dividend's sign, of integers "
                            "0 for a divisor of 0",
                     "rem(A[b..], B[b..])">;
def Graph_AndOp : Graph_BinaryOp<"and", "conjunction of every bit",
                                 "and(A[b..], B[b..])", Graph_IntegerTensor,
                                 [Commutative]>;
def Graph_OrOp : Graph_BinaryOp<"or", "disjunction of every bit",
                                "or(A[b..], B[b..])", Graph_IntegerTensor,
                                [Commutative]>;
def Graph_XorOp : Graph_BinaryOp<"xor", "exclusive disjunction of every bit",
                                 "xor(A[b..], B[b..])", Graph_IntegerTensor,
                                 [Commutative]>;
def Graph_EqualOp : Graph_BinaryOp<"equal", "test for equality",
                                   "A[b..] == B[b..]", Graph_Tensor,
                                   [Commutative], isTest = true>;
def Graph_LessOp : Graph_BinaryOp<"less", "test for order", "A[b..] < B[b..]",
                                  isTest = true>;
def Graph_LessEqualOp : Graph_BinaryOp<"less_equal", "test for order",
                                       "A[b..] <= B[b..]",
                                       isTest = true>;
def Graph_GreaterOp : Graph_BinaryOp<"greater", "test for order",
                                     "A[b..] > B[b..]",
                                       isTest = true>;
def Graph_GreaterEqualOp : Graph_BinaryOp<"greater_equal", "test for order",
                                          "A[b..] >= B[b..]",
                                       isTest = true>;
def Graph_PreluOp
    : Graph_BinaryOp<"prelu", "identity, scaled below zero by the slope B",
                     "A[b..] if A[b..] >= 0 else B[b..] * A[b..]">;

def Graph_SelectOp : Graph_Op<"select"> {
  let summary = "choice between two tensors";
  let description = [{
    Takes each element from `A` where `condition` holds, otherwise from `B`.

    Constraints:
    - (C1) `A` and `B` have the same element type, and extents that broadcast.

    Example:
    ```mlir
    %r = graph.select %c, %a, %b
        : (tensor<2x3xi1>, tensor<2x3xf32>, tensor<f32>) -> tensor<2x3xf32>
    ```
  }];
  let arguments = (ins Graph_BoolTensor:$condition, Graph_Tensor:$A,
                       Graph_Tensor:$B);
  let results = (outs Graph_Tensor:$result);
  let definition = "R[b..] = A[b..] if condition[b..] else B[b..]";
}

#endif // ESPALIER_DIALECT_GRAPH_IR_GRAPHELEMENTWISEOPS_TD
