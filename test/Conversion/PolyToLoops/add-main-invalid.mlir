// RUN: espalier-opt %s -poly-add-main -verify-diagnostics

// expected-error @below {{expects another name than that of the program's function 'main_plan'}}
poly.kernel @main_plan(%A: memref<?xf32>, %N: index) {
}
