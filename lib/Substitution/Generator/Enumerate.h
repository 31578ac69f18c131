//===- Enumerate.h - All graphs up to a depth -------------------*- C++ -*-===//
//
// A graph is a set of expressions that contains what its members are computed
// from. Sets are enumerated depth-first in the order of (height, number), so
// each graph comes once, whatever the order in which its operators could be
// added. Adding an operator costs one evaluation only where the result is a
// graph with one last operator at the full depth; everything else shares the
// values of `Expressions`.
//
// The fingerprint of a graph is the sum of the hashes of its outputs, which are
// the tensors that nothing in it reads: it ignores their order.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_ENUMERATE_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_ENUMERATE_H

#include "Expressions.h"
#include "Limits.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace espalier::substitution::generator {

/// A graph in 16 bytes: its expressions in order, or an application that was
/// not kept and stands for itself and all below it, or inputs alone.
struct GraphCode {
  std::array<uint32_t, kMaxDepth> words;

  static constexpr uint32_t kNone = ~0u;
  static constexpr uint32_t kApplication = 0xc0000000u;
  static constexpr uint32_t kInputs = 0xa0000000u;

  static GraphCode get(const Application &application) {
    return {{kApplication | application.operatorNumber, application.operands[0],
             application.operands[1], kNone}};
  }
  bool isApplication() const {
    return words[0] != kNone && (words[0] & 0xf0000000u) == kApplication;
  }
  bool isInputs() const {
    return words[0] != kNone && (words[0] & 0xf0000000u) == kInputs;
  }
  bool operator<(const GraphCode &other) const { return words < other.words; }
  bool operator==(const GraphCode &other) const { return words == other.words; }
};

struct GraphRecord {
  uint64_t fingerprint;
  GraphCode code;

  bool operator<(const GraphRecord &other) const {
    return fingerprint != other.fingerprint ? fingerprint < other.fingerprint
                                            : code < other.code;
  }
};

/// Fingerprints are divided by their first bits into this many shards.
constexpr unsigned kNumShards = 64;
inline unsigned getShard(uint64_t fingerprint) { return fingerprint >> 58; }

/// The records of each shard that were asked for.
using ShardedRecords = std::array<std::vector<GraphRecord>, kNumShards>;

struct EnumerationCounts {
  uint64_t graphs = 0;
  uint64_t evaluations = 0;
};

/// Adds all expressions of fewer operators than `depth`.
Outcome addExpressions(Expressions &expressions, unsigned depth,
                       const Limits &limits, EnumerationCounts &counts);

/// Which graphs a process enumerates: those of every `count`-th first member.
struct Share {
  unsigned number = 0, count = 1;
};

/// Enumerates a share of all graphs of up to `depth` operators on `numThreads`
/// threads and records those whose shard has a bit in `shards`, sorted.
Outcome enumerateGraphs(const Expressions &expressions, unsigned depth,
                        Share share, unsigned numThreads, uint64_t shards,
                        const Limits &limits, ShardedRecords &records,
                        EnumerationCounts &counts);

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_ENUMERATE_H
