//===- TunerTest.cpp - Searches with simulated times ----------------------===//

#include "espalier/Tuning/Tuner.h"
#include "SmallModel.h"
#include "llvm/Support/xxhash.h"
#include "gtest/gtest.h"
#include <regex>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

/// One kernel for a machine for which no trees are shipped.
constexpr llvm::StringLiteral kModel = R"mlir(
module attributes {poly.target = #poly.target<cpu = "znver5", features = "+avx512f",
    vector_bits = 1024, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
  func.func @main(%a: tensor<96x160xf32>, %b: tensor<160x112xf32>) -> tensor<96x112xf32> {
    %0 = graph.matmul %a, %b : (tensor<96x160xf32>, tensor<160x112xf32>) -> tensor<96x112xf32>
    return %0 : tensor<96x112xf32>
  }
})mlir";

/// The same for one with the trees of its vectors.
std::string getModelOfShipped() {
  std::string text = kModel.str();
  for (auto [from, to] : {std::pair("vector_bits = 1024, registers = 32",
                                    "vector_bits = 256, registers = 16"),
                          std::pair("avx512f", "avx2,+fma")})
    text.replace(text.find(from), strlen(from), to);
  return text;
}

class TunerTest : public testing::TestWithParam<Search> {
protected:
  TunerTest() {
    loadDialects(context);
    module = parseSourceString<ModuleOp>(kModel, &context);
  }

  /// Returns the scripts in the order in which they were tried.
  std::vector<std::string> search(uint64_t seed, unsigned trials = 40) {
    std::vector<std::string> scripts;
    TuneOptions options;
    options.search = GetParam();
    options.trials = trials;
    options.seed = seed;
    options.usesShipped = usesShipped;
    options.modelLibrary = modelLibrary;
    options.rules = rules;
    options.simulate = [&](llvm::StringRef script) {
      scripts.push_back(script.str());
      return 1e-6 * (1 + llvm::xxh3_64bits(script) % 1000);
    };
    llvm::Expected<TuneResult> found =
        tuneModels(ModelToTune{*module}, options);
    EXPECT_TRUE(bool(found)) << llvm::toString(found.takeError());
    if (found)
      result = std::move(*found);
    return scripts;
  }

  bool usesShipped = true;
  std::string modelLibrary;
  std::vector<SketchRule> rules;
  TuneResult result; ///< Of the last search.

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
};

TEST_P(TunerTest, TheSameSeedIsTheSameSearch) {
  std::vector<std::string> first = search(1);
  EXPECT_GT(first.size(), 40u);
  EXPECT_EQ(first, search(1));
  EXPECT_NE(first, search(2));
}

TEST_P(TunerTest, ThereAreSearchesWithoutTrials) {
  // The default schedules are measured all the same.
  size_t numScripts = search(1, 0).size();
  EXPECT_GT(numScripts, 0u);
  EXPECT_EQ(numScripts, result.models.front().kernels.size());
}

TEST_P(TunerTest, ShippedTreesRank) {
  module = parseSourceString<ModuleOp>(getModelOfShipped(), &context);
  std::vector<std::string> ranked = search(1);
  EXPECT_EQ(result.isRankedByShipped, GetParam() == Search::Model);
  EXPECT_EQ(ranked, search(1));
  usesShipped = false;
  std::vector<std::string> estimated = search(1);
  EXPECT_FALSE(result.isRankedByShipped);
  if (GetParam() == Search::Model)
    EXPECT_NE(ranked, estimated);
  else
    EXPECT_EQ(ranked, estimated);
}

TEST_P(TunerTest, XGBoostRanks) {
  if (GetParam() != Search::Model)
    GTEST_SKIP() << "only this search has a model";
  std::vector<std::string> estimated = search(1);
  modelLibrary = ESPALIER_XGBOOST;
  if (modelLibrary.empty())
    GTEST_SKIP() << "expects the Python package xgboost";
  std::vector<std::string> learned = search(1);
  EXPECT_EQ(result.modelFault, "");
  EXPECT_FALSE(result.isRankedByShipped);
  EXPECT_NE(learned, estimated);
  EXPECT_EQ(learned, search(1));
}

TEST_P(TunerTest, ScriptsOfARuleAreTried) {
  unsigned numKernels = 0;
  auto derive =
      [&](llvm::StringRef kernel,
          llvm::StringRef script) -> llvm::Expected<std::vector<std::string>> {
    numKernels += kernel.contains("poly.kernel @kernel");
    std::regex tiles(
        R"((tile\.\w+"> = )\d+( : i64 from options = )\[[^\]]*\])");
    return std::vector{
        std::regex_replace(script.str(), tiles, "$012$02[2, 3]")};
  };
  auto fail = [](llvm::StringRef,
                 llvm::StringRef) -> llvm::Expected<std::vector<std::string>> {
    return llvm::createStringError("a fault of mine");
  };
  rules = {{"small", derive}, {"broken", fail}};
  std::vector<std::string> scripts = search(1);
  EXPECT_EQ(numKernels, 1u);
  EXPECT_TRUE(llvm::any_of(scripts, [](const std::string &script) {
    return llvm::StringRef(script).contains("from options = [2, 3]");
  }));
  ASSERT_EQ(result.ruleFaults.size(), 1u);
  EXPECT_NE(result.ruleFaults.front().find("a fault of mine"),
            std::string::npos);
}

INSTANTIATE_TEST_SUITE_P(All, TunerTest,
                         testing::Values(Search::Random, Search::Evolution,
                                         Search::Drafts, Search::Model));

} // namespace
