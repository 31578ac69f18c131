//===- Commands.h - Scheduling commands -------------------------*- C++ -*-===//
//
// A command edits the schedule tree of a kernel; some also edit its arrays and
// computations. Each is tried on a copy and checked against exact dependences
// first: if it would change what the kernel computes, or cannot be applied, the
// kernel stays as it was and the error is a `Refusal`.
//
// Loops are called by the computation that they run and their name. A kernel
// without schedule starts from program order, whose loops are called like the
// dimensions of the computations. Bands are shared: what is done to a loop is
// done for all computations of its band.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DIALECT_POLY_TRANSFORMS_COMMANDS_H
#define ESPALIER_DIALECT_POLY_TRANSFORMS_COMMANDS_H

#include "espalier/Dialect/Poly/IR/Poly.h"
#include "espalier/Polyhedral/Dependence.h"
#include "llvm/Support/Error.h"

namespace espalier::poly {

/// Why a command was not applied.
class Refusal : public llvm::ErrorInfo<Refusal> {
public:
  static char ID;

  explicit Refusal(const llvm::Twine &message,
                   std::optional<polyhedral::Violation> violation = {})
      : message(message.str()), violation(std::move(violation)) {}

  void log(llvm::raw_ostream &os) const override { os << message; }
  std::error_code convertToErrorCode() const override;
  /// The dependence that would be broken, if that is the reason.
  const std::optional<polyhedral::Violation> &getViolation() const {
    return violation;
  }
  /// Adds what would be legal.
  void addHint(const llvm::Twine &hint) { message += "; " + hint.str(); }

private:
  std::string message;
  std::optional<polyhedral::Violation> violation;
};

/// A refusal with this message.
llvm::Error refuse(const llvm::Twine &message);

/// Applies `edit` to `kernel`, which then has a schedule with named loops, if
/// the result is valid and keeps all dependences. `edit` is called twice, first
/// for a copy; it finds what it works on by name, and may leave a half edited
/// kernel behind when it fails.
llvm::Error applyChecked(KernelOp kernel,
                         llvm::function_ref<llvm::Error(KernelOp)> edit);

//===----------------------------------------------------------------------===//
// Order
//===----------------------------------------------------------------------===//

/// Splits a loop into one more than `factors`: the innermost has
/// `factors.back()` iterations, and so on outwards. They are called `names`, or
/// `i.0`, `i.1`, ... for a loop `i`. Never illegal. The last iteration of a
/// loop may be partial.
llvm::Error split(ComputeOp compute, llvm::StringRef loop,
                  llvm::ArrayRef<int64_t> factors,
                  llvm::ArrayRef<llvm::StringRef> names = {});

//===----------------------------------------------------------------------===//
// Execution
//===----------------------------------------------------------------------===//

/// Runs the iterations of a loop on different threads.
llvm::Error parallelize(ComputeOp compute, llvm::StringRef loop);

} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_TRANSFORMS_COMMANDS_H
