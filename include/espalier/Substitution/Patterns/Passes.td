//===- Passes.td - Passes that apply rules as patterns -----*- tablegen -*-===//

#ifndef ESPALIER_SUBSTITUTION_PATTERNS_PASSES_TD
#define ESPALIER_SUBSTITUTION_PATTERNS_PASSES_TD

include "mlir/Pass/PassBase.td"

def GraphApplyRulesPass : Pass<"graph-apply-rules"> {
  let summary = "simplifies graphs by proved rules";
  let description = [{
    Applies the rules of `files` wherever that leaves fewer operations, and no
    more convolutions, matrix products and pools, until it does nowhere. What
    depends on constants alone does not count; `graph-fold-constants` computes
    it. Without files, these are the rules that
    come with Espalier. A file has rules
    in the text form (`.rules`), as PDL (`.mlir`) or as PDLL (`.pdll`, if there
    is a command `mlir-pdll`).

    Each rule of a file is proved before it is used. One that is not proved is an
    error, with the counterexample, or, with `allow-unproved`, a warning: where it
    was applied, the operation around has an attribute `espalier.unproved` with
    the rule's name.

    ```mlir
    %0 = graph.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    %1 = graph.relu %0 : (tensor<2x3xf32>) -> tensor<2x3xf32>
    // becomes
    %0 = graph.relu %x : (tensor<2x3xf32>) -> tensor<2x3xf32>
    ```

    With `exact`, only rules are applied that add and multiply the same numbers
    in the same order. A rule is applied to tensors of known sizes alone. Each
    application is reported as a remark.
  }];
  let dependentDialects = ["::espalier::graph::GraphDialect",
                           "::mlir::pdl::PDLDialect",
                           "::mlir::pdl_interp::PDLInterpDialect",
                           "::mlir::tensor::TensorDialect"];
  let options = [
    ListOption<"files", "files", "std::string", "Files of rules">,
    Option<"allowUnproved", "allow-unproved", "bool", /*default=*/"false",
           "Use rules that are not proved, too">,
    Option<"exact", "exact", "bool", /*default=*/"false",
           "Use only rules that do not change how results round">
  ];
  let statistics = [
    Statistic<"numApplied", "num-applied", "Rules applied">
  ];
}

#endif // ESPALIER_SUBSTITUTION_PATTERNS_PASSES_TD
