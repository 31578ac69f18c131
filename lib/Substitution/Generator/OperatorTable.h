//===- OperatorTable.h - What the generator enumerates ----------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_OPERATORTABLE_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_OPERATORTABLE_H

#include "espalier/Substitution/Generator/Kernels.h"
#include <memory>
#include <vector>

namespace espalier::substitution::generator {

class DerivedOperators;

/// An input of the enumerated graphs.
struct LeafTemplate {
  Shape shape;
  /// Weights are no images: nothing is convolved with a weight as its input.
  bool isWeight = false;

  bool operator==(const LeafTemplate &other) const {
    return shape == other.shape && isWeight == other.isWeight;
  }
};

/// An operator at fixed parameters, and what keeps the enumeration small.
struct OperatorTemplate {
  ConcreteOperator operation;
  /// A convolution of weights of this kernel alone; nothing for others.
  std::array<uint8_t, 2> weightKernel{0, 0};

  bool isCommutative() const { return getInfo(operation.kind).isCommutative(); }
  unsigned getNumResults() const { return operation.getNumResults(); }
};

struct OperatorTable {
  std::vector<LeafTemplate> leaves;
  std::vector<OperatorTemplate> operators;
  /// What operators point to.
  std::shared_ptr<DerivedOperators> derived;
};

/// The tables that `getOperatorTable` knows, for messages.
llvm::StringRef getOperatorTableNames();

/// A table by its name; see the comment at the head of OperatorTable.cpp.
std::optional<OperatorTable> getOperatorTable(llvm::StringRef name);

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_OPERATORTABLE_H
