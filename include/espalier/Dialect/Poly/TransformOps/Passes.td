//===- Passes.td - Scripts of schedules --------------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_PASSES_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PolyExtractScriptPass
    : Pass<"poly-extract-script", "::mlir::ModuleOp"> {
  let summary = "replaces kernels by the script of their default schedule";
  let description = [{
    The module becomes a transform script: what `poly-default-schedule` does to
    its kernels without a schedule, one `transform.poly.plan` for each part of a
    kernel. Applied to the kernels, the script gives the same loops; its numbers
    may be changed, and commands added.

    ```mlir
    // a module with the kernel @matmul becomes
    transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
      %0 = transform.poly.computation @matmul::@init of %module
          : (!transform.any_op) -> !transform.any_op
      transform.poly.plan %0 with ["acc"] shared 2 loops ["j", "i"]
          tile ["i", "j"] by [14, 32] lanes "j" width 16 : !transform.any_op
      transform.yield
    }
    ```

    A kernel that keeps its program order is not in it.
  }];
  let dependentDialects = ["::espalier::poly::PolyDialect",
                           "::mlir::transform::TransformDialect"];
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_PASSES_TD
