//===- Enumerate.cpp - All graphs up to a depth ---------------------------===//

#include "Enumerate.h"
#include "espalier/Support/WorkerPool.h"
#include <algorithm>
#include <atomic>

using namespace espalier;
using namespace espalier::substitution;
using namespace espalier::substitution::generator;

namespace {
/// A set of expressions under construction.
struct Members {
  std::array<ExpressionId, kMaxDepth> ids;
  unsigned count = 0;
  uint64_t lastKey = 0;
  uint64_t fingerprint = 0;
  /// The results of the members: identity, and whether a member reads it.
  struct Result {
    TensorId tensor;
    uint64_t identity;
    bool isRead;
  };
  std::array<Result, 2 * kMaxDepth> results;
  unsigned numResults = 0;
};

/// Walks over sets of expressions.
class Walker {
public:
  Walker(const Expressions &expressions, unsigned depth)
      : expressions(expressions), depth(depth) {}

  /// Calls `visit` on each set of up to `depth` expressions whose first one is
  /// number `first` among those over inputs.
  template <typename Visit>
  void walkFrom(unsigned first, Visit visit);
  /// Calls `visit` on each application that reads all members, directly or not.
  template <typename Visit>
  void forEachRoot(const Members &members, Visit visit) const;

private:
  uint64_t getKey(ExpressionId id) const {
    return uint64_t(expressions.getExpression(id).height) << 32 | id;
  }
  bool add(Members &members, ExpressionId id) const;
  void setCandidates(const Members &members, unsigned level);
  template <typename Visit>
  void walk(const Members &members, unsigned level, Visit visit);
  unsigned getSinks(const Members &members, ExpressionId *sinks) const;

  const Expressions &expressions;
  unsigned depth;
  std::array<std::vector<ExpressionId>, kMaxDepth + 1> candidates;
};
} // namespace

static uint64_t getWeight(const FieldTensor &tensor) {
  return mix(tensor.valueHash ^ 0x5bd1e9955bd1e995ULL);
}

/// Adds an expression; fails if one of its results equals another tensor.
bool Walker::add(Members &members, ExpressionId id) const {
  const Expression &expression = expressions.getExpression(id);
  unsigned end = members.numResults;
  for (unsigned i = 0; i < expression.numResults; ++i) {
    const FieldTensor &tensor =
        expressions.getTensor(expression.firstResult + i);
    for (unsigned j = 0; j < end; ++j)
      if (members.results[j].identity == tensor.identity)
        return false;
    members.results[members.numResults++] = {expression.firstResult + i,
                                             tensor.identity, false};
    members.fingerprint += getWeight(tensor);
  }
  unsigned numOperands =
      expressions.getNumOperands(expression.application.operatorNumber);
  for (unsigned i = 0; i < numOperands; ++i) {
    TensorId operand = expression.application.operands[i];
    for (unsigned j = 0; j < end; ++j) {
      Members::Result &result = members.results[j];
      if (result.tensor == operand && !result.isRead) {
        result.isRead = true;
        members.fingerprint -= getWeight(expressions.getTensor(operand));
      }
    }
  }
  members.ids[members.count++] = id;
  members.lastKey = getKey(id);
  return true;
}

/// What can be added next: the rest of the candidates so far, and what reads
/// the last member.
void Walker::setCandidates(const Members &members, unsigned level) {
  std::vector<ExpressionId> &next = candidates[level];
  next.clear();
  for (ExpressionId id : candidates[level - 1])
    if (getKey(id) > members.lastKey)
      next.push_back(id);
  ExpressionId last = members.ids[members.count - 1];
  auto append = [&](const std::vector<ExpressionId> &users) {
    for (ExpressionId id : users)
      if (!expressions.getExpression(id).isRedundant)
        next.push_back(id);
  };
  append(expressions.getUsers(last));
  for (unsigned i = 0; i + 1 < members.count; ++i)
    append(expressions.getUsers(members.ids[i], last));
}

template <typename Visit>
void Walker::walk(const Members &members, unsigned level, Visit visit) {
  visit(members);
  if (members.count == depth)
    return;
  setCandidates(members, level);
  for (size_t i = 0; i < candidates[level].size(); ++i) {
    Members next = members;
    if (add(next, candidates[level][i]))
      walk(next, level + 1, visit);
  }
}

template <typename Visit>
void Walker::walkFrom(unsigned first, Visit visit) {
  ExpressionId id = expressions.getFirst()[first];
  Members members;
  if (expressions.getExpression(id).isRedundant || !add(members, id))
    return;
  candidates[0].clear();
  for (ExpressionId other : expressions.getFirst())
    if (!expressions.getExpression(other).isRedundant)
      candidates[0].push_back(other);
  walk(members, 1, visit);
}

/// The members that no other reads.
unsigned Walker::getSinks(const Members &members, ExpressionId *sinks) const {
  unsigned count = 0;
  for (unsigned i = 0; i < members.count; ++i) {
    bool isRead = false;
    for (unsigned j = 0; j < members.numResults; ++j)
      isRead |= members.results[j].isRead &&
                expressions.getTensor(members.results[j].tensor).producer ==
                    members.ids[i];
    if (!isRead)
      sinks[count++] = members.ids[i];
  }
  return count;
}

template <typename Visit>
void Walker::forEachRoot(const Members &members, Visit visit) const {
  std::array<ExpressionId, kMaxDepth> sinks;
  unsigned numSinks = getSinks(members, sinks.data());
  if (numSinks > 2)
    return;
  // The operands that may be chosen: inputs and results of members.
  std::array<TensorId, 64> choices;
  unsigned count = 0;
  for (TensorId leaf = 0; leaf < expressions.getNumLeaves(); ++leaf)
    choices[count++] = leaf;
  for (unsigned i = 0; i < members.numResults; ++i)
    choices[count++] = members.results[i].tensor;
  auto readsAll = [&](TensorId lhs, TensorId rhs) {
    ExpressionId left = expressions.getTensor(lhs).producer;
    ExpressionId right = expressions.getTensor(rhs).producer;
    for (unsigned i = 0; i < numSinks; ++i)
      if (sinks[i] != left && sinks[i] != right)
        return false;
    return true;
  };
  unsigned numOperators = expressions.getTable().operators.size();
  for (unsigned i = 0; i < count; ++i)
    for (unsigned j = 0; j < count; ++j) {
      if (!readsAll(choices[i], choices[j]))
        continue;
      for (unsigned op = 0; op < numOperators; ++op) {
        unsigned arity = expressions.getNumOperands(op);
        if (arity == 2 || (arity == 1 && i == j) ||
            (arity == 0 && i == 0 && j == 0 && members.count == 0))
          visit(Application{uint16_t(op), {choices[i], choices[j]}});
      }
    }
}

//===----------------------------------------------------------------------===//
// Expressions
//===----------------------------------------------------------------------===//

Outcome generator::addExpressions(Expressions &expressions, unsigned depth,
                                  const Limits &limits,
                                  EnumerationCounts &counts) {
  struct Found {
    Application application;
    std::array<ExpressionId, kMaxDepth> operators;
  };
  Results results;
  std::vector<Found> found;
  for (unsigned size = 0; size + 1 < depth; ++size) {
    found.clear();
    Walker walker(expressions, size);
    auto visit = [&](const Members &members) {
      if (members.count == size)
        walker.forEachRoot(members, [&](const Application &application) {
          found.push_back({application, members.ids});
        });
    };
    if (size == 0)
      visit(Members());
    else
      for (unsigned i = 0; i < expressions.getFirst().size(); ++i)
        walker.walkFrom(i, visit);
    // By operator first: the numbers of expressions then ascend with it.
    std::stable_sort(found.begin(), found.end(),
                     [](const Found &lhs, const Found &rhs) {
                       return lhs.application.operatorNumber <
                              rhs.application.operatorNumber;
                     });
    for (const Found &entry : found) {
      if (!expressions.evaluate(entry.application, results))
        continue;
      ++counts.evaluations;
      expressions.add(entry.application, results, entry.operators.data(), size);
      if (expressions.getNumBytes() > limits.maxBytes)
        return Outcome::OutOfMemory;
      if (counts.evaluations % 1024 == 0 && limits.isOver())
        return Outcome::OutOfTime;
    }
  }
  return Outcome::Done;
}

//===----------------------------------------------------------------------===//
// Graphs
//===----------------------------------------------------------------------===//

namespace {
/// What one thread enumerates.
class Recorder {
public:
  Recorder(const Expressions &expressions, unsigned depth, uint64_t shards,
           const Limits &limits)
      : expressions(expressions), walker(expressions, depth), depth(depth),
        shards(shards), limits(limits) {}

  void record(uint64_t fingerprint, const GraphCode &code) {
    ++counts.graphs;
    unsigned shard = getShard(fingerprint);
    if (!(shards >> shard & 1))
      return;
    bytes += sizeof(GraphRecord);
    if (bytes > limits.maxBytes)
      outcome = Outcome::OutOfMemory;
    else
      records[shard].push_back({fingerprint, code});
  }
  /// The graphs whose first member is number `first` of those over inputs.
  void recordFrom(unsigned first);
  /// The graphs of one operator more than the members.
  void recordRoots(const Members &members);
  void recordInputs();
  void recordRedundant();

  EnumerationCounts counts;
  ShardedRecords records;
  Outcome outcome = Outcome::Done;

private:
  const Expressions &expressions;
  Walker walker;
  unsigned depth;
  uint64_t shards;
  Limits limits; ///< With this thread's share of the memory.
  uint64_t bytes = 0;
  Results results;
};
} // namespace

void Recorder::recordRoots(const Members &members) {
  walker.forEachRoot(members, [&](const Application &application) {
    if (!expressions.evaluate(application, results))
      return;
    ++counts.evaluations;
    // What the root does not read, the other parts of splits, are outputs too.
    uint64_t fingerprint = members.fingerprint;
    for (unsigned i = 0; i < members.numResults; ++i) {
      const Members::Result &result = members.results[i];
      unsigned arity = expressions.getNumOperands(application.operatorNumber);
      bool isOperand = false;
      for (unsigned j = 0; j < arity; ++j)
        isOperand |= application.operands[j] == result.tensor;
      if (isOperand && !result.isRead)
        fingerprint -= getWeight(expressions.getTensor(result.tensor));
    }
    unsigned numResults = expressions.getTable()
                              .operators[application.operatorNumber]
                              .getNumResults();
    for (unsigned i = 0; i < numResults; ++i)
      fingerprint += getWeight(results.tensors[i]);
    record(fingerprint, GraphCode::get(application));
  });
}

void Recorder::recordFrom(unsigned first) {
  walker.walkFrom(first, [&](const Members &members) {
    if (outcome != Outcome::Done)
      return;
    if (members.count < depth && limits.isOver())
      outcome = Outcome::OutOfTime;
    GraphCode code;
    code.words.fill(GraphCode::kNone);
    std::copy_n(members.ids.begin(), members.count, code.words.begin());
    record(members.fingerprint, code);
    if (members.count + 1 == depth)
      recordRoots(members);
  });
}

/// One or two inputs, which a redundant graph may equal.
void Recorder::recordInputs() {
  for (TensorId i = 0; i < expressions.getNumLeaves(); ++i)
    for (TensorId j = i; j < expressions.getNumLeaves(); ++j) {
      uint64_t fingerprint = getWeight(expressions.getTensor(i));
      if (i != j)
        fingerprint += getWeight(expressions.getTensor(j));
      uint32_t second = i == j ? GraphCode::kNone : j;
      record(fingerprint, {{GraphCode::kInputs | i, second, GraphCode::kNone,
                            GraphCode::kNone}});
    }
}

/// Expressions with a result that equals a tensor below: no part of other
/// graphs, but a graph themselves.
void Recorder::recordRedundant() {
  for (ExpressionId id = 0; id < expressions.size(); ++id) {
    const Expression &expression = expressions.getExpression(id);
    if (!expression.isRedundant)
      continue;
    uint64_t fingerprint = 0;
    for (unsigned i = 0; i < expression.numResults; ++i)
      fingerprint +=
          getWeight(expressions.getTensor(expression.firstResult + i));
    record(fingerprint, GraphCode::get(expression.application));
  }
}

/// Moves the records of all threads together and sorts them.
static void merge(std::vector<std::unique_ptr<Recorder>> &recorders,
                  ShardedRecords &records) {
  std::atomic<unsigned> next{0};
  auto run = [&] {
    for (unsigned i = next++; i < kNumShards; i = next++) {
      for (std::unique_ptr<Recorder> &recorder : recorders) {
        std::vector<GraphRecord> part = std::move(recorder->records[i]);
        if (records[i].empty())
          records[i] = std::move(part);
        else
          records[i].insert(records[i].end(), part.begin(), part.end());
      }
      std::sort(records[i].begin(), records[i].end());
    }
  };
  WorkerPool pool(recorders.size());
  for (size_t i = 0; i < recorders.size(); ++i)
    pool.async(run);
  pool.wait();
}

Outcome generator::enumerateGraphs(const Expressions &expressions,
                                   unsigned depth, Share share,
                                   unsigned numThreads, uint64_t shards,
                                   const Limits &limits,
                                   ShardedRecords &records,
                                   EnumerationCounts &counts) {
  Limits part = limits;
  // Merging takes a second copy of a shard.
  part.maxBytes = limits.maxBytes / numThreads / 2;
  std::vector<std::unique_ptr<Recorder>> recorders;
  for (unsigned i = 0; i < numThreads; ++i)
    recorders.push_back(
        std::make_unique<Recorder>(expressions, depth, shards, part));
  if (share.number == 0) {
    recorders[0]->recordInputs();
    recorders[0]->recordRedundant();
    if (depth == 1)
      recorders[0]->recordRoots(Members());
  }
  std::atomic<unsigned> next{0};
  auto run = [&](Recorder &recorder) {
    while (recorder.outcome == Outcome::Done) {
      unsigned first = share.number + share.count * next++;
      if (first >= expressions.getFirst().size())
        return;
      recorder.recordFrom(first);
    }
  };
  WorkerPool pool(numThreads);
  for (std::unique_ptr<Recorder> &recorder : recorders)
    pool.async([&run, &recorder] { run(*recorder); });
  pool.wait();
  for (std::unique_ptr<Recorder> &recorder : recorders) {
    if (recorder->outcome != Outcome::Done)
      return recorder->outcome;
    counts.graphs += recorder->counts.graphs;
    counts.evaluations += recorder->counts.evaluations;
  }
  merge(recorders, records);
  return Outcome::Done;
}
