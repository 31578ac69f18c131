//===- Script.h - Commands that are checked together ------------*- C++ -*-===//
//
// A command is an edit and a check of what comes out. What the commands of a
// script come to is what counts, so a script is tried without checks of the
// order on a copy, and that is checked once. Only if it is wrong is each
// command checked, and the first that is refused is to blame.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMS_SCRIPT_H
#define ESPALIER_DIALECT_POLY_TRANSFORMS_SCRIPT_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/Support/Error.h"
#include <functional>

namespace espalier::poly {

/// What commands that are applied one after the other share.
class Script {
public:
  enum class Mode {
    Each,     ///< Every command is checked before it is applied.
    Deferred, ///< The order of points is not checked until `settle`.
    Approved, ///< Nothing is checked: the same edits were, on a copy.
  };

  explicit Script(Mode mode = Mode::Each) : mode(mode) {}

  Mode getMode() const { return mode; }
  /// Notes that the order of the points of `kernel` has to be checked.
  void setDue(KernelOp kernel) { due.insert(kernel); }
  /// Checks that, if it is due. What edits the definition of a kernel has to
  /// start from a schedule that keeps it.
  llvm::Error settle(KernelOp kernel);
  /// Checks all that is due.
  llvm::Error settleAll();
  /// Whether the points of `compute` were looked at before.
  bool sawPoints(ComputeOp compute) { return !seen.insert(compute).second; }

private:
  Mode mode;
  llvm::SmallSetVector<mlir::Operation *, 4> due;
  llvm::SmallPtrSet<mlir::Operation *, 8> seen;
};

/// What a command is for, and the script that the command is part of, if any.
template <typename OpTy>
struct InScript : OpTy {
  InScript(OpTy op, Script *script = nullptr) : OpTy(op), script(script) {}
  Script *script;
};
using ComputeTarget = InScript<ComputeOp>;
using ArrayTarget = InScript<ArrayOp>;

/// Applies commands to a kernel: all, or none, if one is refused. Each gets the
/// script that it is part of, and finds what it works on by name; it may be
/// called several times, for copies too.
llvm::Error applyScript(
    KernelOp kernel,
    llvm::ArrayRef<std::function<llvm::Error(KernelOp, Script &)>> commands);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMS_SCRIPT_H
