// RUN: espalier-opt %s -convert-graph-to-poly | FileCheck %s --check-prefix=TWO
// RUN: espalier-opt %s -pass-pipeline='builtin.module(convert-graph-to-poly,poly-form-kernels{skip=winograd,inline-maps})' | FileCheck %s --check-prefix=TWO
// RUN: espalier-opt %s -pass-pipeline='builtin.module(convert-graph-to-poly,poly-form-kernels{stop-after=inline-maps skip=winograd})' | FileCheck %s --check-prefix=ONE
// RUN: not espalier-opt %s -pass-pipeline='builtin.module(poly-form-kernels{skip=normalize})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN
// RUN: not espalier-opt %s -pass-pipeline='builtin.module(poly-form-kernels{stop-after=normalize})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// TWO-COUNT-2: poly.compute
// TWO-NOT:     poly.compute

// ONE:         poly.compute
// ONE:         math.exp
// ONE:         arith.negf
// ONE-NOT:     poly.compute

// UNKNOWN:     error: expects a step that may be left out, which are inline-maps, {{.*}}, winograd, trim-windows, fuse-copies, but got 'normalize'
func.func @main(%x: tensor<6x19xf32>) -> tensor<6x19xf32> {
  %0 = graph.exp %x : (tensor<6x19xf32>) -> tensor<6x19xf32>
  %1 = graph.neg %0 : (tensor<6x19xf32>) -> tensor<6x19xf32>
  return %1 : tensor<6x19xf32>
}
