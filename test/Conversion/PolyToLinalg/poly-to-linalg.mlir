// RUN: espalier-opt %s -convert-poly-to-linalg -split-input-file | FileCheck %s
// RUN: espalier-opt %s -convert-poly-to-linalg -split-input-file --remarks-filter=.* --remark-format=emitRemark 2>&1 | FileCheck %s --check-prefix=REMARK

// CHECK-DAG: #[[A:.*]] = affine_map<(d0, d1, d2) -> (d0, d2)>
// CHECK-DAG: #[[B:.*]] = affine_map<(d0, d1, d2) -> (d2, d1)>
// CHECK-DAG: #[[C:.*]] = affine_map<(d0, d1, d2) -> (d0, d1)>
// CHECK-LABEL: func.func private @product(
// CHECK-SAME: %[[X:.*]]: memref<4x6xf32>, %[[Y:.*]]: memref<6x8xf32>, %[[R:.*]]: memref<4x8xf32>, %[[SCALE:.*]]: f32)
// CHECK: linalg.generic {indexing_maps = [#[[A]], #[[B]], #[[C]]], iterator_types = ["parallel", "parallel", "reduction"]} ins(%[[X]], %[[Y]] : memref<4x6xf32>, memref<6x8xf32>) outs(%[[R]] : memref<4x8xf32>)
// CHECK-NEXT: ^bb0(%[[A0:.*]]: f32, %[[B0:.*]]: f32, %[[C0:.*]]: f32):
// CHECK: arith.mulf %{{.*}}, %[[SCALE]] : f32
// CHECK: %[[SUM:.*]] = arith.addf %[[C0]], %{{.*}} : f32
// CHECK: linalg.yield %[[SUM]] : f32
// CHECK-LABEL: func.func @main
// CHECK: call @product(%{{.*}}) : (memref<4x6xf32>, memref<6x8xf32>, memref<4x8xf32>, f32) -> ()
// REMARK: remark: [Passed] Converted | Category:convert-poly-to-linalg {{.*}}Kernel=product
poly.kernel private @product(%x: memref<4x6xf32>, %y: memref<6x8xf32>, %r: memref<4x8xf32>, %scale: f32) {
  poly.compute @s domain [affine_set<(i, j, k) : (i >= 0, 3 - i >= 0, j >= 0, 7 - j >= 0, k >= 0, 5 - k >= 0)>]
      reads(%x[affine_map<(i, j, k) -> (i, k)>], %r[affine_map<(i, j, k) -> (i, j)>], %y[affine_map<(i, j, k) -> (k, j)>] : memref<4x6xf32>, memref<4x8xf32>, memref<6x8xf32>)
      writes(%r[affine_map<(i, j, k) -> (i, j)>] : memref<4x8xf32>) reduction add {
  ^bb0(%a: f32, %c: f32, %b: f32):
    %p = arith.mulf %a, %b : f32
    %scaled = arith.mulf %p, %scale : f32
    %sum = arith.addf %c, %scaled : f32
    poly.yield %sum : f32
  }
}
func.func @main(%x: memref<4x6xf32>, %y: memref<6x8xf32>, %r: memref<4x8xf32>, %scale: f32) {
  poly.call @product(%x, %y, %r, %scale) : memref<4x6xf32>, memref<6x8xf32>, memref<4x8xf32>, f32
  return
}

// -----

// A view of N elements, whatever the memref's extent; the window of the input is
// not one of the domain's dimensions.
// CHECK-LABEL: func.func @windows(
// CHECK-SAME: %[[X:.*]]: memref<?xf32>, %[[R:.*]]: memref<?x3xf32>, %[[N:.*]]: index)
// CHECK: %[[VIEW:.*]] = memref.subview %[[R]][0, 0] [%[[N]], 3] [1, 1] : memref<?x3xf32> to memref<?x3xf32, strided<[3, 1]>>
// CHECK: linalg.generic {{.*}} ins(%[[X]] : memref<?xf32>) outs(%[[VIEW]] :
// CHECK: linalg.index 1
poly.kernel @windows(%x: memref<?xf32>, %r: memref<?x3xf32>, %N: index) {
  poly.compute @s domain [affine_set<(i, w)[N] : (i >= 0, N - 1 - i >= 0, w >= 0, 2 - w >= 0)>]
      reads(%x[affine_map<(i, w)[N] -> (i * 2 + w)>] : memref<?xf32>) writes(%r[affine_map<(i, w)[N] -> (i, w)>] : memref<?x3xf32>) {
  ^bb0(%a: f32):
    %w = poly.index 1
    %n = arith.index_cast %w : index to i32
    %f = arith.sitofp %n : i32 to f32
    %sum = arith.addf %a, %f : f32
    poly.yield %sum : f32
  }
}

// -----

// CHECK-LABEL: poly.kernel @several(
// REMARK: remark: [Missed] SeveralComputations | Category:convert-poly-to-linalg {{.*}}Kernel=several
poly.kernel @several(%x: memref<8xf32>) {
}

// -----

// CHECK-LABEL: poly.kernel @union(
// REMARK: remark: [Missed] DomainIsUnion
poly.kernel @union(%r: memref<8xf32>) {
  poly.compute @s domain [affine_set<(i) : (i >= 0, 3 - i >= 0)>, affine_set<(i) : (i - 4 >= 0, 7 - i >= 0)>]
      reads() writes(%r[affine_map<(i) -> (i)>] : memref<8xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// CHECK-LABEL: poly.kernel @triangle(
// REMARK: remark: [Missed] DomainIsNoBox
poly.kernel @triangle(%r: memref<8x8xf32>) {
  poly.compute @s domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, i - j >= 0)>]
      reads() writes(%r[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}

// -----

// CHECK-LABEL: poly.kernel @indirect(
// REMARK: remark: [Missed] AccessDependsOnParameterOrData
poly.kernel @indirect(%rows: memref<8xi32>, %x: memref<8xf32>, %r: memref<8xf32>) {
  poly.compute @s domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%rows[affine_map<(i) -> (i)>], %x[affine_map<(i)[row] -> (row)>] : memref<8xi32>, memref<8xf32>)
      writes(%r[affine_map<(i) -> (i)>] : memref<8xf32>) {
  ^bb0(%row: i32, %a: f32):
    poly.yield %a : f32
  }
}

// -----

// CHECK-LABEL: poly.kernel @window_sum(
// REMARK: remark: [Missed] LoopRunsOverNoDimension
poly.kernel @window_sum(%x: memref<8xf32>, %r: memref<6xf32>) {
  poly.compute @s domain [affine_set<(i, w) : (i >= 0, 5 - i >= 0, w >= 0, 2 - w >= 0)>]
      reads(%x[affine_map<(i, w) -> (i + w)>], %r[affine_map<(i, w) -> (i)>] : memref<8xf32>, memref<6xf32>)
      writes(%r[affine_map<(i, w) -> (i)>] : memref<6xf32>) reduction add {
  ^bb0(%a: f32, %c: f32):
    %sum = arith.addf %c, %a : f32
    poly.yield %sum : f32
  }
}

// -----

// CHECK-LABEL: poly.kernel @shifted_write(
// REMARK: remark: [Missed] WriteIsNoPermutation
poly.kernel @shifted_write(%x: memref<8xf32>, %r: memref<9xf32>) {
  poly.compute @s domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes(%r[affine_map<(i) -> (i + 1)>] : memref<9xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// CHECK-LABEL: poly.kernel @scan(
// REMARK: remark: [Missed] ReadsElementsThatItWrites
poly.kernel @scan(%r: memref<9xf32>) {
  poly.compute @s domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%r[affine_map<(i) -> (i + 1)>] : memref<9xf32>) writes(%r[affine_map<(i) -> (i)>] : memref<9xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}

// -----

// CHECK-LABEL: poly.kernel @different_writes(
// REMARK: remark: [Missed] WritesDiffer
poly.kernel @different_writes(%x: memref<8x8xf32>, %r: memref<8x8xf32>, %s: memref<8xf32>) {
  poly.compute @s domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads(%x[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>)
      writes(%r[affine_map<(i, j) -> (i, j)>], %s[affine_map<(i, j) -> (i)>] : memref<8x8xf32>, memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a, %a : f32, f32
  }
}

// -----

// CHECK-LABEL: poly.kernel @nothing(
// REMARK: remark: [Missed] WritesNothing
poly.kernel @nothing(%x: memref<8xf32>) {
  poly.compute @s domain [affine_set<(i) : (i >= 0, 7 - i >= 0)>]
      reads(%x[affine_map<(i) -> (i)>] : memref<8xf32>) writes() {
  ^bb0(%a: f32):
    poly.yield
  }
}

// -----

// The last element of each row wins; without order it could be another.
// CHECK-LABEL: poly.kernel @last_wins(
// REMARK: remark: [Missed] OrderMatters
poly.kernel @last_wins(%x: memref<8x8xf32>, %r: memref<8xf32>) {
  poly.compute @s domain [affine_set<(i, j) : (i >= 0, 7 - i >= 0, j >= 0, 7 - j >= 0)>]
      reads(%x[affine_map<(i, j) -> (i, j)>] : memref<8x8xf32>) writes(%r[affine_map<(i, j) -> (i)>] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
