//===- Retest.h - Fresh inputs and other shapes -----------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_RETEST_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_RETEST_H

#include "SymbolicSizes.h"

namespace espalier::substitution::generator {

/// `groups == 1` and the like, as a comment on a rule; empty for none.
std::string getText(Condition condition);

/// Evaluates both sides of equations at sizes that are drawn anew and on fresh
/// inputs.
class Retester {
public:
  explicit Retester(Terms &terms);

  /// The weakest condition under which the sides agree in all tests, or
  /// nothing.
  std::optional<Condition> test(const TermPair &pair);
  /// Whether the sides agree in all tests under the condition.
  bool holds(const TermPair &pair, Condition condition);

private:
  bool holds(const TermPair &pair, Condition condition, unsigned numShapes);
  bool test(const TermPair &pair, Condition condition, unsigned numShapes,
            Random &random);
  bool setInputs(SymbolicSizes &sizes, llvm::ArrayRef<TermId> order,
                 Random &random);
  bool inferTypes(llvm::ArrayRef<TermId> order, bool hasOneGroup);
  bool drawInputs(const TermPair &pair, SymbolicSizes &sizes,
                  llvm::ArrayRef<TermId> order, Condition condition,
                  Random &random);
  bool evaluate(const TermPair &pair, llvm::ArrayRef<TermId> order);
  uint32_t *getData(unsigned position) {
    return data.get() + size_t(position) * kMaxElements * kLanes;
  }

  struct Value {
    TensorType type;
    ConcreteOperator operation;
    unsigned position; ///< In the order of evaluation.
  };

  Terms &terms;
  std::unordered_map<TermId, Value> values;
  std::unique_ptr<uint32_t[]> data;
};

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_RETEST_H
