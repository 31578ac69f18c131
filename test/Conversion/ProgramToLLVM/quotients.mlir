// RUN: espalier-opt %s -program-approximate-math | FileCheck %s

// Numbers of 16 bits and less have quotients in f32, wider ones in f64.
// CHECK-LABEL: func.func @quotients
//       CHECK:   %[[X:.*]] = arith.sitofp %arg0 : vector<16xi32> to vector<16xf64>
//       CHECK:   %[[Y:.*]] = arith.sitofp %arg1 : vector<16xi32> to vector<16xf64>
//       CHECK:   %[[RATIO:.*]] = arith.divf %[[X]], %[[Y]]
//       CHECK:   arith.fptosi %[[RATIO]] : vector<16xf64> to vector<16xi32>
//       CHECK:   arith.uitofp %{{.*}} : vector<16xi16> to vector<16xf32>
//       CHECK:   arith.fptoui %{{.*}} : vector<16xf32> to vector<16xi16>
func.func @quotients(%a: vector<16xi32>, %b: vector<16xi32>, %c: vector<16xi16>,
                     %d: vector<16xi16>) -> (vector<16xi32>, vector<16xi16>) {
  %0 = arith.divsi %a, %b : vector<16xi32>
  %1 = arith.divui %c, %d : vector<16xi16>
  return %0, %1 : vector<16xi32>, vector<16xi16>
}

// CHECK-LABEL: func.func @rounded_down
//       CHECK:   %[[RATIO:.*]] = arith.divf
//       CHECK:   %[[FLOOR:.*]] = math.floor %[[RATIO]]
//       CHECK:   arith.fptosi %[[FLOOR]]
func.func @rounded_down(%a: vector<16xi32>, %b: vector<16xi32>) -> vector<16xi32> {
  %0 = arith.floordivsi %a, %b : vector<16xi32>
  return %0 : vector<16xi32>
}

// CHECK-LABEL: func.func @remainders
//       CHECK:   %[[QUOTIENT:.*]] = arith.fptosi
//       CHECK:   %[[WHOLE:.*]] = arith.muli %[[QUOTIENT]], %arg1
//       CHECK:   arith.subi %arg0, %[[WHOLE]]
func.func @remainders(%a: vector<16xi8>, %b: vector<16xi8>) -> vector<16xi8> {
  %0 = arith.remsi %a, %b : vector<16xi8>
  return %0 : vector<16xi8>
}

// Quotients of 64 bits have more digits than f64, a processor divides a scalar,
// and LLVM multiplies by the reciprocal of a constant.
// CHECK-LABEL: func.func @others_stay
//       CHECK:   arith.divsi %{{.*}} : vector<8xi64>
//       CHECK:   arith.divui %{{.*}} : i32
//       CHECK:   arith.remui %{{.*}} : vector<16xi32>
//       CHECK:   arith.remf %{{.*}} : f32
func.func @others_stay(%a: vector<8xi64>, %b: i32, %c: vector<16xi32>, %d: f32)
    -> (vector<8xi64>, i32, vector<16xi32>, f32) {
  %seven = arith.constant dense<7> : vector<16xi32>
  %0 = arith.divsi %a, %a : vector<8xi64>
  %1 = arith.divui %b, %b : i32
  %2 = arith.remui %c, %seven : vector<16xi32>
  %3 = arith.remf %d, %d : f32
  return %0, %1, %2, %3 : vector<8xi64>, i32, vector<16xi32>, f32
}

// The quotient of a lane may have more digits than a float, or not exist: then
// the library finds all remainders.
// CHECK-LABEL: func.func @remainders_of_floats
//   CHECK-DAG:   %[[LIMIT:.*]] = arith.constant dense<0x4A800000> : vector<16xf32>
//       CHECK:   %[[BOUND:.*]] = arith.mulf %{{.*}}, %[[LIMIT]]
//       CHECK:   arith.cmpf olt, %{{.*}}, %[[BOUND]]
//       CHECK:   %[[ANY:.*]] = vector.reduction <or>
//       CHECK:   scf.if %[[ANY]]
//       CHECK:     scf.for
//       CHECK:       arith.remf %{{.*}} : f32
//       CHECK:   } else {
//       CHECK:     %[[QUOTIENT:.*]] = math.floor
//       CHECK:     %[[MINUS:.*]] = arith.negf %[[QUOTIENT]]
//       CHECK:     %[[REST:.*]] = math.fma %[[MINUS]]
//       CHECK:     %[[LESS:.*]] = arith.cmpf olt, %[[REST]]
//       CHECK:     %[[MORE:.*]] = arith.addf %[[REST]]
//       CHECK:     arith.select %[[LESS]], %[[MORE]], %[[REST]]
func.func @remainders_of_floats(%a: vector<16xf32>, %b: vector<16xf32>) -> vector<16xf32> {
  %0 = arith.remf %a, %b : vector<16xf32>
  return %0 : vector<16xf32>
}
