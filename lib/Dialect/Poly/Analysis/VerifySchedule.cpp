//===- VerifySchedule.cpp - Is a kernel's schedule legal? -----------------===//

#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/Analysis/Passes.h"
#include "mlir/IR/Diagnostics.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYVERIFYSCHEDULEPASS
#include "espalier/Dialect/Poly/Analysis/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

static std::string toString(ArrayRef<int64_t> values) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "(";
  llvm::interleaveComma(values, os);
  os << ")";
  return text;
}

static void report(KernelModel &model, ScheduleOp schedule,
                   const polyhedral::Violation &violation) {
  ComputeOp source = model.computes[violation.source];
  ComputeOp sink = model.computes[violation.sink];
  InFlightDiagnostic diag = schedule.emitOpError("expects ");
  if (violation.loop)
    diag << cast<LoopAttr>(violation.loop->tag)
         << " to carry no dependence, but got the ";
  else
    diag << "to keep the ";
  diag << polyhedral::getName(violation.kind) << " dependence from @"
       << source.getSymName() << toString(violation.sourcePoint) << " to @"
       << sink.getSymName() << toString(violation.sinkPoint);
  if (source == sink)
    diag << ", distance " << toString(violation.getDistance());
  diag << ", on " << describeArray(model.arrays[violation.array]);
  if (!violation.parameters.empty())
    diag << ", with parameters " << toString(violation.parameters);
  diag.attachNote(source.getLoc()) << "the source runs first in program order";
  if (source != sink)
    diag.attachNote(sink.getLoc()) << "the sink must run after it";
}

LogicalResult espalier::poly::verifySchedule(KernelOp kernel,
                                             const polyhedral::Limits &limits) {
  ScheduleOp schedule = kernel.getSchedule();
  if (!schedule)
    return success();
  KernelModel model = buildModel(kernel);
  polyhedral::ScheduleTree tree = buildScheduleTree(model, schedule);
  polyhedral::Legality legality =
      polyhedral::checkSchedule(model.program, tree.get(), limits);
  switch (legality.verdict) {
  case polyhedral::Legality::Verdict::Legal:
    return success();
  case polyhedral::Legality::Verdict::Unknown:
    return schedule.emitOpError("expects a schedule that can be checked, but "
                                "got: ")
           << legality.reason;
  case polyhedral::Legality::Verdict::Illegal:
    break;
  }
  if (!legality.violation)
    return schedule.emitOpError("expects ") << legality.reason;
  report(model, schedule, *legality.violation);
  return failure();
}

namespace {
struct PolyVerifySchedulePass
    : espalier::poly::impl::PolyVerifySchedulePassBase<PolyVerifySchedulePass> {
  using PolyVerifySchedulePassBase::PolyVerifySchedulePassBase;

  void runOnOperation() override {
    if (failed(verifySchedule(getOperation(), {maxOperations})))
      return signalPassFailure();
    markAllAnalysesPreserved();
  }
};
} // namespace
