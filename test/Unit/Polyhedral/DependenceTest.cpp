//===- DependenceTest.cpp - Dependences and legality ----------------------===//

#include "espalier/Polyhedral/Dependence.h"
#include "Fixture.h"
#include "espalier/Polyhedral/Storage.h"
#include "llvm/Support/raw_ostream.h"

using namespace espalier::polyhedral;

namespace {

class DependenceTest : public PolyhedralTest {
protected:
  /// A[t + 1, i] = A[t, i - 1] + A[t, i] + A[t, i + 1], parameters T and N.
  Program jacobi() {
    Program program;
    program.context = &context;
    program.numParams = 2;
    Statement step = statement(
        "step", set("(t, i)[T, N] : (t >= 0, T - 1 - t >= 0, i - 1 >= 0, "
                    "N - 2 - i >= 0)"));
    step.reads = {{0, map("(t, i)[T, N] -> (t, i - 1)")},
                  {0, map("(t, i)[T, N] -> (t, i)")},
                  {0, map("(t, i)[T, N] -> (t, i + 1)")}};
    step.writes = {{0, map("(t, i)[T, N] -> (t + 1, i)")}};
    program.statements = {step};
    return program;
  }

  ScheduleTree band(llvm::StringRef text,
                    llvm::ArrayRef<Concurrency> concurrency = {}) {
    BandMap bandMap{0, map(text)};
    llvm::SmallVector<BandMember> members(bandMap.map.getNumResults());
    for (auto [member, kind] : llvm::zip(members, concurrency))
      member.concurrency = kind;
    return makeBand(bandMap, members);
  }

  /// `legal`, `unknown: ...`, or what is violated.
  std::string check(const Program &program, const ScheduleTree &tree,
                    Limits limits = {}) {
    Legality legality = checkSchedule(program, tree.get(), limits);
    if (legality.verdict == Legality::Verdict::Legal)
      return "legal";
    if (legality.verdict == Legality::Verdict::Unknown)
      return "unknown: " + legality.reason;
    if (!legality.violation)
      return legality.reason;
    std::string text = getName(legality.violation->kind).str();
    llvm::raw_string_ostream os(text);
    os << " " << program.statements[legality.violation->source].name << " -> "
       << program.statements[legality.violation->sink].name << " (";
    llvm::interleaveComma(legality.violation->getDistance(), os);
    os << ")";
    if (legality.violation->loop)
      os << " carried";
    return text;
  }
};

constexpr Concurrency kSequential = Concurrency::Sequential;
constexpr Concurrency kParallel = Concurrency::Parallel;
constexpr Concurrency kLanes = Concurrency::Lanes;

TEST_F(DependenceTest, ProgramOrderIsLegal) {
  Program program = jacobi();
  EXPECT_EQ(check(program, makeProgramOrder(program)), "legal");
  program = matmul();
  EXPECT_EQ(check(program, makeProgramOrder(program)), "legal");
}

TEST_F(DependenceTest, SkewMakesTilesLegal) {
  Program program = jacobi();
  EXPECT_EQ(check(program, band("(t, i)[T, N] -> (i, t)")),
            "flow step -> step (1, -1)");
  EXPECT_EQ(check(program, band("(t, i)[T, N] -> (t floordiv 4, i floordiv 4, "
                                "t mod 4, i mod 4)")),
            "flow step -> step (1, -1)");
  EXPECT_EQ(check(program, band("(t, i)[T, N] -> (t + i, t)")), "legal");
  EXPECT_EQ(
      check(program, band("(t, i)[T, N] -> (t floordiv 4, (t + i) floordiv 4, "
                          "t mod 4, (t + i) mod 4)")),
      "legal");
  EXPECT_EQ(check(program, band("(t, i)[T, N] -> (-t, i)")),
            "flow step -> step (1, 1)");
}

TEST_F(DependenceTest, ConcurrentLoopsCarryNothing) {
  Program program = jacobi();
  EXPECT_EQ(
      check(program, band("(t, i)[T, N] -> (t, i)", {kSequential, kParallel})),
      "legal");
  EXPECT_EQ(
      check(program, band("(t, i)[T, N] -> (t, i)", {kParallel, kSequential})),
      "flow step -> step (1, 1) carried");
  EXPECT_EQ(check(program, band("(t, i)[T, N] -> (2 * t + i, t)",
                                {kSequential, kParallel})),
            "legal");
  EXPECT_EQ(check(program,
                  band("(t, i)[T, N] -> (t + i, t)", {kSequential, kParallel})),
            "flow step -> step (1, -1) carried");
}

TEST_F(DependenceTest, ReductionsMayBeReassociated) {
  Program program = matmul();
  program.statements = {program.statements[1]};
  EXPECT_EQ(check(program, band("(i, j, k)[M, N, K] -> (-k, i, j)")), "legal");
  EXPECT_EQ(check(program, band("(i, j, k)[M, N, K] -> (i, j, k)",
                                {kParallel, kSequential, kLanes})),
            "legal");
  EXPECT_EQ(check(program, band("(i, j, k)[M, N, K] -> (k, i, j)",
                                {kParallel, kSequential, kSequential})),
            "flow update -> update (0, 0, 1) carried");
  // Without the mark, the order of the summands is part of the meaning.
  program.statements[0].isReduction = false;
  EXPECT_EQ(check(program, band("(i, j, k)[M, N, K] -> (-k, i, j)")),
            "flow update -> update (0, 0, 1)");
  EXPECT_EQ(check(program, band("(i, j, k)[M, N, K] -> (k, i, j)")), "legal");
  EXPECT_EQ(check(program, band("(i, j, k)[M, N, K] -> (i, j, k)",
                                {kParallel, kSequential, kLanes})),
            "flow update -> update (0, 0, 1) carried");
}

TEST_F(DependenceTest, StatementsStayInOrder) {
  Program program = matmul();
  auto sequence = [&](llvm::ArrayRef<unsigned> order) {
    std::vector<ScheduleTree> filters;
    for (unsigned number : order)
      filters.push_back(makeFilter(FilterSet{number, {}}));
    return makeSequence(std::move(filters));
  };
  EXPECT_EQ(check(program, sequence({0, 1, 2})), "legal");
  EXPECT_EQ(check(program, sequence({1, 0, 2})), "flow init -> update ()");
  EXPECT_EQ(check(program, sequence({0, 2, 1})), "flow update -> store ()");
  EXPECT_EQ(check(program, sequence({0, 2})),
            "every point to run once, but nothing schedules @update");
  EXPECT_EQ(check(program, nullptr), "flow init -> update ()");
}

TEST_F(DependenceTest, FiltersPartition) {
  Program program = jacobi();
  auto filters = [&](llvm::StringRef first, llvm::StringRef second) {
    std::vector<ScheduleTree> children;
    children.push_back(makeFilter(FilterSet{0, set(first)}));
    children.push_back(makeFilter(FilterSet{0, set(second)}));
    return makeSequence(std::move(children));
  };
  EXPECT_EQ(check(program, filters("(t, i)[T, N] : (8 - t >= 0)",
                                   "(t, i)[T, N] : (t - 9 >= 0)")),
            "legal");
  EXPECT_EQ(check(program, filters("(t, i)[T, N] : (t - 9 >= 0)",
                                   "(t, i)[T, N] : (8 - t >= 0)")),
            "flow step -> step (1, 1)");
  EXPECT_EQ(check(program, filters("(t, i)[T, N] : (8 - t >= 0)",
                                   "(t, i)[T, N] : (t - 10 >= 0)")),
            "every point to run once, but filters drop a point of @step");
  EXPECT_EQ(check(program, filters("(t, i)[T, N] : (9 - t >= 0)",
                                   "(t, i)[T, N] : (t - 9 >= 0)")),
            "every point to run once, but filters pass a point twice of @step");
}

TEST_F(DependenceTest, InterleavedStatementsDependOnEachOther) {
  Program program;
  program.context = &context;
  program.numParams = 1;
  mlir::IntegerSet points = set("(t)[T] : (t - 1 >= 0, T - 1 - t >= 0)");
  Statement cell = statement("cell", points),
            state = statement("state", points);
  cell.reads = {{1, map("(t)[T] -> (t - 1)")}};
  cell.writes = {{0, map("(t)[T] -> (t)")}};
  state.reads = {{0, map("(t)[T] -> (t)")}};
  state.writes = {{1, map("(t)[T] -> (t)")}};
  state.numInterleaved = 1;
  program.statements = {cell, state};
  EXPECT_EQ(check(program, makeProgramOrder(program)), "legal");
  Context isl;
  auto dependences = computeDependences(isl, program);
  ASSERT_TRUE(static_cast<bool>(dependences));
  ASSERT_EQ(dependences->size(), 2u);
  EXPECT_EQ((*dependences)[1].source, 1u);
  EXPECT_EQ((*dependences)[1].relation.isEqual(Map::parse(
                isl, "[p0] -> { [t] -> [t + 1] : 1 <= t < p0 - 1 }")),
            true);

  std::vector<ScheduleTree> filters;
  filters.push_back(makeFilter(FilterSet{0, {}}));
  filters.push_back(makeFilter(FilterSet{1, {}}));
  EXPECT_EQ(check(program, makeSequence(std::move(filters))),
            "flow state -> cell (1)");
}

/// The local array of a matrix product kept as one tile.
class StorageTest : public DependenceTest {
protected:
  /// Tiles of 4 x 8 under `outer` loops; the loops of each statement's tile are
  /// in the order of its dimensions, but for a reduction loop, outermost.
  ScheduleTree tiles(llvm::StringRef outer,
                     llvm::ArrayRef<Concurrency> concurrency = {}) {
    std::vector<ScheduleTree> filters;
    llvm::SmallVector<BandMap> maps;
    for (unsigned number = 0; number < 3; ++number) {
      std::string dims = number == 1 ? "(i, j, k)" : "(i, j)";
      std::string inner =
          number == 1 ? "(k, i mod 4, j mod 8)" : "(0, i mod 4, j mod 8)";
      auto parse = [&](llvm::StringRef loops) {
        return map(dims + "[M, N, K] -> " + loops.str());
      };
      maps.push_back({number, parse(outer)});
      filters.push_back(makeFilter(FilterSet{number, {}},
                                   makeBand(BandMap{number, parse(inner)},
                                            llvm::SmallVector<BandMember>(3))));
    }
    llvm::SmallVector<BandMember> members(maps[0].map.getNumResults());
    for (auto [member, kind] : llvm::zip(members, concurrency))
      member.concurrency = kind;
    return makeBand(maps, members, makeSequence(std::move(filters)));
  }
  /// Such tiles of the points for which a condition holds.
  ScheduleTree part(llvm::StringRef condition, llvm::StringRef outer,
                    llvm::ArrayRef<Concurrency> concurrency = {}) {
    llvm::SmallVector<FilterSet> filters;
    for (unsigned number = 0; number < 3; ++number)
      filters.push_back({number, set(((number == 1 ? "(i, j, k)" : "(i, j)") +
                                      ("[M, N, K] : (" + condition + ")"))
                                         .str())});
    return makeFilter(filters, tiles(outer, concurrency));
  }
  Program matmulWith(llvm::StringRef storage) {
    Program program = matmul();
    program.storages = {{3, map(storage), "acc"}};
    return program;
  }
};

TEST_F(StorageTest, OneTileIsEnough) {
  Program program = matmulWith("(i, j) -> (i mod 4, j mod 8)");
  EXPECT_EQ(check(program, tiles("(i floordiv 4, j floordiv 8)")), "legal");
  EXPECT_EQ(check(program, tiles("(i floordiv 4, j floordiv 8)",
                                 {kParallel, kParallel})),
            "legal");
  EXPECT_EQ(check(program, tiles("(i floordiv 8, j floordiv 8, "
                                 "(i mod 8) floordiv 4)")),
            "legal");
}

TEST_F(StorageTest, TilesMustNotOverlap) {
  Program program = matmulWith("(i, j) -> (i mod 4, j mod 8)");
  EXPECT_EQ(check(program, tiles("(i floordiv 8, j floordiv 8)")),
            "the storage of acc to suit the schedule, but elements "
            "(0, 0) and (4, 0) are in one place and alive at the same time, "
            "with parameters (5, 1, 2)");
  program = matmulWith("(i, j) -> (i mod 4, 0)");
  EXPECT_EQ(check(program, tiles("(i floordiv 4, j floordiv 8)")),
            "the storage of acc to suit the schedule, but elements "
            "(0, 6) and (0, 7) are in one place and alive at the same time, "
            "with parameters (1, 8, 2)");
  EXPECT_EQ(check(program, makeProgramOrder(program)),
            "the storage of acc to suit the schedule, but elements "
            "(0, 0) and (0, 1) are in one place and alive at the same time, "
            "with parameters (1, 2, 1)");
}

// What the tiles leave over has tiles of its own.
TEST_F(StorageTest, PartsHaveTheirOwnTiles) {
  Program program = matmulWith("(i, j) -> (i mod 4, j mod 8)");
  auto parts = [&](llvm::StringRef rest) {
    std::vector<ScheduleTree> filters;
    filters.push_back(part("M floordiv 4 * 4 - 1 - i >= 0",
                           "(i floordiv 4, j floordiv 8)",
                           {kParallel, kParallel}));
    filters.push_back(
        part("i - M floordiv 4 * 4 >= 0", rest, {kParallel, kParallel}));
    return makeSequence(std::move(filters));
  };
  EXPECT_EQ(check(program, parts("(i, j floordiv 8)")), "legal");
  EXPECT_EQ(check(program, parts("(i, j floordiv 16)")),
            "the storage of acc to suit the schedule, but elements "
            "(2, 7) and (2, 15) are in one place and alive at the same time, "
            "with parameters (3, 16, 2)");
}

// Filters say as much of a tile as loops do.
TEST_F(StorageTest, FiltersMakeTiles) {
  Program program = matmulWith("(i, j) -> (i mod 4, j mod 8)");
  auto parts = [&](llvm::StringRef first, llvm::StringRef rest) {
    std::vector<ScheduleTree> filters;
    filters.push_back(part(first, "(j floordiv 8)"));
    filters.push_back(part(rest, "(i floordiv 4, j floordiv 8)"));
    return makeSequence(std::move(filters));
  };
  EXPECT_EQ(check(program, parts("3 - i >= 0", "i - 4 >= 0")), "legal");
  EXPECT_EQ(check(program, parts("4 - i >= 0", "i - 5 >= 0")),
            "the storage of acc to suit the schedule, but elements "
            "(0, 0) and (4, 0) are in one place and alive at the same time, "
            "with parameters (5, 1, 2)");
}

// The rows of one band are shared by its columns' parallel iterations.
TEST_F(StorageTest, ParallelLoopsHaveTheirOwnMemory) {
  Program program = matmulWith("(i, j) -> (i mod 4, j)");
  EXPECT_EQ(check(program, tiles("(i floordiv 4)", {kParallel})), "legal");
  ScheduleTree tree = tiles("(i floordiv 4)", {kParallel});
  BandMember &inner = tree->children[0]->children[0]->children[0]->members[1];
  inner.concurrency = kParallel;
  EXPECT_EQ(check(program, tree), "legal");
  llvm::Expected<std::vector<LoopSet>> loops =
      findPrivateLoops(program, tree.get());
  ASSERT_TRUE(static_cast<bool>(loops)) << llvm::toString(loops.takeError());
  EXPECT_TRUE((*loops)[0].contains(&tree->members[0]));
  EXPECT_FALSE((*loops)[0].contains(&inner));
  // But not registers.
  program.storages[0].space = "registers";
  program.storages[0].isSharedBy = [](mlir::Attribute) { return false; };
  EXPECT_EQ(check(program, tree),
            "the storage of acc to suit the schedule, but iterations of a "
            "parallel loop share registers, in @init");
}

// Elements with places of their own need no second memory.
TEST_F(StorageTest, WholeArraysAreShared) {
  Program program = matmulWith("(i, j) -> (j floordiv 8, i, j mod 8)");
  ScheduleTree tree = tiles("(i floordiv 4)", {kParallel});
  llvm::Expected<std::vector<LoopSet>> loops =
      findPrivateLoops(program, tree.get());
  ASSERT_TRUE(static_cast<bool>(loops)) << llvm::toString(loops.takeError());
  EXPECT_TRUE((*loops)[0].empty());
}

TEST_F(DependenceTest, IndirectAccessesMayTouchAnything) {
  Program program;
  program.context = &context;
  program.numParams = 1;
  Statement scatter =
      statement("scatter", set("(i)[N] : (i >= 0, N - 1 - i >= 0)"));
  scatter.reads = {{0, map("(i)[N] -> (i)")}};
  scatter.writes = {{1, map("(i)[N, row] -> (row)")}};
  program.statements = {scatter};
  EXPECT_EQ(check(program, band("(i)[N] -> (i)")), "legal");
  EXPECT_EQ(check(program, band("(i)[N] -> (-i)")),
            "output scatter -> scatter (1)");
  EXPECT_EQ(check(program, band("(i)[N] -> (i)", {kParallel})),
            "output scatter -> scatter (1) carried");
}

TEST_F(DependenceTest, LimitsGiveUnknown) {
  Program program = jacobi();
  EXPECT_EQ(check(program,
                  band("(t, i)[T, N] -> (t floordiv 4, (t + i) floordiv 4, "
                       "t mod 4, (t + i) mod 4)"),
                  Limits{10}),
            "unknown: too many operations on integer sets");
}

TEST_F(DependenceTest, NotAffineIsUnknown) {
  Program program = jacobi();
  EXPECT_EQ(check(program, band("(t, i)[T, N] -> (t floordiv N, i)")),
            "unknown: a set or a map is not affine");
}

TEST_F(DependenceTest, ComputesRelations) {
  Context isl;
  Program program = jacobi();
  auto dependences = computeDependences(isl, program);
  ASSERT_TRUE(static_cast<bool>(dependences));
  ASSERT_EQ(dependences->size(), 3u);
  Map expected = Map::parse(
      isl, "[p0, p1] -> { [t, i] -> [t + 1, i - 1] : 0 <= t < p0 - 1 and "
           "2 <= i < p1 - 1 and i - 1 >= 1 }");
  bool found = false;
  for (const Dependence &dependence : *dependences) {
    EXPECT_EQ(dependence.kind, DependenceKind::Flow);
    EXPECT_FALSE(dependence.isReduction);
    found |= dependence.relation.isEqual(expected).value_or(false);
  }
  EXPECT_TRUE(found);
}

TEST_F(DependenceTest, ComputesDistances) {
  Context isl;
  Program program = jacobi();
  auto dependences = computeDependences(isl, program);
  ASSERT_TRUE(static_cast<bool>(dependences));
  auto getUnion = [&](const ScheduleNode *root, const ScheduleNode *band) {
    auto distances = computeDistances(isl, program, *dependences, root, band);
    EXPECT_TRUE(static_cast<bool>(distances));
    Set all;
    for (const LoopDistances &distance : *distances)
      all = all ? all.unite(distance.differences) : distance.differences;
    return all;
  };
  ScheduleTree tree = band("(t, i)[T, N] -> (t + i, t)");
  Set skewed = getUnion(tree.get(), tree.get());
  EXPECT_EQ(skewed.getMin(0), 0);
  EXPECT_EQ(skewed.getMax(0), 2);
  EXPECT_EQ(skewed.getMin(1), 1);
  EXPECT_EQ(skewed.getMax(1), 1);

  // What the loop over time leaves equal: nothing.
  BandMap inner{0, map("(t, i)[T, N] -> (i)")};
  ScheduleTree nested = makeBand(BandMap{0, map("(t, i)[T, N] -> (t)")},
                                 BandMember{}, makeBand(inner, BandMember{}));
  EXPECT_FALSE(getUnion(nested.get(), nested->children[0].get()));
  EXPECT_EQ(getUnion(nested.get(), nested.get()).getMin(0), 1);
}

} // namespace
