//===- TrainedTreesTest.cpp - Models of costs as text ---------------------===//

#include "espalier/Tuning/TrainedTrees.h"
#include "espalier/Tuning/CostModel.h"
#include "llvm/ADT/StringExtras.h"
#include "gtest/gtest.h"

using namespace espalier;
using namespace espalier::tuning;

namespace {

/// What XGBoost writes of one tree with two leaves and one with a leaf.
constexpr llvm::StringLiteral kForeign = R"({"learner": {
  "learner_model_param": {"base_score": "[5E-1]"},
  "gradient_booster": {"model": {"trees": [
    {"left_children": [1, -1, -1], "right_children": [2, -1, -1],
     "split_indices": [3, 0, 0], "split_conditions": [1.5, -0.25, 0.25]},
    {"left_children": [-1], "right_children": [-1],
     "split_indices": [0], "split_conditions": [1.0]}]}}}})";

std::vector<float> makeRow(float value) {
  std::vector<float> row(2 * kNumFeatures, 0);
  row[3] = value;
  return row;
}

TrainedTrees makeTrees() {
  TreeSum sum = llvm::cantFail(TreeSum::readXGBoost(kForeign));
  return {sum, sum};
}

TEST(TrainedTreesTest, TreesAreAdded) {
  TreeSum sum = llvm::cantFail(TreeSum::readXGBoost(kForeign));
  EXPECT_FLOAT_EQ(sum.predict(makeRow(1)), 1.25f);
  // What is not less goes to the right.
  EXPECT_FLOAT_EQ(sum.predict(makeRow(1.5f)), 1.75f);
}

TEST(TrainedTreesTest, WhatIsWrittenIsRead) {
  std::string text = makeTrees().print();
  auto trees = TrainedTrees::parse(text);
  ASSERT_TRUE(bool(trees)) << llvm::toString(trees.takeError());
  EXPECT_EQ(trees->print(), text);
  EXPECT_FLOAT_EQ(trees->speed.predict(makeRow(2)), 1.75f);
}

TEST(TrainedTreesTest, OtherFilesAreRefused) {
  std::string text = makeTrees().print();
  auto replace = [&](llvm::StringRef from, llvm::StringRef to) {
    size_t at = text.find(from.str());
    EXPECT_NE(at, std::string::npos) << from.str();
    return text.substr(0, at) + to.str() + text.substr(at + from.size());
  };
  std::pair<std::string, const char *> cases[] = {
      {"", "trees: "},
      {"{}", "expects a file of trained trees, but got another"},
      {replace("\"version\":2", "\"version\":1"), "expects version 2, but got"},
      {replace("Points", "Pints"), "expects the features of this build"},
      {replace("\"speed\"", "\"sped\""), "expects 'speed' and 'success'"},
      {replace("\"base\"", "\"bass\""), "expects a sum of trees"},
      // A node of a column that there is not, and one that is its own child.
      {replace("\"columns\":[3,", "\"columns\":[300,"),
       "expects a sum of trees"},
      {replace("\"left\":[1,", "\"left\":[0,"), "expects a sum of trees"},
      {replace("\"left\":[1,", "\"left\":[7,"), "expects a sum of trees"},
      {replace("\"left\":[1,", "\"left\":["), "expects a sum of trees"},
      {replace("\"values\":[1.5,", "\"values\":[null,"),
       "expects a sum of tree"},
  };
  for (auto &[wrong, reason] : cases) {
    auto trees = TrainedTrees::parse(wrong);
    ASSERT_FALSE(bool(trees)) << wrong;
    std::string message = llvm::toString(trees.takeError());
    EXPECT_NE(message.find(reason), std::string::npos) << message;
  }
}

TEST(TrainedTreesTest, OtherModelsAreRefused) {
  for (const char *text :
       {"", "{}", R"({"learner": {"learner_model_param": {"base_score": "x"},
          "gradient_booster": {"model": {"trees": []}}}})",
        R"({"learner": {"learner_model_param": {"base_score": "1"},
          "gradient_booster": {"model": {"trees": [{}]}}}})"}) {
    auto sum = TreeSum::readXGBoost(text);
    EXPECT_FALSE(bool(sum)) << text;
    llvm::consumeError(sum.takeError());
  }
}

TEST(TrainedTreesTest, WhatIsShippedFits) {
  for (unsigned vectorBits : {256, 512}) {
    llvm::StringRef text = getShippedTrees(vectorBits);
    ASSERT_FALSE(text.empty());
    auto trees = TrainedTrees::parse(text);
    ASSERT_TRUE(bool(trees)) << llvm::toString(trees.takeError());
    auto model = CostModel::loadShipped(vectorBits);
    ASSERT_TRUE(model);
    EXPECT_TRUE(model->isTrained());
    auto scores = model->predict(Sample());
    ASSERT_TRUE(bool(scores));
    EXPECT_EQ(scores->size(), 1u);
  }
  EXPECT_EQ(CostModel::loadShipped(7), nullptr);
}

} // namespace
