//===- Passes.td - Checks of kernels -----------------------*- tablegen -*-===//

#ifndef ESPALIER_DIALECT_POLY_ANALYSIS_PASSES_TD
#define ESPALIER_DIALECT_POLY_ANALYSIS_PASSES_TD

include "mlir/Pass/PassBase.td"

def PolyVerifySchedulePass
    : Pass<"poly-verify-schedule", "::espalier::poly::KernelOp"> {
  let summary = "checks a kernel's schedule against its dependences";
  let description = [{
    Fails, naming two points that touch the same element in the wrong order, if
    a `poly.schedule` breaks a dependence of the program order, if a `parallel`
    loop carries one, or a `vector` loop one that is not of a reduction. Fails
    too if a `vector` loop has more iterations than lanes, if filters drop or repeat a point, if elements of an array that share a
    place in its storage are alive at the same time, or if the question takes
    more than `max-operations`.

    ```mlir
    // s(t, i) writes A[t + 1, i] and reads A[t, i + 1]:
    poly.band [@s] maps [affine_map<(t, i)[T, N] -> (i, t)>] loops [...]
    // error: expects to keep the flow dependence from @s(0, 2) to @s(1, 1),
    //        distance (1, -1), on argument #0 (write 0 at [t + 1, i], read 1 at
    //        [t, i + 1]), with parameters (2, 4)
    ```

    A kernel without schedule passes.
  }];
  let options = [
    Option<"maxOperations", "max-operations", "uint64_t",
           /*default=*/"::espalier::polyhedral::Limits().maxOperations",
           "Elementary operations on integer sets before giving up a question">
  ];
}

def PolyVerifyAccessesPass
    : Pass<"poly-verify-accesses", "::espalier::poly::KernelOp"> {
  let summary = "checks that a kernel stays inside its arrays";
  let description = [{
    Fails, naming a point and sizes, if a computation accesses an array outside
    of its extents: those of its type, of `poly.array`, or of the attribute
    `poly.shape`.

    ```mlir
    // for i from 0 to N - 1, with A: memref<?xf32> {poly.shape = affine_map<()[N] -> (N)>}
    reads(%A[affine_map<(i)[N] -> (i + 1)>] : memref<?xf32>)
    // error: expects to read argument #0 inside its extent 1 in dimension 0,
    //        but at point (0) with parameters (1) the index is 1
    ```

    A subscript that is read from an array may be any value that its
    `poly.bounded_by` allows, or any number without it; where points run only if
    `where` holds, that is taken into account. Subscripts that are not affine fail if
    they depend on values without a bound. Others, such as products of sizes, and
    extents that nothing states are left to the program (`poly-add-main`), as are
    kernels none of whose arguments has the attribute `poly.shape`. With `types`,
    kernels without sizes, whose types say all, are checked as well, but for
    subscripts from values of which nothing is stated: what is made of operators
    of `graph` reads at places that it computes itself.
  }];
  let options = [
    Option<"types", "types", "bool", /*default=*/"false",
           "Check kernels without sizes that have no 'poly.shape', too">
  ];
}

#endif // ESPALIER_DIALECT_POLY_ANALYSIS_PASSES_TD
