//===- OperatorCost.h - Operators' measured costs ---------------*- C++ -*-===//

#ifndef ESPALIER_OPTIMIZE_OPERATORCOST_H
#define ESPALIER_OPTIMIZE_OPERATORCOST_H

#include "espalier/Measurement/KernelCost.h"
#include "espalier/Substitution/Search/CostModel.h"

namespace espalier {

/// Costs of operators for searches that add them up. An operator that begins a
/// kernel, a product, a convolution or a pool, costs what the kernel does that
/// it becomes by itself, with weights that are constants and an image with the
/// channels last, as it is inside a network, or in the orders that its types
/// state. What is fused into such kernels costs what `AnalyticCostModel` says,
/// unless it changes the order of what it reads.
class OperatorCostModel : public substitution::CostModel {
public:
  /// `kernels` must outlive this.
  OperatorCostModel(mlir::MLIRContext *context, KernelCost &kernels);

  double getSeconds(const substitution::OperatorInstance &instance) override;
  bool mayGainByLayout(
      const substitution::OperatorInstance &instance) const override;
  double getSecondsMeasuring() const override {
    return kernels.getCounts().secondsMeasuring;
  }

private:
  std::optional<double>
  getKernelSeconds(const substitution::OperatorInstance &instance);

  mlir::MLIRContext *context;
  KernelCost &kernels;
  int64_t lanes;
  substitution::Machine machine;
  substitution::AnalyticCostModel analytic;
};

} // namespace espalier

#endif // ESPALIER_OPTIMIZE_OPERATORCOST_H
