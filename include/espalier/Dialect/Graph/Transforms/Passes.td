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

#endif // ESPALIER_DIALECT_GRAPH_TRANSFORMS_PASSES_TD
