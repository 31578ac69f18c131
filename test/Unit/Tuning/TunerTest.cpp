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

/// One kernel for this machine; for others there is a copy beside it.
constexpr llvm::StringLiteral kModel = R"mlir(
module attributes {poly.target = #poly.target<cpu = "znver5", features = "+avx512f",
    vector_bits = 512, registers = 32, l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {
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
    return scripts;
  }

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
  // The default schedule is measured all the same.
  EXPECT_EQ(search(1, 0).size(), 1u);
}

INSTANTIATE_TEST_SUITE_P(All, TunerTest,
                         testing::Values(Search::Random, Search::Evolution,
                                         Search::Drafts, Search::Model));

} // namespace
