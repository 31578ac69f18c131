//===- Derived.h - Operators by their definitions ---------------*- C++ -*-===//
//
// Types, sizes and values of operators that have no kernel follow from their
// definitions. An expression is evaluated for all elements together: an access
// is a copy of elements, a reduction adds dimensions and folds them.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_DERIVED_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_DERIVED_H

#include "espalier/Substitution/Generator/Kernels.h"
#include "espalier/Substitution/Meaning.h"
#include "mlir/IR/MLIRContext.h"

namespace espalier::substitution::generator {

class DerivedOperator {
public:
  /// An operator at one rank of the operands whose rank it leaves open.
  struct AtRank {
    /// Nothing if it has none, or one that takes more than sums and maxima
    /// over indices that are made of extents.
    std::optional<definition::Definition> definition;
    Trace trace;
    llvm::SmallVector<unsigned, 2> ranks; ///< Of the operands.

    const definition::Step &getResult() const {
      return definition->steps[definition->results[0]];
    }
  };

  DerivedOperator(const Operation &operation, Meanings &meanings);

  /// The operator for operands of these ranks; null if it has no meaning.
  const AtRank *get(llvm::ArrayRef<unsigned> ranks) const;

  std::optional<TensorType> inferType(const TensorType *const *operands) const;
  void evaluate(const TensorView *operands, const Shape &output,
                uint32_t *result) const;

private:
  unsigned numOperands;
  std::array<std::optional<unsigned>, 2> required;
  std::array<AtRank, kRank + 1> byRank;
};

/// Makes and keeps them.
class DerivedOperators {
public:
  const DerivedOperator *get(const Operation &operation) {
    made.push_back(std::make_unique<DerivedOperator>(operation, meanings));
    return made.back().get();
  }

private:
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  Meanings meanings{context};
  std::vector<std::unique_ptr<DerivedOperator>> made;
};

/// The value of an index expression. Extents are those of operands.
int64_t evaluateIndex(
    const definition::Expr &expr,
    llvm::function_ref<int64_t(unsigned operand, unsigned dim)> getExtent,
    llvm::function_ref<int64_t(definition::VarId)> getVariable);

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_DERIVED_H
