// RUN: espalier-opt %s -pass-pipeline='builtin.module(convert-graph-to-poly{stop-after=fold-computing})' | FileCheck %s --check-prefix=TWO
// RUN: espalier-opt %s -pass-pipeline='builtin.module(convert-graph-to-poly{skip=winograd,inline-maps})' | FileCheck %s --check-prefix=TWO
// RUN: espalier-opt %s -pass-pipeline='builtin.module(convert-graph-to-poly{stop-after=inline-maps skip=winograd})' | FileCheck %s --check-prefix=ONE
// RUN: not espalier-opt %s -pass-pipeline='builtin.module(convert-graph-to-poly{skip=normalize})' 2>&1 | FileCheck %s --check-prefix=NEEDED
// RUN: not espalier-opt %s -pass-pipeline='builtin.module(convert-graph-to-poly{stop-after=fold})' 2>&1 | FileCheck %s --check-prefix=UNKNOWN

// TWO-COUNT-2: poly.compute
// TWO-NOT:     poly.compute

// ONE:         poly.compute
// ONE:         math.exp
// ONE:         arith.negf
// ONE-NOT:     poly.compute

// NEEDED:      error: expects a step that may be left out, which are fold-computing, inline-maps, {{.*}}, winograd, but got 'normalize'
// UNKNOWN:     but got 'fold'
func.func @main(%x: tensor<6x19xf32>) -> tensor<6x19xf32> {
  %0 = graph.exp %x : (tensor<6x19xf32>) -> tensor<6x19xf32>
  %1 = graph.neg %0 : (tensor<6x19xf32>) -> tensor<6x19xf32>
  return %1 : tensor<6x19xf32>
}
