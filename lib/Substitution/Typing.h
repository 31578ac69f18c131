//===- Typing.h - Ranks and extents of the nodes of a rule ------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_TYPING_H
#define ESPALIER_LIB_SUBSTITUTION_TYPING_H

#include "Sizes.h"
#include "espalier/Substitution/OperatorSemantics.h"

namespace espalier::substitution {

/// A use of a node of a rule (`listTensors`) at known rank.
struct Instance {
  NodeId id;
  const RuleNode *node;
  llvm::SmallVector<unsigned, 2> operands;
  unsigned rank = 0;
  bool isInSrc = false;
  std::string name;                             ///< Of the use.
  const OperatorSemantics *semantics = nullptr; ///< Null for variables.
  llvm::SmallVector<Linear, 4> shape;
  llvm::SmallVector<Linear, 4> parameters; ///< Of the definition.
  BoundaryList<Linear> boundaries;
};

/// The instances of a rule, in the order of its uses.
struct Instances {
  std::vector<Instance> list;
  unsigned numSrc = 0;
  llvm::SmallVector<unsigned, 2> src, dst;
  /// The ranks that `src` alone leaves open, and `dst` does not.
  Guard rankGuard;
  /// A use of each rank that is still open.
  llvm::SmallVector<unsigned, 2> openRanks;
};

/// Makes the instances of a rule and their ranks. Open ones are as `open` says,
/// or 1. The first variables and constants may have `known` ranks, by number of
/// use. Nothing, and a reason, if ranks contradict each other.
std::optional<Instances> makeInstances(const Rule &rule, std::string &error,
                                       llvm::ArrayRef<unsigned> open = {},
                                       llvm::ArrayRef<unsigned> known = {});

/// The rank of a use, as a size.
SizeExpr getRankOf(const Instances &instances, unsigned use);

/// Two extents, of instances, that are assumed to be equal.
struct Assumption {
  enum class Kind {
    OneGroup,    ///< Convolution `first` has one group.
    SameIn,      ///< Convolutions `first` and `second`, both of one side: equal
                 ///< channels per group.
    SameOut,     ///< The same for features.
    SquareUse,   ///< The constant operand of `first` keeps the extent.
    SquareConst, ///< Constant `first` has two equal extents in front.
  } kind;
  unsigned first, second = 0;
};

/// The extents of all instances.
struct Typing {
  Instances instances;
  Sizes sizes;
  /// What `src` alone asks for, and the hypothesis.
  std::optional<Sizes> srcSizes;
  /// The same under the assumptions about its convolutions.
  std::optional<Sizes> assumedSizes;
  /// What is assumed of groups in `dst`.
  llvm::SmallVector<std::pair<Linear, Linear>, 1> assumedEqual;
};

/// Types a rule whose outputs have equal shapes on both sides, with
/// assumptions, and with a hypothesis, of which at least nothing else is
/// supposed. Nothing, and a reason, if an operator has no meaning.
std::optional<Typing>
typeRule(const Instances &instances, SemanticsCache &semantics,
         const Integers &integers, llvm::ArrayRef<Assumption> assumptions,
         std::string &error, const Guard &hypothesis = {});

/// The extent of tensor `ref` of the definition of `instance`, along `dim`, and
/// other extents in its definition.
std::optional<Linear> translateExtent(definition::Expr extent,
                                      const Instances &instances,
                                      const Instance &instance, Sizes &sizes);

/// The operand of a product that is a constant, the second one if both are.
unsigned getConstantFactor(const Instances &instances, const Instance &product);

/// What must hold beyond what `src` asks for: compares the shapes that fit both
/// sides (`cases`, under assumptions) with those that fit `src`. Nothing if it
/// cannot be determined.
std::optional<Guard> getGuard(const Typing &typing,
                              const std::vector<Sizes> &cases,
                              llvm::ArrayRef<Assumption> assumptions,
                              mlir::MLIRContext *context);

/// Whether `cases` fit only where some extent of `src` is 1 that need not be.
bool isDegenerate(const Typing &typing, const std::vector<Sizes> &cases);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_TYPING_H
