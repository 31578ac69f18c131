// RUN: espalier-opt %s -program-annotate-aliases | FileCheck %s

// CHECK-DAG: #[[DOMAIN:.*]] = #llvm.alias_scope_domain<id = "two_arguments">
// CHECK-DAG: #[[A:.*]] = #llvm.alias_scope<id = "two_arguments#0", domain = #[[DOMAIN]]>
// CHECK-DAG: #[[B:.*]] = #llvm.alias_scope<id = "two_arguments#1", domain = #[[DOMAIN]]>

// CHECK-LABEL: llvm.func @two_arguments
llvm.func @two_arguments(%a: !llvm.ptr, %b: !llvm.ptr, %i: i64) {
  %0 = llvm.mlir.poison : !llvm.struct<(ptr, ptr)>
  %1 = llvm.insertvalue %a, %0[1] : !llvm.struct<(ptr, ptr)>
  %2 = llvm.extractvalue %1[1] : !llvm.struct<(ptr, ptr)>
  %3 = llvm.getelementptr %2[%i] : (!llvm.ptr, i64) -> !llvm.ptr, f32
  // CHECK: llvm.load %{{.*}} {alias_scopes = [#[[A]]], noalias_scopes = [#[[B]]]}
  %4 = llvm.load %3 : !llvm.ptr -> f32
  // CHECK: llvm.store %{{.*}}, %{{.*}} {alias_scopes = [#[[B]]], noalias_scopes = [#[[A]]]}
  llvm.store %4, %b : f32, !llvm.ptr
  llvm.return
}

// Where the pointer comes from is not known.
// CHECK-LABEL: llvm.func @unknown_pointer_stays
llvm.func @unknown_pointer_stays(%a: !llvm.ptr, %b: !llvm.ptr, %c: i1, %v: f32) {
  %p = llvm.select %c, %a, %b : i1, !llvm.ptr
  // CHECK: llvm.store %{{.*}}, %{{.*}} : f32, !llvm.ptr
  llvm.store %v, %p : f32, !llvm.ptr
  llvm.return
}
