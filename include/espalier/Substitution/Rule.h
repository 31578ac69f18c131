//===- Rule.h - Substitution rules ------------------------------*- C++ -*-===//
//
// A rule says that the graph `src` may be replaced by the graph `dst`: the k-th
// output of the one by the k-th of the other. Both are graphs over the same
// variables, and their nodes live in one pool, in which equal expressions are
// the same node.
//
//   rule associativity
//   src (ewadd (ewadd ?i0 ?i1) ?i2)
//   dst (ewadd ?i0 (ewadd ?i1 ?i2))
//
// A line `where GUARD` limits a rule to some sizes, and a line `arithmetic
// exact` or `arithmetic reassociates` says whether results round as before. A
// file that begins with a line `version 1` ends with a line `end N`, with its
// number of rules. Lines that begin with another word are remarks; in a rule,
// a word that looks like one of these misspelt is an error.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_RULE_H
#define ESPALIER_SUBSTITUTION_RULE_H

#include "espalier/Substitution/Guard.h"
#include "espalier/Substitution/Operators.h"
#include "mlir/Support/LLVM.h"
#include "llvm/ADT/STLFunctionalExtras.h"
#include "llvm/ADT/SmallVector.h"
#include "llvm/Support/raw_ostream.h"
#include <map>
#include <string>
#include <vector>

namespace espalier::substitution {

/// A variable, or an operator applied to nodes with smaller numbers.
struct RuleNode {
  enum class Kind : uint8_t {
    Tensor,   ///< `?iN`: of any rank and size.
    Scalar,   ///< `?sN`.
    Operator, ///< `op` of `operands`.
  } kind = Kind::Tensor;
  OpKind op = OpKind::Conv2d;
  /// The N of a variable.
  unsigned number = 0;
  /// In the order of the operator's table entry.
  llvm::SmallVector<Param, 3> params;
  llvm::SmallVector<NodeId, 2> operands;

  bool isVariable() const { return kind != Kind::Operator; }
  bool is(OpKind other) const { return kind == Kind::Operator && op == other; }
  /// Whether this is an operator that has the trait.
  bool has(OperatorTraits trait) const {
    return kind == Kind::Operator && getInfo().has(trait);
  }
  /// Of an operator.
  const OperatorInfo &getInfo() const { return substitution::getInfo(op); }
};

/// A pool of nodes; equal ones are the same. Operands come before their users.
class RuleGraph {
public:
  NodeId addTensor(unsigned number);
  NodeId addScalar(unsigned number);
  /// The operands must be in the pool and of the kind that `op` expects, the
  /// parameters as many as it has.
  NodeId addOperator(OpKind op, llvm::ArrayRef<Param> params,
                     llvm::ArrayRef<NodeId> operands);

  const RuleNode &operator[](NodeId id) const { return nodes[id]; }
  unsigned size() const { return nodes.size(); }

private:
  NodeId add(RuleNode node);

  std::vector<RuleNode> nodes;
  std::map<std::vector<int64_t>, NodeId> known;
};

/// What a rule does to rounding.
enum class Arithmetic : uint8_t {
  Unstated,
  Exact,        ///< The same numbers are added and multiplied in one order.
  Reassociates, ///< Perhaps in another.
};

struct Rule {
  std::string name;
  /// Where its text begins, from 1; 0 if it has none.
  unsigned line = 0;
  RuleGraph graph;
  /// Equally many outputs; those of `dst` use no variable that `src` lacks.
  llvm::SmallVector<NodeId, 2> src, dst;
  /// The sizes that the rule is for, beyond those at which `src` has a meaning.
  Guard where;
  Arithmetic arithmetic = Arithmetic::Unstated;
};

/// The version of rule files that this program writes and reads.
constexpr unsigned kRulesVersion = 1;

/// Returns a complaint about a rule that was not made by `parseRules`: outputs
/// that are missing or scalars, variables that `src` lacks. Empty if it is well
/// formed.
std::string check(const Rule &rule);

/// Prints a node as an S-expression.
void print(const RuleGraph &graph, NodeId node, llvm::raw_ostream &os);
/// Prints the block of a rule, without a blank line behind it.
void print(const Rule &rule, llvm::raw_ostream &os);

/// Parses all rules of a text. Calls `error` for each fault, with its line and
/// a message that names the rule; a rule with a fault is left out of the
/// result. Fails if there was any fault.
mlir::LogicalResult parseRules(
    llvm::StringRef text, std::vector<Rule> &rules,
    llvm::function_ref<void(unsigned line, const llvm::Twine &message)> error);

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_RULE_H
