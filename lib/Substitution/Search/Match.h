//===- Match.h - Where rules fit --------------------------------*- C++ -*-===//
//
// Finds what a rule's `src` matches in an e-graph. A rule with several outputs
// is matched output by output, and the matches are joined where they agree
// about what the outputs share (Yang et al., "Equality saturation for tensor
// graph superoptimization", MLSys 2021).
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_SEARCH_MATCH_H
#define ESPALIER_LIB_SUBSTITUTION_SEARCH_MATCH_H

#include "EGraph.h"
#include "espalier/Substitution/Boundaries.h"
#include "espalier/Substitution/Search/RuleSet.h"
#include "espalier/Substitution/Shapes.h"
#include "llvm/ADT/STLFunctionalExtras.h"

namespace espalier::substitution {

/// The class of each node of a rule; `kNone` for those of `dst` alone.
using Binding = std::vector<ClassId>;

/// Remembers which instances are which operators of rules, in all e-graphs.
class Recognizer {
public:
  /// The number of an operator of a rule.
  unsigned getOperator(const RuleNode &node);
  /// Whether node `id` is that operator, of its operands in reverse order if
  /// `isSwapped`.
  bool is(const EGraph &graph, ENodeId id, unsigned operation, bool isSwapped);
  Traces &getTraces() { return traces; }

private:
  std::vector<RuleNode> operators;
  Traces traces;
  /// By name, attributes and types: for each operator, not known yet, false or
  /// true.
  std::map<std::vector<const void *>, std::vector<int8_t>> known;
};

/// How a rule that joins two like outputs joins what it has joined with a third
/// one. Lists go with the nodes below the first output.
///
///   (matmul ?i0 ?i1)  (matmul ?i0 ?i2)  (matmul ?i0 (concat ?i1 ?i2))
struct Joining {
  std::vector<NodeId> second; ///< The same for the second output.
  std::vector<NodeId> whole;  ///< The same for what outputs become parts of.
};

/// A rule, prepared for matching.
struct RulePattern {
  RulePattern(const ProvedRule &proved, Recognizer &recognizer);

  const Rule *rule;
  const Guard *guard;
  RuleTensors uses;
  /// Whether it holds up to `kMaxOpenRank`; otherwise it says what ranks it
  /// has.
  bool hasOpenRank;
  /// To find where splits cut; null if the rule has none.
  Traces *traces = nullptr;
  std::vector<unsigned> operators; ///< Of each node, in a `Recognizer`.
  /// The nodes below each output of `src`.
  llvm::SmallVector<std::vector<NodeId>, 2> below;
  /// Whether the two outputs of `src` are alike but for variables' names.
  bool isSymmetric = false;
  /// If the rule is one that can be repeated on its result.
  std::optional<Joining> joining;
};

struct MatchLimits {
  /// Of one output, and of a whole rule.
  unsigned maxMatches = 4000;
  /// Steps that the search below one class may take, and that for a rule.
  unsigned maxSteps = 10000, maxRuleSteps = 2000000;
};

class Matcher {
public:
  /// Looks in the given classes only.
  Matcher(const EGraph &graph, Recognizer &recognizer,
          llvm::ArrayRef<ClassId> classes, const MatchLimits &limits);

  /// All matches of a rule, as far as limits allow.
  std::vector<Binding> match(const RulePattern &pattern);
  /// All matches of one output by itself.
  std::vector<Binding> matchOutput(const RulePattern &pattern, unsigned output);

private:
  struct Goal {
    NodeId node;
    ClassId id;
  };
  bool solve(const RulePattern &pattern, std::vector<Goal> &goals,
             Binding &binding, std::vector<Binding> &found);
  bool solveNode(const RulePattern &pattern, Goal goal, ENodeId id,
                 std::vector<Goal> &goals, Binding &binding,
                 std::vector<Binding> &found);
  std::vector<Binding> join(const RulePattern &pattern,
                            std::vector<Binding> first,
                            std::vector<Binding> second, unsigned output);
  bool areIndependent(ClassId lhs, ClassId rhs) const;
  bool isPartOf(ClassId part, ClassId whole) const;

  const EGraph &graph;
  Recognizer &recognizer;
  MatchLimits limits;
  unsigned numSteps = 0, numRuleSteps = 0;
  /// The classes that have a node of this name.
  llvm::DenseMap<mlir::StringAttr, std::vector<ClassId>> byName;
};

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_SEARCH_MATCH_H
