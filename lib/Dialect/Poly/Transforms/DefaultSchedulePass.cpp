//===- DefaultSchedulePass.cpp - A legal schedule for every kernel --------===//

#include "DefaultSchedule.h"
#include "ScheduleTree.h"
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

/// Whether the schedule of `kernel` is known to keep all dependences.
static bool isLegal(KernelOp kernel) {
  KernelModel model = buildModel(kernel);
  polyhedral::ScheduleTree tree =
      buildScheduleTree(model, kernel.getSchedule());
  return polyhedral::checkSchedule(model.program, tree.get()).verdict ==
         polyhedral::Legality::Verdict::Legal;
}

namespace {
struct PolyDefaultSchedulePass
    : espalier::poly::impl::PolyDefaultSchedulePassBase<
          PolyDefaultSchedulePass> {
  void runOnOperation() override {
    KernelOp kernel = getOperation();
    if (kernel.getSchedule() || kernel.getComputes().empty())
      return;
    OwningOpRef<KernelOp> trial(kernel.clone());
    writeDefaultSchedule(*trial, getTarget(kernel));
    if (isLegal(*trial)) {
      kernel.getBody().takeBody(trial->getBody());
      return;
    }
    remark::missed(
        kernel.getLoc(),
        remark::RemarkOpts::name("KeepsProgramOrder").category(getArgument()))
        << "the default schedule would not keep the dependences";
    getOrCreateSchedule(kernel);
  }
};
} // namespace
