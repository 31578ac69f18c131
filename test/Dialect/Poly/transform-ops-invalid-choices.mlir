// RUN: espalier-opt %s -split-input-file -transform-interpreter -verify-diagnostics

// A choice has to be made before a script is applied.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%x: memref<?xf32>, %N: index) {
  poly.compute @s dims ["i"] domain [#points] reads() writes(%x[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @k::@s of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects the choice "rows" to be selected, one of [4, 8], but nothing is}}
  %rows = transform.tune.knob<"rows"> options = [4, 8] -> !transform.param<i64>
  transform.poly.split %s loop "i" factors [%rows] : !transform.any_op
  transform.yield
}
}

// -----

// So has one of alternatives.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%x: memref<?xf32>, %N: index) {
  poly.compute @s dims ["i"] domain [#points] reads() writes(%x[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @k::@s of %module : (!transform.any_op) -> !transform.any_op
  // expected-error @below {{expects the choice "lanes" to be selected, one of [0, 1], but nothing is}}
  transform.tune.alternatives<"lanes"> {
    transform.poly.vectorize %s loop "i" width 8 : !transform.any_op
  }, {
    transform.poly.unroll %s loop "i" factor 4 : !transform.any_op
  }
  transform.yield
}
}

// -----

// What is not selected is not run, and may have open choices.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%x: memref<?xf32>, %N: index) {
  poly.compute @s dims ["i"] domain [#points] reads() writes(%x[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @k::@s of %module : (!transform.any_op) -> !transform.any_op
  %which = transform.tune.knob<"which"> = 1 from options = [0, 1] -> !transform.param<i64>
  transform.tune.alternatives<"lanes"> selected_region = %which : !transform.param<i64> {
    %width = transform.tune.knob<"width"> options = [4, 8] -> !transform.param<i64>
    transform.poly.vectorize %s loop "i" width %width : !transform.any_op
  }, {
    transform.poly.unroll %s loop "i" factor 4 : !transform.any_op
  }
  transform.yield
}
}

// -----

// Alternatives have scheduling alone, in every region.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%x: memref<?xf32>, %N: index) {
  poly.compute @s dims ["i"] domain [#points] reads() writes(%x[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @k::@s of %module : (!transform.any_op) -> !transform.any_op
  transform.tune.alternatives<"lanes"> selected_region = 0 {
    transform.poly.vectorize %s loop "i" width 8 : !transform.any_op
  }, {
    // expected-error @below {{expects a script of scheduling commands, which keep the definition of a kernel, but 'transform.annotate' may change it}}
    transform.annotate %s "interleaved" : !transform.any_op
  }
  transform.yield
}
}

// -----

// A selected number is refused as a written one is; the command is to blame.
#points = affine_set<(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)>
#ij = affine_map<(i, j)[N] -> (i, j)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%x: memref<?x?xf32>, %N: index) {
  // expected-note @below {{target op}}
  poly.compute @s dims ["i", "j"] domain [#points] reads(%x[affine_map<(i, j)[N] -> (i - 1, j + 1)>] : memref<?x?xf32>) writes(%x[#ij] : memref<?x?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @k::@s of %module : (!transform.any_op) -> !transform.any_op
  %size = transform.tune.knob<"size"> = 8 from options = [4, 8] -> !transform.param<i64>
  transform.tune.alternatives<"order"> selected_region = 0 {
    transform.poly.split %s loop "i" factors [%size] : !transform.any_op
    // expected-error @below {{op expects to keep the flow dependence}}
    transform.poly.tile %s loops ["i.1", "j"] sizes [[%size, %size]] : !transform.any_op
    transform.poly.split %s loop "j.0" factors [%size] : !transform.any_op
  }, {
    transform.poly.unroll %s loop "i" factor 4 : !transform.any_op
  }
  transform.yield
}
}

// -----

// A parameter is one number.
#points = affine_set<(i)[N] : (i >= 0, N - 1 - i >= 0)>
#i = affine_map<(i)[N] -> (i)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%x: memref<?xf32>, %N: index) {
  poly.compute @s dims ["i"] domain [#points] reads() writes(%x[#i] : memref<?xf32>) {
    %z = arith.constant 0.0 : f32
    poly.yield %z : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @k::@s of %module : (!transform.any_op) -> !transform.any_op
  %a = transform.param.constant 4 : i64 -> !transform.param<i64>
  %two = transform.merge_handles %a, %a : !transform.param<i64>
  // expected-error @below {{'transform.poly.split' op expects a parameter of 'factors' to be one number, but got 2}}
  transform.poly.split %s loop "i" factors [%two] : !transform.any_op
  transform.yield
}
}

// -----

// The number that stands for an open one is no number.
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%s: !transform.any_op {transform.readonly}) {
  // expected-error @below {{expects a parameter for each of the 1 open numbers of 'factors', but got 0}}
  transform.poly.split %s loop "i" factors [-9223372036854775808] : !transform.any_op
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%s: !transform.any_op {transform.readonly}) {
  %n = transform.param.constant 4 : i64 -> !transform.param<i64>
  // expected-error @below {{expects a parameter for each of the 0 open numbers of 'distance', but got 1}}
  "transform.poly.prefetch"(%s, %n) <{loop = "i", number = 0 : i64, operandSegmentSizes = array<i32: 1, 1, 0>}> : (!transform.any_op, !transform.param<i64>) -> ()
  transform.yield
}
}

// -----

// Parameters are numbers of 64 bits.
module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%s: !transform.any_op {transform.readonly}) {
  // expected-note @below {{prior use here}}
  %n = transform.param.constant 4 : i32 -> !transform.param<i32>
  // expected-error @below {{expects different type than prior uses: '!transform.param<i64>' vs '!transform.param<i32>'}}
  transform.poly.unroll %s loop "i" factor %n : !transform.any_op
  transform.yield
}
}

// -----

module attributes {transform.with_named_sequence} {
transform.named_sequence @__transform_main(%s: !transform.any_op {transform.readonly}) {
  // expected-error @below {{expected a number or a parameter}}
  transform.poly.unroll %s loop "i" factor "four" : !transform.any_op
  transform.yield
}
}

// -----

// What a script comes to is what counts, whatever is on the way, with choices as
// without.
#points = affine_set<(i)[N] : (i >= 0, N - 2 - i >= 0)>
module attributes {transform.with_named_sequence} {
poly.kernel @k(%x: memref<?xf32>, %N: index) {
  poly.compute @s dims ["i"] domain [#points] reads(%x[affine_map<(i)[N] -> (i)>] : memref<?xf32>) writes(%x[affine_map<(i)[N] -> (i + 1)>] : memref<?xf32>) {
  ^bb0(%v: f32):
    poly.yield %v : f32
  }
}
transform.named_sequence @__transform_main(%module: !transform.any_op {transform.readonly}) {
  %s = transform.poly.computation @k::@s of %module : (!transform.any_op) -> !transform.any_op
  %size = transform.tune.knob<"size"> = 8 from options = [4, 8] -> !transform.param<i64>
  transform.tune.alternatives<"order"> selected_region = 0 {
    transform.poly.reverse %s loop "i" : !transform.any_op
  }, {
    transform.poly.unroll %s loop "i" factor 4 : !transform.any_op
  }
  transform.poly.reverse %s loop "i" : !transform.any_op
  transform.poly.split %s loop "i" factors [%size] : !transform.any_op
  transform.yield
}
}
