//===- Product.h - A kernel with its sketches -------------------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_TUNING_PRODUCT_H
#define ESPALIER_TEST_UNIT_TUNING_PRODUCT_H

#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Tuning/Sketch.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringSet.h"
#include "gtest/gtest.h"

namespace espalier::tuning {

/// A product of two matrices, of 256 x 512 and 512 x 384.
inline constexpr llvm::StringLiteral kProduct = R"mlir(
#ij = affine_set<(i, j) : (i >= 0, 255 - i >= 0, j >= 0, 383 - j >= 0)>
#ijk = affine_set<(i, j, k) : (i >= 0, 255 - i >= 0, j >= 0, 383 - j >= 0,
                               k >= 0, 511 - k >= 0)>
module attributes {poly.target = #poly.target<cpu = "znver5", features = "+avx512f",
    vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  poly.kernel @kernel(%a: memref<256x512xf32>, %b: memref<512x384xf32>,
                      %c: memref<256x384xf32>) {
    poly.compute @init dims ["i", "j"] domain [#ij] reads()
        writes(%c[affine_map<(i, j) -> (i, j)>] : memref<256x384xf32>) {
      %zero = arith.constant 0.0 : f32
      poly.yield %zero : f32
    }
    poly.compute @acc dims ["i", "j", "k"] domain [#ijk]
        reads(%a[affine_map<(i, j, k) -> (i, k)>], %b[affine_map<(i, j, k) -> (k, j)>],
              %c[affine_map<(i, j, k) -> (i, j)>]
              : memref<256x512xf32>, memref<512x384xf32>, memref<256x384xf32>)
        writes(%c[affine_map<(i, j, k) -> (i, j)>] : memref<256x384xf32>)
        reduction add {
    ^bb0(%x: f32, %y: f32, %s: f32):
      %p = arith.mulf %x, %y : f32
      %r = arith.addf %s, %p : f32
      poly.yield %r : f32
    }
  }
})mlir";

class ProductTest : public testing::Test {
protected:
  ProductTest() {
    mlir::DialectRegistry registry;
    registry.insert<poly::PolyDialect, mlir::arith::ArithDialect,
                    mlir::memref::MemRefDialect,
                    mlir::transform::TransformDialect>();
    poly::registerTransformExtension(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = mlir::parseSourceString<mlir::ModuleOp>(kProduct, &context);
    sketches = deriveSketches(*module);
  }

  /// Applies a script to a copy of the kernel. Returns whether it is legal.
  bool apply(mlir::ModuleOp script) {
    mlir::ScopedDiagnosticHandler quiet(
        &context, [](mlir::Diagnostic &) { return mlir::success(); });
    mlir::OwningOpRef<mlir::ModuleOp> copy(
        mlir::cast<mlir::ModuleOp>(module->clone()));
    auto sequence = script.lookupSymbol<mlir::transform::NamedSequenceOp>(
        mlir::transform::TransformDialect::kTransformEntryPointSymbolName);
    return mlir::succeeded(mlir::transform::applyTransformNamedSequence(
        *copy, sequence, mlir::ModuleOp(),
        mlir::transform::TransformOptions()));
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Sketch> sketches;
};

} // namespace espalier::tuning

#endif // ESPALIER_TEST_UNIT_TUNING_PRODUCT_H
