// RUN: espalier-opt %s -split-input-file -verify-diagnostics -program-pack-constants | FileCheck %s

// Equal bytes are stored once, whatever their type; splats are compared as what
// they stand for. @mutable stays, and @same, which a kernel reads.
// CHECK-LABEL: module
//  CHECK-SAME:   espalier.constant_offsets = array<i64: 0, 64>
//  CHECK-SAME:   espalier.constants = [dense_resource<w> : tensor<2xf32>, dense<true> : tensor<3xi1>]
//   CHECK-NOT:   @w
//   CHECK-DAG:   memref.global "private" @mutable
//   CHECK-DAG:   memref.global "private" constant @same
//       CHECK:   func.func @main
//  CHECK-SAME:     %[[BLOB:.*]]: memref<?xi8> {espalier.constants}
//   CHECK-DAG:   %[[W:.*]] = memref.view %[[BLOB]][%c0{{.*}}][] : memref<?xi8> to memref<2xf32>
//   CHECK-DAG:   %[[SAME:.*]] = memref.view %[[BLOB]][%c0{{.*}}][] : memref<?xi8> to memref<2xi32>
//   CHECK-DAG:   %[[FLAGS:.*]] = memref.view %[[BLOB]][%c64{{.*}}][] : memref<?xi8> to memref<3xi1>
//       CHECK:   call @k(%[[W]], %[[SAME]], %[[FLAGS]], %{{.*}})
module {
  memref.global "private" constant @w : memref<2xf32> = dense_resource<w>
  memref.global "private" constant @same : memref<2xi32> = dense<1065353216>
  memref.global "private" constant @flags : memref<3xi1> = dense<true>
  memref.global "private" @mutable : memref<2xf32> = dense<0.0>
  func.func private @k(memref<2xf32>, memref<2xi32>, memref<3xi1>, memref<2xf32>)
  func.func @reader() {
    %same = memref.get_global @same : memref<2xi32>
    return
  }
  func.func @main() attributes {espalier.num_inputs = 0 : i64} {
    %w = memref.get_global @w : memref<2xf32>
    %same = memref.get_global @same : memref<2xi32>
    %flags = memref.get_global @flags : memref<3xi1>
    %mutable = memref.get_global @mutable : memref<2xf32>
    call @k(%w, %same, %flags, %mutable) : (memref<2xf32>, memref<2xi32>, memref<3xi1>, memref<2xf32>) -> ()
    return
  }
  func.func @main_plan() {
    return
  }
}

{-#
  dialect_resources: {
    builtin: {
      w: "0x040000000000803F0000803F"
    }
  }
#-}

// -----

module {
  // expected-error @below {{expects resource 'short' to hold 8 bytes, but got 4}}
  memref.global "private" constant @w : memref<2xf32> = dense_resource<short>
  func.func @main() attributes {espalier.num_inputs = 0 : i64} {
    %w = memref.get_global @w : memref<2xf32>
    return
  }
  func.func @main_plan() {
    return
  }
}

{-#
  dialect_resources: {
    builtin: {
      short: "0x040000000000803F"
    }
  }
#-}

// -----

module {
  // expected-error @below {{expects numbers in the identity layout, but got 'memref<2xcomplex<f32>>'}}
  memref.global "private" constant @w : memref<2xcomplex<f32>> = dense<(0.0, 0.0)>
  func.func @main() attributes {espalier.num_inputs = 0 : i64} {
    %w = memref.get_global @w : memref<2xcomplex<f32>>
    return
  }
  func.func @main_plan() {
    return
  }
}

// -----

module {
  // expected-error @below {{expects a dense or dense_resource value of 'f32', but got 'tensor<2xf32>'}}
  memref.global "private" constant @w : memref<2xf32> = sparse<[[0]], [1.0]>
  func.func @main() attributes {espalier.num_inputs = 0 : i64} {
    %w = memref.get_global @w : memref<2xf32>
    return
  }
  func.func @main_plan() {
    return
  }
}
