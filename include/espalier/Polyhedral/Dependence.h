//===- Dependence.h - What a schedule must keep -----------------*- C++ -*-===//
//
// Memory-based dependences: two statement instances that touch the same element
// of an array, at least one of them writing it, must run in program order.
// Exact for affine accesses; other subscripts may take any value, so the answer
// errs on the side of refusing.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_POLYHEDRAL_DEPENDENCE_H
#define ESPALIER_POLYHEDRAL_DEPENDENCE_H

#include "espalier/Polyhedral/Schedule.h"
#include "espalier/Polyhedral/Set.h"
#include "llvm/Support/Error.h"

namespace espalier::polyhedral {

/// What the source and the sink of a dependence do with the element.
enum class DependenceKind {
  Flow,   ///< Write, then read.
  Anti,   ///< Read, then write.
  Output, ///< Write, then write.
};

/// Returns `flow`, `anti` or `output`.
llvm::StringRef getName(DependenceKind kind);

/// One pair of instances that a schedule runs in the wrong order, or at the
/// same time.
struct Violation {
  DependenceKind kind;
  unsigned array;
  unsigned source; ///< Statement whose point runs first in program order.
  unsigned sink;   ///< Statement whose point must run after it.
  /// The accesses: their places among the statements' reads or writes.
  unsigned sourceAccess, sinkAccess;
  llvm::SmallVector<int64_t> sourcePoint;
  llvm::SmallVector<int64_t> sinkPoint;
  llvm::SmallVector<int64_t> parameters;
  /// The concurrent loop that carries the dependence; null if the schedule
  /// runs the pair in the wrong order.
  const BandMember *loop = nullptr;

  /// sinkPoint - sourcePoint; empty when the statements differ in dimensions.
  llvm::SmallVector<int64_t> getDistance() const;
};

/// The answer to "may the program run in this order?".
struct Legality {
  enum class Verdict { Legal, Illegal, Unknown };

  Verdict verdict = Verdict::Legal;
  std::optional<Violation> violation; ///< Illegal.
  /// Unknown: limits, or a fault. Illegal without a violation: what is expected
  /// of the filters or of an array's storage, and what it is instead.
  std::string reason;
};

/// Checks that `schedule` (null: a single leaf) runs every point once, keeps
/// every dependence of `program`, that no concurrent loop carries one, and that
/// elements of an array that share a place are not alive at the same time.
/// Instances of one reduction statement may change places among themselves.
Legality checkSchedule(const Program &program, const ScheduleNode *schedule,
                       const Limits &limits = {});

/// A dependence as a relation, from source to sink instances.
struct Dependence {
  DependenceKind kind;
  unsigned array;
  unsigned source;
  unsigned sink;
  /// All of it may be reordered: it joins instances of one reduction.
  bool isReduction;
  Map relation;
};

/// Pairs of points of two statements, the first of which comes first in the
/// program.
Map getProgramOrder(const Context &context, const Program &program,
                    unsigned source, unsigned sink);

/// All dependences of `program`; none of the relations is empty.
llvm::Expected<std::vector<Dependence>>
computeDependences(const Context &context, const Program &program);

/// How far apart the points of dependences are along the loops of a band.
struct LoopDistances {
  const Dependence *dependence;
  /// Values of the loops at the sink minus those at the source.
  Set differences;
};

/// What the loops of `band`, a node of the tree below `root`, have to order:
/// the distances of those pairs of points that reach it and that nothing above
/// it orders. None is empty.
llvm::Expected<std::vector<LoopDistances>>
computeDistances(const Context &context, const Program &program,
                 llvm::ArrayRef<Dependence> dependences,
                 const ScheduleNode *root, const ScheduleNode *band);

} // namespace espalier::polyhedral

#endif // ESPALIER_POLYHEDRAL_DEPENDENCE_H
