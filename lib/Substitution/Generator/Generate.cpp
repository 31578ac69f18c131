//===- Generate.cpp - Finds substitution rules ----------------------------===//

#include "espalier/Substitution/Generator/Generate.h"
#include "Partition.h"
#include "Prune.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace espalier::substitution;
using namespace espalier::substitution::generator;

namespace {
/// Of the inputs that graphs are enumerated with.
constexpr uint64_t kSeed = 1;

class GenerationRun {
public:
  GenerationRun(const GenerateOptions &options, Communicator &communicator,
                GenerateStatistics &statistics, ErrorFunction error)
      : options(options), communicator(communicator), statistics(statistics),
        error(error), start(Limits::Clock::now()),
        limits{options.maxMegabytes << 20,
               start + std::chrono::seconds(options.maxSeconds)} {}

  LogicalResult run(std::vector<GeneratedRule> &rules);

private:
  LogicalResult checkOptions();
  LogicalResult check(Outcome outcome);
  LogicalResult gather(std::vector<ClassCodes> &classes);
  LogicalResult getPartition(unsigned number, Partition &partition);
  LogicalResult makePartition(unsigned number, Partition &partition);
  LogicalResult makeRules(const std::vector<ClassCodes> &codes,
                          std::vector<GeneratedRule> &rules);
  double getSeconds() const {
    return std::chrono::duration<double>(Limits::Clock::now() - start).count();
  }

  const GenerateOptions &options;
  Communicator &communicator;
  GenerateStatistics &statistics;
  ErrorFunction error;
  Limits::Clock::time_point start;
  Limits limits;
  std::optional<OperatorTable> table;
  std::unique_ptr<Expressions> expressions;
  EnumerationCounts expressionCounts;
};
} // namespace

LogicalResult GenerationRun::checkOptions() {
  auto fail = [&](const llvm::Twine &message) {
    error(message);
    return failure();
  };
  if (options.depth < 1 || options.depth > kMaxDepth)
    return fail("expects a depth from 1 to " + llvm::Twine(kMaxDepth) +
                ", but got " + llvm::Twine(options.depth));
  table = getOperatorTable(options.operators);
  if (!table)
    return fail("expects the operators " + getOperatorTableNames() +
                ", but got '" + options.operators + "'");
  if (options.numThreads < 1 || options.numThreads > 256)
    return fail("expects 1 to 256 threads, but got " +
                llvm::Twine(options.numThreads));
  if (!llvm::isPowerOf2_32(options.numPartitions) ||
      options.numPartitions > kNumShards)
    return fail("expects a power of two up to " + llvm::Twine(kNumShards) +
                " as the number of partitions, but got " +
                llvm::Twine(options.numPartitions));
  if (options.maxMegabytes < 16 || options.maxMegabytes > (1u << 20))
    return fail("expects a memory limit from 16 to 1048576 MiB, but got " +
                llvm::Twine(options.maxMegabytes));
  if (options.maxSeconds < 1)
    return fail("expects a time limit of at least 1 s, but got 0");
  return success();
}

LogicalResult GenerationRun::check(Outcome outcome) {
  if (outcome == Outcome::OutOfMemory)
    error("expects to need at most " + llvm::Twine(options.maxMegabytes) +
          " MiB, but that was exceeded; more partitions need less");
  else if (outcome == Outcome::OutOfTime)
    error("expects to finish within " + llvm::Twine(options.maxSeconds) +
          " s, but that was exceeded");
  return success(outcome == Outcome::Done);
}

//===----------------------------------------------------------------------===//
// Partitions
//===----------------------------------------------------------------------===//

LogicalResult GenerationRun::makePartition(unsigned number,
                                           Partition &partition) {
  auto records = std::make_unique<ShardedRecords>();
  Limits rest = limits;
  rest.maxBytes -= std::min(rest.maxBytes, expressions->getNumBytes());
  unsigned shards = kNumShards / options.numPartitions;
  unsigned first = number * shards;
  if (failed(check(enumerateGraphs(*expressions, options.depth,
                                   options.numThreads, first, first + shards,
                                   rest, *records, partition.enumeration))))
    return failure();
  for (std::vector<GraphRecord> &shard : *records) {
    collectClasses(*expressions, shard, partition.classes, partition.counts);
    shard = {};
  }
  return success();
}

LogicalResult GenerationRun::getPartition(unsigned number,
                                          Partition &partition) {
  if (options.folder.empty())
    return makePartition(number, partition);
  std::string key = options.operators + " depth " +
                    llvm::utostr(options.depth) + " seed " +
                    llvm::utostr(kSeed) + " part " + llvm::utostr(number) +
                    " of " + llvm::utostr(options.numPartitions);
  llvm::SmallString<128> path(options.folder);
  llvm::sys::path::append(path, "partition-" + llvm::Twine(number) + "-of-" +
                                    llvm::Twine(options.numPartitions));
  switch (load(partition, path, key, error)) {
  case Loaded::Yes:
    ++statistics.resumed;
    return success();
  case Loaded::Failed:
    return failure();
  case Loaded::NoFile:
    break;
  }
  if (failed(makePartition(number, partition)))
    return failure();
  return success(save(partition, path, key, error));
}

/// Collects the classes of all partitions of all processes, in an order that
/// does not depend on how they were divided.
LogicalResult GenerationRun::gather(std::vector<ClassCodes> &classes) {
  std::string bytes;
  bool isGood = true;
  for (unsigned number = communicator.getRank();
       number < options.numPartitions && isGood;
       number += communicator.getSize()) {
    Partition partition;
    isGood = succeeded(getPartition(number, partition));
    write(partition, bytes);
  }
  // All processes take part, so that none waits for one that failed.
  std::vector<std::string> all =
      communicator.gather(std::string(1, isGood ? 'y' : 'n') + bytes);
  if (!isGood)
    return failure();
  for (llvm::StringRef rest : all) {
    if (!rest.consume_front("y"))
      return failure();
    while (!rest.empty()) {
      Partition partition;
      if (!read(rest, partition))
        return failure();
      statistics.graphs = partition.enumeration.graphs;
      statistics.evaluations =
          expressionCounts.evaluations + partition.enumeration.evaluations;
      statistics.fingerprints += partition.counts.fingerprints;
      statistics.equalities += partition.counts.equalities;
      llvm::append_range(classes, partition.classes);
    }
  }
  llvm::sort(classes);
  return success();
}

//===----------------------------------------------------------------------===//
// Rules
//===----------------------------------------------------------------------===//

LogicalResult GenerationRun::makeRules(const std::vector<ClassCodes> &codes,
                                       std::vector<GeneratedRule> &rules) {
  Terms terms(*table);
  SideBuilder builder(*expressions, terms);
  std::vector<Class> classes;
  for (const ClassCodes &graphs : codes) {
    Class sides;
    for (const GraphCode &code : graphs)
      sides.push_back(builder.get(code));
    llvm::stable_sort(sides, [](const Side &lhs, const Side &rhs) {
      return lhs.numOperators < rhs.numOperators;
    });
    statistics.candidates += sides.size() - 1;
    classes.push_back(std::move(sides));
  }
  statistics.classes = classes.size();
  llvm::stable_sort(classes, [](const Class &lhs, const Class &rhs) {
    return lhs[0].outputs.size() < rhs[0].outputs.size();
  });
  std::vector<FoundRule> found;
  PruneCounts counts;
  Outcome outcome =
      options.keepImplied
          ? findDistinctRules(terms, classes, limits, found, counts)
          : findIndependentRules(terms, classes, options.depth, limits, found,
                                 counts);
  statistics.renamed = counts.renamed;
  statistics.unshared = counts.unshared;
  statistics.tested = counts.tested;
  statistics.failed = counts.failed;
  if (failed(check(outcome)))
    return failure();
  for (const FoundRule &rule : found) {
    std::string name = options.operators + "-" + llvm::utostr(options.depth) +
                       "-" + llvm::utostr(rules.size() + 1);
    statistics.conditional += !rule.condition.isNone();
    rules.push_back(
        {makeRule(terms, rule.pair, name), getText(rule.condition)});
  }
  return success();
}

LogicalResult GenerationRun::run(std::vector<GeneratedRule> &rules) {
  if (failed(checkOptions()))
    return failure();
  if (!options.folder.empty())
    if (std::error_code code =
            llvm::sys::fs::create_directories(options.folder)) {
      error("expects the folder '" + options.folder +
            "', but got: " + code.message());
      return failure();
    }
  expressions = std::make_unique<Expressions>(*table, kSeed);
  if (failed(check(addExpressions(*expressions, options.depth, limits,
                                  expressionCounts))))
    return failure();
  std::vector<ClassCodes> classes;
  if (failed(gather(classes)))
    return failure();
  statistics.enumerateSeconds = getSeconds();
  if (communicator.getRank() == 0 && failed(makeRules(classes, rules)))
    return failure();
  statistics.pruneSeconds = getSeconds() - statistics.enumerateSeconds;
  return success();
}

LogicalResult espalier::substitution::generateRules(
    const GenerateOptions &options, Communicator &communicator,
    std::vector<GeneratedRule> &rules, GenerateStatistics &statistics,
    ErrorFunction error) {
  return GenerationRun(options, communicator, statistics, error).run(rules);
}
