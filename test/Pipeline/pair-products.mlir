// RUN: espalier-opt %s -espalier-compile | FileCheck %s
// RUN: sed 's/features = ""/features = "-avx512bf16"/' %s | espalier-opt -espalier-compile | FileCheck %s --check-prefix=WIDE
// RUN: sed 's/"znver4"/"skylake-avx512"/' %s | espalier-opt -espalier-compile | FileCheck %s --check-prefix=WIDE

// A machine that need not be this one: two products at a time, for a vector in
// each of six rows.
// CHECK-COUNT-6: llvm.call_intrinsic "llvm.x86.avx512bf16.dpbf16ps.512"
// CHECK-NOT:      dpbf16ps
// WIDE-NOT:       dpbf16ps
// WIDE:           llvm.fmul
module attributes {poly.target = #poly.target<cpu = "znver4", features = "", vector_bits = 512, registers = 32, l1 = 32768, l2 = 1048576, l3 = 33554432, cores = 1>} {
  func.func @main(%x: tensor<6x8xbf16>) -> tensor<6x16xbf16> {
    %w = graph.constant dense<"0x803F184230414042A8416842F8418040244260414C42C04174420842E040304288415842D8418042144220413C42A0416442F0414040204250414842B84170420442C0402C4280415442D0417C4210421041384298416042E84100401C4240414442B0416C420042A040284270415042C84178420C420041344290415C42E041803F184230414042A8416842F8418040244260414C42C04174420842E040304288415842D8418042144220413C42A0416442F0414040204250414842B84170420442C0402C4280415442D0417C4210421041384298416042E84100401C4240414442B0416C420042A040284270415042C84178420C420041344290415C42E041"> : tensor<8x16xbf16>
    %0 = graph.matmul %x, %w : (tensor<6x8xbf16>, tensor<8x16xbf16>) -> tensor<6x16xbf16>
    return %0 : tensor<6x16xbf16>
  }
}
