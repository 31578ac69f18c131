//===- CostModel.h - What an operator costs ---------------------*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_SEARCH_COSTMODEL_H
#define ESPALIER_SUBSTITUTION_SEARCH_COSTMODEL_H

#include "espalier/Substitution/Search/GraphOperators.h"

namespace espalier::substitution {

/// Predicts what an operator adds to the time of a program. Searches ask for
/// each different instance once and add the answers up. What is computed ahead
/// of time is not asked for.
class CostModel {
public:
  virtual ~CostModel() = default;

  /// Seconds that one evaluation takes, as a part of the kernel that it will be
  /// fused into. Not negative.
  virtual double getSeconds(const OperatorInstance &instance) = 0;

  /// Seconds that answers have taken for measuring, which has a limit of its
  /// own and does not count as a search.
  virtual double getSecondsMeasuring() const { return 0; }
};

/// Whether what an operator makes of constants is computed ahead of time, and
/// not whenever the program runs: if it takes little work, and is little more
/// to keep (FoldLimits.h).
bool isComputedAhead(const OperatorInstance &instance);

/// A machine as a roofline.
struct Machine {
  double flopsPerSecond = 5e10;
  double bytesPerSecond = 1e10;
  /// What a kernel costs beyond that.
  double secondsPerKernel = 1e-6;
  /// Stands for extents that are not known.
  int64_t assumedExtent = 32;
};

/// Predicts by counting: the greater of the times for arithmetic and traffic.
/// What is fused into the kernel of its operand (element-wise functions) or of
/// its user (slices, transpositions) costs its own arithmetic and what it reads
/// beyond its first operand.
class AnalyticCostModel : public CostModel {
public:
  explicit AnalyticCostModel(const Machine &machine = {}) : machine(machine) {}

  double getSeconds(const OperatorInstance &instance) override;

private:
  Machine machine;
};

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_SEARCH_COSTMODEL_H
