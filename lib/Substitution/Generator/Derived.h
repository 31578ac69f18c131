//===- Derived.h - Operators by their definitions ---------------*- C++ -*-===//
//
// Types and sizes of operators, and values of those that have no kernel, follow
// from their definitions. An expression is evaluated for all elements together:
// an access is a copy of elements, a reduction adds dimensions and folds them.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_DERIVED_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_DERIVED_H

#include "espalier/Definition/Evaluate.h"
#include "espalier/Substitution/Generator/Kernels.h"
#include "espalier/Substitution/OperatorSemantics.h"
#include "mlir/IR/MLIRContext.h"

namespace espalier::substitution::generator {

class DerivedOperator {
public:
  /// An operator at one rank of the operands whose rank it leaves open.
  struct AtRank {
    /// Null if it has none, or one that takes more than sums and maxima over
    /// indices that are made of extents.
    const OperatorSemantics *semantics = nullptr;
    Trace trace;
    llvm::SmallVector<unsigned, 2> ranks; ///< Of the operands.

    const definition::Step &getResult() const {
      return semantics->definition.steps[semantics->definition.results[0]];
    }
  };

  DerivedOperator(const ConcreteOperator &operation, SemanticsCache &cache);

  /// The operator for operands of these ranks; null if it has no meaning.
  const AtRank *get(llvm::ArrayRef<unsigned> ranks) const;

  /// See `generator::inferType` and `generator::evaluate`. `operation` says
  /// the sizes of a constant.
  std::optional<TensorType> inferType(const ConcreteOperator &operation,
                                      const TensorType *const *operands) const;
  void evaluate(const ConcreteOperator &operation, const TensorView *operands,
                uint32_t *result) const;

private:
  unsigned numOperands;
  std::array<std::optional<unsigned>, 2> required;
  std::array<AtRank, kRank + 1> byRank;
};

/// Makes and keeps them.
class DerivedOperators {
public:
  /// For `Operation::derived`: one for each part.
  const DerivedOperator *get(ConcreteOperator operation) {
    std::vector<DerivedOperator> parts;
    for (operation.part = 0; operation.part < operation.getNumResults();
         ++operation.part)
      parts.emplace_back(operation, semantics);
    made.push_back(std::move(parts));
    return made.back().data();
  }

private:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  SemanticsCache semantics{context};
  std::vector<std::vector<DerivedOperator>> made;
};

/// The value of an index expression. `getLeaf` gives those of variables,
/// extents and parameters.
template <typename Fn>
int64_t evaluateIndex(const definition::Expr &expr, const Fn &getLeaf) {
  using definition::Expr;
  switch (expr.getKind()) {
  case Expr::Kind::Constant:
    return expr.getInt().value_or(0);
  case Expr::Kind::Variable:
  case Expr::Kind::Size:
  case Expr::Kind::Parameter:
    return getLeaf(expr);
  case Expr::Kind::Cast:
    return evaluateIndex(expr.getOperands()[0], getLeaf);
  case Expr::Kind::Apply: {
    llvm::ArrayRef<Expr> args = expr.getOperands();
    int64_t lhs = evaluateIndex(args.front(), getLeaf);
    int64_t rhs = args.size() == 1 ? 0 : evaluateIndex(args.back(), getLeaf);
    return definition::evaluateInteger(expr.getFn(),
                                       definition::IntegerFormat(), lhs, rhs);
  }
  default:
    llvm_unreachable("expects an index that is made of sizes");
  }
}

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_DERIVED_H
