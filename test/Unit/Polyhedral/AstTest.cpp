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

TEST_F(AstTest, ScansTiles) {
  Program program = matmul();
  EXPECT_EQ(scan(program, tiledMatmul()),
            R"(for d0 = 0 to (s0 - 1) floordiv 14 + 1 "it"
  for d1 = 0 to (s1 - 1) floordiv 32 + 1 "jt"
    for d2 = 0 to min(14, d0 * -14 + s0) "i"
      for d3 = 0 to min(32, d1 * -32 + s1) "j"
        init(d0 * 14 + d2, d1 * 32 + d3)
    for d4 = 0 to s2 "k"
      for d5 = 0 to min(14, d0 * -14 + s0) "i"
        for d6 = 0 to min(32, d1 * -32 + s1) "j"
          update(d0 * 14 + d5, d1 * 32 + d6, d4)
    for d7 = 0 to min(14, d0 * -14 + s0) "i"
      for d8 = 0 to min(32, d1 * -32 + s1) "j"
        store(d0 * 14 + d7, d1 * 32 + d8)
)");
}

} // namespace
