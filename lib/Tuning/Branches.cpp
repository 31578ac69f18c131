//===- Branches.cpp - One kernel with schedules by size -------------------===//

#include "espalier/Tuning/Branches.h"
#include "Script.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Measurement/KernelCost.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/Builders.h"
#include <cmath>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// Each has code of its own.
static constexpr size_t kMaxBranches = 3;
/// By how much one more has to make the kernel faster, as a logarithm.
static constexpr double kMinGain = 0.02;

//===----------------------------------------------------------------------===//
// Choosing
//===----------------------------------------------------------------------===//

namespace {
/// Chooses branches over lengths in order.
class BranchChooser {
public:
  BranchChooser(ArrayRef<MeasuredExtent> extents,
                ArrayRef<std::vector<double>> seconds)
      : extents(extents), seconds(seconds),
        order(llvm::to_vector(llvm::seq(extents.size()))) {
    llvm::sort(order, [&](size_t a, size_t b) {
      return extents[a].extent < extents[b].extent;
    });
  }

  std::vector<Branch> choose();

private:
  /// Branches for some lengths from the shortest on, and what they cost: the
  /// logarithm of seconds, with weights.
  struct Choice {
    double cost = 0;
    std::vector<Branch> branches;
  };

  Choice chooseOne(size_t begin, size_t end) const;
  Choice choose(size_t numBranches, size_t end) const;

  ArrayRef<MeasuredExtent> extents;
  ArrayRef<std::vector<double>> seconds;
  SmallVector<size_t> order; ///< Numbers of extents, the shortest first.
};
} // namespace

/// The candidate that is best for the lengths from `begin` to `end`.
BranchChooser::Choice BranchChooser::chooseOne(size_t begin, size_t end) const {
  Choice best;
  best.cost = HUGE_VAL;
  for (auto [candidate, times] : llvm::enumerate(seconds)) {
    double cost = 0;
    for (size_t number : ArrayRef(order).slice(begin, end - begin))
      cost += extents[number].weight * std::log(times[number]);
    if (cost < best.cost)
      best = {cost, {{std::nullopt, candidate}}};
  }
  return best;
}

/// The best branches for the first `end` lengths.
BranchChooser::Choice BranchChooser::choose(size_t numBranches,
                                            size_t end) const {
  if (numBranches == 1)
    return chooseOne(0, end);
  Choice best;
  best.cost = HUGE_VAL;
  for (size_t cut = numBranches - 1; cut < end; ++cut) {
    Choice first = choose(numBranches - 1, cut), last = chooseOne(cut, end);
    if (first.cost + last.cost >= best.cost)
      continue;
    // What nobody has measured is the nearest in proportion.
    first.branches.back().most =
        static_cast<int64_t>(std::sqrt(double(extents[order[cut - 1]].extent) *
                                       double(extents[order[cut]].extent)));
    first.cost += last.cost;
    first.branches.push_back(last.branches.front());
    best = std::move(first);
  }
  return best;
}

std::vector<Branch> BranchChooser::choose() {
  double weights = 0;
  for (MeasuredExtent extent : extents)
    weights += extent.weight;
  Choice best = choose(1, extents.size());
  for (size_t number = 2; number <= std::min(kMaxBranches, extents.size());
       ++number) {
    Choice more = choose(number, extents.size());
    if ((best.cost - more.cost) / weights > kMinGain)
      best = std::move(more);
  }
  return best.branches;
}

std::vector<Branch>
tuning::chooseBranches(ArrayRef<MeasuredExtent> extents,
                       ArrayRef<std::vector<double>> seconds) {
  return BranchChooser(extents, seconds).choose();
}

//===----------------------------------------------------------------------===//
// Scripts
//===----------------------------------------------------------------------===//

bool tuning::canBranch(poly::KernelOp kernel) {
  return kernel.getNumParameters() == 1;
}

/// Lets `script`, of plans alone, schedule the copies called `name`, or what
/// has no copy if that is empty. Fails if there is anything else in it.
static LogicalResult moveToCopies(ModuleOp script, StringRef name) {
  Builder builder(script.getContext());
  auto extend = [&](StringRef symbol) {
    return name.empty() ? builder.getStringAttr(symbol)
                        : builder.getStringAttr(symbol + "." + name);
  };
  auto extendAll = [&](ArrayAttr symbols) {
    return builder.getArrayAttr(llvm::map_to_vector(
        symbols.getAsValueRange<StringAttr>(),
        [&](StringRef symbol) -> Attribute { return extend(symbol); }));
  };
  WalkResult walked = getSequence(script).walk([&](Operation *op) {
    if (auto compute = dyn_cast<poly::ComputationOp>(op)) {
      SymbolRefAttr symbol = compute.getName();
      compute.setNameAttr(
          SymbolRefAttr::get(symbol.getRootReference(),
                             FlatSymbolRefAttr::get(extend(
                                 symbol.getLeafReference().getValue()))));
    } else if (auto plan = dyn_cast<poly::PlanOp>(op)) {
      if (plan.getOthers())
        plan.setOthersAttr(extendAll(*plan.getOthers()));
      if (plan.getKeep())
        plan.setKeepAttr(extendAll(*plan.getKeep()));
    } else if (auto knob = dyn_cast<transform::tune::KnobOp>(op)) {
      // Each choice has a name of its own.
      knob.setNameAttr(extend(knob.getName().getValue()));
    } else if (!isa<transform::NamedSequenceOp, transform::YieldOp>(op)) {
      return WalkResult::interrupt();
    }
    return WalkResult::advance();
  });
  return failure(walked.wasInterrupted());
}

/// A script that gives the lengths of each branch but the last copies called
/// `names`, and schedules nothing.
static OwningOpRef<ModuleOp> branchOnly(poly::KernelOp kernel,
                                        ArrayRef<Branch> branches,
                                        ArrayRef<std::string> names) {
  MLIRContext *context = kernel.getContext();
  std::string text;
  llvm::raw_string_ostream os(text);
  os << "module attributes {transform.with_named_sequence} {\n"
     << "transform.named_sequence @__transform_main(%module: !transform.any_op "
        "{transform.readonly}) {\n"
     << "%first = transform.poly.computation "
     << SymbolRefAttr::get(StringAttr::get(context, kKernelName),
                           FlatSymbolRefAttr::get(
                               kernel.getComputes().front().getSymNameAttr()))
     << " of %module : (!transform.any_op) -> !transform.any_op\n"
     << "transform.poly.branch %first when [";
  llvm::interleaveComma(branches.drop_back(), os, [&](const Branch &branch) {
    os << "affine_set<()[n] : (" << *branch.most << " - n >= 0)>";
  });
  os << "] as [";
  llvm::interleaveComma(
      names, os, [&](const std::string &name) { os << '"' << name << '"'; });
  os << "] : !transform.any_op\ntransform.yield\n}\n}\n";
  return parseScript(text, context);
}

OwningOpRef<ModuleOp>
tuning::makeBranches(poly::KernelOp kernel, ArrayRef<Branch> branches,
                     ArrayRef<OwningOpRef<ModuleOp>> scripts) {
  SmallVector<std::string> names;
  for (const Branch &branch : branches.drop_back())
    names.push_back("upto" + std::to_string(*branch.most));
  OwningOpRef<ModuleOp> all = branchOnly(kernel, branches, names);
  for (auto [number, branch] : llvm::enumerate(branches)) {
    OwningOpRef<ModuleOp> part = scripts[branch.candidate].get().clone();
    StringRef name = number < names.size() ? StringRef(names[number]) : "";
    if (failed(moveToCopies(*part, name)))
      return nullptr;
    appendCommands(getSequence(*part), getSequence(*all));
  }
  return all;
}
