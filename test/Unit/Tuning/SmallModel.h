//===- SmallModel.h - A model to search schedules for -----------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_TUNING_SMALLMODEL_H
#define ESPALIER_TEST_UNIT_TUNING_SMALLMODEL_H

#include "../Measurement/Fixture.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/ExecutionEngine/Compile.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"

namespace espalier::tuning {

inline constexpr llvm::StringLiteral kSmallModel = R"mlir(
func.func @main(%a: tensor<24x32xf32>, %b: tensor<32x48xf32>) -> tensor<24x48xf32> {
  %0 = graph.matmul %a, %b : (tensor<24x32xf32>, tensor<32x48xf32>) -> tensor<24x48xf32>
  return %0 : tensor<24x48xf32>
})mlir";

/// Loads what a search needs: models, kernels, scripts and compilation.
inline void loadDialects(mlir::MLIRContext &context) {
  mlir::DialectRegistry registry = programDialects();
  registry.insert<mlir::transform::TransformDialect>();
  poly::registerTransformExtension(registry);
  registerCompilation(registry);
  context.appendDialectRegistry(registry);
  context.loadAllAvailableDialects();
}

} // namespace espalier::tuning

#endif // ESPALIER_TEST_UNIT_TUNING_SMALLMODEL_H
