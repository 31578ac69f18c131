// RUN: espalier-opt %s -split-input-file -poly-form-kernels --remark-format=emitRemark --remarks-filter=poly-form-kernels 2>&1 | FileCheck %s

// What statements cannot say stays as it is.

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

// CHECK: NotRead {{.*}}expects kernels without a schedule
poly.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s domain [#box] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
  poly.schedule {
    poly.band [@s] maps [#id] loops [sequential]
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

// CHECK: NotRead {{.*}}expects private kernels
poly.kernel @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s domain [#box] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

// CHECK: NotRead {{.*}}expects kernels without facts about values
poly.kernel private @k(%x: memref<8xf32> {poly.shape = affine_map<() -> (8)>}, %y: memref<8xf32>) {
  poly.compute @s domain [#box] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

// CHECK: NotRead {{.*}}expects an operation that a scalar function stands for
poly.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s domain [#box] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    %b = arith.bitcast %a : f32 to i32
    %c = arith.bitcast %b : i32 to f32
    poly.yield %c : f32
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

// CHECK: NotRead {{.*}}expects arrays to be written before they are read
poly.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s domain [#box] reads(%y[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

// CHECK: NotRead {{.*}}expects a first value for each element
poly.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s domain [#box] reads(%x[#id], %y[#id] : memref<8xf32>, memref<8xf32>) writes(%y[#id] : memref<8xf32>) reduction add {
  ^bb0(%a: f32, %b: f32):
    %c = arith.addf %b, %a : f32
    poly.yield %c : f32
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

// CHECK: NotRead {{.*}}expects inputs and constants to stay as they are
poly.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s domain [#box] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%y, %x) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

// CHECK: NotRead {{.*}}expects a program and its plan
poly.kernel private @k(%x: memref<8xf32>, %y: memref<8xf32>) {
  poly.compute @s domain [#box] reads(%x[#id] : memref<8xf32>) writes(%y[#id] : memref<8xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @other(%x: memref<8xf32>, %y: memref<8xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<8xf32>, memref<8xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}

// -----

#box = affine_set<(i) : (i >= 0, 7 - i >= 0)>
#id = affine_map<(i) -> (i)>

// CHECK: NotRead {{.*}}expects a domain that is one set
poly.kernel private @k(%x: memref<9xf32>, %y: memref<9xf32>) {
  poly.compute @s domain [#box, affine_set<(i) : (i - 8 == 0)>] reads(%x[#id] : memref<9xf32>) writes(%y[#id] : memref<9xf32>) {
  ^bb0(%a: f32):
    poly.yield %a : f32
  }
}
func.func @main(%x: memref<9xf32>, %y: memref<9xf32>) attributes {espalier.num_inputs = 1 : i64} {
  poly.call @k(%x, %y) : memref<9xf32>, memref<9xf32>
  return
}
func.func @main_plan(%n: index) -> index {
  return %n : index
}
