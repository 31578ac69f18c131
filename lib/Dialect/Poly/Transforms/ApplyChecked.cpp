//===- ApplyChecked.cpp - Try, check, then do -----------------------------===//

#include "LoopNest.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "mlir/IR/Diagnostics.h"
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

llvm::Error espalier::poly::checkForm(KernelOp kernel) {
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

/// Whether nothing is fetched ahead inside lanes.
static llvm::Error checkPrefetches(KernelOp kernel) {
  std::string fault;
  kernel.getSchedule().walk([&](PrefetchOp prefetch) {
    for (auto band = prefetch->getParentOfType<BandOp>(); band;
         band = band->getParentOfType<BandOp>())
      if (BandLoop last = getLoops(band).back(); last.kind.isVector())
        fault = "no prefetch inside the lanes " + quote(last.name);
  });
  return refuseFault(fault);
}

/// Whether code can be made of the loops: their arithmetic has to stay within
/// 64 bits, and lanes have no loops inside.
static llvm::Error checkLoops(KernelOp kernel) {
  std::string fault;
  kernel.getSchedule().walk([&](BandOp band) {
    SmallVector<BandLoop> loops = getLoops(band);
    for (const BandLoop &loop : loops) {
      for (AffineExpr expr : loop.exprs)
        expr.walk([&](AffineExpr part) {
          auto number = dyn_cast<AffineConstantExpr>(part);
          if (number && !isSmall(number.getValue()))
            fault = "numbers of at most 2^30 in the loops, but " +
                    quote(loop.name) + " has " +
                    std::to_string(number.getValue());
        });
      Operation *child = band.getChild();
      if (!loop.kind.isVector())
        continue;
      if (&loop != &loops.back() || (child && hasLoops(child)))
        fault = "no loops inside the lanes " + quote(loop.name);
    }
  });
  if (fault.empty())
    fault = checkLanes(kernel.getSchedule());
  return refuseFault(fault);
}

static llvm::Error checkDependences(KernelOp kernel) {
  KernelModel model = buildModel(kernel);
  BandNodes nodes;
  polyhedral::ScheduleTree tree =
      buildScheduleTree(model, kernel.getSchedule(), &nodes);
  polyhedral::Legality legality =
      polyhedral::checkSchedule(model.program, tree.get());
  switch (legality.verdict) {
  case polyhedral::Legality::Verdict::Legal:
    return llvm::Error::success();
  case polyhedral::Legality::Verdict::Unknown:
    return refuse("expects a schedule that can be checked, but got: " +
                  legality.reason);
  case polyhedral::Legality::Verdict::Illegal:
    break;
  }
  if (!legality.violation)
    return refuse("expects " + legality.reason);
  std::string message =
      "expects " + describeViolation(model, nodes, *legality.violation);
  DictionaryAttr encoded =
      encodeViolation(model, *legality.violation, kernel.getContext());
  // The tree goes; its loops with it.
  legality.violation->loop = nullptr;
  return llvm::make_error<Refusal>(message, legality.violation, encoded);
}

/// Gives `kernel` a schedule whose loops all have names.
static void prepare(KernelOp kernel) {
  getOrCreateSchedule(kernel);
  nameLoops(kernel);
}

OwningOpRef<KernelOp> espalier::poly::cloneWithSchedule(KernelOp kernel) {
  OwningOpRef<KernelOp> copy = cloneAlone(kernel);
  prepare(*copy);
  return copy;
}

/// Checks the form of what an edit has made.
static llvm::Error checkEdit(KernelOp kernel,
                             llvm::function_ref<llvm::Error(KernelOp)> check) {
  if (llvm::Error error = checkPrefetches(kernel))
    return error;
  if (llvm::Error error = checkForm(kernel))
    return error;
  return check ? check(kernel) : llvm::Error::success();
}

/// Checks what needs integer sets: loops, then the order.
static llvm::Error checkOrder(KernelOp kernel) {
  if (llvm::Error error = checkLoops(kernel))
    return error;
  return checkDependences(kernel);
}

/// Applies `edit` to a copy of `kernel`, and checks that.
static llvm::Error
tryEdit(KernelOp kernel, llvm::function_ref<llvm::Error(KernelOp)> edit,
        llvm::function_ref<llvm::Error(KernelOp)> check = {}) {
  OwningOpRef<KernelOp> trial = cloneWithSchedule(kernel);
  if (llvm::Error error = edit(*trial))
    return error;
  if (llvm::Error error = checkPrefetches(*trial))
    return error;
  if (llvm::Error error = checkForm(*trial))
    return error;
  if (llvm::Error error = checkLoops(*trial))
    return error;
  if (check)
    if (llvm::Error error = check(*trial))
      return error;
  return llvm::handleErrors(checkDependences(*trial),
                            [&](std::unique_ptr<Refusal> refusal) {
                              refusal->setAttempt(std::move(trial));
                              return llvm::Error(std::move(refusal));
                            });
}

llvm::Error espalier::poly::applyChecked(
    KernelOp kernel, llvm::function_ref<llvm::Error(KernelOp)> edit,
    llvm::function_ref<llvm::Error(KernelOp)> check, Script *script) {
  Script::Mode mode = script ? script->getMode() : Script::Mode::Each;
  if (mode == Script::Mode::Each)
    if (llvm::Error error = tryEdit(kernel, edit, check))
      return error;
  prepare(kernel);
  llvm::Error error = edit(kernel);
  if (error || mode != Script::Mode::Deferred)
    return error;
  script->setDue(kernel);
  return checkEdit(kernel, check);
}

//===----------------------------------------------------------------------===//
// Scripts
//===----------------------------------------------------------------------===//

llvm::Error Script::settle(KernelOp kernel) {
  seen.clear();
  return due.remove(kernel) ? checkOrder(kernel) : llvm::Error::success();
}

llvm::Error Script::settleAll() {
  for (Operation *kernel : due.takeVector())
    if (llvm::Error error = checkOrder(cast<KernelOp>(kernel)))
      return error;
  return llvm::Error::success();
}

llvm::Error espalier::poly::applyScript(
    KernelOp kernel,
    ArrayRef<std::function<llvm::Error(KernelOp, Script &)>> commands) {
  auto run = [&](KernelOp target, Script::Mode mode) -> llvm::Error {
    Script script(mode);
    for (const auto &command : commands)
      if (llvm::Error error = command(target, script))
        return error;
    return script.settleAll();
  };
  OwningOpRef<KernelOp> trial = cloneAlone(kernel);
  if (llvm::Error error = run(*trial, Script::Mode::Deferred)) {
    llvm::consumeError(std::move(error));
    trial = cloneAlone(kernel);
    if (llvm::Error blame = run(*trial, Script::Mode::Each))
      return blame;
  }
  return run(kernel, Script::Mode::Approved);
}

//===----------------------------------------------------------------------===//
// Commands for one computation
//===----------------------------------------------------------------------===//

/// Whether `compute` has points, finitely many of them.
static llvm::Error checkPoints(ComputeOp compute) {
  return refuseFault(checkDomain(compute, /*notEmpty=*/true));
}

llvm::Error
espalier::poly::applyTo(ComputeTarget compute,
                        llvm::function_ref<llvm::Error(ComputeOp)> edit,
                        llvm::function_ref<llvm::Error(KernelOp)> check) {
  // The points stay those that they are as long as commands change the order.
  bool isKnown =
      compute.script && (compute.script->getMode() == Script::Mode::Approved ||
                         (compute.script->getMode() == Script::Mode::Deferred &&
                          compute.script->sawPoints(compute)));
  if (!isKnown)
    if (llvm::Error error = checkPoints(compute))
      return error;
  StringAttr symbol = compute.getSymNameAttr();
  return applyChecked(
      compute.getKernel(),
      [&](KernelOp kernel) { return edit(kernel.lookupCompute(symbol)); },
      check, compute.script);
}

llvm::Error
espalier::poly::tryOn(ComputeOp compute,
                      llvm::function_ref<llvm::Error(ComputeOp)> edit) {
  if (llvm::Error error = checkPoints(compute))
    return error;
  StringAttr symbol = compute.getSymNameAttr();
  return tryEdit(compute.getKernel(), [&](KernelOp kernel) {
    return edit(kernel.lookupCompute(symbol));
  });
}
