//===- Kernels.h - Operators on small field tensors -------------*- C++ -*-===//
//
// The evaluation of the rule operators at small sizes. What they are follows
// from their definitions (Derived.h). Those that most of the time goes to have
// kernels for the values; a unit test compares each with an evaluation of its
// definition on the same points.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_GENERATOR_KERNELS_H
#define ESPALIER_SUBSTITUTION_GENERATOR_KERNELS_H

#include "espalier/Substitution/Generator/Field.h"
#include "espalier/Substitution/Operators.h"
#include <array>
#include <optional>

namespace espalier::substitution::generator {

constexpr unsigned kRank = 4;
/// Tensors have no more elements than this.
constexpr unsigned kMaxElements = 1024;

struct Shape {
  uint8_t rank = 0;
  std::array<uint8_t, kRank> dims{};

  unsigned getNumElements() const {
    unsigned count = 1;
    for (unsigned i = 0; i < rank; ++i)
      count *= dims[i];
    return count;
  }
  bool operator==(const Shape &other) const {
    return rank == other.rank && dims == other.dims;
  }
};

/// The concatenation boundaries of one axis, the most recent one last.
struct Boundaries {
  uint8_t count = 0;
  std::array<uint8_t, 3> at{};

  uint8_t getLast() const { return at[count - 1]; }
  bool operator==(const Boundaries &other) const {
    return count == other.count && at == other.at;
  }
};

/// What inference knows of a tensor.
struct TensorType {
  Shape shape;
  std::array<Boundaries, kRank> boundaries{};

  bool operator==(const TensorType &other) const {
    return shape == other.shape && boundaries == other.boundaries;
  }
};

/// A tensor: `kLanes` values for each element, in row-major order.
struct TensorView {
  const TensorType *type;
  const uint32_t *data;
};

class DerivedOperator;

/// An operator with its parameters, in a form that is quick to read.
struct ConcreteOperator {
  OpKind kind = OpKind::Relu;
  bool hasRelu = false; ///< `:act relu`.
  bool isSame = true;   ///< `:pad same`.
  std::array<uint8_t, 2> kernel{1, 1};
  std::array<uint8_t, 2> stride{1, 1};
  uint8_t axis = 0;
  uint8_t rank = 0; ///< `:ndim`.
  uint8_t part = 0; ///< Of a split.
  /// Of a swap its axes, of a batched product its ranks, of a slice where it
  /// begins and its size, of a pad the zeros before and behind.
  std::array<uint8_t, 2> numbers{};
  Shape constantShape; ///< Of a constant's result: the context decides.
  /// What follows from the definition, for each part.
  const DerivedOperator *derived = nullptr;

  unsigned getNumOperands() const { return getInfo(kind).numOperands; }
  unsigned getNumResults() const { return getInfo(kind).has(kCut) ? 2 : 1; }
  const DerivedOperator &getDerived() const;
  /// The parameters in the order of the operator's table entry.
  llvm::SmallVector<Param, 3> getParams() const;
};

/// The operation of these parameters, in the order of the operator's table
/// entry, without what is derived; nothing if they are beyond what the
/// generator can do.
std::optional<ConcreteOperator> getOperation(OpKind kind,
                                             llvm::ArrayRef<Param> params);

/// The type of the result; nothing if the operator does not apply to operands
/// of these types, or the result is too large.
std::optional<TensorType> inferType(const ConcreteOperator &operation,
                                    const TensorType *const *operands);

/// Writes the values of the result, whose type `inferType` gave, to `result`.
void evaluate(const ConcreteOperator &operation, const TensorView *operands,
              const TensorType &type, uint32_t *result);

} // namespace espalier::substitution::generator

#endif // ESPALIER_SUBSTITUTION_GENERATOR_KERNELS_H
