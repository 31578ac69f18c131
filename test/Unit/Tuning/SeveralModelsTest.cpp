//===- SeveralModelsTest.cpp - Searches of several models together --------===//

#include "SmallModel.h"
#include "espalier/Tuning/Tuner.h"
#include "llvm/Support/xxhash.h"
#include "gtest/gtest.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

/// A function of products of two matrices, of M x 160 and 160 x 112.
std::string products(ArrayRef<int> rows) {
  std::string arguments, types, body, values;
  for (auto [number, m] : llvm::enumerate(rows)) {
    StringRef comma = number == 0 ? "" : ", ";
    std::string a = llvm::formatv("tensor<{0}x160xf32>", m);
    std::string y = llvm::formatv("tensor<{0}x112xf32>", m);
    arguments += llvm::formatv("{0}%a{1}: {2}, %b{1}: tensor<160x112xf32>",
                               comma, number, a);
    types += (comma + y).str();
    values += llvm::formatv("{0}%y{1}", comma, number);
    body += llvm::formatv("  %y{0} = graph.matmul %a{0}, %b{0} : ({1}, "
                          "tensor<160x112xf32>) -> {2}\n",
                          number, a, y);
  }
  return llvm::formatv(
      "module attributes {{poly.target = #poly.target<cpu = \"znver5\", "
      "features = \"+avx512f\", vector_bits = 512, registers = 32, "
      "l1 = 49152, l2 = 1048576, l3 = 33554432, cores = 2>} {{\n"
      "func.func @main({0}) -> ({1}) {{\n{2}  return {3} : {1}\n}\n}",
      arguments, types, body, values);
}

class SeveralModelsTest : public testing::Test {
protected:
  SeveralModelsTest() {
    loadDialects(context);
    // They have a kernel in common.
    first = parseSourceString<ModuleOp>(products({96, 80}), &context);
    second = parseSourceString<ModuleOp>(products({64, 96}), &context);
    options.trials = 60;
    options.search = Search::Random;
    // Nothing is faster, so that all tasks stay alike.
    options.simulate = [](llvm::StringRef script) { return 1.0; };
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  OwningOpRef<ModuleOp> first, second;
  TuneOptions options;
};

TEST_F(SeveralModelsTest, WhatTheyHaveInCommonIsSearchedOnce) {
  options.simulate = [](llvm::StringRef script) {
    return 1e-6 * (1 + llvm::xxh3_64bits(script) % 1000);
  };
  TuneResult result =
      llvm::cantFail(tuneModels({{*first}, {*second}}, options));
  ASSERT_EQ(result.models.size(), 2u);
  const TunedModel &one = result.models[0], &other = result.models[1];
  ASSERT_EQ(one.kernels.size(), 2u);
  ASSERT_EQ(other.kernels.size(), 2u);
  // That of 96 rows, which both call once and is twice as important.
  const TunedKernel &shared = one.kernels[0], &same = other.kernels[1];
  EXPECT_EQ(shared.name, same.name);
  EXPECT_EQ(shared.trials, same.trials);
  EXPECT_EQ(shared.best, same.best);
  EXPECT_EQ(shared.trials + one.kernels[1].trials + other.kernels[0].trials,
            options.trials);
  // Each script is for the kernels of its own model.
  for (const TunedKernel &kernel : one.kernels)
    EXPECT_EQ(StringRef(one.script).contains("@" + kernel.name),
              !kernel.rule.empty());
  EXPECT_FALSE(StringRef(one.script).contains(other.kernels[0].name));
  EXPECT_FALSE(StringRef(other.script).contains(one.kernels[1].name));
  EXPECT_TRUE(parseSourceString<ModuleOp>(other.script, &context));
}

TEST_F(SeveralModelsTest, WeightsAndCallsDecideWhereTrialsGo) {
  TuneResult result =
      llvm::cantFail(tuneModels({{*first, 1}, {*second, 4}}, options));
  unsigned own = result.models[0].kernels[1].trials,
           shared = result.models[0].kernels[0].trials,
           others = result.models[1].kernels[0].trials;
  // By 1, 5 and 4, of 60.
  EXPECT_NEAR(own, 6, 5);
  EXPECT_NEAR(shared, 30, 6);
  EXPECT_NEAR(others, 24, 6);
}

TEST_F(SeveralModelsTest, WhatHasReachedItsTargetGetsNoTrials) {
  options.objective = Objective::Target;
  TuneResult result =
      llvm::cantFail(tuneModels({{*first, 1, 9}, {*second, 1, 1}}, options));
  EXPECT_EQ(result.models[0].kernels[1].trials, 0u);
  EXPECT_EQ(result.models[1].kernels[0].trials +
                result.models[1].kernels[1].trials,
            options.trials);
  result =
      llvm::cantFail(tuneModels({{*first, 1, 9}, {*second, 1, 9}}, options));
  EXPECT_EQ(result.models[1].kernels[1].trials, 0u) << "nothing is left to do";
}

TEST_F(SeveralModelsTest, ByTheGeometricMeanSmallModelsCountAsMuch) {
  // One calls a kernel of its own, the other one that and two more.
  second = parseSourceString<ModuleOp>(products({96, 64, 48}), &context);
  first = parseSourceString<ModuleOp>(products({80}), &context);
  auto count = [&](Objective objective) {
    options.objective = objective;
    return llvm::cantFail(tuneModels({{*first}, {*second}}, options))
        .models[0]
        .kernels[0]
        .trials;
  };
  // A quarter of the sum, and half of the mean's logarithm.
  EXPECT_NEAR(count(Objective::Sum), 15, 5);
  EXPECT_NEAR(count(Objective::Geomean), 30, 6);
}

TEST_F(SeveralModelsTest, WhatIsNoSearchIsRefused) {
  auto refuse = [&](ArrayRef<ModelToTune> models, Objective objective) {
    options.objective = objective;
    return llvm::toString(tuneModels(models, options).takeError());
  };
  EXPECT_EQ(refuse({}, Objective::Sum),
            "expects a model to tune, but got none");
  EXPECT_EQ(refuse({{*first}, {*second, -1}}, Objective::Sum),
            "model 2: expects a weight above 0, but got -1");
  EXPECT_EQ(refuse({{*first, 1, 2}, {*second}}, Objective::Target),
            "model 2: expects a target above 0 for objective 'target', but "
            "got 0");
  EXPECT_EQ(refuse({{*first, 1, 2}}, Objective::Geomean),
            "model 1: expects no target for objective 'geomean', but got 2");
  EXPECT_EQ(refuse({{*first, 1, -2}}, Objective::Target),
            "model 1: expects a target of 0 or more seconds, but got -2");
}

} // namespace
