//===- Assumptions.cpp - Conditions that are checked at run time ----------===//

#include "Assumptions.h"
#include "llvm/ADT/STLExtras.h"

using namespace mlir;
using namespace espalier::substitution;

//===----------------------------------------------------------------------===//
// Conditions of rules on extents of classes
//===----------------------------------------------------------------------===//

namespace {
class GuardTranslator {
public:
  GuardTranslator(ClassExtents &classes, const RulePattern &pattern,
                  const Binding &binding, ArrayRef<RankedTensorType> types)
      : classes(classes), pattern(pattern), binding(binding), types(types) {}

  /// What is left of the condition where it does not hold for all sizes;
  /// nothing if it never holds or cannot be computed.
  std::optional<std::vector<Clause>> run() {
    std::vector<Clause> clauses;
    for (const GuardClause &clause : pattern.guard->clauses)
      if (!add(clause, clauses))
        return std::nullopt;
    // Proofs are for extents of at least 1, of all that the rule matches.
    if ((!clauses.empty() || !needs.empty()) && !addExtents())
      return std::nullopt;
    for (const Constraint &need : needs)
      if (!addRest({{need}}, clauses))
        return std::nullopt;
    return clauses;
  }

private:
  bool add(const GuardClause &clause, std::vector<Clause> &clauses) {
    Clause alternatives;
    for (const std::vector<GuardAtom> &atoms : clause) {
      Constraints alternative;
      auto constraint = [&](const GuardAtom &atom) {
        std::optional<Constraint> result = translate(atom);
        if (result)
          alternative.push_back(*result);
        return result.has_value();
      };
      if (llvm::all_of(atoms, constraint))
        alternatives.push_back(std::move(alternative));
    }
    return addRest(std::move(alternatives), clauses);
  }

  /// Adds what is not known to hold. Fails if nothing is left that may.
  bool addRest(Clause alternatives, std::vector<Clause> &clauses) {
    const ConstraintStore &facts = classes.getFacts();
    Clause rest;
    for (Constraints &alternative : alternatives) {
      llvm::erase_if(alternative, [&](const Constraint &constraint) {
        return facts.implies(constraint);
      });
      if (alternative.empty())
        return true;
      auto isComputable = [&](const Constraint &constraint) {
        return classes.getTable().isComputable(constraint.expr);
      };
      if (!facts.isImpossible(alternative) &&
          llvm::all_of(alternative, isComputable))
        rest.push_back(std::move(alternative));
    }
    if (rest.empty())
      return false;
    if (!llvm::is_contained(clauses, rest))
      clauses.push_back(std::move(rest));
    return true;
  }

  bool addExtents() {
    for (NodeId node = 0; node < pattern.rule->graph.size(); ++node) {
      if (binding[node] == kNone || types[node].hasStaticShape())
        continue;
      const TensorExtents &extents = classes.get(binding[node]);
      llvm::append_range(needs, extents.needs);
      for (const Linear &form : extents.forms)
        needs.push_back(Constraint::atLeast(form, 1));
    }
    return true;
  }

  std::optional<Linear> getExtent(unsigned use, unsigned axis) {
    NodeId node = pattern.uses.list[use].node;
    RankedTensorType type = types[node];
    if (!type || axis >= type.getRank())
      return std::nullopt;
    if (!type.isDynamicDim(axis))
      return Linear(type.getDimSize(axis));
    if (binding[node] == kNone)
      return std::nullopt;
    const TensorExtents &extents = classes.get(binding[node]);
    llvm::append_range(needs, extents.needs);
    return extents.forms[axis];
  }

  std::optional<int64_t> getKnown(const SizeExpr &expr) {
    return evaluate(
        expr, pattern.uses,
        [&](unsigned use, unsigned axis) -> std::optional<int64_t> {
          std::optional<Linear> extent = getExtent(use, axis);
          return extent ? extent->getValue() : std::nullopt;
        },
        [&](unsigned use) -> std::optional<int64_t> {
          RankedTensorType type = types[pattern.uses.list[use].node];
          return type ? std::optional<int64_t>(type.getRank()) : std::nullopt;
        });
  }

  std::optional<Linear> translate(const SizeExpr &expr) {
    if (expr.kind == SizeExpr::Kind::Term &&
        expr.term.kind == SizeTerm::Kind::Dim)
      return getExtent(expr.term.use, expr.term.axis);
    if (expr.operands.empty() || expr.kind == SizeExpr::Kind::Max) {
      std::optional<int64_t> value = getKnown(expr);
      return value ? std::optional(Linear(*value)) : std::nullopt;
    }
    std::optional<Linear> result = translate(expr.operands[0]);
    for (const SizeExpr &operand : llvm::drop_begin(expr.operands)) {
      std::optional<Linear> value = translate(operand);
      if (!result || !value)
        return std::nullopt;
      result = combine(expr.kind, *result, *value);
    }
    return result;
  }

  std::optional<Linear> combine(SizeExpr::Kind kind, const Linear &lhs,
                                const Linear &rhs) {
    std::optional<int64_t> left = lhs.getValue(), right = rhs.getValue();
    switch (kind) {
    case SizeExpr::Kind::Sum:
      return lhs + rhs;
    case SizeExpr::Kind::Product:
      if (!left && !right)
        return std::nullopt;
      return left ? rhs * *left : lhs * *right;
    case SizeExpr::Kind::Floor:
      if (right.value_or(0) < 1)
        return std::nullopt;
      return classes.getTable().getQuotient(lhs, *right);
    default:
      return std::nullopt;
    }
  }

  std::optional<Constraint> translate(const GuardAtom &atom) {
    std::optional<Linear> lhs = translate(atom.lhs), rhs = translate(atom.rhs);
    if (!lhs || !rhs)
      return std::nullopt;
    switch (atom.kind) {
    case GuardAtom::Kind::Equal:
      return Constraint::equal(*lhs, *rhs);
    case GuardAtom::Kind::AtLeast:
      return Constraint::atLeast(*lhs, *rhs);
    case GuardAtom::Kind::Divides: {
      int64_t divisor = lhs->getValue().value_or(0);
      if (divisor < 1)
        return std::nullopt;
      Linear quotient = classes.getTable().getQuotient(*rhs, divisor);
      return Constraint::equal(*rhs, quotient * divisor);
    }
    }
    llvm_unreachable("every kind is handled above");
  }

  ClassExtents &classes;
  const RulePattern &pattern;
  const Binding &binding;
  ArrayRef<RankedTensorType> types;
  /// What must hold for forms to be extents, and for proofs to apply.
  std::vector<Constraint> needs;
};
} // namespace

void Assumptions::prepare() {
  if (meant.empty())
    return;
  for (ENodeId id : std::exchange(meant, {}))
    classes.addAgreements(id);
  current = classes.getFacts();
  numLearned = classes.getTable().size();
}

std::optional<std::vector<Clause>>
Assumptions::decide(const RulePattern &pattern, const Binding &binding,
                    ArrayRef<RankedTensorType> types) {
  prepare();
  return GuardTranslator(classes, pattern, binding, types).run();
}

//===----------------------------------------------------------------------===//
// Assumptions
//===----------------------------------------------------------------------===//

/// Adds the clause, unless it has several alternatives.
static void addTo(ConstraintStore &facts, const Clause &clause) {
  if (clause.size() == 1)
    facts.add(clause.front());
}

std::vector<Clause> Assumptions::listNew(ArrayRef<Clause> clauses) {
  std::vector<Clause> result;
  for (const Clause &clause : clauses)
    if (!llvm::is_contained(assumed, clause))
      result.push_back(clause);
  // What follows from the others need not be assumed.
  for (unsigned number = 0; number < result.size();) {
    ConstraintStore others = getCurrent();
    for (auto [other, clause] : llvm::enumerate(result))
      if (other != number)
        addTo(others, clause);
    auto isImplied = [&](const Constraint &constraint) {
      return others.implies(constraint);
    };
    if (result[number].size() == 1 &&
        llvm::all_of(result[number].front(), isImplied))
      result.erase(result.begin() + number);
    else
      ++number;
  }
  return result;
}

bool Assumptions::canAssume(ArrayRef<Clause> clauses) {
  auto isAllowed = [&](const Clause &clause) {
    return !allowed || llvm::is_contained(*allowed, clause);
  };
  ConstraintStore all = getCurrent();
  for (const Clause &clause : clauses)
    addTo(all, clause);
  if (all.isImpossible())
    return false;
  std::vector<Clause> added = listNew(clauses);
  bool can = assumed.size() + added.size() <= maxClauses &&
             llvm::all_of(added, isAllowed);
  refused |= !can;
  return can;
}

void Assumptions::assume(ArrayRef<Clause> clauses) {
  for (Clause &clause : listNew(clauses)) {
    addTo(current, clause);
    assumed.push_back(std::move(clause));
  }
}
