//===- TrainedTrees.h - Models of costs as text -----------------*- C++ -*-===//
//
// What a model of costs has learned, without the library that it learned with:
// few trees in a file of JSON, and their sum.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_TUNING_TRAINEDTREES_H
#define ESPALIER_TUNING_TRAINEDTREES_H

#include "espalier/Tuning/Features.h"
#include "llvm/ADT/ArrayRef.h"
#include "llvm/Support/Error.h"
#include "llvm/Support/JSON.h"
#include <vector>

namespace espalier::tuning {

/// Trees whose values are added.
class TreeSum {
public:
  /// Takes the trees that XGBoost writes as JSON. Fails for any other model
  /// than a sum of trees, for which there is one number.
  static llvm::Expected<TreeSum> readXGBoost(llvm::StringRef text);
  /// Reads what `write` has written. Fails if a node refers to a column at or
  /// beyond `numColumns`, or to one that is not behind it.
  static llvm::Expected<TreeSum> read(const llvm::json::Value &value,
                                      unsigned numColumns);
  llvm::json::Value write() const;

  float predict(llvm::ArrayRef<float> row) const;

private:
  /// Rows with less than `value` in a column go to `left`, others to `right`;
  /// `value` is the result where there is no column.
  struct Node {
    int column = -1;
    float value = 0;
    int left = 0, right = 0;
  };
  using Tree = std::vector<Node>;

  static bool isTree(const Tree &tree, unsigned numColumns);

  float base = 0;
  std::vector<Tree> trees;
};

/// A model of costs of one class of machines.
struct TrainedTrees {
  /// Trees are of features as they were counted when these were trained.
  static constexpr int kVersion = kFeaturesVersion;

  TreeSum speed, success;

  /// Reads a file that `print` has written. Fails if it is another one, or if
  /// the features of this build are others.
  static llvm::Expected<TrainedTrees> parse(llvm::StringRef text);
  std::string print() const;
};

/// The trees that this project ships with for machines of vectors of so many
/// bits; empty if there are none.
llvm::StringRef getShippedTrees(unsigned vectorBits);

} // namespace espalier::tuning

#endif // ESPALIER_TUNING_TRAINEDTREES_H
