//===- LinearizeTest.cpp - Tests of the numbering of structures -----------===//

#include "espalier-c/Structures.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <random>
#include <string>
#include <vector>

namespace {

/// Structures of one kind, added one by one.
struct Batch {
  explicit Batch(int32_t kind, int32_t arity = 0, int64_t columns = 2)
      : kind(kind), arity(arity), columns(columns) {}

  void add(const std::vector<std::vector<int32_t>> &rows) {
    for (const std::vector<int32_t> &row : rows)
      for (int64_t k = 0; k < columns; ++k)
        children.push_back(k < static_cast<int64_t>(row.size()) ? row[k] : -1);
    starts.push_back(starts.back() + static_cast<int64_t>(rows.size()));
  }
  void addParents(const std::vector<int32_t> &ofStructure) {
    parents.insert(parents.end(), ofStructure.begin(), ofStructure.end());
    starts.push_back(starts.back() + static_cast<int64_t>(ofStructure.size()));
  }
  espalier_structures get() const {
    return {kind,
            arity,
            static_cast<int64_t>(starts.size()) - 1,
            starts.data(),
            children.empty() && isTable ? nullptr : children.data(),
            isTable ? columns : 0,
            parents.empty() ? nullptr : parents.data(),
            words.empty() ? nullptr : words.data(),
            vocabulary,
            vocabulary,
            batching,
            isTable ? nullptr : rows.data()};
  }
  /// The same structures, whose children lie side by side.
  Batch asRows() const {
    Batch result = *this;
    result.isTable = false;
    result.children.clear();
    for (size_t node = 0; node < children.size() / columns; ++node) {
      for (int64_t k = 0; k < columns; ++k)
        if (children[node * columns + k] >= 0)
          result.children.push_back(children[node * columns + k]);
      result.rows.push_back(static_cast<int64_t>(result.children.size()));
    }
    result.children.reserve(1); // For an address.
    return result;
  }

  int32_t kind, arity, batching = ESPALIER_SOONEST;
  int64_t columns, vocabulary = 0;
  bool isTable = true;
  std::vector<int64_t> starts{0}, rows{0};
  std::vector<int32_t> children, parents, words;
};

class Linearize : public testing::Test {
protected:
  ~Linearize() override { espalier_linearizer_destroy(linearizer); }

  /// Returns the message of the error, or "".
  std::string run(const Batch &batch) {
    espalier_structures in = batch.get();
    espalier_status status = espalier_linearize(linearizer, &in, &out);
    std::string message = espalier_linearizer_last_error(linearizer);
    EXPECT_EQ(status == ESPALIER_OK, message.empty());
    return message;
  }

  espalier_linearizer *linearizer = espalier_linearizer_create();
  espalier_linearization out = {};
};

std::vector<int32_t> toVector(const int32_t *data, int64_t size) {
  return {data, data + size};
}

using Numbers = std::vector<int32_t>;

TEST_F(Linearize, LeavesComeFirst) {
  Batch batch(ESPALIER_TREE, 2);
  batch.add({{1, 2}, {}, {3, 4}, {}, {}});
  batch.add({{}});
  batch.words = {9, 1, 8, 3, 4, 5};
  batch.vocabulary = 10;
  ASSERT_EQ(run(batch), "");
  EXPECT_EQ(out.num_nodes, 6);
  EXPECT_EQ(out.num_leaves, 4);
  EXPECT_EQ(toVector(out.order, 6), (Numbers{1, 3, 4, 5, 2, 0}));
  EXPECT_EQ(toVector(out.words, 6), (Numbers{1, 3, 4, 5, 8, 9}));
  EXPECT_EQ(toVector(out.arity, 6), (Numbers{0, 0, 0, 0, 2, 2}));
  EXPECT_EQ(toVector(out.children, 4), (Numbers{1, 2, 0, 4}));
  EXPECT_EQ(toVector(out.levels, out.num_levels + 1), (Numbers{0, 1, 2}));
  EXPECT_EQ(toVector(out.roots, out.num_roots), (Numbers{5, 3}));
}

TEST_F(Linearize, ParentsAreATableToo) {
  Batch table(ESPALIER_TREE, 0, 3), parents(ESPALIER_TREE);
  table.add({{1, 2, 4}, {}, {3}, {}, {}});
  parents.addParents({-1, 0, 0, 2, 0});
  ASSERT_EQ(run(table), "");
  auto order = toVector(out.order, 5);
  auto children = toVector(out.children, 2 * out.columns);
  ASSERT_EQ(run(parents), "");
  EXPECT_EQ(toVector(out.order, 5), order);
  EXPECT_EQ(toVector(out.children, 2 * out.columns), children);
}

TEST_F(Linearize, DagsShareChildrenAndHaveRoots) {
  Batch batch(ESPALIER_DAG, 0, 2);
  // Children on both sides of their parents.
  batch.add({{2}, {2, 3}, {}, {2}});
  ASSERT_EQ(run(batch), "");
  EXPECT_EQ(toVector(out.order, 4), (Numbers{2, 0, 3, 1}));
  EXPECT_EQ(toVector(out.roots, out.num_roots), (Numbers{1, 3}));
  EXPECT_EQ(toVector(out.levels, 3), (Numbers{0, 2, 3}));
  EXPECT_EQ(toVector(out.children, 6), (Numbers{0, 0, 0, 0, 0, 2}));
}

TEST_F(Linearize, Refusals) {
  auto table = [&](int32_t kind, int32_t arity,
                   const std::vector<std::vector<int32_t>> &rows) {
    Batch batch(kind, arity);
    batch.add({{}});
    batch.add(rows);
    return run(batch);
  };
  EXPECT_EQ(run(Batch(ESPALIER_TREE)), "expects a structure, but got none");
  EXPECT_EQ(table(ESPALIER_TREE, 2, {}),
            "structure #1: expects a node, but got none");
  EXPECT_EQ(table(ESPALIER_TREE, 2, {{1, 3}, {}, {}}),
            "structure #1, node 0: expects a child out of the structure's "
            "nodes, but got 3");
  EXPECT_EQ(table(ESPALIER_TREE, 2, {{1}, {}}),
            "structure #1, node 0: expects 0 or 2 children, but got 1");
  EXPECT_EQ(table(ESPALIER_TREE, 0, {{1, 2}, {2}, {}}),
            "structure #1, node 2: expects one parent in a tree, but got 2");
  EXPECT_EQ(table(ESPALIER_TREE, 0, {{1}, {}, {}}),
            "structure #1: expects one root, but got 2");
  EXPECT_EQ(table(ESPALIER_SEQUENCE, 0, {{1, 2}, {}, {}}),
            "structure #1, node 0: expects at most one child in a sequence, "
            "but got 2");
  EXPECT_EQ(table(ESPALIER_DAG, 0, {{-1, 1}, {}}),
            "structure #1, node 0: expects no child after a negative number, "
            "but got 1");
  EXPECT_EQ(table(ESPALIER_DAG, 0, {{1}, {2, 3}, {1}, {}}),
            "structure #1, node 2: expects nodes that are not below "
            "themselves, but got a cycle");
  EXPECT_EQ(table(ESPALIER_TREE, 0, {{0}}),
            "structure #1, node 0: expects nodes that are not below "
            "themselves, but got a cycle");
  Batch words(ESPALIER_TREE);
  words.add({{}, {0}});
  words.words = {3, 7};
  words.vocabulary = 7;
  EXPECT_EQ(run(words), "structure #0, node 1: expects a word of the "
                        "vocabulary, but got 7");
  Batch parents(ESPALIER_TREE);
  parents.addParents({-1, 2});
  EXPECT_EQ(run(parents), "structure #0, node 1: expects a parent out of the "
                          "structure's nodes, but got 2");
  parents.children = {0};
  EXPECT_EQ(run(parents), "expects either children or parents, but got both");
  Batch around(ESPALIER_TREE);
  around.addParents({-1, 2, 1});
  EXPECT_EQ(run(around), "structure #0, node 1: expects nodes that are not "
                         "below themselves, but got a cycle");
  Batch batching(ESPALIER_TREE);
  batching.add({{}});
  batching.batching = 3;
  EXPECT_EQ(run(batching), "expects a way to batch nodes, but got 3");
  Batch other(3);
  other.add({{}});
  EXPECT_EQ(run(other), "expects a kind of structures, but got 3");
}

TEST_F(Linearize, ACombOfAMillionNodesIsDeep) {
  const int32_t depth = 1000000;
  Batch batch(ESPALIER_TREE, 2);
  std::vector<std::vector<int32_t>> rows;
  for (int32_t i = 0; i < depth; ++i) {
    rows.push_back({2 * i + 1, 2 * i + 2});
    rows.push_back({});
  }
  rows.push_back({});
  batch.add(rows);
  ASSERT_EQ(run(batch), "");
  EXPECT_EQ(out.num_levels, depth);
  EXPECT_EQ(out.num_leaves, depth + 1);
  EXPECT_EQ(out.roots[0], 2 * depth);
}

TEST_F(Linearize, NodesAreBatchedLateOrOneByOne) {
  // 0 has the children 1 and 4; 1 has 2 and 3, 4 has 5; 5 has 6.
  Batch batch(ESPALIER_TREE);
  batch.add({{1, 4}, {2, 3}, {}, {}, {5}, {6}, {}});
  ASSERT_EQ(run(batch), "");
  EXPECT_EQ(toVector(out.order, 7), (Numbers{2, 3, 6, 1, 5, 4, 0}));
  EXPECT_EQ(toVector(out.levels, out.num_levels + 1), (Numbers{0, 2, 3, 4}));
  batch.batching = ESPALIER_LATEST;
  ASSERT_EQ(run(batch), "");
  EXPECT_EQ(toVector(out.order, 7), (Numbers{2, 3, 6, 5, 1, 4, 0}));
  EXPECT_EQ(toVector(out.levels, out.num_levels + 1), (Numbers{0, 1, 3, 4}));
  EXPECT_EQ(toVector(out.children, 8), (Numbers{2, 0, 0, 1, 3, 0, 4, 5}));
  batch.batching = ESPALIER_POST_ORDER;
  ASSERT_EQ(run(batch), "");
  EXPECT_EQ(toVector(out.order, 7), (Numbers{2, 3, 6, 1, 5, 4, 0}));
  EXPECT_EQ(toVector(out.levels, out.num_levels + 1), (Numbers{0, 1, 2, 3, 4}));
  EXPECT_EQ(toVector(out.roots, 1), (Numbers{6}));
}

TEST_F(Linearize, WordsAreCheckedWhereTheyAreUsed) {
  Batch batch(ESPALIER_TREE);
  batch.add({{1, 2}, {}, {}});
  batch.words = {-1, 0, 1};
  batch.vocabulary = 2;
  espalier_structures in = batch.get();
  EXPECT_EQ(espalier_linearize(linearizer, &in, &out),
            ESPALIER_INVALID_ARGUMENT);
  in.interior_vocabulary = 0;
  EXPECT_EQ(espalier_linearize(linearizer, &in, &out), ESPALIER_OK);
  EXPECT_EQ(toVector(out.words, 3), (Numbers{0, 1, -1}));
}

TEST_F(Linearize, NothingIsAllocatedAfterTheFirstCall) {
  Batch batch(ESPALIER_TREE, 2);
  batch.add({{1, 2}, {}, {3, 4}, {}, {}});
  ASSERT_EQ(run(batch), "");
  espalier_linearization first = out;
  ASSERT_EQ(run(batch), "");
  EXPECT_EQ(out.order, first.order);
  EXPECT_EQ(out.children, first.children);
  EXPECT_EQ(out.levels, first.levels);
}

/// Checks what a linearization promises against the structures it is of.
void verify(const Batch &batch, const espalier_linearization &out) {
  std::vector<int32_t> number(out.num_nodes, -1);
  for (int64_t node = 0; node < out.num_nodes; ++node) {
    ASSERT_EQ(number[out.order[node]], -1);
    number[out.order[node]] = static_cast<int32_t>(node);
    ASSERT_EQ(out.arity[node] == 0, node < out.num_leaves);
  }
  std::vector<int64_t> level(out.num_nodes, 0);
  for (int64_t l = 0; l < out.num_levels; ++l) {
    ASSERT_LT(out.levels[l], out.levels[l + 1]);
    for (int32_t row = out.levels[l]; row < out.levels[l + 1]; ++row)
      level[out.num_leaves + row] = l + 1;
  }
  ASSERT_EQ(out.num_leaves + out.levels[out.num_levels], out.num_nodes);
  size_t structure = 0;
  for (int64_t old = 0; old < out.num_nodes; ++old) {
    while (batch.starts[structure + 1] <= old)
      ++structure;
    int64_t row = number[old] - out.num_leaves;
    for (int64_t k = 0; row >= 0 && k < out.arity[number[old]]; ++k) {
      int32_t child = out.children[row * out.columns + k];
      ASSERT_EQ(child, number[batch.starts[structure] +
                              batch.children[old * batch.columns + k]]);
      ASSERT_LT(level[child], level[number[old]]);
    }
  }
}

TEST_F(Linearize, RandomStructures) {
  std::mt19937 random(7);
  auto below = [&](int64_t bound) {
    return static_cast<int32_t>(random() % bound);
  };
  for (int round = 0; round < 500; ++round) {
    Batch batch(ESPALIER_DAG, 0, 1 + below(4));
    batch.batching = below(3);
    for (int structure = 0; structure <= below(4); ++structure) {
      int32_t size = 1 + below(40);
      // A random order, so that no sweep is enough.
      std::vector<int32_t> place(size);
      for (int32_t i = 0; i < size; ++i)
        place[i] = i;
      if (round % 3 != 0)
        std::shuffle(place.begin(), place.end(), random);
      std::vector<std::vector<int32_t>> rows(size);
      for (int32_t i = 1; i < size; ++i)
        for (int32_t k = below(batch.columns + 1); k > 0; --k)
          rows[place[i]].push_back(place[below(i)]);
      batch.add(rows);
    }
    ASSERT_EQ(run(batch), "");
    verify(batch, out);
    ASSERT_EQ(run(batch.asRows()), "");
    verify(batch, out);
  }
}

TEST_F(Linearize, RowsOfChildrenAreChecked) {
  Batch table(ESPALIER_TREE);
  table.add({{1, 2}, {}, {}});
  Batch batch = table.asRows();
  ASSERT_EQ(run(batch), "");
  EXPECT_EQ(toVector(out.order, 3), (Numbers{1, 2, 0}));
  batch.rows = {1, 2, 2, 2};
  EXPECT_EQ(run(batch), "structure #0, node 0: expects rows of children that "
                        "begin at 0, but got 1");
  batch.rows = {0, 2, 1, 2};
  EXPECT_EQ(run(batch), "structure #0, node 1: expects children that end where "
                        "they begin, or later, but got 1");
  batch.rows = {0, 2, 2, 2};
  batch.children[1] = -1;
  EXPECT_EQ(run(batch), "structure #0, node 0: expects children that are not "
                        "negative, but got -1");
  batch.children[1] = 3;
  EXPECT_EQ(run(batch), "structure #0, node 0: expects a child out of the "
                        "structure's nodes, but got 3");
  espalier_structures in = batch.get();
  in.children = nullptr;
  EXPECT_NE(espalier_linearize(linearizer, &in, &out), ESPALIER_OK);
  in.parents = batch.children.data();
  EXPECT_NE(espalier_linearize(linearizer, &in, &out), ESPALIER_OK);
  EXPECT_STREQ(espalier_linearizer_last_error(linearizer),
               "expects rows of children, but got those of none");
}

TEST_F(Linearize, RandomNumbersNeverCrash) {
  std::mt19937 random(11);
  int accepted = 0;
  for (int round = 0; round < 5000; ++round) {
    Batch batch(static_cast<int32_t>(random() % 3), random() % 3, 2);
    int32_t size = 1 + random() % 6;
    std::vector<std::vector<int32_t>> rows(size);
    for (auto &row : rows)
      for (int k = random() % 3; k > 0; --k)
        row.push_back(static_cast<int32_t>(random() % (size + 2)) - 1);
    batch.add(rows);
    batch.batching = static_cast<int32_t>(random() % 3);
    bool isRefused = !run(batch).empty();
    // Without what is negative, and so not refused for it.
    Batch asRows = batch.asRows();
    EXPECT_TRUE(isRefused || run(asRows).empty());
    asRows.rows[random() % asRows.rows.size()] = random() % (size + 1);
    if (asRows.rows.back() == static_cast<int64_t>(asRows.children.size()))
      run(asRows);
    if (isRefused)
      continue;
    ASSERT_EQ(run(batch), "");
    ++accepted;
    verify(batch, out);
  }
  EXPECT_GT(accepted, 100);
}

} // namespace
