//===- Instantiate.h - Definitions inside of others -------------*- C++ -*-===//
//
// A model is a definition that is made of those of its operators. Each may be
// computed for every value of further indices (nodes of a structure, say):
//
//   R[j] = tanh(X[j])   becomes   R1[n, j] = tanh(H[n, j])
//
// so that what holds for operators needs no second rule for operators inside of
// a model.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DEFINITION_INSTANTIATE_H
#define ESPALIER_DEFINITION_INSTANTIATE_H

#include "espalier/Definition/Definition.h"

namespace espalier::definition {

/// A tensor of the outer definition in place of an operand of the inner one:
/// the operand's element at [i, ..] is that of `tensor` at [leading.., i, ..].
struct Argument {
  TensorRef tensor;
  llvm::SmallVector<Expr, 1> leading = {};
};

/// Appends the steps of `inner` to `outer`, with `arguments` in place of its
/// operands, and returns the steps of its results. Each step is computed for
/// all values of `indices`, as its first ones, and the leading indices of
/// arguments may depend on them. `inner` must not have parameters, and no
/// recurrences.
llvm::SmallVector<TensorRef> instantiate(Definition &outer,
                                         const Definition &inner,
                                         llvm::ArrayRef<Argument> arguments,
                                         llvm::ArrayRef<IndexVar> indices,
                                         mlir::MLIRContext *context);

} // namespace espalier::definition

#endif // ESPALIER_DEFINITION_INSTANTIATE_H
