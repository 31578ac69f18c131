//===- AstTest.cpp - Scanning of schedule trees ---------------------------===//

#include "espalier/Polyhedral/Ast.h"
#include "Fixture.h"
#include "llvm/Support/raw_ostream.h"

using namespace espalier::polyhedral;

namespace {

class AstTest : public PolyhedralTest {
protected:
  /// The loops as text, or the error after "error: ".
  std::string scan(const Program &program, const ScheduleTree &tree,
                   Limits limits = {}) {
    llvm::Expected<Ast> ast = scanSchedule(program, tree.get(), limits);
    if (!ast)
      return "error: " + llvm::toString(ast.takeError());
    std::string text;
    llvm::raw_string_ostream os(text);
    print(program, **ast, os);
    return text;
  }

  BandMember member(llvm::StringRef tag) {
    BandMember member;
    member.tag = attribute(("\"" + tag + "\"").str());
    return member;
  }

  /// Tiles of 14 x 32, the reduction between tile and point loops.
  ScheduleTree tiledMatmul() {
    std::vector<ScheduleTree> filters;
    filters.push_back(makeFilter(
        FilterSet{0, {}},
        makeBand(BandMap{0, map("(i, j)[M, N, K] -> (i mod 14, j mod 32)")},
                 {member("i"), member("j")})));
    filters.push_back(makeFilter(
        FilterSet{1, {}},
        makeBand(
            BandMap{1, map("(i, j, k)[M, N, K] -> (k, i mod 14, j mod 32)")},
            {member("k"), member("i"), member("j")})));
    filters.push_back(makeFilter(
        FilterSet{2, {}},
        makeBand(BandMap{2, map("(i, j)[M, N, K] -> (i mod 14, j mod 32)")},
                 {member("i"), member("j")})));
    llvm::SmallVector<BandMap> maps = {
        {0, map("(i, j)[M, N, K] -> (i floordiv 14, j floordiv 32)")},
        {1, map("(i, j, k)[M, N, K] -> (i floordiv 14, j floordiv 32)")},
        {2, map("(i, j)[M, N, K] -> (i floordiv 14, j floordiv 32)")}};
    return makeBand(maps, {member("it"), member("jt")},
                    makeSequence(std::move(filters)));
  }
};

// isl 0.25 would unite the two sets to all numbers from 0 to 5.
TEST_F(AstTest, OverlappingSetsOfADomainKeepTheirHoles) {
  Program program;
  program.context = &context;
  program.statements = {statement("s", set("(i) : (i >= 0, 1 - i >= 0)"))};
  program.statements[0].domain.push_back(
      set("(i) : (i >= 0, 5 - i >= 0, i mod 2 == 0)"));
  EXPECT_EQ(scan(program, makeProgramOrder(program)), R"(for d0 = 0 to 5
  if (1 - d0 >= 0 || -(d0 mod 2) == 0)
    s(d0)
)");
}

// Where isl gives a dimension as a choice, a loop that runs once holds it.
TEST_F(AstTest, DimensionsMayHaveCases) {
  Program program;
  program.context = &context;
  program.statements = {
      statement("s", set("(i, j) : (i - 1 >= 0, 3 - i >= 0, j >= 0, 1 - j >= "
                         "0, i - j + 1 >= 0)"))};
  auto band = [&](llvm::StringRef loops, ScheduleTree child) {
    BandMap bandMap{0, map(("(i, j) -> " + loops).str())};
    llvm::SmallVector<BandMember> members(bandMap.map.getNumResults());
    return makeBand(bandMap, members, std::move(child));
  };
  ScheduleTree tiles = band("(((i * 2 + j * 3) mod 4) floordiv 3)",
                            band("(((i * 2 + j * 3) mod 4) mod 3)", nullptr));
  tiles->separateFullTiles = true;
  std::string loops = scan(
      program, band("(i + j, (i * 2 + j * 3) floordiv 4)", std::move(tiles)));
  EXPECT_NE(loops.find(R"(
          for d3 = ((1 - d0 == 0 && 2 - d1 == 0) ? 0 : d1) to ((1 - d0 == 0 && 2 - d1 == 0) ? 1 : d1 + 1)
            s(d2, d3)
)"),
            std::string::npos)
      << loops;
}

TEST_F(AstTest, ExpressionsAreWalkedWithTheirConditions) {
  auto dim = [&](unsigned position) {
    return AstExpr(getAffineDimExpr(position, &context));
  };
  AstCondition both;
  both.kind = AstCondition::Kind::And;
  both.operands.resize(2);
  both.operands[0].kind = AstCondition::Kind::NonNegative;
  both.operands[0].value = dim(0);
  both.operands[1].kind = AstCondition::Kind::Zero;
  both.operands[1].value = dim(1);
  AstExpr most;
  most.kind = AstExpr::Kind::Max;
  most.operands = {dim(3), dim(4)};
  AstExpr choice;
  choice.kind = AstExpr::Kind::Select;
  choice.condition = std::make_shared<AstCondition>(both);
  choice.operands = {dim(2), most};
  unsigned next = 0;
  choice.walk([&](mlir::AffineExpr part) {
    EXPECT_EQ(part, getAffineDimExpr(next++, &context));
  });
  EXPECT_EQ(next, 5u);
}

TEST_F(AstTest, ScansProgramOrder) {
  Program program = matmul();
  EXPECT_EQ(scan(program, makeProgramOrder(program)), R"(for d0 = 0 to s0
  for d1 = 0 to s1
    init(d0, d1)
for d2 = 0 to s0
  for d3 = 0 to s1
    for d4 = 0 to s2
      update(d2, d3, d4)
for d5 = 0 to s0
  for d6 = 0 to s1
    store(d5, d6)
)");
}

// Statements b and c run with a for each i, c with b for each j, too.
TEST_F(AstTest, ScansInterleavedStatements) {
  Program program;
  program.context = &context;
  program.numParams = 1;
  mlir::IntegerSet square =
      set("(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)");
  program.statements = {
      statement("a", set("(i)[N] : (i >= 0, N - 1 - i >= 0)")),
      statement("b", square), statement("c", square), statement("d", square)};
  program.statements[1].numInterleaved = 1;
  program.statements[2].numInterleaved = 2;
  EXPECT_EQ(getNumInterleaved(program, 0, 2), 1u);
  EXPECT_EQ(getNumInterleaved(program, 1, 2), 2u);
  EXPECT_EQ(getNumInterleaved(program, 1, 3), 0u);
  EXPECT_EQ(getNumInterleaved(program, 1, 1), 2u);
  EXPECT_EQ(scan(program, makeProgramOrder(program)), R"(for d0 = 0 to s0
  a(d0)
  for d1 = 0 to s0
    b(d0, d1)
    c(d0, d1)
for d2 = 0 to s0
  for d3 = 0 to s0
    d(d2, d3)
)");
}

TEST_F(AstTest, ScansTiles) {
  Program program = matmul();
  EXPECT_EQ(scan(program, tiledMatmul()),
            R"(for d0 = 0 to (s0 - 1) floordiv 14 + 1 "it"
  for d1 = 0 to (s1 - 1) floordiv 32 + 1 "jt"
    for d2 = 0 to min(14, s0 - 14 * d0) "i"
      for d3 = 0 to min(32, s1 - 32 * d1) "j"
        init(14 * d0 + d2, 32 * d1 + d3)
    for d4 = 0 to s2 "k"
      for d5 = 0 to min(14, s0 - 14 * d0) "i"
        for d6 = 0 to min(32, s1 - 32 * d1) "j"
          update(14 * d0 + d5, 32 * d1 + d6, d4)
    for d7 = 0 to min(14, s0 - 14 * d0) "i"
      for d8 = 0 to min(32, s1 - 32 * d1) "j"
        store(14 * d0 + d7, 32 * d1 + d8)
)");
}

TEST_F(AstTest, SeparatesFullTiles) {
  Program program = matmul();
  program.assumptions = set("()[M, N, K] : (M - 30 == 0, N - 70 == 0)");
  ScheduleTree tree = tiledMatmul();
  tree->separateFullTiles = true;
  EXPECT_EQ(scan(program, tree), R"(for d0 = 0 to 2 "it"
  for d1 = 0 to 2 "jt"
    for d2 = 0 to 14 "i"
      for d3 = 0 to 32 "j"
        init(14 * d0 + d2, 32 * d1 + d3)
    for d4 = 0 to s2 "k"
      for d5 = 0 to 14 "i"
        for d6 = 0 to 32 "j"
          update(14 * d0 + d5, 32 * d1 + d6, d4)
    for d7 = 0 to 14 "i"
      for d8 = 0 to 32 "j"
        store(14 * d0 + d7, 32 * d1 + d8)
  for d9 = 0 to 14 "i"
    for d10 = 0 to 6 "j"
      init(14 * d0 + d9, d10 + 64)
  for d11 = 0 to s2 "k"
    for d12 = 0 to 14 "i"
      for d13 = 0 to 6 "j"
        update(14 * d0 + d12, d13 + 64, d11)
  for d14 = 0 to 14 "i"
    for d15 = 0 to 6 "j"
      store(14 * d0 + d14, d15 + 64)
for d16 = 0 to 3 "jt"
  for d17 = 0 to 2 "i"
    for d18 = 0 to min(32, 70 - 32 * d16) "j"
      init(d17 + 28, 32 * d16 + d18)
  for d19 = 0 to s2 "k"
    for d20 = 0 to 2 "i"
      for d21 = 0 to min(32, 70 - 32 * d16) "j"
        update(d20 + 28, 32 * d16 + d21, d19)
  for d22 = 0 to 2 "i"
    for d23 = 0 to min(32, 70 - 32 * d16) "j"
      store(d22 + 28, 32 * d16 + d23)
)");
}

// The bounds of the inner loops are constant in the first nest only.
TEST_F(AstTest, SeparatesFullTilesOfSymbolicSizes) {
  Program program = matmul();
  program.statements.pop_back();
  program.statements.erase(program.statements.begin());
  ScheduleTree tree = makeBand(
      BandMap{0, map("(i, j, k)[M, N, K] -> (i floordiv 14)")}, {member("it")},
      makeBand(BandMap{0, map("(i, j, k)[M, N, K] -> (k, i mod 14, j)")},
               {member("k"), member("i"), member("j")}));
  tree->separateFullTiles = true;
  EXPECT_EQ(scan(program, tree), R"(for d0 = 0 to s0 floordiv 14 "it"
  for d1 = 0 to s2 "k"
    for d2 = 0 to 14 "i"
      for d3 = 0 to s1 "j"
        update(14 * d0 + d2, d3, d1)
for d4 = 0 to s2 "k"
  for d5 = 0 to s0 mod 14 "i"
    for d6 = 0 to s1 "j"
      update(d5 + s0 - s0 mod 14, d6, d4)
)");
}

TEST_F(AstTest, UnrollsAndSeparates) {
  Program program;
  program.context = &context;
  program.numParams = 1;
  program.statements = {
      statement("s", set("(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, "
                         "2 - j >= 0, i + j - 1 >= 0)"))};
  BandMap bandMap{0, map("(i, j)[N] -> (i, j)")};
  BandMember separate, unroll;
  separate.shape = LoopShape::Separate;
  unroll.shape = LoopShape::Unroll;
  EXPECT_EQ(scan(program, makeBand(bandMap, {separate, unroll})),
            R"(for d0 = 0 to s0
  if d0 - 1 >= 0
    s(d0, 0)
  s(d0, 1)
  s(d0, 2)
)");
}

TEST_F(AstTest, ScansUnionsFiltersAndMarks) {
  Program program;
  program.context = &context;
  program.numParams = 1;
  Statement pieces =
      statement("s", set("(i)[N] : (i >= 0, 2 - i >= 0, N - 1 - i >= 0)"));
  pieces.domain.push_back(set("(i)[N] : (i - 8 >= 0, N - 1 - i >= 0)"));
  program.statements = {pieces};
  EXPECT_EQ(scan(program, makeBand(BandMap{0, map("(i)[N] -> (-i)")},
                                   {member("reversed")})),
            R"(for d0 = 1 - s0 to 1 "reversed"
  if (-d0 - 8 >= 0 || d0 + 2 >= 0)
    s(-d0)
)");
  std::vector<ScheduleTree> filters;
  filters.push_back(makeFilter(FilterSet{0, set("(i)[N] : (i mod 2 == 0)")},
                               makeMark(attribute("\"even\""))));
  filters.push_back(
      makeFilter(FilterSet{0, set("(i)[N] : (i mod 2 - 1 == 0)")}));
  EXPECT_EQ(scan(program, makeSequence(std::move(filters))), R"(mark "even"
  for d0 = 0 to min(3, s0) step 2
    s(d0)
  for d1 = 8 to s0 step 2
    s(d1)
if s0 - 2 >= 0
  s(1)
for d2 = 9 to s0 step 2
  s(d2)
)");
}

TEST_F(AstTest, ScansNothing) {
  Program program;
  program.context = &context;
  EXPECT_EQ(scan(program, nullptr), "");
  program.statements = {statement("never", set("(i) : (i >= 0, -1 - i >= 0)"))};
  EXPECT_EQ(scan(program, makeProgramOrder(program)), "");
  program.statements = {statement("once", set("() : (0 == 0)"))};
  EXPECT_EQ(scan(program, makeProgramOrder(program)), "once()\n");
}

// These take more than 50 times what is granted to a question.
TEST_F(AstTest, ManyStatementsMayTakeAsMuchAsFewEach) {
  Program program;
  program.context = &context;
  program.numParams = 1;
  program.statements.assign(
      100, statement("s", set("(i)[N] : (i >= 0, N - 1 - i >= 0)")));
  EXPECT_EQ(
      llvm::StringRef(scan(program, makeProgramOrder(program), Limits{5000}))
          .count("for "),
      100u);
}

TEST_F(AstTest, SaysWhatCannotBeScanned) {
  Program program = matmul();
  ScheduleTree tree = makeProgramOrder(program);
  tree->children[0]->children[0]->maps[0].map =
      map("(i, j)[M, N, K] -> (i floordiv 4, j)");
  EXPECT_EQ(
      scan(program, tree, Limits{100, /*isPerQuestion=*/false}),
      "error: a domain cannot be scanned: too many operations on integer sets");
  tree->children[0]->children[0]->maps[0].map =
      map("(i, j)[M, N, K] -> (i floordiv M, j)");
  EXPECT_EQ(scan(program, tree),
            "error: the schedule cannot be scanned: a set or a map is not "
            "affine");
  tree = makeProgramOrder(program);
  tree->children[0]->children[0]->members[0].shape = LoopShape::Unroll;
  EXPECT_EQ(scan(program, tree), "error: the schedule cannot be scanned: "
                                 "cannot find lower bound for unrolling");
}

} // namespace
