//===- ConvolutionTest.cpp - The engine on a kernel of real size ----------===//
//
// A tiled 3x3 convolution with seven dimensions and three statements. Work is
// limited by isl's count of operations, which does not depend on the machine.
//
//===----------------------------------------------------------------------===//

#include "Fixture.h"
#include "espalier/Polyhedral/Ast.h"
#include "espalier/Polyhedral/Dependence.h"
#include "llvm/Support/raw_ostream.h"

using namespace espalier::polyhedral;

namespace {

class ConvolutionTest : public PolyhedralTest {
protected:
  ConvolutionTest() {
    program.context = &context;
    program.numParams = 5;
    const std::string params = "[N, O, Y, X, I]";
    const std::string outer =
        "n >= 0, N - 1 - n >= 0, o >= 0, O - 1 - o >= 0, y >= 0, "
        "Y - 1 - y >= 0, x >= 0, X - 1 - x >= 0";
    Statement init =
        statement("init", set("(n, o, y, x)" + params + " : (" + outer + ")"));
    Statement update = statement(
        "update",
        set("(n, o, y, x, i, h, w)" + params + " : (" + outer +
            ", i >= 0, I - 1 - i >= 0, h >= 0, 2 - h >= 0, w >= 0, 2 - w >= 0, "
            "y + h - 1 >= 0, Y - y - h >= 0, x + w - 1 >= 0, X - x - w >= 0)"));
    Statement store = init;
    store.name = "store";
    auto element = map("(n, o, y, x)" + params + " -> (n, o, y, x)");
    auto result = map("(n, o, y, x, i, h, w)" + params + " -> (n, o, y, x)");
    init.writes = {{3, element}};
    update.reads = {
        {0, map("(n, o, y, x, i, h, w)" + params +
                " -> (n, i, y + h - 1, x + w - 1)")},
        {1, map("(n, o, y, x, i, h, w)" + params + " -> (o, i, h, w)")},
        {3, result}};
    update.writes = {{3, result}};
    update.isReduction = true;
    store.reads = {{3, element}};
    store.writes = {{2, element}};
    program.statements = {init, update, store};

    auto point = [&](unsigned number, const std::string &dims,
                     const std::string &loops, unsigned numLoops) {
      return makeFilter(FilterSet{number, {}},
                        makeBand(BandMap{number, map("(" + dims + ")" + params +
                                                     " -> (" + loops + ")")},
                                 llvm::SmallVector<BandMember>(numLoops)));
    };
    std::vector<ScheduleTree> filters;
    filters.push_back(point(0, "n, o, y, x", "x mod 14, o mod 32", 2));
    filters.push_back(point(1, "n, o, y, x, i, h, w",
                            "i floordiv 16, h, w, i mod 16, x mod 14, o mod 32",
                            6));
    filters.push_back(point(2, "n, o, y, x", "x mod 14, o mod 32", 2));
    auto tile = [&](unsigned number, const std::string &dims) {
      return BandMap{number, map("(" + dims + ")" + params +
                                 " -> (n, o floordiv 32, y, x floordiv 14)")};
    };
    llvm::SmallVector<BandMember> members(4);
    members[0].concurrency = members[1].concurrency = Concurrency::Parallel;
    tree = makeBand({tile(0, "n, o, y, x"), tile(1, "n, o, y, x, i, h, w"),
                     tile(2, "n, o, y, x")},
                    members, makeSequence(std::move(filters)));
  }

  Program program;
  ScheduleTree tree;
};

/// Operations of isl that a check or a scan may take; about 20 ms.
constexpr unsigned long kFewOperations = 30000;

TEST_F(ConvolutionTest, IsCheckedWithLittleWork) {
  Legality legality = checkSchedule(program, tree.get(), {kFewOperations});
  EXPECT_EQ(legality.verdict, Legality::Verdict::Legal) << legality.reason;
}

TEST_F(ConvolutionTest, SumStaysInOrderUnlessItIsAReduction) {
  program.statements[1].isReduction = false;
  Legality legality = checkSchedule(program, tree.get(), {kFewOperations});
  EXPECT_EQ(legality.verdict, Legality::Verdict::Illegal) << legality.reason;
}

TEST_F(ConvolutionTest, IsScannedWithLittleWork) {
  llvm::Expected<Ast> ast =
      scanSchedule(program, tree.get(), {3 * kFewOperations});
  ASSERT_TRUE(static_cast<bool>(ast)) << llvm::toString(ast.takeError());
  std::string text;
  llvm::raw_string_ostream os(text);
  print(program, **ast, os);
  EXPECT_EQ(text, R"(for d0 = 0 to s0
  for d1 = 0 to (s1 - 1) floordiv 32 + 1
    for d2 = 0 to s2
      for d3 = 0 to (s3 - 1) floordiv 14 + 1
        for d4 = 0 to min(14, s3 - 14 * d3)
          for d5 = 0 to min(32, s1 - 32 * d1)
            init(d0, 32 * d1 + d5, d2, 14 * d3 + d4)
        for d6 = 0 to (s4 - 1) floordiv 16 + 1
          for d7 = max(0, 1 - d2) to min(3, s2 + 1 - d2)
            for d8 = max(0, 2 - s3) to min(3, s3 + 1 - 14 * d3)
              for d9 = 0 to min(16, s4 - 16 * d6)
                for d10 = max(0, 1 - 14 * d3 - d8) to min(14, s3 - 14 * d3, s3 + 1 - 14 * d3 - d8)
                  for d11 = 0 to min(32, s1 - 32 * d1)
                    update(d0, 32 * d1 + d11, d2, 14 * d3 + d10, 16 * d6 + d9, d7, d8)
        for d12 = 0 to min(14, s3 - 14 * d3)
          for d13 = 0 to min(32, s1 - 32 * d1)
            store(d0, 32 * d1 + d13, d2, 14 * d3 + d12)
)");
}

} // namespace
