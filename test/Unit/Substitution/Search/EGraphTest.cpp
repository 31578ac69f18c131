//===- EGraphTest.cpp - E-graphs, and what is extracted from them ---------===//

#include "Extract.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "mlir/AsmParser/AsmParser.h"
#include "gtest/gtest.h"
#include <random>

using namespace mlir;
using namespace espalier;
using namespace espalier::substitution;

namespace {

/// Takes the cost from the name.
class NamedCosts : public CostModel {
public:
  double getSeconds(const OperatorInstance &instance) override {
    return costs.lookup(instance.name);
  }
  llvm::StringMap<double> costs;
};

class EGraphTest : public testing::Test {
protected:
  EGraphTest() : builder(&context), graph(&context) {
    context.loadDialect<graph::GraphDialect>();
  }

  RankedTensorType type(ArrayRef<int64_t> shape) {
    return RankedTensorType::get(shape, builder.getF32Type());
  }

  ClassId addValue(unsigned number, RankedTensorType type) {
    ENode node;
    node.kind = ENode::Kind::Value;
    node.entity = reinterpret_cast<const void *>(uintptr_t(number + 1) * 8);
    return graph.add(node, type);
  }
  ClassId addOp(StringRef name, ArrayRef<ClassId> operands,
                std::optional<RankedTensorType> result = {}) {
    ENode node;
    node.symbol = graph.getSymbol(name, builder.getDictionaryAttr({}));
    node.operands.assign(operands.begin(), operands.end());
    return graph.add(node, result.value_or(type({2, 2})));
  }
  ClassId addConstant() {
    ENode node;
    auto value = DenseElementsAttr::get(type({2, 2}), 1.0f);
    node.symbol = graph.getSymbol(
        "graph.constant",
        builder.getDictionaryAttr(builder.getNamedAttr("value", value)));
    return graph.add(node, type({2, 2}));
  }
  bool isSame(ClassId lhs, ClassId rhs) {
    return graph.find(lhs) == graph.find(rhs);
  }

  MLIRContext context;
  Builder builder;
  EGraph graph;
};

TEST_F(EGraphTest, EqualNodesAreOne) {
  ClassId a = addValue(0, type({2, 2})), b = addValue(1, type({2, 2}));
  EXPECT_EQ(addOp("graph.add", {a, b}), addOp("graph.add", {b, a}));
  EXPECT_NE(addOp("graph.sub", {a, b}), addOp("graph.sub", {b, a}));
}

TEST_F(EGraphTest, UsersOfEqualClassesBecomeEqual) {
  ClassId a = addValue(0, type({2, 2})), b = addValue(1, type({2, 2}));
  ClassId first = addOp("graph.relu", addOp("graph.exp", a));
  ClassId second = addOp("graph.relu", addOp("graph.exp", b));
  EXPECT_FALSE(isSame(first, second));
  EXPECT_TRUE(graph.unite(a, b));
  graph.rebuild();
  EXPECT_TRUE(isSame(first, second));
  EXPECT_EQ(graph[first].nodes.size(), 1u);
  EXPECT_EQ(addOp("graph.exp", a), graph.find(addOp("graph.exp", b)));
}

TEST_F(EGraphTest, TypesMustAgreeAndGetBetter) {
  int64_t any = ShapedType::kDynamic;
  ClassId a = addValue(0, type({any, 2})), b = addValue(1, type({3, any}));
  ClassId c = addValue(2, type({4, 2}));
  EXPECT_TRUE(graph.unite(a, b));
  EXPECT_EQ(graph[a].type, type({3, 2}));
  EXPECT_FALSE(graph.unite(a, c));
}

TEST_F(EGraphTest, ConstantsMakeConstants) {
  ClassId a = addValue(0, type({2, 2})), constant = addConstant();
  ClassId user = addOp("graph.relu", a);
  ClassId sum = addOp("graph.add", {user, constant});
  EXPECT_TRUE(graph[constant].isConstant);
  EXPECT_FALSE(graph[sum].isConstant);
  EXPECT_TRUE(graph.unite(a, constant));
  graph.rebuild();
  EXPECT_TRUE(graph[user].isConstant);
  EXPECT_TRUE(graph[sum].isConstant);
}

TEST_F(EGraphTest, ConstantsThatTakeLongAreComputedByTheProgram) {
  auto isFree = [&](int64_t rows, StringRef name, StringRef attributes,
                    std::optional<int64_t> resultRows = {}) {
    RankedTensorType square = type({rows, rows});
    ENode node;
    node.symbol = graph.getSymbol(
        "graph.constant",
        builder.getDictionaryAttr(builder.getNamedAttr(
            "value", DenseElementsAttr::get(square, float(rows)))));
    ClassId weight = graph.add(node, square);
    ENode made;
    made.symbol = graph.getSymbol(
        name, cast<DictionaryAttr>(parseAttribute(attributes, &context)));
    made.operands = {weight, weight};
    return graph[graph.add(made, type({resultRows.value_or(rows), rows}))]
        .isConstant;
  };
  EXPECT_TRUE(isFree(128, "graph.matmul", "{}"));
  EXPECT_FALSE(isFree(1024, "graph.matmul", "{}"));
  EXPECT_TRUE(isFree(1024, "graph.concat", "{axis = 0}", 2048));
  EXPECT_FALSE(isFree(4096, "graph.concat", "{axis = 0}", 8192));
  // What grows by more than 4 MiB.
  EXPECT_FALSE(isFree(64, "graph.concat", "{axis = 0}", 64 * 1024));
}

TEST_F(EGraphTest, SharedExpressionsCostOnce) {
  // Two uses of `exp(a)` cost more than one, but less than two of `tanh(a)`.
  ClassId a = addValue(0, type({2, 2}));
  ClassId shared = addOp("graph.exp", a);
  ClassId left = addOp("graph.relu", shared),
          right = addOp("graph.abs", shared);
  graph.unite(left, addOp("graph.tanh", a));
  graph.unite(right, addOp("graph.sin", a));
  graph.rebuild();
  ClassId root = addOp("graph.add", {left, right});
  NamedCosts model;
  model.costs = {{"graph.exp", 5},  {"graph.tanh", 3}, {"graph.sin", 3},
                 {"graph.relu", 0}, {"graph.abs", 0},  {"graph.add", 1}};
  NodeCosts costs(graph, model);
  Extraction problem{graph, root, costs};
  Choice start = getOriginal(problem);
  Choice greedy = extractGreedily(problem, start, [] { return false; });
  EXPECT_NEAR(problem.getCost(greedy), 6, 1e-6);
  bool isOptimal = false;
  Choice best = extractOptimally(problem, start, 60, isOptimal);
  EXPECT_NEAR(problem.getCost(best), 6, 1e-6);
  EXPECT_TRUE(isOptimal);
}

TEST_F(EGraphTest, CyclesAreExcluded) {
  // relu(b) = a and exp(a) = b: one of the two has to be computed from a value.
  ClassId value = addValue(0, type({2, 2}));
  ClassId a = addOp("graph.tanh", value), b = addOp("graph.sin", value);
  graph.unite(a, addOp("graph.relu", b));
  graph.unite(b, addOp("graph.exp", a));
  graph.rebuild();
  ClassId root = addOp("graph.add", {a, b});
  NamedCosts model;
  model.costs = {{"graph.tanh", 7},
                 {"graph.sin", 9},
                 {"graph.relu", 1},
                 {"graph.exp", 1},
                 {"graph.add", 1}};
  NodeCosts costs(graph, model);
  Extraction problem{graph, root, costs};
  Choice start = getOriginal(problem);
  EXPECT_NEAR(problem.getCost(start), 17, 1e-6);
  Choice greedy = extractGreedily(problem, start, [] { return false; });
  EXPECT_NEAR(problem.getCost(greedy), 9, 1e-6);
  bool isOptimal = false;
  Choice best = extractOptimally(problem, start, 60, isOptimal);
  EXPECT_NEAR(problem.getCost(best), 9, 1e-6);
  EXPECT_TRUE(isOptimal);
}

class RoundingTest : public EGraphTest,
                     public testing::WithParamInterface<unsigned> {
protected:
  /// Operators, each with other ways to say it that cost the same.
  ClassId addEqualWays(unsigned numOperators, NamedCosts &model) {
    std::vector<ClassId> all{addValue(0, type({2, 2}))};
    ClassId root = all.front();
    for (unsigned number = 0; number < numOperators; ++number) {
      std::string name = "graph.op" + std::to_string(number);
      double cost = draw() * (random() % 2 ? 1e6 : 1e9);
      ClassId x = all[random() % all.size()], y = all[random() % all.size()];
      model.costs[name] = cost;
      ClassId whole = addOp(name, {x, y});
      for (unsigned way = 0; way < 3; ++way) {
        std::string other = name + "_" + std::to_string(way);
        double part = cost * draw();
        model.costs[other + "_first"] = part;
        model.costs[other + "_second"] = cost - part;
        graph.unite(whole,
                    addOp(other + "_second", {addOp(other + "_first", x), y}));
      }
      graph.rebuild();
      all.push_back(graph.find(whole));
      root = addOp("graph.add", {root, all.back()});
    }
    return root;
  }

  double draw() { return random() * 0x1p-32; }

  std::mt19937 random{GetParam()};
};

/// What is counted up and down is rounded, and would be a gain for ever.
TEST_P(RoundingTest, IsNoImprovement) {
  NamedCosts model;
  ClassId root = addEqualWays(/*numOperators=*/30, model);
  NodeCosts costs(graph, model);
  Extraction problem{graph, root, costs};
  unsigned numAsked = 0;
  auto isTimeUp = [&] { return ++numAsked > 100000; };
  Choice greedy = extractGreedily(problem, getOriginal(problem), isTimeUp);
  EXPECT_LT(numAsked, 20 * graph.getNumClassIds());
}

INSTANTIATE_TEST_SUITE_P(Seeds, RoundingTest, testing::Range(0u, 40u));

} // namespace
