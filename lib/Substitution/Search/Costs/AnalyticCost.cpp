//===- AnalyticCost.cpp - Costs by counting -------------------------------===//

#include "espalier/Definition/FoldLimits.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Substitution/Search/CostModel.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

namespace {
/// How an operator becomes part of a kernel.
enum class Shape {
  Kernel,      ///< One of its own.
  Elementwise, ///< The end of the kernel that computes its first operand.
  View,        ///< The way in which its users read.
};
} // namespace

static Shape getShape(StringRef name) {
  return llvm::StringSwitch<Shape>(name)
      .Cases({"graph.slice", "graph.transpose", "graph.reshape", "graph.expand",
              "tensor.cast"},
             Shape::View)
      .Cases({"graph.conv", "graph.matmul", "graph.conv_transpose",
              "graph.max_pool", "graph.avg_pool", "graph.concat"},
             Shape::Kernel)
      .Cases({"graph.enlarge", "graph.pad", "graph.pad_zeros", "graph.resize",
              "graph.gather", "graph.softmax", "graph.lstm", "graph.gru",
              "graph.scan"},
             Shape::Kernel)
      .StartsWith("graph.reduce_", Shape::Kernel)
      .Default(Shape::Elementwise);
}

static double countElements(RankedTensorType type, const Machine &machine) {
  double count = 1;
  for (int64_t extent : type.getShape())
    count *= ShapedType::isDynamic(extent) ? machine.assumedExtent : extent;
  return count;
}

static double countBytes(RankedTensorType type, const Machine &machine) {
  Type element = type.getElementType();
  double bits = element.isIntOrFloat() ? element.getIntOrFloatBitWidth() : 64;
  return countElements(type, machine) * bits / 8;
}

/// Operations for one element of the result.
static double countOperations(const OperatorInstance &instance,
                              const Machine &machine) {
  auto count = [&](int64_t extent) {
    return ShapedType::isDynamic(extent) ? machine.assumedExtent : extent;
  };
  if (instance.name == graph::ConvOp::getOperationName()) {
    double taps = 1;
    for (int64_t extent : instance.operands[1].getShape().drop_front())
      taps *= count(extent);
    return 2 * taps;
  }
  if (instance.name == graph::MatmulOp::getOperationName())
    return 2.0 * count(instance.operands[0].getShape().back());
  if (auto kernel = instance.attributes.getAs<DenseI64ArrayAttr>("kernel")) {
    double taps = 1;
    for (int64_t extent : kernel.asArrayRef())
      taps *= extent;
    return taps;
  }
  return 1;
}

/// Whether the operator is a pass over memory that changes the order there.
static bool reorders(const OperatorInstance &instance) {
  return llvm::any_of(instance.operands, [&](RankedTensorType operand) {
    return operand.getShape() == instance.result.getShape() &&
           getLayout(operand) != getLayout(instance.result);
  });
}

double AnalyticCostModel::getSeconds(const OperatorInstance &instance) {
  if (instance.name == kInRows)
    return 0;
  Shape shape = reorders(instance) ? Shape::Kernel : getShape(instance.name);
  double flops = countElements(instance.result, machine) *
                 countOperations(instance, machine);
  double bytes = 0, seconds = 0;
  switch (shape) {
  case Shape::Kernel:
    for (RankedTensorType operand : instance.operands)
      bytes += countBytes(operand, machine);
    bytes += countBytes(instance.result, machine);
    seconds = machine.secondsPerKernel;
    break;
  case Shape::Elementwise:
    for (RankedTensorType operand : llvm::drop_begin(instance.operands))
      bytes += countBytes(operand, machine);
    break;
  case Shape::View:
    flops = 0;
    seconds = machine.secondsPerKernel / 10;
    break;
  }
  return seconds + std::max(flops / machine.flopsPerSecond,
                            bytes / machine.bytesPerSecond);
}

bool espalier::substitution::isComputedAhead(const OperatorInstance &instance) {
  Machine none;
  double numNodes = 1; // Of one tap: accesses, and what is done with them.
  double bytes = 0;
  for (RankedTensorType operand : instance.operands) {
    if (!operand.hasStaticShape())
      return false;
    numNodes += 1 + operand.getRank();
    bytes += countBytes(operand, none);
  }
  if (!instance.result.hasStaticShape())
    return false;
  // A multiplication and an addition are one tap.
  double numTaps = countElements(instance.result, none) *
                   std::max(1.0, countOperations(instance, none) / 2);
  return numTaps * numNodes <= definition::kMaxFoldedWork &&
         countBytes(instance.result, none) <=
             bytes + definition::kMaxFoldedGrowth;
}
