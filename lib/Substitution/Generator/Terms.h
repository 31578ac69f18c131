//===- Terms.h - Outputs of graphs as terms ---------------------*- C++ -*-===//
//
// What of a graph ends up in a rule: operators with the parameters that the
// text form has, a part of a split being an operator of its own. Equal terms
// have equal numbers.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_TERMS_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_TERMS_H

#include "Enumerate.h"
#include "espalier/Substitution/Rule.h"
#include <map>

namespace espalier::substitution::generator {

using TermId = uint32_t;
using TermList = llvm::SmallVector<TermId, 2>;

struct Term {
  /// Number of the operation; of a variable, `kVariable`.
  uint16_t operation = 0;
  uint8_t numOperands = 0;
  /// Of a variable, its number as an input of the table; of a constant, which
  /// use of it this is.
  std::array<TermId, 2> operands{};

  static constexpr uint16_t kVariable = 0xffff;
  bool isVariable() const { return operation == kVariable; }
};

class Terms {
public:
  explicit Terms(const OperatorTable &table)
      : table(table), leaves(table.leaves) {}

  /// The variable for an input of the table.
  TermId getVariable(unsigned leaf);
  /// The n-th variable of this kind: an input, or one that the table lacks.
  TermId getVariableLike(const LeafTemplate &kind, unsigned n);
  TermId get(const ConcreteOperator &operation,
             llvm::ArrayRef<TermId> operands);
  /// The n-th of several uses of a constant.
  TermId getConstantUse(TermId constant, unsigned n);
  /// The same operator on other operands.
  TermId rebuild(TermId term, llvm::ArrayRef<TermId> operands);

  const Term &operator[](TermId id) const { return terms[id]; }
  llvm::ArrayRef<TermId> getOperands(TermId id) const {
    return llvm::ArrayRef(terms[id].operands.data(), terms[id].numOperands);
  }
  const ConcreteOperator &getOperation(TermId id) const {
    return operations[terms[id].operation];
  }
  const OperatorInfo &getInfo(TermId id) const {
    return substitution::getInfo(getOperation(id).kind);
  }
  const OperatorTable &getTable() const { return table; }
  const LeafTemplate &getLeaf(TermId variable) const {
    return leaves[terms[variable].operands[0]];
  }
  unsigned getRank(TermId id) const;
  bool isScalar(TermId id) const {
    return terms[id].isVariable() && getLeaf(id).shape.rank == 0;
  }
  bool isCommutative(TermId id) const { return getInfo(id).isCommutative(); }
  unsigned size() const { return terms.size(); }

  /// All terms that make up `roots`, operands first.
  std::vector<TermId> getPostOrder(llvm::ArrayRef<TermId> roots) const;

private:
  TermId intern(const Term &term);

  const OperatorTable &table;
  /// Of the table, and variables beyond.
  std::vector<LeafTemplate> leaves;
  std::vector<Term> terms;
  std::vector<ConcreteOperator> operations;
  std::map<std::vector<int64_t>, uint16_t> operationNumbers;
  std::unordered_map<uint64_t, std::vector<TermId>> known;
};

/// Exchanges inputs of the same shape such that the first one is used first.
class Renaming {
public:
  /// Looks for inputs in `roots`, from left to right.
  Renaming(Terms &terms, llvm::ArrayRef<TermId> roots);

  TermId apply(TermId term);

private:
  Terms &terms;
  std::map<TermId, TermId> renamed;
};

/// Two graphs with equal values: the k-th term of the one is the k-th of the
/// other.
struct TermPair {
  TermList lhs, rhs;
};

/// Gives each use of a constant a term of its own: the context decides the
/// sizes of each.
TermPair separateConstants(Terms &terms, const TermPair &pair);

/// A text that is the same for pairs that differ by the names of variables, the
/// order of outputs, of commutative operands or of the two sides.
std::string getCanonicalText(const Terms &terms, const TermPair &pair);

/// Makes a rule. Variables are numbered in the order of their first use.
Rule makeRule(const Terms &terms, const TermPair &pair, llvm::StringRef name);

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_TERMS_H
