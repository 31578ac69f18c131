//===- EvolutionTest.cpp - Generations of drafts on a made-up cost --------===//

#include "espalier/Tuning/Evolution.h"
#include "mlir/Dialect/Transform/IR/TransformDialect.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtension.h"
#include "mlir/Parser/Parser.h"
#include "gtest/gtest.h"
#include <set>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

namespace {

/// A script of `numChoices` choices with eight options.
std::string choices(unsigned numChoices) {
  std::string text =
      "module attributes {transform.with_named_sequence} {\n"
      "transform.named_sequence @__transform_main(%m: !transform.any_op "
      "{transform.readonly}) {\n";
  for (unsigned i = 0; i < numChoices; ++i)
    text += "transform.tune.knob<\"c" + std::to_string(i) +
            "\"> = 0 : i64 from options = [0, 1, 2, 3, 4, 5, 6, 7] -> "
            "!transform.param<i64>\n";
  return text + "transform.yield\n}\n}";
}

class EvolutionTest : public testing::Test {
protected:
  EvolutionTest() {
    DialectRegistry registry;
    registry.insert<transform::TransformDialect>();
    transform::registerTuneExtension(registry);
    context.appendDialectRegistry(registry);
    context.loadAllAvailableDialects();
    for (unsigned numChoices : {10, 8})
      sketches.push_back(*Sketch::create(
          "rule", parseSourceString<ModuleOp>(choices(numChoices), &context),
          {}));
  }

  /// The nearer the options of all choices to one that is hidden, the better;
  /// that of a choice depends on the one before, so that no choice is good by
  /// itself.
  double rate(const Draft &draft) const {
    const Sketch &sketch = sketches[draft.sketch];
    double cost = draft.sketch == 0 ? 0 : 0.1, before = 0.5;
    for (auto [choice, option] : llvm::enumerate(draft.selection)) {
      double last = std::max(1u, sketch.getNumOptions(choice) - 1);
      double place = option / last, hidden = 0.2 + 0.6 * before;
      cost += (place - hidden) * (place - hidden);
      before = place;
    }
    return -cost;
  }

  std::optional<Draft> make(unsigned sketch, Selection selection) {
    if (!made.insert({sketch, selection}).second)
      return std::nullopt;
    return Draft{{sketch, std::move(selection), /*parent=*/""}, Features(), 0};
  }

  std::vector<Draft> makeAny(unsigned count, Sketch::Random &random) {
    made.clear();
    std::vector<Draft> drafts;
    while (drafts.size() < count) {
      unsigned sketch = random() % sketches.size();
      if (auto draft = make(sketch, sketches[sketch].selectAny(random)))
        drafts.push_back(std::move(*draft));
    }
    return drafts;
  }

  /// Scores of the drafts that would be built after `number` generations, of
  /// as many drafts.
  std::vector<double> search(unsigned number, unsigned seed) {
    Sketch::Random random(seed);
    Generations generations;
    generations.number = number;
    std::vector<Draft> found = evolve(
        makeAny(1024 - generations.children * number, random), generations,
        [&](const Draft &mother, const Draft &father) {
          const Sketch &sketch = sketches[mother.sketch];
          Selection child = mother.selection;
          if (mother.sketch == father.sketch)
            child = sketch.cross(child, father.selection, random);
          return make(mother.sketch, sketch.mutate(child, random));
        },
        [&](llvm::MutableArrayRef<Draft> drafts) {
          for (Draft &draft : drafts)
            draft.score = rate(draft);
        },
        random);
    std::vector<double> scores;
    for (const Draft &draft : llvm::ArrayRef(found).take_front(8))
      scores.push_back(draft.score);
    return scores;
  }

  MLIRContext context{MLIRContext::Threading::DISABLED};
  std::vector<Sketch> sketches;
  std::set<std::pair<unsigned, Selection>> made;
};

TEST_F(EvolutionTest, GenerationsFindWhatIsBetter) {
  double best[2] = {}, built[2] = {};
  for (unsigned seed = 0; seed < 20; ++seed)
    for (bool evolves : {false, true}) {
      std::vector<double> scores =
          search(evolves ? Generations().number : 0, seed);
      best[evolves] -= scores.front();
      for (double score : scores)
        built[evolves] -= score;
    }
  // Of the same number of drafts.
  EXPECT_LT(best[true], 0.7 * best[false]);
  EXPECT_LT(built[true], 0.7 * built[false]);
}

TEST_F(EvolutionTest, SurvivorsAreTheBestAndDiffer) {
  Sketch::Random random(1);
  std::vector<double> scores = search(4, 1);
  EXPECT_TRUE(std::is_sorted(scores.rbegin(), scores.rend()));
  EXPECT_EQ(scores, search(4, 1)) << "the same seed, the same search";
  // Nobody breeds where there is nobody.
  EXPECT_TRUE(evolve(
                  {}, Generations(),
                  [](const Draft &, const Draft &) -> std::optional<Draft> {
                    ADD_FAILURE();
                    return std::nullopt;
                  },
                  [](llvm::MutableArrayRef<Draft>) {}, random)
                  .empty());
}

} // namespace
