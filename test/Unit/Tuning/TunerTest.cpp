//===- TunerTest.cpp - Searches with simulated times ----------------------===//

#include "espalier/Tuning/Tuner.h"
#include "../Measurement/Fixture.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "llvm/Support/xxhash.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

/// A product for a machine that trees are shipped for.
constexpr llvm::StringLiteral kModel = R"mlir(
module attributes {poly.target = #poly.target<cpu = "znver3", features = "+avx2,+fma",
    vector_bits = 256, registers = 16, l1 = 32768, l2 = 524288, l3 = 33554432, cores = 2>} {
  func.func @main(%a: tensor<96x160xf32>, %b: tensor<160x112xf32>) -> tensor<96x112xf32> {
    %0 = graph.matmul %a, %b : (tensor<96x160xf32>, tensor<160x112xf32>) -> tensor<96x112xf32>
    return %0 : tensor<96x112xf32>
  }
})mlir";

class TunerTest : public testing::TestWithParam<Search> {
protected:
  TunerTest() {
    DialectRegistry registry = programDialects();
    registry.insert<transform::TransformDialect>();
    poly::registerTransformExtension(registry);
    registerCompilation(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    module = parseSourceString<ModuleOp>(kModel, &context);
  }

  /// Returns the scripts in the order in which they were tried.
  std::vector<std::string> search(uint64_t seed, unsigned trials = 40) {
    std::vector<std::string> scripts;
    TuneOptions options;
    options.search = GetParam();
    options.trials = trials;
    options.seed = seed;
    options.simulate = [&](llvm::StringRef script) {
      scripts.push_back(script.str());
      return 1e-6 * (1 + llvm::xxh3_64bits(script) % 1000);
    };
    llvm::Expected<TuneResult> result =
        tuneModels(ModelToTune{*module}, options);
    EXPECT_TRUE(bool(result)) << llvm::toString(result.takeError());
    EXPECT_EQ(result->isRankedByShipped, GetParam() == Search::Model);
    numKernels = result->models.front().kernels.size();
    return scripts;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> module;
  size_t numKernels = 0;
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
  EXPECT_EQ(numScripts, numKernels);
}

INSTANTIATE_TEST_SUITE_P(All, TunerTest,
                         testing::Values(Search::Random, Search::Evolution,
                                         Search::Drafts, Search::Model));

} // namespace
