//===- Passes.td - Schedules of kernels --------------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMS_PASSES_TD
#define ESPALIER_DIALECT_POLY_TRANSFORMS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PolyDefaultSchedulePass
    : Pass<"poly-default-schedule", "::espalier::poly::KernelOp"> {
  let summary = "gives every kernel a good schedule";
  let description = [{
    Writes the `poly.schedule` of a kernel that has none. The loops that all of
    its computations share are outermost, and parallel where no dependence
    forbids it. A reduction's result is tiled so that the tile fits the
    registers of the `poly.target`, stays there while the reduction runs, and is
    finished there by the computations that follow. The dimension that is
    contiguous in memory becomes the lanes of vectors, masked at the end.

    Where the dependences forbid this, or no loops are found for it within the
    budget on integer sets, the kernel keeps its program order. A kernel that
    has a schedule is left alone.

    Without `fuse`, each computation has loops of its own, with what starts its sum;
    of a recurrence, inside of the loop over its steps. So one sees what sharing loops
    is good for.
  }];
  let options = [Option<"fuse", "fuse", "bool", /*default=*/"true",
                        "Let computations share loops">];
  let dependentDialects = ["::espalier::poly::PolyDialect"];
}

#endif // ESPALIER_DIALECT_POLY_TRANSFORMS_PASSES_TD
