//===- ScanBoxesTest.cpp - Loops over boxes without isl -------------------===//
//
// What boxes are scanned, and how their loops look; that they are the right
// ones is a property that PropertyTest.cpp checks at random.
//
//===----------------------------------------------------------------------===//

#include "Ast/ScanBoxes.h"
#include "Fixture.h"
#include "llvm/Support/raw_ostream.h"
#include <random>

using namespace espalier::polyhedral;

namespace {

class ScanBoxesTest : public PolyhedralTest {
protected:
  void SetUp() override {
    program.context = &context;
    program.statements = {
        statement("s", set("(i, j) : (i >= 0, 9 - i >= 0, j >= 0, 2 - j >= "
                           "0)"))};
  }

  /// A band over `text` of all statements.
  ScheduleTree band(llvm::StringRef text, ScheduleTree child = nullptr) {
    mlir::AffineMap loops = map(text);
    llvm::SmallVector<BandMap> maps;
    for (unsigned number = 0; number < program.statements.size(); ++number)
      maps.push_back({number, loops});
    return makeBand(maps, llvm::SmallVector<BandMember>(loops.getNumResults()),
                    std::move(child));
  }

  /// The loops of a schedule; "" if it is left to isl.
  std::string scan(const ScheduleTree &tree) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (Ast loops = scanBoxes(program, tree.get()))
      print(program, *loops, os);
    return text;
  }

  Program program;
};

TEST_F(ScanBoxesTest, ALoopEndsWhereItsDimensionDoes) {
  EXPECT_EQ(scan(band("(i, j) -> (i floordiv 4, i mod 4, j)")),
            "for d0 = 0 to 3\n"
            "  for d1 = 0 to min(4, 10 - 4 * d0)\n"
            "    for d2 = 0 to 3\n"
            "      s(4 * d0 + d1, d2)\n");
}

TEST_F(ScanBoxesTest, CutLoopsBelowFullTilesAreLeftToIsl) {
  for (bool separates : {false, true}) {
    ScheduleTree tree = band("(i, j) -> (i floordiv 4, i mod 4, j)");
    tree->separateFullTiles = separates;
    EXPECT_EQ(scan(tree).empty(), separates);
  }
  // Others need no parts.
  ScheduleTree tree = band("(i, j) -> (i floordiv 5, i mod 5, j)");
  tree->separateFullTiles = true;
  EXPECT_EQ(scan(tree), "for d0 = 0 to 2\n"
                        "  for d1 = 0 to 5\n"
                        "    for d2 = 0 to 3\n"
                        "      s(5 * d0 + d1, d2)\n");
}

TEST_F(ScanBoxesTest, ADigitInTheMiddleIsCut) {
  program.statements = {statement("s", set("(i) : (i >= 0, 29 - i >= 0)"))};
  EXPECT_EQ(scan(band("(i) -> (i floordiv 12, (i mod 12) floordiv 3, i mod "
                      "3)")),
            "for d0 = 0 to 3\n"
            "  for d1 = 0 to min(4, 10 - 4 * d0)\n"
            "    for d2 = 0 to 3\n"
            "      s(12 * d0 + 3 * d1 + d2)\n");
  EXPECT_EQ(scan(band("(i) -> (i floordiv 16, (i mod 16) floordiv 4, i mod "
                      "4)")),
            "for d0 = 0 to 2\n"
            "  for d1 = 0 to min(4, 8 - 4 * d0)\n"
            "    for d2 = 0 to min(4, 30 - 16 * d0 - 4 * d1)\n"
            "      s(16 * d0 + 4 * d1 + d2)\n");
}

// What is left below whole tiles may have tiles that do not divide a block.
TEST_F(ScanBoxesTest, TilesOfOneBlockNeedNotDivideIt) {
  program.statements = {
      statement("s", set("(i) : (i - 24 >= 0, 31 - i >= 0)"))};
  EXPECT_EQ(scan(band("(i) -> ((i - 24) floordiv 36, ((i - 24) mod 36) "
                      "floordiv 8, i mod 8)")),
            "for d0 = 0 to 8\n"
            "  s(d0 + 24)\n");
  EXPECT_EQ(scan(band("(i) -> ((i - 24) floordiv 36, ((i - 24) mod 36) "
                      "floordiv 5, (i - 24) mod 5)")),
            "for d0 = 0 to 2\n"
            "  for d1 = 0 to min(5, 8 - 5 * d0)\n"
            "    s(5 * d0 + d1 + 24)\n");
  // Of several blocks, each but the last has a tile that its end cuts.
  program.statements = {statement("s", set("(i) : (i >= 0, 71 - i >= 0)"))};
  EXPECT_EQ(
      scan(band("(i) -> (i floordiv 36, (i mod 36) floordiv 8, i mod 8)")), "");
}

TEST_F(ScanBoxesTest, DigitsMayCountFromPlacesThatAgree) {
  program.statements = {
      statement("s", set("(i) : (i - 10 >= 0, 14 - i >= 0)"))};
  EXPECT_EQ(scan(band("(i) -> ((i - 10) floordiv 4, i mod 4)")), "");
  EXPECT_EQ(scan(band("(i) -> ((i - 10) floordiv 2, i mod 2)")),
            "for d0 = 0 to 3\n"
            "  for d1 = 0 to min(2, 5 - 2 * d0)\n"
            "    s(2 * d0 + d1 + 10)\n");
}

TEST_F(ScanBoxesTest, StatementsShareALoopThatIsCutAlike) {
  auto scanWith = [&](const char *domain) {
    program.statements.resize(1, {});
    program.statements.push_back(statement("t", set(domain)));
    std::vector<ScheduleTree> parts;
    for (unsigned number : {0u, 1u})
      parts.push_back(makeFilter(
          FilterSet{number, mlir::IntegerSet()},
          makeBand(BandMap{number, map("(i, j) -> (j)")}, BandMember())));
    return scan(band("(i, j) -> (i floordiv 4, i mod 4)",
                     makeSequence(std::move(parts))));
  };
  EXPECT_EQ(scanWith("(i, j) : (i >= 0, 9 - i >= 0, j >= 0, 1 - j >= 0)"),
            "for d0 = 0 to 3\n"
            "  for d1 = 0 to min(4, 10 - 4 * d0)\n"
            "    for d2 = 0 to 3\n"
            "      s(4 * d0 + d1, d2)\n"
            "    for d3 = 0 to 2\n"
            "      t(4 * d0 + d1, d3)\n");
  EXPECT_EQ(scanWith("(i, j) : (i >= 0, 8 - i >= 0, j >= 0, 1 - j >= 0)"), "");
}

TEST_F(ScanBoxesTest, WhatIsCutToNothingHasNoLoops) {
  for (const char *rest :
       {"(i, j) : (i - 10 >= 0)", "(i, j) : (-1 - j >= 0)"}) {
    std::vector<ScheduleTree> parts;
    for (const char *part : {"(i, j) : (9 - i >= 0)", rest})
      parts.push_back(
          makeFilter(FilterSet{0, set(part)}, band("(i, j) -> (i, j)")));
    EXPECT_EQ(scan(makeSequence(std::move(parts))), "for d0 = 0 to 10\n"
                                                    "  for d1 = 0 to 3\n"
                                                    "    s(d0, d1)\n");
  }
}

TEST_F(ScanBoxesTest, UnrolledLoopsAreCopies) {
  ScheduleTree tree = band("(i, j) -> (i floordiv 2, j, i mod 2)");
  tree->members[1].shape = LoopShape::Unroll;
  EXPECT_EQ(scan(tree), "for d0 = 0 to 5\n"
                        "  for d1 = 0 to 2\n"
                        "    s(2 * d0 + d1, 0)\n"
                        "  for d2 = 0 to 2\n"
                        "    s(2 * d0 + d2, 1)\n"
                        "  for d3 = 0 to 2\n"
                        "    s(2 * d0 + d3, 2)\n");
}

// A window of three taps, two apart, in a border.
TEST_F(ScanBoxesTest, WhatIsSaidOfSeveralDimensionsBoundsTheLastLoop) {
  program.statements = {
      statement("s", set("(y, k) : (y >= 0, 6 - y >= 0, k >= 0, 2 - k >= 0, y "
                         "+ k * 2 - 2 >= 0, 8 - y - k * 2 >= 0)"))};
  EXPECT_EQ(
      scan(band("(y, k) -> (y, k)")),
      "for d0 = 0 to 7\n"
      "  for d1 = max(0, (1 - d0) floordiv 2 + 1) to min(3, (-d0) floordiv 2 "
      "+ 5)\n"
      "    s(d0, d1)\n");
  EXPECT_EQ(scan(band("(y, k) -> (k, y)")),
            "for d0 = 0 to 3\n"
            "  for d1 = max(0, 2 - 2 * d0) to min(7, 9 - 2 * d0)\n"
            "    s(d1, d0)\n");
  // Of a part of a dimension it would be a condition.
  EXPECT_EQ(scan(band("(y, k) -> (k, y floordiv 4, y mod 4)")), "");
  // Copies know both.
  ScheduleTree tree = band("(y, k) -> (k, y)");
  for (BandMember &member : tree->members)
    member.shape = LoopShape::Unroll;
  program.statements = {
      statement("s", set("(y, k) : (y >= 0, 1 - y >= 0, k >= 0, 1 - k >= 0, y "
                         "+ k - 1 >= 0)"))};
  EXPECT_EQ(scan(tree), "s(1, 0)\ns(0, 1)\ns(1, 1)\n");
}

TEST_F(ScanBoxesTest, WhatHasFewerValuesThanALoopIsInsideOfACondition) {
  program.numParams = 1;
  program.statements = {
      statement("first", set("(t, i)[T] : (t >= 0, T - 1 - t >= 0, t == 0, "
                             "i >= 0, 3 - i >= 0)")),
      statement("later", set("(t, i)[T] : (t >= 0, T - 1 - t >= 0, t - 1 >= "
                             "0, i >= 0, 3 - i >= 0)")),
      statement("all", set("(t, i)[T] : (t >= 0, T - 1 - t >= 0, i >= 0, 3 - "
                           "i >= 0)"))};
  auto inner = [&](llvm::ArrayRef<unsigned> numbers, ScheduleTree child) {
    llvm::SmallVector<BandMap> maps;
    for (unsigned number : numbers)
      maps.push_back({number, map("(t, i)[T] -> (i)")});
    return makeBand(maps, BandMember(), std::move(child));
  };
  std::vector<ScheduleTree> together, parts;
  for (unsigned number : {1u, 2u})
    together.push_back(makeFilter(FilterSet{number, mlir::IntegerSet()}));
  parts.push_back(
      makeFilter(FilterSet{0, mlir::IntegerSet()}, inner(0u, nullptr)));
  parts.push_back(makeFilter(
      {FilterSet{1, mlir::IntegerSet()}, FilterSet{2, mlir::IntegerSet()}},
      inner({1u, 2u}, makeSequence(std::move(together)))));
  parts.push_back(makeFilter(FilterSet{2, set("(t, i)[T] : (-1 - t >= 0)")},
                             inner(2u, nullptr)));
  EXPECT_EQ(scan(band("(t, i)[T] -> (t)", makeSequence(std::move(parts)))),
            "for d0 = 0 to s0\n"
            "  if d0 == 0\n"
            "    for d1 = 0 to 4\n"
            "      first(d0, d1)\n"
            "  for d2 = 0 to 4\n"
            "    if d0 - 1 >= 0\n"
            "      later(d0, d2)\n"
            "    all(d0, d2)\n"
            "  if -d0 - 1 >= 0\n"
            "    for d3 = 0 to 4\n"
            "      all(d0, d3)\n");
}

TEST_F(ScanBoxesTest, OpenTilesAndTooManyCopiesAreLeftToIsl) {
  ScheduleTree tree = band("(i, j) -> (i, j)");
  for (BandMember &member : tree->members)
    member.shape = LoopShape::Unroll;
  EXPECT_NE(scan(tree), "");
  program.statements = {
      statement("s", set("(i, j) : (i >= 0, 9999 - i >= 0, j >= 0, 9999 - j "
                         ">= 0)"))};
  EXPECT_EQ(scan(tree), "");
  program.numParams = 1;
  program.statements = {
      statement("s", set("(i)[N] : (i >= 0, N - 1 - i >= 0)"))};
  EXPECT_EQ(scan(band("(i)[N] -> (i)")), "for d0 = 0 to s0\n  s(d0)\n");
  EXPECT_EQ(scan(band("(i)[N] -> (i floordiv 4, i mod 4)")), "");
  program.statements = {statement("s", set("(i)[N] : (N - 1 - i >= 0)"))};
  EXPECT_EQ(scan(band("(i)[N] -> (i)")), "");
}

TEST_F(ScanBoxesTest, TilesOfOpenExtentsMayBeJoined) {
  program.numParams = 1;
  program.statements = {
      statement("s", set("(i)[N] : (i >= 0, N - 1 - i >= 0)"))};
  auto scanJoined = [&](ScheduleTree tree) {
    std::string text;
    llvm::raw_string_ostream os(text);
    if (Ast loops = scanBoxes(program, tree.get(), /*joinsTiles=*/true))
      print(program, *loops, os);
    return text;
  };
  EXPECT_EQ(scanJoined(band("(i)[N] -> (i floordiv 4, i mod 4)")),
            "for d0 = 0 to (s0 - 1) floordiv 4 + 1\n"
            "  for d1 = 0 to min(4, s0 - 4 * d0)\n"
            "    s(4 * d0 + d1)\n");
  ScheduleTree tree = band("(i)[N] -> (i floordiv 2, i mod 2)");
  tree->members[1].shape = LoopShape::Unroll;
  EXPECT_EQ(scanJoined(std::move(tree)),
            "for d0 = 0 to (s0 - 1) floordiv 2 + 1\n"
            "  if s0 - 2 * d0 - 1 >= 0\n"
            "    s(2 * d0)\n"
            "  if s0 - 2 * d0 - 2 >= 0\n"
            "    s(2 * d0 + 1)\n");
  // Whole tiles, then the rest in smaller ones.
  std::vector<ScheduleTree> parts;
  parts.push_back(makeFilter(
      FilterSet{0, set("(i)[N] : ((N floordiv 8) * 8 - 1 - i >= 0)")},
      band("(i)[N] -> (i floordiv 8, i mod 8)")));
  parts.push_back(
      makeFilter(FilterSet{0, set("(i)[N] : (i - (N floordiv 8) * 8 >= 0)")},
                 band("(i)[N] -> (i floordiv 4, i mod 4)")));
  EXPECT_EQ(scanJoined(makeSequence(std::move(parts))),
            "for d0 = 0 to s0 floordiv 8\n"
            "  for d1 = 0 to 8\n"
            "    s(8 * d0 + d1)\n"
            "for d2 = max(0, 2 * (s0 floordiv 8)) to (s0 - 1) floordiv 4 + 1\n"
            "  for d3 = 0 to min(4, s0 - 4 * d2)\n"
            "    s(4 * d2 + d3)\n");
}

TEST_F(ScanBoxesTest, JoinedTilesVisitEachPointOnceInOrder) {
  std::mt19937 random(7);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  program.numParams = 2;
  unsigned numScanned = 0;
  for (unsigned trial = 0; trial < 300; ++trial) {
    int64_t size = pick(1, 4), many = size * pick(1, 3), offset = pick(-4, 4);
    auto text = [](int64_t number) { return std::to_string(number); };
    std::string whole = "(N floordiv " + text(many) + ") * " + text(many);
    const std::string more[] = {"i - " + text(pick(0, 8)) + " >= 0",
                                "i - " + whole + " >= 0",
                                whole + " - 1 - i >= 0",
                                "M - 1 - i >= 0",
                                "i - M >= 0",
                                "9 - i >= 0",
                                "N - M - 1 >= 0"};
    std::string domain = "(i)[N, M] : (i >= 0, N - 1 - i >= 0";
    for (unsigned i = pick(0, 2); i > 0; --i)
      domain += ", " + more[pick(0, 6)];
    program.statements = {statement("s", set(domain + ")"))};
    mlir::AffineExpr i =
        mlir::getAffineDimExpr(0, &context) + (pick(0, 2) ? 0 : offset);
    llvm::SmallVector<mlir::AffineExpr> loops = {
        i.floorDiv(many), (i % many).floorDiv(size), i % size};
    ScheduleTree tree =
        makeBand(BandMap{0, mlir::AffineMap::get(1, 2, loops, &context)},
                 llvm::SmallVector<BandMember>(3));
    for (BandMember &member : llvm::drop_begin(tree->members))
      if (pick(0, 2) == 0)
        member.shape = LoopShape::Unroll;
    Ast ast = scanBoxes(program, tree.get(), /*joinsTiles=*/true,
                        /*asksParameters=*/true);
    if (!ast)
      continue;
    ++numScanned;
    for (auto [n, m] : {std::pair(0, 0), {1, 0}, {7, 3}, {12, 12}, {23, 5}}) {
      llvm::SmallVector<int64_t> parameters = {n, m}, expected, visited;
      mlir::IntegerSet points = program.statements.front().domain.front();
      for (int64_t value = -10; value < 40; ++value)
        if (llvm::all_of(points.getConstraints(), [&](mlir::AffineExpr expr) {
              return evaluate(expr, value, parameters) >= 0;
            }))
          expected.push_back(value);
      runAst(*ast, parameters, [&](const AstInstance &instance) {
        visited.push_back(instance.point.front());
        return true;
      });
      std::string loopsAsText;
      llvm::raw_string_ostream os(loopsAsText);
      print(program, *ast, os);
      ASSERT_EQ(visited, expected) << domain << ")\n"
                                   << loopsAsText << n << ", " << m;
    }
  }
  EXPECT_GT(numScanned, 100u);
}

/// isl may simplify a condition on parameters, or leave it out, and is asked
/// first.
TEST_F(ScanBoxesTest, ConditionsOnParametersAreKeptWhereIslGivesUp) {
  program.numParams = 1;
  program.statements = {
      statement("s", set("(i)[n] : (i >= 0, 9 - i >= 0, n - 1 >= 0)")),
      statement("u", set("(i)[n] : (i >= 0, 9 - i >= 0)"))};
  std::vector<ScheduleTree> parts;
  for (unsigned number : {0u, 1u})
    parts.push_back(makeFilter(FilterSet{number, mlir::IntegerSet()}));
  ScheduleTree tree = band("(i)[n] -> (i)", makeSequence(std::move(parts)));
  EXPECT_EQ(scan(tree), "");
  std::string text;
  llvm::raw_string_ostream os(text);
  Ast loops = scanBoxes(program, tree.get(), /*joinsTiles=*/true,
                        /*asksParameters=*/true);
  ASSERT_TRUE(loops);
  print(program, *loops, os);
  EXPECT_EQ(text, "for d0 = 0 to 10\n"
                  "  if s0 - 1 >= 0\n"
                  "    s(d0)\n"
                  "  u(d0)\n");
}

} // namespace
