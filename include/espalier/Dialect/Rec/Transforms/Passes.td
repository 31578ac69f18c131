//===- Passes.td - Passes on recursive models --------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_REC_TRANSFORMS_PASSES_TD
#define ESPALIER_DIALECT_REC_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def RecConfigurePass : Pass<"rec-configure"> {
  let summary = "says how the nodes of models are computed";
  let description = [{
    Sets the attributes `hoist`, `specialize` and `batching` of all models, which
    `rec.model` describes. Results stay the same.
  }];
  let dependentDialects = ["::espalier::rec::RecDialect"];
  let options = [
    Option<"hoist", "hoist", "bool", /*default=*/"true",
           "Compute what depends on no child for all nodes at once">,
    Option<"specialize", "specialize", "bool", /*default=*/"true",
           "Store leaves' results that are all the same once">,
    Option<"batching", "batching", "::espalier::rec::Batching",
           /*default=*/"::espalier::rec::Batching::Levels",
           "Which nodes are computed together", [{::llvm::cl::values(
             clEnumValN(::espalier::rec::Batching::Levels, "levels",
                        "Those of a level"),
             clEnumValN(::espalier::rec::Batching::Nodes, "nodes",
                        "Each by itself"))}]>
  ];
}

def RecRefactorPass : Pass<"rec-refactor", "::mlir::ModuleOp"> {
  let summary = "moves terms of one child to the child's cell";
  let description = [{
    An operator that sums, such as a matrix product, and depends on one child
    and on weights alone, is computed with the child instead, whose result it
    becomes:

    ```mlir
    %s = rec.children %n reduce [add] {
    ^bb0(%h: tensor<1x4xf32>):
      %f = graph.matmul %h, %u : ...
      %r = graph.sigmoid %f : ...
      rec.yield %r : tensor<1x4xf32>
    } : ...
    rec.yield %h1 : ...
    // becomes
    %s = rec.children %n reduce [add] {
    ^bb0(%h: tensor<1x4xf32>, %f: tensor<1x4xf32>):
      %r = graph.sigmoid %f : ...
      rec.yield %r : tensor<1x4xf32>
    } : ...
    %f1 = graph.matmul %h1, %u : ...
    rec.yield %h1, %f1 : ...
    ```

    Each node's term is computed once then, where nodes share children too, and
    as one product over the nodes of a level, whatever their parents are. What
    the recursion reads of a child grows by the term; roots compute it in vain.

    Where children are numbered, terms move only if all children have the same
    one; where nodes have one child, none does, as nothing would be gained. A
    missed remark says why a term stays.
  }];
  let dependentDialects = ["::espalier::rec::RecDialect"];
  let statistics = [Statistic<"numMoved", "num-moved", "Terms moved">];
}

def RecExplainBatchingPass : Pass<"rec-explain-batching"> {
  let summary = "says what is computed when, and why";
  let description = [{
    Emits remarks: at each model, in which order nodes are computed; at each
    operator of a cell, whether it is computed once, for all nodes before the
    recursion, or in it; at each leaf result, whether it is stored for each leaf;
    and where `rec-refactor` could move a term, or why it could not.

    The program stays as it is.
  }];
}

#endif // ESPALIER_DIALECT_REC_TRANSFORMS_PASSES_TD
