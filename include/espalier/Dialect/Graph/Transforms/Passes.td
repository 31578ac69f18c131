//===- Passes.td - Passes on the graph dialect -------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_GRAPH_TRANSFORMS_PASSES_TD
#define ESPALIER_DIALECT_GRAPH_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def GraphFoldConstantsPass : Pass<"graph-fold-constants"> {
  let summary = "evaluates operators whose operands are constants";
  let description = [{
    Replaces each graph operator whose operands are all constants by its value,
    which the reference interpreter computes from the operator's definition:

    ```mlir
    %a = graph.constant dense<[1.0, 2.0]> : tensor<2xf32>
    %r = graph.neg %a : (tensor<2xf32>) -> tensor<2xf32>
    // becomes
    %r = graph.constant dense<[-1.0, -2.0]> : tensor<2xf32>
    ```

    An operator whose results are larger than `max-bytes`, or grow its operands
    more than tenfold beyond 64 KiB, stays, and is reported as a missed remark.
  }];
  let dependentDialects = ["::espalier::graph::GraphDialect"];
  let options = [
    Option<"maxBytes", "max-bytes", "uint64_t", /*default=*/"uint64_t(1) << 32",
           "Largest size in bytes that a result may have">
  ];
  let statistics = [
    Statistic<"numFolded", "num-folded", "Operators evaluated">
  ];
}

def GraphSparsifyPass : Pass<"graph-sparsify"> {
  let summary = "stores constants, most of whose elements are zero, without them";
  let description = [{
    Gives the types of constants that operators read in sums of products, as a
    product of matrices or a convolution does its weights, an encoding of the
    `sparse_tensor` dialect, if at most `max-density` of their elements are not
    zero. Entries are stored row by row: the dimensions that the sum runs over
    are compressed, the others dense. The operator stays what it was:

    ```mlir
    %w = graph.constant dense_resource<w> : tensor<512x256xf32>
    %r = graph.matmul %x, %w : (tensor<?x512xf32>, tensor<512x256xf32>) -> tensor<?x256xf32>
    // becomes
    #entries = #sparse_tensor.encoding<{
      map = (d0, d1) -> (d1 : dense, d0 : compressed) }>
    %w = graph.constant dense_resource<w> : tensor<512x256xf32, #entries>
    %r = graph.matmul %x, %w : (tensor<?x512xf32>, tensor<512x256xf32, #entries>) -> tensor<?x256xf32>
    ```

    `convert-graph-to-poly` lets such sums run over the entries. That leaves out
    products with zero: where the other factor is infinite or not a number, the
    result is not what the definition says. A remark names each operator.
  }];
  let dependentDialects = ["::espalier::graph::GraphDialect",
                           "::mlir::sparse_tensor::SparseTensorDialect"];
  let options = [
    Option<"maxDensity", "max-density", "double", /*default=*/"0.3",
           "Largest share of elements that are not zero">,
    Option<"minElements", "min-elements", "int64_t", /*default=*/"1024",
           "Constants of fewer elements stay as they are">,
    Option<"format", "format", "std::string", /*default=*/"",
           "How entries are stored, such as subsets:3 (see `poly-group-entries`); "
           "chosen for each sum if empty">
  ];
  let statistics = [
    Statistic<"numSparse", "num-sparse", "Operands that are sparse now">
  ];
}

def GraphPrintDefinitionsPass : Pass<"graph-print-definitions"> {
  let summary = "prints what each operator computes";
  let description = [{
    Emits a remark at each graph operator with its definition in the index
    notation, as it is for the operator's attributes and ranks:

    ```mlir
    // remark: R[i0, i1] = X[i1, i0]
    %r = graph.transpose %x {permutation = array<i64: 1, 0>}
        : (tensor<2x3xf32>) -> tensor<3x2xf32>
    ```

    The program stays as it is.
  }];
}

#endif // ESPALIER_DIALECT_GRAPH_TRANSFORMS_PASSES_TD
