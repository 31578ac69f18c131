//===- EnumerateTest.cpp - All graphs up to a depth -----------------------===//

#include "Classes.h"
#include "gtest/gtest.h"
#include <algorithm>
#include <set>

using namespace espalier::substitution;
using namespace espalier::substitution::generator;

namespace {
const Limits kLimits{uint64_t(1) << 30,
                     Limits::Clock::now() + std::chrono::hours(1)};

std::vector<GraphRecord> enumerate(const Expressions &expressions,
                                   unsigned depth, unsigned numThreads = 1,
                                   uint64_t shardBits = ~uint64_t(0),
                                   Share share = {}) {
  auto shards = std::make_unique<ShardedRecords>();
  EnumerationCounts counts;
  EXPECT_EQ(enumerateGraphs(expressions, depth, share, numThreads, shardBits,
                            kLimits, *shards, counts),
            Outcome::Done);
  std::vector<GraphRecord> records;
  for (const std::vector<GraphRecord> &shard : *shards)
    records.insert(records.end(), shard.begin(), shard.end());
  return records;
}

class EnumerateTest : public ::testing::Test {
protected:
  EnumerateTest() {
    EnumerationCounts counts;
    EXPECT_EQ(addExpressions(expressions, 2, kLimits, counts), Outcome::Done);
  }

  OperatorTable table = *getOperatorTable("paper");
  Expressions expressions{table, 1};
};

TEST_F(EnumerateTest, EachGraphComesOnce) {
  std::vector<GraphRecord> records = enumerate(expressions, 2);
  std::set<std::array<uint32_t, kMaxDepth>> codes;
  for (const GraphRecord &record : records)
    EXPECT_TRUE(codes.insert(record.code.words).second);
  // Pairs of expressions over inputs are graphs of two operators, whatever the
  // order, unless they are equal or no part of graphs.
  const std::vector<ExpressionId> &first = expressions.getFirst();
  for (ExpressionId lhs : first)
    for (ExpressionId rhs : first) {
      GraphCode code{{lhs, rhs, GraphCode::kNone, GraphCode::kNone}};
      const Expression &left = expressions.getExpression(lhs);
      const Expression &right = expressions.getExpression(rhs);
      bool isGraph = lhs < rhs && !left.isRedundant && !right.isRedundant;
      for (unsigned i = 0; i < left.numResults; ++i)
        for (unsigned j = 0; j < right.numResults; ++j)
          isGraph &= expressions.getTensor(left.firstResult + i).identity !=
                     expressions.getTensor(right.firstResult + j).identity;
      EXPECT_EQ(codes.count(code.words), isGraph ? 1u : 0u);
    }
}

TEST_F(EnumerateTest, ThreadsAndShardsDivideTheSame) {
  std::vector<GraphRecord> records = enumerate(expressions, 2);
  std::vector<GraphRecord> threads = enumerate(expressions, 2, 3), parts;
  for (unsigned shard = 0; shard < kNumShards; shard += 16) {
    std::vector<GraphRecord> part =
        enumerate(expressions, 2, 1, uint64_t(0xffff) << shard);
    parts.insert(parts.end(), part.begin(), part.end());
  }
  std::vector<GraphRecord> shares;
  for (unsigned number = 0; number < 3; ++number) {
    std::vector<GraphRecord> share =
        enumerate(expressions, 2, 1, ~uint64_t(0), {number, 3});
    shares.insert(shares.end(), share.begin(), share.end());
  }
  llvm::sort(shares);
  for (const auto &other : {threads, parts, shares}) {
    ASSERT_EQ(other.size(), records.size());
    for (size_t i = 0; i < records.size(); ++i) {
      EXPECT_EQ(other[i].fingerprint, records[i].fingerprint);
      EXPECT_EQ(other[i].code, records[i].code);
    }
  }
}

/// What a renaming of inputs makes of a class that is left out is kept.
TEST_F(EnumerateTest, RenamingLosesNoRule) {
  std::vector<GraphRecord> records = enumerate(expressions, 2);
  Terms terms(table);
  SideBuilder builder(expressions, terms);
  std::set<std::string> kept, all;
  for (size_t i = 0, end; i < records.size(); i = end) {
    for (end = i + 1; end < records.size() &&
                      records[end].fingerprint == records[i].fingerprint;)
      ++end;
    std::vector<Side> sides;
    for (size_t j = i; j < end; ++j)
      sides.push_back(builder.get(records[j].code));
    bool isKept =
        llvm::any_of(sides, [](const Side &side) { return side.isCanonical; });
    for (size_t j = 0; j < sides.size(); ++j)
      for (size_t k = 0; k < j; ++k) {
        std::string text =
            getCanonicalText(terms, {sides[j].outputs, sides[k].outputs});
        all.insert(text);
        if (isKept)
          kept.insert(text);
      }
  }
  EXPECT_GT(all.size(), 50u);
  EXPECT_EQ(kept, all);
}

/// A partition may come from a version with other operators.
TEST_F(EnumerateTest, CodesOfOtherGraphsAreNoClass) {
  Terms terms(table);
  SideBuilder builder(expressions, terms);
  const uint32_t none = GraphCode::kNone, size = expressions.size(),
                 tensors = expressions.getNumTensors(),
                 leaves = expressions.getNumLeaves(),
                 application = GraphCode::kApplication,
                 inputs = GraphCode::kInputs;
  const GraphCode graph{{0, none, none, none}};
  ASSERT_TRUE(builder.get(ClassCodes{graph, graph}));
  EXPECT_FALSE(builder.get(ClassCodes{}));
  const GraphCode others[] = {
      {{none, none, none, none}},
      {{size, none, none, none}},
      {{0, size, none, none}},
      {{application | uint32_t(table.operators.size()), 0, 0, none}},
      {{application, tensors, 0, none}},
      {{application, 0, tensors, none}},
      {{inputs | leaves, none, none, none}},
      {{inputs, leaves, none, none}},
      // As many outputs as the other graph has.
      {{inputs, 1, none, none}}};
  for (const GraphCode &other : others)
    EXPECT_FALSE(builder.get(ClassCodes{graph, other}))
        << other.words[0] << ' ' << other.words[1];
}

TEST_F(EnumerateTest, LimitsHold) {
  auto shards = std::make_unique<ShardedRecords>();
  EnumerationCounts counts;
  Limits small = kLimits;
  small.maxBytes = 1000;
  EXPECT_EQ(enumerateGraphs(expressions, 2, {}, 1, ~uint64_t(0), small, *shards,
                            counts),
            Outcome::OutOfMemory);
  Limits late = kLimits;
  late.deadline = Limits::Clock::now();
  EXPECT_EQ(enumerateGraphs(expressions, 2, {}, 1, ~uint64_t(0), late, *shards,
                            counts),
            Outcome::OutOfTime);
}
} // namespace
