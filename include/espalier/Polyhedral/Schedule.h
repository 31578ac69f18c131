//===- Schedule.h - Schedule trees ------------------------------*- C++ -*-===//
//
// A schedule tree orders the points of a program's statements:
//
//   band      orders them by affine functions, one per loop
//   sequence  runs its children, all of them filters, one after the other
//   filter    keeps some statements, or some of their points
//   mark      orders nothing; reaches the AST with its attribute
//   leaf      a node without child; what the bands above left equal runs in
//             lexicographic order of the statement's dimensions
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_POLYHEDRAL_SCHEDULE_H
#define ESPALIER_POLYHEDRAL_SCHEDULE_H

#include "espalier/Polyhedral/Program.h"
#include "mlir/IR/Attributes.h"
#include <memory>

namespace espalier::polyhedral {

/// How a band's loop is turned into code.
enum class LoopShape {
  Atomic,   ///< One loop; conditions may remain in its body.
  Default,  ///< The engine's choice.
  Separate, ///< As many loops as it takes to have no conditions inside.
  Unroll,   ///< One copy of the body per iteration; needs a constant bound.
};

/// What the iterations of a loop may do at the same time.
enum class Concurrency {
  Sequential, ///< Nothing.
  Parallel,   ///< Run on different threads: no dependence may be carried.
  Lanes,      ///< Run in lockstep: only a reduction's own may be carried.
};

/// One loop of a band.
struct BandMember {
  LoopShape shape = LoopShape::Atomic;
  Concurrency concurrency = Concurrency::Sequential;
  /// Copied to the loops that are generated for this member.
  mlir::Attribute tag;
};

/// A statement and the affine map from its dimensions to a band's loops.
struct BandMap {
  unsigned statement;
  mlir::AffineMap map;
};

/// A statement that a filter keeps: at the points of the set, or everywhere if
/// the set is null.
struct FilterSet {
  unsigned statement;
  mlir::IntegerSet set;
};

/// A node of a schedule tree.
struct ScheduleNode {
  enum class Kind { Band, Sequence, Filter, Mark };

  Kind kind;
  /// Band: a map for each statement that reaches it, and the loops. With
  /// `separateFullTiles`, tiles that the domain does not cut get code of their
  /// own, where the loops of the child band have constant bounds.
  llvm::SmallVector<BandMap> maps;
  llvm::SmallVector<BandMember> members;
  bool separateFullTiles = false;
  /// Filter.
  llvm::SmallVector<FilterSet> filters;
  /// Mark.
  mlir::Attribute mark;
  /// At most one, except under a sequence.
  std::vector<std::unique_ptr<ScheduleNode>> children;

  explicit ScheduleNode(Kind kind) : kind(kind) {}
};

using ScheduleTree = std::unique_ptr<ScheduleNode>;

/// Makes the nodes. A null `child` is a leaf.
ScheduleTree makeBand(llvm::ArrayRef<BandMap> maps,
                      llvm::ArrayRef<BandMember> members,
                      ScheduleTree child = nullptr);
ScheduleTree makeSequence(std::vector<ScheduleTree> filters);
ScheduleTree makeFilter(llvm::ArrayRef<FilterSet> filters,
                        ScheduleTree child = nullptr);
ScheduleTree makeMark(mlir::Attribute mark, ScheduleTree child = nullptr);

/// The program order as a tree: a sequence of all statements, or nothing for a
/// single one, above a band over all of a statement's dimensions. Interleaved
/// statements have bands over the dimensions that they share above the sequence.
ScheduleTree makeProgramOrder(const Program &program);

} // namespace espalier::polyhedral

#endif // ESPALIER_POLYHEDRAL_SCHEDULE_H
