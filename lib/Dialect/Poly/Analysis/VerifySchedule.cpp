//===- VerifySchedule.cpp - Is a kernel's schedule legal? -----------------===//

#include "LoopTags.h"
#include "espalier/Dialect/Poly/Analysis/LegalSchedule.h"
#include "espalier/Dialect/Poly/Analysis/Passes.h"
#include "mlir/IR/Diagnostics.h"

namespace espalier::poly {
#define GEN_PASS_DEF_POLYVERIFYSCHEDULEPASS
#include "espalier/Dialect/Poly/Analysis/Passes.h.inc"
} // namespace espalier::poly

using namespace mlir;
using namespace espalier;
using namespace espalier::poly;

static void print(llvm::raw_ostream &os, ArrayRef<int64_t> values) {
  os << "(";
  llvm::interleaveComma(values, os);
  os << ")";
}

/// `the parallel loop "i"`, for a loop of one of the bands.
static std::string nameLoop(const BandNodes &nodes,
                            const polyhedral::BandMember *loop) {
  std::string text =
      "the " + toText(cast<LoopKindAttrInterface>(loop->tag)) + " loop";
  for (auto [op, node] : nodes)
    for (auto [position, member] : llvm::enumerate(node->members))
      if (std::optional<ArrayAttr> names = cast<BandOp>(op).getNames();
          names && &member == loop)
        text += " \"" + cast<StringAttr>((*names)[position]).getValue().str() +
                "\"";
  return text;
}

/// `write 0 at [i, j + 1]`; the value of read 2 is called `<read 2>`.
static std::string describeAccess(ComputeOp compute, bool isWrite,
                                  unsigned number) {
  KernelOp kernel = compute.getKernel();
  AffineMap map = isWrite ? compute.getWriteAccesses()[number].map
                          : compute.getReadAccesses()[number].map;
  polyhedral::AstNames names;
  for (BlockArgument parameter : kernel.getParameters())
    names.parameters.push_back(
        kernel.getArgumentName(parameter.getArgNumber()));
  for (unsigned read = 0; read < compute.getReads().size(); ++read)
    names.parameters.push_back("<read " + std::to_string(read) + ">");
  SmallVector<AffineExpr> dims;
  for (unsigned dim = 0; dim < compute.getNumDims(); ++dim) {
    dims.push_back(
        getAffineSymbolExpr(names.parameters.size(), compute.getContext()));
    names.parameters.push_back(compute.getDimName(dim).str());
  }
  std::string text;
  llvm::raw_string_ostream os(text);
  os << (isWrite ? "write " : "read ") << number << " at [";
  llvm::interleaveComma(map.getResults(), os, [&](AffineExpr index) {
    os << polyhedral::toText(index.replaceDims(dims), names);
  });
  return text + "]";
}

std::string
espalier::poly::describeViolation(const KernelModel &model,
                                  const BandNodes &nodes,
                                  const polyhedral::Violation &violation) {
  using polyhedral::DependenceKind;
  std::string text;
  llvm::raw_string_ostream os(text);
  if (violation.loop)
    os << nameLoop(nodes, violation.loop)
       << " to carry no dependence, but got the ";
  else
    os << "to keep the ";
  auto printPoint = [&](unsigned statement, ArrayRef<int64_t> point) {
    os << "@" << model.program.statements[statement].name;
    print(os, point);
  };
  os << polyhedral::getName(violation.kind) << " dependence from ";
  printPoint(violation.source, violation.sourcePoint);
  os << " to ";
  printPoint(violation.sink, violation.sinkPoint);
  if (violation.source == violation.sink) {
    os << ", distance ";
    print(os, violation.getDistance());
  }
  ComputeOp source = model.computes[violation.source];
  os << ", on " << describeArray(model.arrays[violation.array]) << " ("
     << describeAccess(source, violation.kind != DependenceKind::Anti,
                       violation.sourceAccess)
     << ", "
     << describeAccess(model.computes[violation.sink],
                       violation.kind != DependenceKind::Flow,
                       violation.sinkAccess)
     << ")";
  std::string sizes =
      polyhedral::describeSizes(model.program, violation.parameters);
  return sizes.empty() ? text : text + ", " + sizes;
}

DictionaryAttr
espalier::poly::encodeViolation(const KernelModel &model,
                                const polyhedral::Violation &violation,
                                MLIRContext *context) {
  Builder builder(context);
  const auto &statements = model.program.statements;
  return builder.getDictionaryAttr(
      {builder.getNamedAttr(
           "kind", builder.getStringAttr(polyhedral::getName(violation.kind))),
       builder.getNamedAttr(
           "source", builder.getStringAttr(statements[violation.source].name)),
       builder.getNamedAttr(
           "source_point", builder.getDenseI64ArrayAttr(violation.sourcePoint)),
       builder.getNamedAttr(
           "sink", builder.getStringAttr(statements[violation.sink].name)),
       builder.getNamedAttr("sink_point",
                            builder.getDenseI64ArrayAttr(violation.sinkPoint)),
       builder.getNamedAttr(
           "parameters", builder.getDenseI64ArrayAttr(violation.parameters))});
}

static void report(KernelModel &model, ScheduleOp schedule,
                   const BandNodes &nodes,
                   const polyhedral::Violation &violation) {
  ComputeOp source = model.computes[violation.source];
  ComputeOp sink = model.computes[violation.sink];
  InFlightDiagnostic diag = schedule.emitOpError("expects ")
                            << describeViolation(model, nodes, violation);
  diag.attachNote(source.getLoc()) << "the source runs first in program order";
  if (source != sink)
    diag.attachNote(sink.getLoc()) << "the sink must run after it";
}

LegalSchedule::LegalSchedule(Operation *op) {
  auto kernel = cast<KernelOp>(op);
  KernelModel model = buildModel(kernel);
  polyhedral::ScheduleTree tree =
      buildScheduleTree(model, kernel.getSchedule());
  proved = polyhedral::checkSchedule(model.program, tree.get()).verdict ==
           polyhedral::Legality::Verdict::Legal;
}

static LogicalResult verifyLanes(ScheduleOp schedule,
                                 const polyhedral::Limits &limits) {
  std::string fault = checkLanes(schedule, limits);
  if (!fault.empty())
    return schedule.emitOpError("expects ") << fault;
  return success();
}

static LogicalResult verifyOrder(KernelOp kernel, ScheduleOp schedule,
                                 const polyhedral::Limits &limits) {
  KernelModel model = buildModel(kernel);
  BandNodes nodes;
  polyhedral::ScheduleTree tree = buildScheduleTree(model, schedule, &nodes);
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
  report(model, schedule, nodes, *legality.violation);
  return failure();
}

LogicalResult espalier::poly::verifySchedule(KernelOp kernel,
                                             const polyhedral::Limits &limits) {
  ScheduleOp schedule = kernel.getSchedule();
  return success(!schedule ||
                 (succeeded(verifyLanes(schedule, limits)) &&
                  succeeded(verifyOrder(kernel, schedule, limits))));
}

namespace {
struct PolyVerifySchedulePass
    : espalier::poly::impl::PolyVerifySchedulePassBase<PolyVerifySchedulePass> {
  using PolyVerifySchedulePassBase::PolyVerifySchedulePassBase;

  void runOnOperation() override {
    markAllAnalysesPreserved();
    ScheduleOp schedule = getOperation().getSchedule();
    if (!schedule)
      return;
    polyhedral::Limits limits{maxOperations};
    auto proof = getCachedAnalysis<LegalSchedule>();
    bool isProved = proof && proof->get().isProved();
    if (failed(verifyLanes(schedule, limits)) ||
        (!isProved && failed(verifyOrder(getOperation(), schedule, limits))))
      signalPassFailure();
  }
};
} // namespace
