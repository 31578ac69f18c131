//===- ApplyChecked.cpp - Try, check, then do -----------------------------===//

#include "ScheduleTree.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Verifier.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

char Refusal::ID = 0;

std::error_code Refusal::convertToErrorCode() const {
  return std::make_error_code(std::errc::invalid_argument);
}

llvm::Error espalier::poly::refuse(const Twine &message) {
  return llvm::make_error<Refusal>(message);
}

/// Whether `kernel` is well formed; if not, the refusal is the verifier's
/// message.
static llvm::Error checkForm(KernelOp kernel) {
  std::string message;
  ScopedDiagnosticHandler handler(kernel.getContext(),
                                  [&](Diagnostic &diagnostic) {
                                    if (message.empty())
                                      message = diagnostic.str();
                                    return success();
                                  });
  if (succeeded(verify(kernel)))
    return llvm::Error::success();
  return refuse("would make a kernel that is not valid: " + message);
}

static llvm::Error checkDependences(KernelOp kernel) {
  KernelModel model = buildModel(kernel);
  polyhedral::ScheduleTree tree =
      buildScheduleTree(model, kernel.getSchedule());
  polyhedral::Legality legality =
      polyhedral::checkSchedule(model.program, tree.get());
  switch (legality.verdict) {
  case polyhedral::Legality::Verdict::Legal:
    return llvm::Error::success();
  case polyhedral::Legality::Verdict::Unknown:
    return refuse("cannot be checked: " + legality.reason);
  case polyhedral::Legality::Verdict::Illegal:
    break;
  }
  if (!legality.violation)
    return refuse("expects " + legality.reason);
  std::string message =
      "expects " + describeViolation(model, *legality.violation);
  // The tree goes; its loops with it.
  legality.violation->loop = nullptr;
  return llvm::make_error<Refusal>(message, legality.violation);
}

llvm::Error
espalier::poly::applyChecked(KernelOp kernel,
                             llvm::function_ref<llvm::Error(KernelOp)> edit) {
  auto prepareAndEdit = [&](KernelOp target) {
    getOrCreateSchedule(target);
    nameLoops(target);
    return edit(target);
  };
  OwningOpRef<KernelOp> trial(kernel.clone());
  if (llvm::Error error = prepareAndEdit(*trial))
    return error;
  if (llvm::Error error = checkForm(*trial))
    return error;
  if (llvm::Error error = checkDependences(*trial))
    return error;
  return prepareAndEdit(kernel);
}
