// Every element type crosses the boundary, as an input and as a constant.
// RUN: espalier-run %s --input 2xf32=0.5,-1 --input 2xf64=0.1,2 --input 2xf16=0.5,3 --input 2xbf16=0.5,3 \
// RUN:   --input 2xi8=-1,7 --input 2xi16=-1,300 --input 2xi32=-1,70000 --input 2xi64=-1,5000000000 \
// RUN:   --input 2xu8=255,7 --input 2xbool=1,0 | FileCheck %s
//      CHECK: f32_out: 2xf32 = [1.5, 0]
// CHECK-NEXT: f64_out: 2xf64 = [1.1, 3]
// CHECK-NEXT: f16_out: 2xf16 = [1.5, 4]
// CHECK-NEXT: bf16_out: 2xbf16 = [1.5, 4]
// CHECK-NEXT: i8_out: 2xi8 = [0, 8]
// CHECK-NEXT: i16_out: 2xi16 = [0, 301]
// CHECK-NEXT: i32_out: 2xi32 = [0, 70001]
// CHECK-NEXT: i64_out: 2xi64 = [0, 5e+09]
// CHECK-NEXT: u8_out: 2xu8 = [0, 8]
// CHECK-NEXT: bool_out: 2xbool = [0, 1]
module @types {
  memref.global "private" constant @f32_one : memref<2xf32> = dense<1.0>
  memref.global "private" constant @f64_one : memref<2xf64> = dense<1.0>
  memref.global "private" constant @f16_one : memref<2xf16> = dense<1.0>
  memref.global "private" constant @bf16_one : memref<2xbf16> = dense<[1.0, 1.0]>
  memref.global "private" constant @i8_one : memref<2xi8> = dense<1>
  memref.global "private" constant @i16_one : memref<2xi16> = dense<1>
  memref.global "private" constant @i32_one : memref<2xi32> = dense<[1, 1]>
  memref.global "private" constant @i64_one : memref<2xi64> = dense<1>
  memref.global "private" constant @bool_one : memref<2xi1> = dense<true>

  func.func @f32_add(%x: memref<2xf32>, %c: memref<2xf32>, %r: memref<2xf32>) {
    affine.for %i = 0 to 2 {
      %0 = memref.load %x[%i] : memref<2xf32>
      %1 = memref.load %c[%i] : memref<2xf32>
      %2 = arith.addf %0, %1 : f32
      memref.store %2, %r[%i] : memref<2xf32>
    }
    return
  }
  func.func @f64_add(%x: memref<2xf64>, %c: memref<2xf64>, %r: memref<2xf64>) {
    affine.for %i = 0 to 2 {
      %0 = memref.load %x[%i] : memref<2xf64>
      %1 = memref.load %c[%i] : memref<2xf64>
      %2 = arith.addf %0, %1 : f64
      memref.store %2, %r[%i] : memref<2xf64>
    }
    return
  }
  func.func @f16_add(%x: memref<2xf16>, %c: memref<2xf16>, %r: memref<2xf16>) {
    affine.for %i = 0 to 2 {
      %0 = memref.load %x[%i] : memref<2xf16>
      %1 = memref.load %c[%i] : memref<2xf16>
      %2 = arith.addf %0, %1 : f16
      memref.store %2, %r[%i] : memref<2xf16>
    }
    return
  }
  func.func @bf16_add(%x: memref<2xbf16>, %c: memref<2xbf16>, %r: memref<2xbf16>) {
    affine.for %i = 0 to 2 {
      %0 = memref.load %x[%i] : memref<2xbf16>
      %1 = memref.load %c[%i] : memref<2xbf16>
      %2 = arith.addf %0, %1 : bf16
      memref.store %2, %r[%i] : memref<2xbf16>
    }
    return
  }
  func.func @i8_add(%x: memref<2xi8>, %c: memref<2xi8>, %r: memref<2xi8>) {
    affine.for %i = 0 to 2 {
      %0 = memref.load %x[%i] : memref<2xi8>
      %1 = memref.load %c[%i] : memref<2xi8>
      %2 = arith.addi %0, %1 : i8
      memref.store %2, %r[%i] : memref<2xi8>
    }
    return
  }
  func.func @i16_add(%x: memref<2xi16>, %c: memref<2xi16>, %r: memref<2xi16>) {
    affine.for %i = 0 to 2 {
      %0 = memref.load %x[%i] : memref<2xi16>
      %1 = memref.load %c[%i] : memref<2xi16>
      %2 = arith.addi %0, %1 : i16
      memref.store %2, %r[%i] : memref<2xi16>
    }
    return
  }
  func.func @i32_add(%x: memref<2xi32>, %c: memref<2xi32>, %r: memref<2xi32>) {
    affine.for %i = 0 to 2 {
      %0 = memref.load %x[%i] : memref<2xi32>
      %1 = memref.load %c[%i] : memref<2xi32>
      %2 = arith.addi %0, %1 : i32
      memref.store %2, %r[%i] : memref<2xi32>
    }
    return
  }
  func.func @i64_add(%x: memref<2xi64>, %c: memref<2xi64>, %r: memref<2xi64>) {
    affine.for %i = 0 to 2 {
      %0 = memref.load %x[%i] : memref<2xi64>
      %1 = memref.load %c[%i] : memref<2xi64>
      %2 = arith.addi %0, %1 : i64
      memref.store %2, %r[%i] : memref<2xi64>
    }
    return
  }
  func.func @bool_xor(%x: memref<2xi1>, %c: memref<2xi1>, %r: memref<2xi1>) {
    affine.for %i = 0 to 2 {
      %0 = memref.load %x[%i] : memref<2xi1>
      %1 = memref.load %c[%i] : memref<2xi1>
      %2 = arith.xori %0, %1 : i1
      memref.store %2, %r[%i] : memref<2xi1>
    }
    return
  }

  func.func @main(%f32: memref<2xf32>, %f64: memref<2xf64>, %f16: memref<2xf16>, %bf16: memref<2xbf16>,
                  %i8: memref<2xi8>, %i16: memref<2xi16>, %i32: memref<2xi32>, %i64: memref<2xi64>,
                  %u8: memref<2xi8> {espalier.dtype = "u8"}, %bool: memref<2xi1>,
                  %f32_out: memref<2xf32> {espalier.name = "f32_out"},
                  %f64_out: memref<2xf64> {espalier.name = "f64_out"},
                  %f16_out: memref<2xf16> {espalier.name = "f16_out"},
                  %bf16_out: memref<2xbf16> {espalier.name = "bf16_out"},
                  %i8_out: memref<2xi8> {espalier.name = "i8_out"},
                  %i16_out: memref<2xi16> {espalier.name = "i16_out"},
                  %i32_out: memref<2xi32> {espalier.name = "i32_out"},
                  %i64_out: memref<2xi64> {espalier.name = "i64_out"},
                  %u8_out: memref<2xi8> {espalier.name = "u8_out", espalier.dtype = "u8"},
                  %bool_out: memref<2xi1> {espalier.name = "bool_out"})
      attributes {espalier.num_inputs = 10 : i64} {
    %0 = memref.get_global @f32_one : memref<2xf32>
    call @f32_add(%f32, %0, %f32_out) : (memref<2xf32>, memref<2xf32>, memref<2xf32>) -> ()
    %1 = memref.get_global @f64_one : memref<2xf64>
    call @f64_add(%f64, %1, %f64_out) : (memref<2xf64>, memref<2xf64>, memref<2xf64>) -> ()
    %2 = memref.get_global @f16_one : memref<2xf16>
    call @f16_add(%f16, %2, %f16_out) : (memref<2xf16>, memref<2xf16>, memref<2xf16>) -> ()
    %3 = memref.get_global @bf16_one : memref<2xbf16>
    call @bf16_add(%bf16, %3, %bf16_out) : (memref<2xbf16>, memref<2xbf16>, memref<2xbf16>) -> ()
    %4 = memref.get_global @i8_one : memref<2xi8>
    call @i8_add(%i8, %4, %i8_out) : (memref<2xi8>, memref<2xi8>, memref<2xi8>) -> ()
    %5 = memref.get_global @i16_one : memref<2xi16>
    call @i16_add(%i16, %5, %i16_out) : (memref<2xi16>, memref<2xi16>, memref<2xi16>) -> ()
    %6 = memref.get_global @i32_one : memref<2xi32>
    call @i32_add(%i32, %6, %i32_out) : (memref<2xi32>, memref<2xi32>, memref<2xi32>) -> ()
    %7 = memref.get_global @i64_one : memref<2xi64>
    call @i64_add(%i64, %7, %i64_out) : (memref<2xi64>, memref<2xi64>, memref<2xi64>) -> ()
    call @i8_add(%u8, %4, %u8_out) : (memref<2xi8>, memref<2xi8>, memref<2xi8>) -> ()
    %8 = memref.get_global @bool_one : memref<2xi1>
    call @bool_xor(%bool, %8, %bool_out) : (memref<2xi1>, memref<2xi1>, memref<2xi1>) -> ()
    return
  }

  func.func @main_plan(%0: index, %1: index, %2: index, %3: index, %4: index, %5: index, %6: index, %7: index,
                       %8: index, %9: index)
      -> (index, index, index, index, index, index, index, index, index, index) {
    %c2 = arith.constant 2 : index
    return %c2, %c2, %c2, %c2, %c2, %c2, %c2, %c2, %c2, %c2
      : index, index, index, index, index, index, index, index, index, index
  }
}
