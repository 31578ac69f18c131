//===- CommandArguments.h - What transform operations share -----*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMOPS_COMMANDARGUMENTS_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMOPS_COMMANDARGUMENTS_H

#include "espalier/Dialect/Poly/Transforms/Script.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/Dialect/Transform/Utils/DiagnosedSilenceableFailure.h"
#include "llvm/Support/Error.h"

namespace espalier::poly {

/// The strings of an array, none if there is no array.
inline llvm::SmallVector<llvm::StringRef>
toStrings(std::optional<mlir::ArrayAttr> strings) {
  if (!strings)
    return {};
  return llvm::to_vector(strings->getAsValueRange<mlir::StringAttr>());
}

/// The symbols of `table` that are an `OpTy`, for messages.
template <typename OpTy>
std::string listSymbols(mlir::Operation *table) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleaveComma(table->getRegion(0).getOps<OpTy>(), os,
                        [&](OpTy op) { os << '@' << op.getSymName(); });
  return "[" + text + "]";
}

/// Whether `amount` is one expression of symbols, or an error at `op`.
inline mlir::LogicalResult verifyAmount(mlir::Operation *op,
                                        mlir::AffineMapAttr amount) {
  mlir::AffineMap map = amount.getValue();
  if (map.getNumResults() == 1 && map.getNumDims() == 0)
    return mlir::success();
  return op->emitOpError("expects a map from symbols to one result, but got ")
         << amount;
}

/// Runs `command` for `target`; a refusal becomes a silenceable failure.
mlir::DiagnosedSilenceableFailure
applyCommand(mlir::Operation *op, mlir::Operation *target,
             mlir::transform::TransformState &state,
             llvm::function_ref<llvm::Error(ComputeTarget)> command);

/// The script that the command `op` is part of, if it only changes the order in
/// which the points of `kernel` run and where they store; other commands rely
/// on that order, so it is checked then, where that is due.
llvm::Expected<Script *> joinScript(mlir::Operation *op, KernelOp kernel,
                                    mlir::transform::TransformState &state);

} // namespace espalier::poly

#endif // ESPALIER_LIB_DIALECT_POLY_TRANSFORMOPS_COMMANDARGUMENTS_H
