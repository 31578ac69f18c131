//===- Generate.h - Finds substitution rules --------------------*- C++ -*-===//
//
// Enumerates graphs over a table of operators, groups them by their values on
// random inputs in a finite field, and makes rules of what is equal. The rules
// are candidates: tests speak for them, not proofs.
//
// Each process of a communicator enumerates its share of the graphs, and sends
// them to others by their fingerprints: each has all graphs of its partitions
// of these. The first one makes the rules; they are the same whatever the
// number of processes, threads or partitions.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_GENERATOR_GENERATE_H
#define ESPALIER_SUBSTITUTION_GENERATOR_GENERATE_H

#include "espalier/Substitution/Generator/Communicator.h"
#include "espalier/Substitution/Rule.h"
#include <cstdint>
#include <string>
#include <vector>

namespace espalier::substitution {

struct GenerateOptions {
  /// The largest number of operators on a side, from 1 to 4.
  unsigned depth = 3;
  /// The table of operators and inputs.
  std::string operators = "taso";
  /// Whether rules that follow from others are kept, as TASO counts rules.
  bool keepImplied = false;
  unsigned numThreads = 1;
  /// A power of two up to 64: beyond one for each process, the more, the less
  /// memory and the more time. If there are more processes, it is as many.
  unsigned numPartitions = 1;
  /// Where finished partitions are kept, so that another run goes on from them.
  /// Nowhere if empty.
  std::string folder;
  /// Of one process.
  uint64_t maxMegabytes = 8192;
  unsigned maxSeconds = 3600;
};

struct GenerateStatistics {
  uint64_t graphs = 0;       ///< Enumerated, each once.
  uint64_t evaluations = 0;  ///< Of operators while enumerating.
  uint64_t fingerprints = 0; ///< Different ones.
  uint64_t equalities = 0;   ///< Graphs beyond the first of a fingerprint.
  uint64_t classes = 0;      ///< Of equal graphs, up to renaming inputs.
  uint64_t candidates = 0;   ///< Graphs in them beyond the first.
  uint64_t renamed = 0;      ///< Pairs with the first, up to renaming.
  uint64_t unshared = 0;     ///< Of these, without a common part.
  uint64_t tested = 0;       ///< Evaluated at other sizes.
  uint64_t failed = 0;       ///< Of these, coincidences.
  uint64_t conditional = 0;  ///< Rules with a condition on convolutions.
  unsigned resumed = 0;      ///< Partitions that were there already.
  double enumerateSeconds = 0, pruneSeconds = 0;
};

/// A rule and, as text, the condition under which it passed all tests; empty if
/// it always did.
struct GeneratedRule {
  Rule rule;
  std::string condition;
};

/// Generates rules, on the first process; none on the others. Calls `error` and
/// fails if an option is out of its range, a limit is exceeded, or a file of
/// the folder cannot be used.
mlir::LogicalResult
generateRules(const GenerateOptions &options, Communicator &communicator,
              std::vector<GeneratedRule> &rules, GenerateStatistics &statistics,
              llvm::function_ref<void(const llvm::Twine &)> error);

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_GENERATOR_GENERATE_H
