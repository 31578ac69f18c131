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
