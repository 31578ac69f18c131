//===- Formulas.cpp - Scalar functions made of others ---------------------===//

#include "espalier/Definition/Formulas.h"
#include "llvm/ADT/StringSwitch.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::definition;

Expr definition::relu(Expr x) {
  return apply(ScalarFn::Max, {x, constant(int64_t(0))});
}

Expr definition::sigmoid(Expr x) {
  Expr one = constant(int64_t(1));
  Expr decay = apply(ScalarFn::Exp, {apply(ScalarFn::Neg, {x})});
  return apply(ScalarFn::Div, {one, one + decay});
}

Expr definition::tanh(Expr x) { return apply(ScalarFn::Tanh, {x}); }

Expr definition::clampIndex(Expr value, Expr extent) {
  Expr atMost = apply(ScalarFn::Min, {value, extent - 1});
  return apply(ScalarFn::Max, {atMost, constant(int64_t(0))});
}

Formula definition::lookupFormula(StringRef name) {
  return llvm::StringSwitch<Formula>(name)
      .Case("relu", relu)
      .Case("sigmoid", sigmoid)
      .Default(nullptr);
}
