//===- PropertyTest.cpp - The engine against enumeration ------------------===//
//
// Random schedules of small programs: the loops must visit exactly the points
// of the domain, in the order of the schedule; and the legality check must
// agree with a comparison of all pairs of points, for every size that is tried.
//
//===----------------------------------------------------------------------===//

#include "Ast/ScanBoxes.h"
#include "Fixture.h"
#include "espalier/Polyhedral/Ast.h"
#include "espalier/Polyhedral/Dependence.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <random>

using namespace espalier::polyhedral;
using mlir::AffineExpr;

namespace {

using Point = std::vector<int64_t>;

class PropertyTest : public PolyhedralTest {
protected:
  /// The points that the loops visit, in the order of their execution, after
  /// the number of their statement.
  std::vector<Point> run(const AstNode &node, const Point &parameters) {
    std::vector<Point> visited;
    runAst(node, parameters, [&](const AstInstance &instance) {
      visited.push_back({instance.statement});
      visited.back().insert(visited.back().end(), instance.point.begin(),
                            instance.point.end());
      return true;
    });
    return visited;
  }

  /// The points of a box of side `size` that are in the statement's domain.
  std::vector<Point> enumerate(const Statement &statement, int64_t size,
                               const Point &parameters) {
    std::vector<Point> points;
    Point point(statement.numDims, -1);
    while (true) {
      bool inside = llvm::any_of(statement.domain, [&](mlir::IntegerSet set) {
        return llvm::all_of(
            llvm::zip(set.getConstraints(), set.getEqFlags()), [&](auto pair) {
              int64_t value = evaluate(std::get<0>(pair), point, parameters);
              return std::get<1>(pair) ? value == 0 : value >= 0;
            });
      });
      if (inside)
        points.push_back(point);
      unsigned i = point.size();
      while (i > 0 && ++point[i - 1] > size)
        point[--i] = -1;
      if (i == 0)
        return points;
    }
  }

  /// Coordinates of a point under a map.
  Point apply(mlir::AffineMap map, const Point &point,
              const Point &parameters) {
    Point result;
    for (AffineExpr expr : map.getResults())
      result.push_back(evaluate(expr, point, parameters));
    return result;
  }

  /// A random invertible schedule of two dimensions, some of them tiled.
  mlir::AffineMap randomSchedule(std::mt19937 &random) {
    auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    AffineExpr i = mlir::getAffineDimExpr(0, &context);
    AffineExpr j = mlir::getAffineDimExpr(1, &context);
    AffineExpr first = i * (pick(0, 3) ? 1 : -1), second = j;
    if (pick(0, 1))
      second = second + first * pick(-2, 2);
    if (pick(0, 1))
      std::swap(first, second);
    llvm::SmallVector<AffineExpr> loops;
    int64_t firstSize = pick(2, 4), secondSize = pick(2, 4);
    switch (pick(0, 2)) {
    case 0:
      loops = {first, second};
      break;
    case 1:
      loops = {first.floorDiv(firstSize), second, first % firstSize};
      break;
    default:
      loops = {first.floorDiv(firstSize), second.floorDiv(secondSize),
               first % firstSize, second % secondSize};
    }
    return mlir::AffineMap::get(2, 1, loops, &context);
  }
};

TEST_F(PropertyTest, LoopsVisitThePointsInTheirOrder) {
  std::mt19937 random(1);
  const std::string domains[] = {
      "(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)",
      "(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, i - j >= 0)",
      "(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, 2 * N - 2 * j - i >= 0, (i "
      "+ j) mod 3 == 0)"};
  for (unsigned trial = 0; trial < 60; ++trial) {
    Program program;
    program.context = &context;
    program.numParams = 1;
    program.statements = {statement("s", set(domains[trial % 3]))};
    BandMap bandMap{0, randomSchedule(random)};
    llvm::SmallVector<BandMember> members(bandMap.map.getNumResults());
    for (BandMember &member : members)
      member.shape = random() % 2 ? LoopShape::Atomic : LoopShape::Separate;
    ScheduleTree tree = makeBand(bandMap, members);
    tree->separateFullTiles = random() % 2;
    llvm::Expected<Ast> ast = scanSchedule(program, tree.get());
    ASSERT_TRUE(static_cast<bool>(ast)) << llvm::toString(ast.takeError());

    for (int64_t size : {0, 1, 2, 7}) {
      Point parameters = {size};
      std::vector<Point> visitedPoints = run(**ast, parameters);
      std::vector<Point> expected =
          enumerate(program.statements[0], size, parameters);
      llvm::sort(expected, [&](const Point &lhs, const Point &rhs) {
        return apply(bandMap.map, lhs, parameters) <
               apply(bandMap.map, rhs, parameters);
      });
      for (Point &point : expected)
        point.insert(point.begin(), 0);
      std::string text;
      llvm::raw_string_ostream os(text);
      os << bandMap.map << "\n";
      print(program, **ast, os);
      ASSERT_EQ(visitedPoints, expected) << text << "N = " << size;
    }
  }
}

// With isl 0.25 by itself, some loops begin between two steps.
TEST_F(PropertyTest, LoopsWithStepsVisitThePointsInTheirOrder) {
  std::mt19937 random(5);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  for (unsigned trial = 0; trial < 80; ++trial) {
    Program program;
    program.context = &context;
    program.numParams = 1;
    std::string steps = "(i)[N] : (i >= 0, N - 1 - i >= 0, (i - " +
                        std::to_string(pick(0, 1)) + ") mod " +
                        std::to_string(pick(2, 3)) + " == 0, ";
    Statement step = statement("s", set(steps + "i - N + 1 >= 0)"));
    step.domain.push_back(set(steps + "i - " + std::to_string(pick(1, 3)) +
                              " >= 0, N - i - " + std::to_string(pick(0, 2)) +
                              " >= 0)"));
    program.statements = {step};
    ScheduleTree tree =
        makeBand(BandMap{0, map("(i)[N] -> (i)")}, BandMember());
    llvm::Expected<Ast> ast = scanSchedule(program, tree.get());
    ASSERT_TRUE(static_cast<bool>(ast)) << llvm::toString(ast.takeError());
    std::string text;
    llvm::raw_string_ostream os(text);
    print(program, **ast, os);
    for (int64_t size = 0; size < 9; ++size) {
      std::vector<Point> expected = enumerate(step, size, {size});
      for (Point &point : expected)
        point.insert(point.begin(), 0);
      ASSERT_EQ(run(**ast, {size}), expected) << steps << "\n"
                                              << text << "N = " << size;
    }
  }
}

// Loops over digits of dimensions, some of which no form shows: both ways of
// scanning give the same order.
TEST_F(PropertyTest, LoopsOverDigitsVisitBoxesInTheirOrder) {
  std::mt19937 random(4);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  // Up to three loops whose values together tell those of `dim`.
  auto addDigits = [&](llvm::SmallVectorImpl<AffineExpr> &loops, unsigned dim) {
    AffineExpr value = mlir::getAffineDimExpr(dim, &context) -
                       (pick(0, 3) == 0 ? pick(0, 3) : 0);
    int64_t inner = pick(1, 4), outer = inner * pick(1, 3);
    // Where there is only one block, tiles need not divide it.
    if (pick(0, 3) == 0)
      outer = pick(8, 16);
    switch (pick(0, 3)) {
    case 0:
      loops.push_back(value);
      break;
    case 1:
      loops.push_back(value.floorDiv(inner) + pick(-1, 1));
      loops.push_back(value % inner);
      break;
    default:
      loops.push_back(value.floorDiv(outer));
      loops.push_back(((value + pick(-1, 1) * outer) % outer).floorDiv(inner));
      loops.push_back((value + pick(-3, 3)) % inner);
    }
  };
  auto makeMembers = [&](mlir::AffineMap map) {
    llvm::SmallVector<BandMember> members(map.getNumResults());
    for (BandMember &member : members)
      if (pick(0, 4) == 0)
        member.shape = LoopShape::Unroll;
    return members;
  };
  auto getDomain = [&](int64_t begin, int64_t end, int64_t other) {
    std::string text;
    llvm::raw_string_ostream(text)
        << "(i, j) : (i - " << begin << " >= 0, " << end - 1
        << " - i >= 0, j - " << begin / 2 << " >= 0, " << other << " - j >= 0)";
    return set(text);
  };
  constexpr int64_t kSide = 14;
  unsigned numBoxes = 0;
  for (unsigned trial = 0; trial < 200; ++trial) {
    Program program;
    program.context = &context;
    int64_t begin = 4 * pick(0, 1), other = pick(3, 9);
    int64_t end = begin + (pick(0, 2) ? 4 * pick(1, 2) : pick(1, 9));
    for (const char *name : {"s", "t"}) {
      if (pick(0, 7) == 0)
        end = begin + pick(1, 9);
      program.statements.push_back(
          statement(name, getDomain(begin, end, other)));
    }
    llvm::SmallVector<AffineExpr> loops;
    addDigits(loops, 0);
    if (pick(0, 2) == 0)
      std::swap(loops.front(), loops.back());
    auto outer = mlir::AffineMap::get(2, 0, loops, &context);

    // One statement in two parts of the other dimension, then the other one.
    int64_t split = pick(0, 9);
    std::string before =
                    "(i, j) : (" + std::to_string(split - 1) + " - j >= 0)",
                after = "(i, j) : (j - " + std::to_string(split) + " >= 0)";
    std::vector<std::pair<FilterSet, mlir::AffineMap>> parts;
    for (FilterSet filter :
         {FilterSet{0, set(before)}, FilterSet{0, set(after)},
          FilterSet{1, mlir::IntegerSet()}}) {
      llvm::SmallVector<AffineExpr> inner;
      addDigits(inner, 1);
      parts.push_back({filter, mlir::AffineMap::get(2, 0, inner, &context)});
    }
    std::vector<ScheduleTree> filters;
    for (auto &[filter, map] : parts)
      filters.push_back(makeFilter(
          filter, makeBand(BandMap{filter.statement, map}, makeMembers(map))));
    ScheduleTree tree = makeBand({{0, outer}, {1, outer}}, makeMembers(outer),
                                 makeSequence(std::move(filters)));

    std::vector<std::pair<Point, Point>> expected; // By their time.
    for (unsigned number : {0u, 1u})
      for (Point point : enumerate(program.statements[number], kSide, {})) {
        unsigned part = number == 1 ? 2 : point[1] < split ? 0 : 1;
        Point time = apply(outer, point, {});
        time.push_back(part);
        llvm::append_range(time, apply(parts[part].second, point, {}));
        point.insert(point.begin(), number);
        expected.push_back({time, point});
      }
    llvm::sort(expected);
    std::vector<Point> points;
    for (auto &[time, point] : expected)
      points.push_back(point);

    llvm::Expected<Ast> ast = scanSchedule(program, tree.get());
    ASSERT_TRUE(static_cast<bool>(ast)) << llvm::toString(ast.takeError());
    std::string text;
    llvm::raw_string_ostream os(text);
    print(program, **ast, os);
    ASSERT_EQ(run(**ast, {}), points) << text;
    if (Ast boxes = scanBoxes(program, tree.get()))
      ++numBoxes;
  }
  EXPECT_GT(numBoxes, 25u);
  EXPECT_LT(numBoxes, 160u);
}

// Loops that statements share although each has other values of them, up to
// extents that may be open.
TEST_F(PropertyTest, SharedLoopsVisitThePointsInTheirOrder) {
  std::mt19937 random(6);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  auto chooseBounds = [&](const std::string &dim, bool isOpen) {
    std::string text = dim + " >= 0, ";
    text += isOpen ? "N - 1 - " + dim + " >= 0" : "4 - " + dim + " >= 0";
    std::string number = std::to_string(pick(0, 3));
    const std::string more[] = {
        dim + " - " + number + " >= 0", number + " - " + dim + " >= 0",
        dim + " - " + number + " == 0", dim + " - M >= 0",
        "M - " + dim + " >= 0",         "N - M - " + dim + " >= 0"};
    for (unsigned i = pick(0, 2); i > 0; --i)
      text += ", " + more[pick(0, 5)];
    return text;
  };
  unsigned numBoxes = 0;
  for (unsigned trial = 0; trial < 300; ++trial) {
    bool isOpen = pick(0, 1);
    Program program;
    program.context = &context;
    program.numParams = 2;
    for (const char *name : {"s", "t", "u"})
      program.statements.push_back(statement(
          name, set("(i, j)[N, M] : (" + chooseBounds("i", isOpen) + ", " +
                    chooseBounds("j", pick(0, 3) == 0) + ")")));

    // The first loop of all, then parts, some of which share the second one.
    std::vector<BandMap> first, second;
    for (unsigned number : {0u, 1u, 2u}) {
      AffineExpr i =
          mlir::getAffineDimExpr(0, &context) + (pick(0, 5) ? 0 : pick(-1, 1));
      AffineExpr j =
          mlir::getAffineDimExpr(1, &context) + (pick(0, 5) ? 0 : pick(-1, 1));
      first.push_back({number, mlir::AffineMap::get(2, 2, i)});
      second.push_back({number, mlir::AffineMap::get(2, 2, j)});
    }
    auto makePart = [&](llvm::ArrayRef<unsigned> numbers) {
      llvm::SmallVector<FilterSet> filters;
      llvm::SmallVector<BandMap> maps;
      std::vector<ScheduleTree> ends;
      for (unsigned number : numbers) {
        filters.push_back({number, mlir::IntegerSet()});
        maps.push_back(second[number]);
        ends.push_back(makeFilter(FilterSet{number, mlir::IntegerSet()}));
      }
      ScheduleTree end =
          ends.size() == 1 ? nullptr : makeSequence(std::move(ends));
      return makeFilter(filters, makeBand(maps, BandMember(), std::move(end)));
    };
    unsigned shared = pick(1, 3);
    llvm::SmallVector<unsigned> numbers = {0, 1, 2};
    std::vector<ScheduleTree> parts;
    parts.push_back(makePart(llvm::ArrayRef(numbers).take_front(shared)));
    for (unsigned number = shared; number < 3; ++number)
      parts.push_back(makePart(number));
    ScheduleTree tree =
        makeBand(first, BandMember(), makeSequence(std::move(parts)));

    Ast boxes = scanBoxes(program, tree.get());
    if (!boxes)
      continue;
    ++numBoxes;
    std::string text;
    llvm::raw_string_ostream os(text);
    for (const Statement &statement : program.statements) {
      statement.domain.front().print(os);
      os << "\n";
    }
    print(program, *boxes, os);
    for (Point parameters : {Point{0, 0}, {1, 0}, {3, 1}, {5, 2}, {4, 7}}) {
      std::vector<std::pair<Point, Point>> expected; // By their time.
      for (unsigned number : numbers)
        for (Point point :
             enumerate(program.statements[number], 8, parameters)) {
          Point time = apply(first[number].map, point, parameters);
          time.push_back(number < shared ? 0 : number);
          llvm::append_range(time,
                             apply(second[number].map, point, parameters));
          time.push_back(number);
          point.insert(point.begin(), number);
          expected.push_back({time, point});
        }
      llvm::sort(expected);
      std::vector<Point> points;
      for (auto &[time, point] : expected)
        points.push_back(point);
      ASSERT_EQ(run(*boxes, parameters), points)
          << text << "N, M = " << parameters[0] << ", " << parameters[1];
    }
  }
  EXPECT_GT(numBoxes, 200u);
}

TEST_F(PropertyTest, LegalityAgreesWithEnumeration) {
  std::mt19937 random(2);
  unsigned numLegal = 0, numIllegal = 0;
  for (unsigned trial = 0; trial < 150; ++trial) {
    auto pick = [&](int64_t low, int64_t high) {
      return std::uniform_int_distribution<int64_t>(low, high)(random);
    };
    Program program;
    program.context = &context;
    program.numParams = 1;
    Statement step = statement(
        "s", set("(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= "
                 "0)"));
    AffineExpr i = mlir::getAffineDimExpr(0, &context);
    AffineExpr j = mlir::getAffineDimExpr(1, &context);
    step.writes = {{0, mlir::AffineMap::get(2, 1, {i, j}, &context)}};
    step.reads = {{0, mlir::AffineMap::get(
                          2, 1, {i - pick(-1, 1), j - pick(-2, 2)}, &context)}};
    program.statements = {step};
    BandMap bandMap{0, randomSchedule(random)};
    llvm::SmallVector<BandMember> members(bandMap.map.getNumResults());
    unsigned loop = pick(0, members.size());
    if (loop < members.size())
      members[loop].concurrency = Concurrency::Parallel;
    ScheduleTree tree = makeBand(bandMap, members);
    Legality legality = checkSchedule(program, tree.get());
    ASSERT_NE(legality.verdict, Legality::Verdict::Unknown) << legality.reason;

    // A pair in program order is violated if its order changes, or if the
    // concurrent loop is the first to tell its points apart.
    auto isViolated = [&](const Point &source, const Point &sink,
                          const Point &parameters) {
      if (!(source < sink))
        return false;
      Point first = apply(bandMap.map, source, parameters);
      Point second = apply(bandMap.map, sink, parameters);
      size_t level =
          std::mismatch(first.begin(), first.end(), second.begin()).first -
          first.begin();
      return level < first.size() &&
             (level == loop || first[level] > second[level]);
    };
    auto conflict = [&](const Point &source, const Point &sink,
                        const Point &parameters) {
      Point written = apply(step.writes[0].map, source, parameters);
      Point read = apply(step.reads[0].map, source, parameters);
      return written == apply(step.reads[0].map, sink, parameters) ||
             read == apply(step.writes[0].map, sink, parameters) ||
             written == apply(step.writes[0].map, sink, parameters);
    };
    if (legality.verdict == Legality::Verdict::Illegal) {
      ++numIllegal;
      ASSERT_TRUE(legality.violation.has_value());
      const Violation &violation = *legality.violation;
      Point source(violation.sourcePoint.begin(), violation.sourcePoint.end());
      Point sink(violation.sinkPoint.begin(), violation.sinkPoint.end());
      Point parameters(violation.parameters.begin(),
                       violation.parameters.end());
      EXPECT_TRUE(isViolated(source, sink, parameters));
      EXPECT_TRUE(conflict(source, sink, parameters));
      continue;
    }
    ++numLegal;
    for (int64_t size : {2, 6}) {
      Point parameters = {size};
      std::vector<Point> points = enumerate(step, size, parameters);
      for (const Point &source : points)
        for (const Point &sink : points)
          ASSERT_FALSE(conflict(source, sink, parameters) &&
                       isViolated(source, sink, parameters));
    }
  }
  EXPECT_GT(numLegal, 20u);
  EXPECT_GT(numIllegal, 20u);
}

// A consumer reads what a producer wrote, through memory that elements share.
TEST_F(PropertyTest, LegalStorageKeepsValuesUntilTheyAreRead) {
  std::mt19937 random(3);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  AffineExpr i = mlir::getAffineDimExpr(0, &context);
  AffineExpr j = mlir::getAffineDimExpr(1, &context);
  auto makeMap = [&](llvm::ArrayRef<AffineExpr> results, unsigned symbols) {
    return mlir::AffineMap::get(2, symbols, results, &context);
  };
  unsigned numLegal = 0, numIllegal = 0;
  for (unsigned trial = 0; trial < 150; ++trial) {
    int64_t rows = pick(1, 4), columns = pick(1, 4);
    Program program;
    program.context = &context;
    program.numParams = 1;
    mlir::IntegerSet domain =
        set("(i, j)[N] : (i >= 0, N - 1 - i >= 0, j >= 0, N - 1 - j >= 0)");
    Statement produce = statement("produce", domain);
    Statement consume = statement("consume", domain);
    produce.writes = {{0, makeMap({i, j}, 1)}};
    consume.reads = {{0, makeMap({i, j}, 1)}};
    program.statements = {produce, consume};
    mlir::AffineMap storage =
        makeMap({i % pick(1, 4), pick(0, 2) ? j % pick(1, 4) : j}, 0);
    program.storages = {{0, storage, "t"}};
    mlir::AffineMap outer = makeMap({i.floorDiv(rows), j.floorDiv(columns)}, 1);
    mlir::AffineMap inner = makeMap({i % rows, j % columns}, 1);
    std::vector<ScheduleTree> filters;
    for (unsigned number : {0u, 1u})
      filters.push_back(makeFilter(
          FilterSet{number, {}},
          makeBand(BandMap{number, inner}, llvm::SmallVector<BandMember>(2))));
    ScheduleTree tree = makeBand({BandMap{0, outer}, BandMap{1, outer}},
                                 llvm::SmallVector<BandMember>(2),
                                 makeSequence(std::move(filters)));
    Legality legality = checkSchedule(program, tree.get());
    ASSERT_NE(legality.verdict, Legality::Verdict::Unknown) << legality.reason;

    llvm::Expected<Ast> ast = scanSchedule(program, tree.get());
    ASSERT_TRUE(static_cast<bool>(ast)) << llvm::toString(ast.takeError());
    Point parameters = {7};
    std::vector<Point> visitedPoints = run(**ast, parameters);
    std::map<Point, Point> memory;
    bool isKept = true;
    for (const Point &visited : visitedPoints) {
      Point element(visited.begin() + 1, visited.end());
      Point place = apply(storage, element, parameters);
      if (visited[0] == 0)
        memory[place] = element;
      else
        isKept &= memory[place] == element;
    }
    bool isLegal = legality.verdict == Legality::Verdict::Legal;
    (isLegal ? numLegal : numIllegal)++;
    // For this schedule, lifetimes that are disjoint are so by tiles.
    EXPECT_EQ(isLegal, isKept) << legality.reason;
  }
  EXPECT_GT(numLegal, 20u);
  EXPECT_GT(numIllegal, 20u);
}

// The steps of a time loop use what earlier steps left: the places of elements
// are free again when the last of these has read them.
TEST_F(PropertyTest, StorageIsLegalIfLifetimesAreDisjoint) {
  std::mt19937 random(5);
  auto pick = [&](int64_t low, int64_t high) {
    return std::uniform_int_distribution<int64_t>(low, high)(random);
  };
  AffineExpr t = mlir::getAffineDimExpr(0, &context);
  AffineExpr i = mlir::getAffineDimExpr(1, &context);
  auto makeMap = [&](llvm::ArrayRef<AffineExpr> results, unsigned symbols) {
    return mlir::AffineMap::get(2, symbols, results, &context);
  };
  unsigned numLegal = 0, numIllegal = 0;
  for (unsigned trial = 0; trial < 60; ++trial) {
    // A[t, i] = f(A[t - delay, i + shift], A[t - 1, i])
    int64_t delay = pick(1, 3), shift = pick(-1, 1);
    Program program;
    program.context = &context;
    program.numParams = 1;
    Statement step = statement(
        "step", set("(t, i)[N] : (t - 3 >= 0, N - 1 - t >= 0, i - 1 >= 0, "
                    "N - 2 - i >= 0)"));
    mlir::AffineMap write = makeMap({t, i}, 1);
    mlir::AffineMap reads[] = {makeMap({t - delay, i + shift}, 1),
                               makeMap({t - 1, i}, 1)};
    step.writes = {{0, write}};
    step.reads = {{0, reads[0]}, {0, reads[1]}};
    program.statements = {step};
    mlir::AffineMap storage =
        makeMap({t % pick(1, 4), pick(0, 1) ? i : (i + t) % pick(1, 9)}, 0);
    program.storages = {{0, storage, "t"}};
    ScheduleTree tree =
        makeBand(BandMap{0, makeMap({t, i + t * pick(0, 1)}, 1)},
                 llvm::SmallVector<BandMember>(2));
    Legality legality = checkSchedule(program, tree.get());
    ASSERT_NE(legality.verdict, Legality::Verdict::Unknown) << legality.reason;

    llvm::Expected<Ast> ast = scanSchedule(program, tree.get());
    ASSERT_TRUE(static_cast<bool>(ast)) << llvm::toString(ast.takeError());
    Point parameters = {12};
    std::vector<Point> visitedPoints = run(**ast, parameters);
    // What is read before it is written came from outside; it is alive as long
    // as it is read.
    std::map<Point, std::pair<size_t, size_t>> lifetimes;
    size_t time = 0;
    for (const Point &visited : visitedPoints) {
      Point point(visited.begin() + 1, visited.end());
      auto use = [&](const mlir::AffineMap &map) {
        auto [it, isNew] =
            lifetimes.try_emplace(apply(map, point, parameters), time, time);
        it->second.second = time;
      };
      use(reads[0]);
      use(reads[1]);
      ++time;
      use(write);
      ++time;
    }
    bool isKept = true;
    for (const auto &[x, first] : lifetimes)
      for (const auto &[y, second] : lifetimes)
        if (x < y &&
            apply(storage, x, parameters) == apply(storage, y, parameters))
          isKept &= first.second < second.first || second.second < first.first;
    bool isLegal = legality.verdict == Legality::Verdict::Legal;
    (isLegal ? numLegal : numIllegal)++;
    EXPECT_EQ(isLegal, isKept) << trial << " " << legality.reason;
  }
  EXPECT_GT(numLegal, 10u);
  EXPECT_GT(numIllegal, 10u);
}

} // namespace
