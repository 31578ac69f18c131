//===- Interpreter.h - The reference interpreter ----------------*- C++ -*-===//
//
// Runs graph operators by their definitions: plain loops, floating-point values
// in double precision between the tensors, integers exactly. It is the oracle
// of every other way to run a program, and folds constants.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_INTERPRETER_INTERPRETER_H
#define ESPALIER_INTERPRETER_INTERPRETER_H

#include "espalier/Definition/Definition.h"
#include "espalier/Interpreter/Tensor.h"
#include "mlir/Dialect/Func/IR/FuncOps.h"
#include "mlir/IR/BuiltinOps.h"

namespace espalier::interpreter {

/// Where floating-point values are rounded to their type.
enum class Rounding {
  /// Only where they are stored into a tensor: the oracle, more exact than any
  /// program that is compared with it.
  Tensors,
  /// After every function, and after (not within) every reduction: what a
  /// program computes that is not more exact than its types. Compiled code may
  /// differ in the last digit where it fuses a product with a sum or where it
  /// has its own polynomial for an elementary function.
  Functions,
};

/// Evaluates the results of a definition. `parameters` are the operator's
/// index-typed operands. Fails, with a reason given to `error`, when operands
/// disagree in their extents, when a result is too large, or when the
/// definition is of a form that is not supported.
mlir::FailureOr<llvm::SmallVector<Tensor>>
evaluate(const definition::Definition &definition,
         llvm::ArrayRef<Tensor> operands, llvm::ArrayRef<int64_t> parameters,
         llvm::function_ref<void(const llvm::Twine &)> error,
         Rounding rounding = Rounding::Tensors);

/// Runs a function of graph operators, `tensor.dim`, and `arith` on indices.
/// Emits a diagnostic and fails when the inputs do not match the arguments or
/// when an operation cannot be evaluated.
mlir::FailureOr<llvm::SmallVector<Tensor>>
interpret(mlir::func::FuncOp function, llvm::ArrayRef<Tensor> inputs);

/// Runs the function `main` of a module.
mlir::FailureOr<llvm::SmallVector<Tensor>>
interpret(mlir::ModuleOp module, llvm::ArrayRef<Tensor> inputs);

} // namespace espalier::interpreter

#endif // ESPALIER_INTERPRETER_INTERPRETER_H
