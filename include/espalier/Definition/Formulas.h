//===- Formulas.h - Scalar functions made of others -------------*- C++ -*-===//
//
// Formulas that several operators share. The index notation knows them by name.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DEFINITION_FORMULAS_H
#define ESPALIER_DEFINITION_FORMULAS_H

#include "espalier/Definition/Expr.h"

namespace espalier::definition {

/// max(x, 0).
Expr relu(Expr x);
/// 1 / (1 + exp(-x)).
Expr sigmoid(Expr x);
/// tanh(x).
Expr tanh(Expr x);
/// The value limited to 0 .. extent - 1, as indices read from tensors must be.
Expr clampIndex(Expr value, Expr extent);

using Formula = Expr (*)(Expr);
/// Returns the formula of this name, or null.
Formula lookupFormula(llvm::StringRef name);

} // namespace espalier::definition

#endif // ESPALIER_DEFINITION_FORMULAS_H
