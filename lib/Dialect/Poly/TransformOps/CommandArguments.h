//===- CommandArguments.h - What transform operations share -----*- C++ -*-===//

#ifndef ESPALIER_LIB_DIALECT_POLY_TRANSFORMOPS_COMMANDARGUMENTS_H
#define ESPALIER_LIB_DIALECT_POLY_TRANSFORMOPS_COMMANDARGUMENTS_H

#include "espalier/Dialect/Poly/TransformOps/OpenNumbers.h"
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

/// Whether a parameter stands for `amount`: then it has no results.
inline bool isOpen(mlir::AffineMapAttr amount) {
  return amount.getValue().getNumInputs() == 0 &&
         amount.getValue().getNumResults() == 0;
}

/// Whether `amount` is one expression of symbols or open, or an error at `op`.
inline mlir::LogicalResult verifyAmount(mlir::Operation *op,
                                        mlir::AffineMapAttr amount) {
  mlir::AffineMap map = amount.getValue();
  if (isOpen(amount) || (map.getNumResults() == 1 && map.getNumDims() == 0))
    return mlir::success();
  return op->emitOpError("expects a map from symbols to one result, but got ")
         << amount;
}

/// Makes `closed` a copy of `op`, without operands, that has the values of the
/// parameters in place of open numbers; leaves it null if none is open. Fails
/// for good where a parameter is not one number.
mlir::DiagnosedSilenceableFailure
closeNumbers(mlir::Operation *op, llvm::ArrayRef<OpenNumber> numbers,
             mlir::transform::TransformState &state,
             mlir::OwningOpRef<mlir::Operation *> &closed);

/// The same with what knobs select in place of open numbers; always a copy, and
/// null where nothing is selected.
mlir::OwningOpRef<mlir::Operation *>
closeSelected(mlir::Operation *op, llvm::ArrayRef<OpenNumber> numbers);

/// Calls `apply` with `op` as `closeNumbers` makes it.
template <typename OpTy, typename Apply>
mlir::DiagnosedSilenceableFailure
applyClosed(OpTy op, mlir::transform::TransformState &state, Apply apply) {
  mlir::OwningOpRef<mlir::Operation *> closed;
  mlir::DiagnosedSilenceableFailure status =
      closeNumbers(op, op.getOpenNumbers(), state, closed);
  if (!status.succeeded())
    return status;
  return apply(closed ? mlir::cast<OpTy>(*closed) : op);
}

/// The region that `transform.tune.alternatives` runs; null if nothing says
/// which before the script runs.
mlir::Region *getSelectedRegion(mlir::Operation *alternatives);

/// Calls `visit` for the operations that `sequence` and the sequences that it
/// names may run, those in regions that are not selected left out.
void walkRun(mlir::Operation *sequence,
             llvm::function_ref<void(mlir::Operation *)> visit);

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
