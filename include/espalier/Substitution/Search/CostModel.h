//===- CostModel.h - What an operator costs ---------------------*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_SEARCH_COSTMODEL_H
#define ESPALIER_SUBSTITUTION_SEARCH_COSTMODEL_H

#include "espalier/Substitution/Search/GraphOperators.h"
#include "llvm/ADT/StringMap.h"
#include "llvm/ADT/StringSet.h"

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

  /// Whether an operator may take less time if its first operand is in another
  /// order (`withLayout`). Searches try that where the answer is yes.
  virtual bool mayGainByLayout(const OperatorInstance &instance) const {
    return false;
  }

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

/// Costs that a text lists, so that what a search does can be repeated
/// anywhere. A line has microseconds, an operator and its types; orders are
/// encodings:
///
///   5.5 graph.relu tensor<4x8xf32, array<i64: 1, 0>> -> tensor<4x8xf32>
///
/// Empty lines and those that begin with # are left out. What is not listed
/// costs what `AnalyticCostModel` says.
class TableCostModel : public CostModel {
public:
  /// Reads a text; reports what is wrong with it, and where.
  mlir::LogicalResult
  add(llvm::StringRef text,
      llvm::function_ref<void(unsigned line, const llvm::Twine &)> error);

  double getSeconds(const OperatorInstance &instance) override;
  /// Whether the operator is listed with an operand in another order.
  bool mayGainByLayout(const OperatorInstance &instance) const override;

private:
  llvm::StringMap<double> seconds;
  /// What is listed with orders, without these.
  llvm::StringSet<> reordered;
  AnalyticCostModel analytic;
};

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_SEARCH_COSTMODEL_H
