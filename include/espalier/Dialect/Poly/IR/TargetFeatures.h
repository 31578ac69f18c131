//===- TargetFeatures.h - Instructions that a machine has -------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_TARGETFEATURES_H
#define ESPALIER_DIALECT_POLY_IR_TARGETFEATURES_H

#include "espalier/Dialect/Poly/IR/Poly.h"

namespace espalier::poly {

/// Whether `feature`, LLVM's name such as `avx512bf16`, is usual for the
/// target's processor or stated to be there, and neither it nor what it needs
/// is stated to be missing.
bool hasFeature(TargetAttr target, llvm::StringRef feature);

/// Whether one instruction adds the products of two pairs of bf16 to each of so
/// many lanes of f32.
bool hasPairProducts(TargetAttr target, int64_t lanes);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_IR_TARGETFEATURES_H
