//===- TensorTypes.h - Shapes and boundaries of results ---------*- C++ -*-===//
//
// Of the operators that have kernels; nothing if they do not apply.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GENERATOR_TENSORTYPES_H
#define ESPALIER_LIB_SUBSTITUTION_GENERATOR_TENSORTYPES_H

#include "espalier/Substitution/Generator/Kernels.h"

namespace espalier::substitution::generator {

/// What an inference gives.
using Inferred = std::optional<TensorType>;

Inferred inferConv(const Operation &operation,
                   const TensorType *const *operands);
Inferred inferPool(const Operation &operation,
                   const TensorType *const *operands);
Inferred inferMatmul(const Operation &operation,
                     const TensorType *const *operands);
Inferred inferBatchMatmul(const Operation &operation,
                          const TensorType *const *operands);
/// That of the first operand; a second one is a scalar.
Inferred inferFirst(const Operation &operation,
                    const TensorType *const *operands);
Inferred inferElementwise(const Operation &operation,
                          const TensorType *const *operands);
Inferred inferConcat(const Operation &operation,
                     const TensorType *const *operands);
Inferred inferSplit(const Operation &operation,
                    const TensorType *const *operands);
Inferred inferConstant(const Operation &operation,
                       const TensorType *const *operands);

} // namespace espalier::substitution::generator

#endif // ESPALIER_LIB_SUBSTITUTION_GENERATOR_TENSORTYPES_H
