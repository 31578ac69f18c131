//===- Kernels.h - The kernels of small models ------------------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_TUNING_KERNELS_H
#define ESPALIER_TEST_UNIT_TUNING_KERNELS_H

#include "../Measurement/Fixture.h"
#include "SmallModel.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Measurement/KernelCost.h"
#include "espalier/Tuning/Sketch.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "gtest/gtest.h"

namespace espalier::tuning {

/// A model of one operator, whose kernel with a sum is looked at.
struct KernelCase {
  const char *name;
  /// The model's function.
  std::string text;
  /// Rules that have nothing to change.
  std::vector<std::string> without = {};
};

inline std::ostream &operator<<(std::ostream &os, const KernelCase &one) {
  return os << one.name;
}

/// A constant called `name` of different numbers.
inline std::string constant(llvm::StringRef name, llvm::StringRef type,
                            unsigned size) {
  std::vector<float> values(size);
  for (unsigned i = 0; i < size; ++i)
    values[i] = 1e-2f * (i % 97);
  llvm::StringRef bytes(reinterpret_cast<const char *>(values.data()),
                        values.size() * sizeof(float));
  return llvm::formatv("  %{0} = graph.constant dense<\"0x{1}\"> : {2}\n", name,
                       llvm::toHex(bytes), type);
}

/// A product of an M x K matrix with a K x N one, which is a constant or not.
inline std::string product(int m, int n, int k, bool isConstant) {
  std::string a = llvm::formatv("tensor<{0}x{1}xf32>", m, k);
  std::string b = llvm::formatv("tensor<{0}x{1}xf32>", k, n);
  std::string y = llvm::formatv("tensor<{0}x{1}xf32>", m, n);
  return llvm::formatv(
      "func.func @main(%a: {0}{1}) -> {2} {{\n{3}"
      "  %0 = graph.matmul %a, %b : ({0}, {4}) -> {2}\n  return %0 : {2}\n}",
      a, isConstant ? "" : ", %b: " + b, y,
      isConstant ? constant("b", b, n * k) : "", b);
}

/// A convolution of a square image by windows of 3 x 3.
inline std::string convolution(int channels, int size, int groups, int stride) {
  int per = channels / groups, out = (size - 1) / stride + 1;
  std::string x = llvm::formatv("tensor<1x{0}x{1}x{1}xf32>", channels, size);
  std::string w = llvm::formatv("tensor<{0}x{1}x3x3xf32>", channels, per);
  std::string y = llvm::formatv("tensor<1x{0}x{1}x{1}xf32>", channels, out);
  return llvm::formatv(
      "func.func @main(%x: {0}) -> {1} {{\n{2}"
      "  %0 = graph.conv %x, %w {{groups = {3} : i64, strides = array<i64: "
      "{4}, {4}>, pads_low = array<i64: 1, 1>, pads_high = array<i64: 1, 1>, "
      "dilations = array<i64: 1, 1>} : ({0}, {5}) -> {1}\n  return %0 : {1}\n}",
      x, y, constant("w", w, channels * per * 9), groups, stride, w);
}

class KernelTest : public testing::Test {
protected:
  KernelTest() { loadDialects(context); }

  /// Takes the kernel of a model that has a sum, for a machine with 16 vector
  /// registers of 256 bits.
  void load(const std::string &model) {
    auto program = mlir::parseSourceString<mlir::ModuleOp>(model, &context);
    ASSERT_TRUE(program);
    CodegenOptions codegen;
    codegen.cpu = "znver3";
    auto kernels = formKernels(*program, codegen);
    ASSERT_TRUE(mlir::succeeded(kernels));
    for (const ProgramKernel &kernel : *kernels)
      if (llvm::StringRef(kernel.module.text).contains("reduction"))
        module = mlir::parseSourceString<mlir::ModuleOp>(kernel.module.text,
                                                         &context);
    ASSERT_TRUE(module);
    sketches = deriveSketches(*module);
  }

  poly::KernelOp getKernel() {
    return *module->getOps<poly::KernelOp>().begin();
  }

  /// Applies a script to a copy of the kernel. Returns what is wrong with it,
  /// nothing if it is legal.
  std::string apply(mlir::ModuleOp script) {
    std::string reason;
    mlir::ScopedDiagnosticHandler handler(&context,
                                          [&](mlir::Diagnostic &diagnostic) {
                                            reason += diagnostic.str() + "\n";
                                            return mlir::success();
                                          });
    mlir::OwningOpRef<mlir::ModuleOp> copy(
        mlir::cast<mlir::ModuleOp>(module->clone()));
    auto sequence = script.lookupSymbol<mlir::transform::NamedSequenceOp>(
        mlir::transform::TransformDialect::kTransformEntryPointSymbolName);
    if (mlir::succeeded(mlir::transform::applyTransformNamedSequence(
            *copy, sequence, mlir::ModuleOp(),
            mlir::transform::TransformOptions())))
      return "";
    return reason.empty() ? "without a reason" : reason;
  }

  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  mlir::OwningOpRef<mlir::ModuleOp> module;
  std::vector<Sketch> sketches;
};

} // namespace espalier::tuning

#endif // ESPALIER_TEST_UNIT_TUNING_KERNELS_H
