//===- CostModel.h - Which candidates are likely to be fast -----*- C++ -*-===//
//
// Gradient-boosted trees over features, trained on the trials of a search and
// of those before it. The library is XGBoost, which is loaded where it is
// installed and needed by nothing else.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TUNING_COSTMODEL_H
#define ESPALIER_TUNING_COSTMODEL_H

#include "espalier/Tuning/Features.h"
#include "espalier/Tuning/TrainedTrees.h"
#include "llvm/Support/Error.h"
#include <memory>
#include <vector>

namespace espalier::tuning {

/// What is known of a candidate that was tried.
struct Sample {
  /// Its own, and those of the default schedule of its kernel: a model sees
  /// what a candidate changes, which is alike from kernel to kernel.
  Features features, original;
  /// The least time of its kernel by its own: 1 for the best, 0 for a failure.
  double score = 0;
};

/// Makes scores of the calls per second of one kernel's candidates.
void normalizeScores(std::vector<Sample> &samples);

/// Predicts the score of candidates.
class CostModel {
public:
  /// Loads XGBoost from a shared library, `libxgboost.so`. Fails if it is
  /// missing or another one.
  static llvm::Expected<std::unique_ptr<CostModel>> load(llvm::StringRef path);

  /// Makes one of trees that were trained before, which it never forgets.
  static std::unique_ptr<CostModel> create(TrainedTrees trees);

  /// The one that this project ships with for machines of vectors of so many
  /// bits; null if there is none.
  static std::unique_ptr<CostModel> loadShipped(unsigned vectorBits);

  virtual ~CostModel() = default;

  /// Forgets what it was trained on before. Fails if the library does.
  virtual llvm::Error train(llvm::ArrayRef<Sample> samples) = 0;
  virtual bool isTrained() const = 0;

  /// A score for each, the higher the faster, whatever theirs is. It has to be
  /// trained.
  virtual llvm::Expected<std::vector<float>>
  predict(llvm::ArrayRef<Sample> candidates) = 0;

  /// What it has learned. Fails if it has not, or cannot tell.
  virtual llvm::Expected<TrainedTrees> getTrees() const = 0;
};

/// How alike two lists order the same things: Spearman's coefficient, from -1
/// to 1, 0 where one of them has no order. Equal numbers share their ranks.
double computeRankCorrelation(llvm::ArrayRef<double> first,
                              llvm::ArrayRef<double> second);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_COSTMODEL_H
