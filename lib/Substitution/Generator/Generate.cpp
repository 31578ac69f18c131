//===- Generate.cpp - Finds substitution rules ----------------------------===//

#include "espalier/Substitution/Generator/Generate.h"
#include "Partition.h"
#include "Prune.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/MathExtras.h"
#include "llvm/Support/Path.h"
#include <cstring>
#include <map>

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
  uint64_t getShards(unsigned number) const;
  std::string getPath(unsigned number) const;
  std::string getKey(unsigned number) const;
  bool makeFolder();
  bool loadPartitions(std::map<unsigned, Partition> &partitions);
  std::optional<uint64_t> unite(uint64_t own, bool isGood);
  bool exchange(llvm::ArrayRef<std::optional<unsigned>> round,
                ShardedRecords &records, EnumerationCounts &counts);
  bool receive(llvm::StringRef bytes, uint64_t shards, ShardedRecords &records,
               EnumerationCounts &counts);
  LogicalResult makePartitions(llvm::ArrayRef<std::optional<unsigned>> round,
                               std::map<unsigned, Partition> &partitions);
  LogicalResult makeMissing(std::map<unsigned, Partition> &partitions);
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
  /// At least one for each process, unless they are kept.
  unsigned numPartitions = 1;
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

/// A bit for each shard of a partition.
uint64_t GenerationRun::getShards(unsigned number) const {
  unsigned count = kNumShards / numPartitions;
  return llvm::maskTrailingOnes<uint64_t>(count) << number * count;
}

std::string GenerationRun::getPath(unsigned number) const {
  llvm::SmallString<128> path(options.folder);
  llvm::sys::path::append(path, "partition-" + llvm::Twine(number) + "-of-" +
                                    llvm::Twine(numPartitions));
  return std::string(path);
}

std::string GenerationRun::getKey(unsigned number) const {
  return options.operators + " depth " + llvm::utostr(options.depth) +
         " seed " + llvm::utostr(kSeed) + " part " + llvm::utostr(number) +
         " of " + llvm::utostr(numPartitions);
}

bool GenerationRun::makeFolder() {
  if (options.folder.empty())
    return true;
  std::error_code code = llvm::sys::fs::create_directories(options.folder);
  if (code)
    error("expects the folder '" + options.folder +
          "', but got: " + code.message());
  return !code;
}

/// Loads the partitions of this process that were made before.
bool GenerationRun::loadPartitions(std::map<unsigned, Partition> &partitions) {
  for (unsigned number = communicator.getRank();
       number < numPartitions && !options.folder.empty();
       number += communicator.getSize()) {
    Partition partition;
    switch (load(partition, getPath(number), getKey(number), error)) {
    case Loaded::Yes:
      partitions[number] = std::move(partition);
      break;
    case Loaded::Failed:
      return false;
    case Loaded::NoFile:
      break;
    }
  }
  return true;
}

/// The union of what all processes have. Nothing if one of them failed.
std::optional<uint64_t> GenerationRun::unite(uint64_t own, bool isGood) {
  std::string bytes(1, isGood ? 'y' : 'n');
  bytes.append(reinterpret_cast<const char *>(&own), sizeof(own));
  uint64_t all = 0;
  for (const std::string &other : communicator.exchange(
           std::vector<std::string>(communicator.getSize(), bytes))) {
    isGood &= other.size() == bytes.size() && other[0] == 'y';
    if (!isGood)
      return std::nullopt;
    std::memcpy(&own, other.data() + 1, sizeof(own));
    all |= own;
  }
  return all;
}

/// Sends the records of each partition of a round to its process, and puts
/// those of this one in order. `round` has a partition for each process, or
/// nothing.
bool GenerationRun::exchange(llvm::ArrayRef<std::optional<unsigned>> round,
                             ShardedRecords &records,
                             EnumerationCounts &counts) {
  if (communicator.getSize() == 1)
    return true;
  std::vector<std::string> outgoing(communicator.getSize());
  for (auto [rank, number] : llvm::enumerate(round)) {
    if (!number)
      continue;
    outgoing[rank].append(reinterpret_cast<const char *>(&counts),
                          sizeof(counts));
    for (unsigned shard = 0; shard < kNumShards; ++shard) {
      if (!(getShards(*number) >> shard & 1))
        continue;
      std::vector<GraphRecord> own = std::exchange(records[shard], {});
      uint64_t count = own.size();
      outgoing[rank].append(reinterpret_cast<const char *>(&count),
                            sizeof(count));
      outgoing[rank].append(reinterpret_cast<const char *>(own.data()),
                            count * sizeof(GraphRecord));
    }
  }
  std::vector<std::string> incoming =
      communicator.exchange(std::move(outgoing));
  std::optional<unsigned> own = round[communicator.getRank()];
  if (!own)
    return true;
  counts = {};
  return llvm::all_of(incoming, [&](llvm::StringRef bytes) {
    return receive(bytes, getShards(*own), records, counts);
  });
}

/// Adds what a process sent.
bool GenerationRun::receive(llvm::StringRef bytes, uint64_t shards,
                            ShardedRecords &records,
                            EnumerationCounts &counts) {
  auto read = [&](void *to, size_t size) {
    if (bytes.size() < size)
      return false;
    // An empty vector has no data.
    if (size != 0)
      std::memcpy(to, bytes.data(), size);
    bytes = bytes.drop_front(size);
    return true;
  };
  EnumerationCounts part;
  if (!read(&part, sizeof(part)))
    return false;
  counts.graphs += part.graphs;
  counts.evaluations += part.evaluations;
  for (unsigned shard = 0; shard < kNumShards; ++shard) {
    uint64_t count = 0;
    if (!(shards >> shard & 1))
      continue;
    if (!read(&count, sizeof(count)) ||
        count > bytes.size() / sizeof(GraphRecord))
      return false;
    size_t size = records[shard].size();
    records[shard].resize(size + count);
    if (!read(records[shard].data() + size, count * sizeof(GraphRecord)))
      return false;
    std::inplace_merge(records[shard].begin(), records[shard].begin() + size,
                       records[shard].end());
  }
  return true;
}

/// All processes enumerate a share of the graphs, and each makes its partition
/// of the round.
LogicalResult
GenerationRun::makePartitions(llvm::ArrayRef<std::optional<unsigned>> round,
                              std::map<unsigned, Partition> &partitions) {
  uint64_t shards = 0;
  for (std::optional<unsigned> number : round)
    if (number)
      shards |= getShards(*number);
  auto records = std::make_unique<ShardedRecords>();
  EnumerationCounts counts;
  Limits rest = limits;
  rest.maxBytes -= std::min(rest.maxBytes, expressions->getNumBytes());
  Share share{communicator.getRank(), communicator.getSize()};
  bool isGood = succeeded(check(
      enumerateGraphs(*expressions, options.depth, share, options.numThreads,
                      shards, rest, *records, counts)));
  if (!unite(0, isGood))
    return failure();
  isGood = exchange(round, *records, counts);
  if (!isGood)
    error("expects records of graphs from the other processes, but got "
          "something else");
  std::optional<unsigned> own = round[communicator.getRank()];
  if (own && isGood) {
    Partition &partition = partitions[*own];
    partition.enumeration = counts;
    for (std::vector<GraphRecord> &shard : *records) {
      collectClasses(*expressions, shard, partition.classes, partition.counts);
      shard = {};
    }
    isGood = options.folder.empty() ||
             save(partition, getPath(*own), getKey(*own), error);
  }
  return success(unite(0, isGood).has_value());
}

/// Makes what is missing, one partition of each process at a time.
LogicalResult
GenerationRun::makeMissing(std::map<unsigned, Partition> &partitions) {
  uint64_t own = 0;
  bool isGood = loadPartitions(partitions);
  for (const auto &[number, partition] : partitions)
    own |= uint64_t(1) << number;
  std::optional<uint64_t> present = unite(own, isGood);
  if (!present)
    return failure();
  statistics.resumed = llvm::popcount(*present);
  while (true) {
    llvm::SmallVector<std::optional<unsigned>> round(communicator.getSize());
    bool isMissing = false;
    for (unsigned number = 0; number < numPartitions; ++number) {
      std::optional<unsigned> &next = round[number % communicator.getSize()];
      if (next || (*present >> number & 1))
        continue;
      next = number;
      isMissing = true;
    }
    if (!isMissing)
      return success();
    if (failed(makePartitions(round, partitions)))
      return failure();
    for (std::optional<unsigned> number : round)
      if (number)
        *present |= uint64_t(1) << *number;
  }
}

/// Collects the classes of all partitions of all processes, in an order that
/// does not depend on how they were divided.
LogicalResult GenerationRun::gather(std::vector<ClassCodes> &classes) {
  std::map<unsigned, Partition> partitions;
  if (failed(makeMissing(partitions)))
    return failure();
  std::string bytes;
  for (const auto &[number, partition] : partitions)
    write(partition, bytes);
  partitions.clear();
  std::vector<std::string> all = communicator.gather(bytes);
  for (llvm::StringRef rest : all)
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
    std::optional<Class> sides = builder.get(graphs);
    if (!sides) {
      error("expects partitions with graphs of these operators, but got "
            "others; remove the folder to make them again");
      return failure();
    }
    llvm::stable_sort(*sides, [](const Side &lhs, const Side &rhs) {
      return lhs.numOperators < rhs.numOperators;
    });
    statistics.candidates += sides->size() - 1;
    classes.push_back(std::move(*sides));
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
  // A process that fails still tells the others, so that none waits for it.
  bool isGood = makeFolder();
  // Files that are kept must not depend on how many processes there are; those
  // without a partition enumerate graphs only.
  uint64_t numUseful =
      options.folder.empty() ? llvm::PowerOf2Ceil(communicator.getSize()) : 1;
  numPartitions = std::max<unsigned>(options.numPartitions,
                                     std::min<uint64_t>(numUseful, kNumShards));
  expressions = std::make_unique<Expressions>(*table, kSeed);
  isGood = isGood && succeeded(check(addExpressions(*expressions, options.depth,
                                                    limits, expressionCounts)));
  if (!unite(0, isGood))
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
