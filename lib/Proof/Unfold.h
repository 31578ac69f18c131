//===- Unfold.h - Puts definitions in the place of operators ----*- C++ -*-===//

#ifndef ESPALIER_LIB_PROOF_UNFOLD_H
#define ESPALIER_LIB_PROOF_UNFOLD_H

#include "Statement.h"
#include "Sum.h"

namespace espalier::proof {

/// The extent that a definition speaks of, where `instances` are the operands.
std::optional<Index> translate(definition::Expr expr, const Use &use,
                               const Instance &instance,
                               llvm::ArrayRef<Instance> instances,
                               const std::map<unsigned, Index> &variables = {});

/// Unfolds uses at symbolic positions.
class Unfolder {
public:
  Unfolder(const Statement &statement, const Typing &typing, unsigned &next)
      : statement(statement), instances(typing.instances), next(next) {}

  /// The element of a use at a position.
  Sum unfold(unsigned use, const std::vector<Index> &indices);
  /// Why there is none.
  const std::string &getError() const { return error; }
  /// What has to hold where the elements are that were unfolded since.
  std::vector<Demand> takeDemands() { return std::exchange(demands, {}); }

private:
  struct Scope {
    unsigned use;
    std::map<unsigned, Index> variables;
  };

  Sum fail(llvm::StringRef reason);
  void demand(Demand::Kind kind, Sum value);
  Sum unfoldStep(unsigned use, unsigned step,
                 const std::vector<Index> &indices);
  Sum evaluate(definition::Expr expr, const Scope &scope);
  Sum evaluateApply(definition::Expr expr, const Scope &scope);
  Sum evaluateSelect(definition::Expr expr, const Scope &scope);
  Sum evaluateReduce(definition::Expr expr, const Scope &scope);
  std::optional<Index> getIndex(definition::Expr expr, const Scope &scope);
  /// Alternatives of which exactly one holds if the condition is so.
  std::optional<Clause> getCondition(definition::Expr expr, bool isTrue,
                                     const Scope &scope);
  std::optional<Clause> compare(definition::Expr expr, bool isTrue,
                                const Scope &scope);

  const Statement &statement;
  const std::vector<Instance> &instances;
  unsigned &next;
  Names bound;      ///< Around what is evaluated.
  Conditions where; ///< Of them.
  std::vector<Demand> demands;
  std::string error;
};

} // namespace espalier::proof

#endif // ESPALIER_LIB_PROOF_UNFOLD_H
