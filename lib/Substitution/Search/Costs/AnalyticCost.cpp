//===- AnalyticCost.cpp - Costs by counting -------------------------------===//

#include "espalier/Definition/FoldLimits.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Substitution/Search/CostModel.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;
using Form = OperatorWork::Form;

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
  OperatorWork work = getWork(instance, machine.assumedExtent);
  if (reorders(instance))
    work.form = Form::Kernel;
  double flops = work.flops;
  double bytes = 0, seconds = 0;
  switch (work.form) {
  case Form::Kernel:
    for (RankedTensorType operand : instance.operands)
      bytes += countBytes(operand, machine);
    bytes += countBytes(instance.result, machine);
    seconds = machine.secondsPerKernel;
    break;
  case Form::Elementwise:
    for (RankedTensorType operand : llvm::drop_begin(instance.operands))
      bytes += countBytes(operand, machine);
    break;
  case Form::View:
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
  double numTaps = std::max(countElements(instance.result, none),
                            getWork(instance, none.assumedExtent).flops / 2);
  return numTaps * numNodes <= definition::kMaxFoldedWork &&
         countBytes(instance.result, none) <=
             bytes + definition::kMaxFoldedGrowth;
}
