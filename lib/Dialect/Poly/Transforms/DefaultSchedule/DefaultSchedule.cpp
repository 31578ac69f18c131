//===- DefaultSchedule.cpp - Plans without a script -----------------------===//

#include "../Plan/WritePlan.h"
#include "../ScheduleTree.h"
#include "espalier/Dialect/Poly/Analysis/LegalSchedule.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/Transforms/Passes.h"
#include "mlir/IR/OwningOpRef.h"
#include "mlir/IR/Remarks.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYDEFAULTSCHEDULEPASS
#include "espalier/Dialect/Poly/Transforms/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

/// Applies plans to a kernel without schedule, unchecked. False if one does not
/// suit.
static bool applyAll(KernelOp kernel, ArrayRef<Plan> plans) {
  getOrCreateSchedule(kernel);
  for (const Plan &plan : plans)
    if (llvm::Error error = editByPlan(kernel, plan)) {
      llvm::consumeError(std::move(error));
      return false;
    }
  return true;
}

/// A copy of `kernel` without its schedule.
static OwningOpRef<KernelOp> cloneWithoutSchedule(KernelOp kernel) {
  OwningOpRef<KernelOp> copy = cloneAlone(kernel);
  if (ScheduleOp schedule = copy->getSchedule())
    schedule.erase();
  return copy;
}

/// Why no loops scan a kernel as its schedule says; empty if some do.
static std::string explainNoLoops(KernelOp kernel) {
  llvm::Expected<polyhedral::Ast> loops =
      scanKernel(buildModel(kernel), kernel.getSchedule());
  return loops ? "" : llvm::toString(loops.takeError());
}

std::vector<Plan> espalier::poly::chooseLegalSchedule(KernelOp kernel,
                                                      TargetAttr target) {
  OwningOpRef<KernelOp> plain = cloneWithoutSchedule(kernel);
  std::vector<Plan> plans = chooseSchedule(*plain, target);
  bool isLegal = applyAll(*plain, plans) && LegalSchedule(*plain).isProved() &&
                 explainNoLoops(*plain).empty();
  return isLegal ? plans : std::vector<Plan>();
}

bool espalier::poly::hasProgramOrder(KernelOp kernel) {
  if (!kernel.getSchedule())
    return true;
  OwningOpRef<KernelOp> plain =
      cloneWithSchedule(*cloneWithoutSchedule(kernel));
  OwningOpRef<KernelOp> named = cloneWithSchedule(kernel);
  return OperationEquivalence::isRegionEquivalentTo(
      &plain->getBody(), &named->getBody(),
      OperationEquivalence::IgnoreLocations);
}

namespace {
struct PolyDefaultSchedulePass
    : espalier::poly::impl::PolyDefaultSchedulePassBase<
          PolyDefaultSchedulePass> {
  using PolyDefaultSchedulePassBase::PolyDefaultSchedulePassBase;
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (kernel.getSchedule() || kernel.getComputes().empty())
      return;
    std::string reason = "it would not keep the dependences";
    OwningOpRef<KernelOp> trial = cloneAlone(kernel);
    if (applyAll(*trial, chooseSchedule(kernel, getTarget(kernel), fuse))) {
      Region before;
      before.takeBody(kernel.getBody());
      kernel.getBody().takeBody(trial->getBody());
      if (getAnalysis<LegalSchedule>().isProved()) {
        reason = explainNoLoops(kernel);
        if (reason.empty())
          return markAnalysesPreserved<LegalSchedule>();
      }
      kernel.getBody().takeBody(before);
    }
    remark::missed(
        kernel.getLoc(),
        remark::RemarkOpts::name("KeepsProgramOrder").category(getArgument()))
        << "not the default schedule: " << reason;
    getOrCreateSchedule(kernel);
  }
};
} // namespace
