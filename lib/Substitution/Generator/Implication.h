//===- Implication.h - What rules imply -------------------------*- C++ -*-===//
//
// An equation follows from rules if both sides have the same normal form, or if
// it is an instance of a rule, possibly inside a context: the same operators
// around both sides. A rule of several outputs may replace some of the subterms
// in which two graphs differ.
//
// Normal forms are those of ordered rewriting: a rule is applied, in either
// direction, where it makes the term smaller. Of two terms, that of fewer
// symbols is smaller, and of equally many, that whose prefix form comes first:
// replacing a subterm by a smaller one makes the term smaller, so this ends.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_IMPLICATION_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_IMPLICATION_H

#include "Terms.h"
#include <set>

namespace espalier::substitution::generator {

class Implication {
public:
  explicit Implication(Terms &terms) : terms(terms) {}

  void add(const TermPair &rule);
  /// Takes note that two terms are equal by the rules, in whatever many steps.
  void connect(TermId lhs, TermId rhs);
  /// Whether the equation follows; false if that was not found out.
  bool implies(const TermPair &pair);

private:
  using Equation = std::pair<TermId, TermId>;
  using Equations = llvm::SmallVector<Equation, 4>;

  TermId normalize(TermId term);
  TermId rewrite(TermId term);
  TermId sortOperands(TermId term);
  bool isSmaller(TermId lhs, TermId rhs);
  bool isEqual(TermId lhs, TermId rhs);
  bool followsFromOneStep(const TermPair &pair);
  void addSmall(TermId lhs, TermId rhs);
  bool isConnected(TermId lhs, TermId rhs);
  TermId getLeader(TermId term);
  bool isInstanceOfRule(TermId lhs, TermId rhs) const;
  bool isInstance(const TermPair &rule,
                  llvm::ArrayRef<Equation> equations) const;
  bool isInstanceOfLargeRule(const Equations &equations) const;
  void addDifferences(TermId lhs, TermId rhs, Equations &differences);
  uint64_t getKey(TermId lhs, TermId rhs) const;

  Terms &terms;
  /// Rules of one output by the operators at the top of both sides.
  std::unordered_map<uint64_t, std::vector<TermPair>> small;
  /// The same, by the operator at the top of the left side.
  std::unordered_map<uint16_t, std::vector<Equation>> rewrites;
  std::unordered_map<TermId, TermId> normalForms;
  /// Symbols in prefix form.
  std::unordered_map<TermId, std::vector<uint32_t>> prefixForms;
  /// Rules of several outputs.
  std::vector<TermPair> large;
  std::set<Equation> knownEqual;
  /// Of connected terms, the way to one that stands for all.
  std::unordered_map<TermId, TermId> leaders;
};

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_IMPLICATION_H
