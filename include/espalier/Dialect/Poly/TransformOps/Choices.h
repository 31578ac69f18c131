//===- Choices.h - What a schedule script leaves open -----------*- C++ -*-===//
//
// A script may have choices: `transform.tune.knob` and
// `transform.tune.alternatives`, each with a name. Before it is applied, each
// that it runs has to be selected.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMOPS_CHOICES_H
#define ESPALIER_DIALECT_POLY_TRANSFORMOPS_CHOICES_H

#include "mlir/IR/BuiltinOps.h"

namespace espalier::poly {

/// A knob or alternatives. Operations with the same name are one choice.
struct Choice {
  llvm::StringRef name;
  /// What may be selected: for alternatives, the numbers of the regions; for a
  /// knob, its options. Any value if these are not an array.
  mlir::Attribute options;
  mlir::Attribute
      selected; ///< By all of `ops`; null if there is no such value.
  llvm::SmallVector<mlir::Operation *> ops;
};

/// The choices of a script, in the order of its text; fails after an error
/// where operations with one name do not have the same options. Alternatives
/// that a parameter selects are none.
mlir::FailureOr<llvm::SmallVector<Choice>> getChoices(mlir::ModuleOp script);

/// Selects `value`, which has to be one of the options. Fails after an error.
mlir::LogicalResult select(const Choice &choice, mlir::Attribute value);

/// The first choice that `sequence`, or a sequence that it names, would run and
/// that nothing is selected for; null if there is none.
mlir::Operation *findOpenChoice(mlir::Operation *sequence);

/// Emits an error at an operation that `findOpenChoice` returned.
mlir::LogicalResult reportOpenChoice(mlir::Operation *choice);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMOPS_CHOICES_H
