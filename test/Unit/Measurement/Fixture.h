//===- Fixture.h - A context with the dialects of programs ------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_MEASUREMENT_FIXTURE_H
#define ESPALIER_TEST_UNIT_MEASUREMENT_FIXTURE_H

#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Dialect/Poly/IR/Poly.h"
#include "mlir/Dialect/Affine/IR/AffineOps.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/Dialect/Math/IR/Math.h"
#include "mlir/Dialect/MemRef/IR/MemRef.h"
#include "mlir/IR/MLIRContext.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FormatVariadic.h"

namespace espalier {

inline mlir::DialectRegistry programDialects() {
  mlir::DialectRegistry registry;
  registry.insert<graph::GraphDialect, poly::PolyDialect,
                  mlir::affine::AffineDialect, mlir::arith::ArithDialect,
                  mlir::func::FuncDialect, mlir::math::MathDialect,
                  mlir::memref::MemRefDialect>();
  return registry;
}

/// A constant called `name` of `rows` x `columns` numbers from 1 on, times
/// `scale`.
inline std::string weight(const std::string &name, int rows, int columns,
                          float scale) {
  std::vector<float> values(rows * columns);
  for (size_t i = 0; i < values.size(); ++i)
    values[i] = scale * (i + 1);
  llvm::StringRef bytes(reinterpret_cast<const char *>(values.data()),
                        values.size() * sizeof(float));
  return llvm::formatv("  %{0} = graph.constant dense<\"0x{1}\"> : "
                       "tensor<{2}x{3}xf32>\n",
                       name, llvm::toHex(bytes), rows, columns);
}

/// A product with a constant and the function after it, on `rows` rows.
inline std::string layer(int rows) {
  std::string body =
      "  %y = graph.matmul %x, %w : (tensor<Nx64xf32>, tensor<64x32xf32>) -> "
      "tensor<Nx32xf32>\n"
      "  %z = graph.relu %y : (tensor<Nx32xf32>) -> tensor<Nx32xf32>\n"
      "  return %z : tensor<Nx32xf32>\n}\n";
  std::string text = "func.func @main(%x: tensor<Nx64xf32>) -> "
                     "tensor<Nx32xf32> {\n" +
                     weight("w", 64, 32, 1e-3f) + body;
  for (size_t at; (at = text.find("<Nx")) != std::string::npos;)
    text.replace(at + 1, 1, std::to_string(rows));
  return text;
}

} // namespace espalier

#endif // ESPALIER_TEST_UNIT_MEASUREMENT_FIXTURE_H
