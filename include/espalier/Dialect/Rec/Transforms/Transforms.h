//===- Transforms.h - Transformations of recursive models -------*- C++ -*-===//
//
// Each is a function on one target, which passes and transform operations call.
// None changes what a model computes.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_REC_TRANSFORMS_TRANSFORMS_H
#define ESPALIER_DIALECT_REC_TRANSFORMS_TRANSFORMS_H

#include "espalier/Dialect/Rec/IR/Rec.h"
#include "mlir/IR/PatternMatch.h"
#include "llvm/Support/Error.h"

namespace espalier::rec {

/// When a value of a cell is computed.
enum class CellPart {
  Once,      ///< It depends on weights alone.
  EachNode,  ///< For each node, before the recursion.
  Recursion, ///< It depends on children.
};

/// Says when a value of a cell of interior nodes or of leaves is computed.
CellPart getCellPart(mlir::Value value);

/// Whether `op` is an operator whose definition sums, so that it costs more
/// than what it reads and writes.
bool hasSum(mlir::Operation *op);

/// Says why the operator `term` cannot move to the cell of a child; success if
/// it can.
llvm::Error checkRefactoring(mlir::Operation *term);

/// Moves the operator `term` of a cell to the cell of the child that it depends
/// on, with what it needs: it becomes a further result of the model, of which
/// `rec.apply` has one more, too. Where interior nodes have numbered children,
/// the same terms of the others become that result. Returns the operators that
/// compute it in the cells, and fails, leaving the IR unchanged, where
/// `checkRefactoring` does. `term` is gone afterwards.
llvm::Expected<llvm::SmallVector<mlir::Operation *>>
refactor(mlir::RewriterBase &rewriter, mlir::Operation *term);

/// Refactors all terms of `model` that sum and can move, where interior nodes
/// may have several children, and returns how many it has moved. Remarks of
/// `category` say which, and why others stay.
unsigned refactorAll(mlir::RewriterBase &rewriter, ModelOp model,
                     llvm::StringRef category);

/// Receives what is said of an operation.
using Explanation =
    llvm::function_ref<void(mlir::Operation *, const llvm::Twine &)>;

/// Says in which order nodes are computed, when each operator of interior nodes
/// is, which leaves' results are stored, and which terms could move.
void explainBatching(ModelOp model, Explanation say);

} // namespace espalier::rec

#endif // ESPALIER_DIALECT_REC_TRANSFORMS_TRANSFORMS_H
