//===- Passes.td - Passes that search for substitutions ----*- tablegen -*-===//

#ifndef ESPALIER_SUBSTITUTION_SEARCH_PASSES_TD
#define ESPALIER_SUBSTITUTION_SEARCH_PASSES_TD

include "mlir/Pass/PassBase.td"

def GraphOptimizePass : Pass<"graph-optimize"> {
  let summary = "makes graphs faster by proved substitutions";
  let description = [{
    Looks for a graph that computes the same and is predicted to take less time,
    by substitution rules: those for networks that come with Espalier or,
    instead of them, those of the files `rules`. Each of these is proved before
    it is used; one that is not proved is left out with a warning.

    With `search=egraph`, all applications of all rules are kept side by side in
    an e-graph, and the best graph is extracted from it. With
    `search=backtracking`, graphs are tried one after the other, the most
    promising first, as TASO does.

    ```mlir
    %0 = graph.matmul %x, %w0 : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    %1 = graph.matmul %x, %w1 : (tensor<8x64xf32>, tensor<64x32xf32>) -> tensor<8x32xf32>
    // becomes, if a rule says so,
    %w = graph.concat %w0, %w1 {axis = 1 : i64} : ... -> tensor<64x64xf32>
    %p = graph.matmul %x, %w : ... -> tensor<8x64xf32>
    %0 = graph.slice %p [0, 0] [8, 32] ... : ... -> tensor<8x32xf32>
    %1 = graph.slice %p [0, 32] [8, 32] ... : ... -> tensor<8x32xf32>
    ```

    What depends on constants alone costs nothing; `graph-fold-constants`
    computes it afterwards. An operation that is no operator of `graph` stays,
    and so does the order of those that have side effects.

    A rule applies only if it holds for all sizes that types leave open, or
    under a check. Where more is gained with a condition on the extents of a
    function's arguments, the function is put into two versions:

    ```mlir
    %holds = arith.andi ...
    %r = scf.if %holds -> (tensor<?x?xf32>) {
      // what was found
    } else {
      // what was there
    }
    return %r : tensor<?x?xf32>
    ```

    A remark says which conditions are checked.

    With `costs`, operators that the file lists cost what it says, and the order
    of a tensor in memory is chosen together with the substitutions, where the
    file lists an operator that reads another order: the attribute `graph.layout`
    tells. Costs of all other operators are estimated.

    Each substitution that is part of the result is reported as a remark.
  }];
  let dependentDialects = ["::espalier::graph::GraphDialect",
                           "::mlir::tensor::TensorDialect",
                           "::mlir::arith::ArithDialect",
                           "::mlir::scf::SCFDialect"];
  let options = [
    ListOption<"ruleFiles", "rules", "std::string",
               "Files of rules in the text form, which are proved first">,
    Option<"costFile", "costs", "std::string", /*default=*/"",
           "File of the times of operators, one a line: microseconds, operator, types">,
    Option<"search", "search",
           "::espalier::substitution::SearchOptions::Search",
           /*default=*/"::espalier::substitution::SearchOptions::Search::EGraph",
           "How to search", [{::llvm::cl::values(
             clEnumValN(::espalier::substitution::SearchOptions::Search::EGraph,
                        "egraph", "All applications of all rules at once"),
             clEnumValN(::espalier::substitution::SearchOptions::Search::Backtracking,
                        "backtracking", "One graph after the other"))}]>,
    Option<"extraction", "extraction",
           "::espalier::substitution::SearchOptions::Extraction",
           /*default=*/"::espalier::substitution::SearchOptions::Extraction::Greedy",
           "How to choose from an e-graph", [{::llvm::cl::values(
             clEnumValN(::espalier::substitution::SearchOptions::Extraction::Greedy,
                        "greedy", "Fast"),
             clEnumValN(::espalier::substitution::SearchOptions::Extraction::Ilp,
                        "ilp", "By integer programming"))}]>,
    Option<"maxNodes", "max-nodes", "unsigned", /*default=*/"20000",
           "Largest number of operators in an e-graph, or tried in all">,
    Option<"maxIterations", "max-iterations", "unsigned", /*default=*/"8",
           "Rounds of applying all rules to an e-graph">,
    Option<"maxMergingIterations", "max-merging-iterations", "unsigned",
           /*default=*/"3", "Rounds for rules with several outputs">,
    Option<"maxGraphs", "max-graphs", "unsigned", /*default=*/"1000",
           "Graphs from which backtracking goes on">,
    Option<"alpha", "alpha", "double", /*default=*/"1.05",
           "How much worse a graph may be for backtracking to go on from it">,
    Option<"maxSeconds", "max-seconds", "double", /*default=*/"60",
           "Time for the search, as the last resort">,
    Option<"maxChecks", "max-checks", "unsigned", /*default=*/"8",
           "Conditions on sizes that a function may check at run time">
  ];
  let statistics = [
    Statistic<"numSubstitutions", "num-substitutions",
              "Substitutions in the result">,
    Statistic<"numChecks", "num-checks", "Conditions that are checked">,
    Statistic<"numMatches", "num-matches", "Applications of rules">,
    Statistic<"numNodes", "num-nodes", "Different operators that were tried">,
    Statistic<"numGraphs", "num-graphs", "Graphs that backtracking tried">
  ];
}

#endif // ESPALIER_SUBSTITUTION_SEARCH_PASSES_TD
