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
/// Chooses branches as the leaves of a tree that asks for one size at a time.
class BranchChooser {
public:
  BranchChooser(ArrayRef<SizePoint> points,
                ArrayRef<std::vector<double>> seconds)
      : points(points), seconds(seconds) {}

  std::vector<Branch> choose();

private:
  /// Branches for some points, and what they cost: the logarithm of seconds,
  /// with weights.
  struct Choice {
    double cost = HUGE_VAL;
    std::vector<Branch> branches;
  };

  Choice chooseOne(ArrayRef<size_t> numbers) const;
  Choice choose(ArrayRef<size_t> numbers, size_t numBranches) const;

  ArrayRef<SizePoint> points;
  ArrayRef<std::vector<double>> seconds;
};
} // namespace

/// The candidate that is best for some points.
BranchChooser::Choice BranchChooser::chooseOne(ArrayRef<size_t> numbers) const {
  Choice best;
  for (auto [candidate, times] : llvm::enumerate(seconds)) {
    double cost = 0;
    for (size_t number : numbers)
      cost += points[number].weight * std::log(times[number]);
    if (cost < best.cost)
      best = {cost, {{{}, candidate}}};
  }
  return best;
}

/// The best branches for some points. None if these are too few.
BranchChooser::Choice BranchChooser::choose(ArrayRef<size_t> numbers,
                                            size_t numBranches) const {
  if (numBranches == 1)
    return chooseOne(numbers);
  Choice best;
  for (unsigned size = 0; size < points.front().parameters.size(); ++size) {
    auto getSize = [&](size_t number) {
      return points[number].parameters[size];
    };
    SmallVector<size_t> order(numbers);
    llvm::stable_sort(
        order, [&](size_t a, size_t b) { return getSize(a) < getSize(b); });
    for (size_t cut = 1; cut < order.size(); ++cut) {
      int64_t below = getSize(order[cut - 1]), above = getSize(order[cut]);
      if (below == above)
        continue;
      // What nobody has measured is the nearest in proportion.
      SizeLimit limit(size, std::sqrt(double(below) * double(above)));
      for (size_t numFirst = 1; numFirst < numBranches; ++numFirst) {
        Choice first = choose(ArrayRef(order).take_front(cut), numFirst);
        Choice last =
            choose(ArrayRef(order).drop_front(cut), numBranches - numFirst);
        if (first.cost + last.cost >= best.cost)
          continue;
        for (Branch &branch : first.branches)
          branch.limits.insert(branch.limits.begin(), limit);
        // Those that come later need not say what they are more than.
        llvm::append_range(first.branches, std::move(last.branches));
        best = {first.cost + last.cost, std::move(first.branches)};
      }
    }
  }
  return best;
}

std::vector<Branch> BranchChooser::choose() {
  double weights = 0;
  for (const SizePoint &point : points)
    weights += point.weight;
  auto all = llvm::to_vector(llvm::seq(points.size()));
  Choice best = chooseOne(all);
  for (size_t number = 2; number <= kMaxBranches; ++number) {
    Choice more = choose(all, number);
    if ((best.cost - more.cost) / weights > kMinGain)
      best = std::move(more);
  }
  return best.branches;
}

std::vector<Branch>
tuning::chooseBranches(ArrayRef<SizePoint> points,
                       ArrayRef<std::vector<double>> seconds) {
  return BranchChooser(points, seconds).choose();
}

std::vector<SizePoint>
tuning::findPoints(poly::KernelOp kernel, ArrayRef<MeasuredSizes> sizes,
                   ArrayRef<llvm::StringMap<int64_t>> own) {
  SmallVector<BlockArgument> parameters = kernel.getParameters();
  std::vector<SizePoint> points;
  for (auto [number, one] : llvm::enumerate(sizes)) {
    SizePoint &point = points.emplace_back();
    point.weight = one.weight;
    for (BlockArgument parameter : parameters) {
      std::string name = kernel.getArgumentName(parameter.getArgNumber());
      if (number < own.size() && own[number].contains(name))
        point.parameters.push_back(own[number].lookup(name));
      else if (parameters.size() == 1)
        point.parameters.push_back(one.extent);
      else
        return {};
    }
  }
  return points;
}

//===----------------------------------------------------------------------===//
// Scripts
//===----------------------------------------------------------------------===//

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

/// What copies for the sizes of a branch are called, of a kernel with so many
/// parameters.
static std::string getName(const Branch &branch, unsigned numParameters) {
  std::string name;
  for (auto [size, most] : branch.limits)
    name += numParameters == 1
                ? "upto" + std::to_string(most)
                : ("n" + Twine(size) + "upto" + Twine(most)).str();
  return name;
}

/// A script that gives the sizes of each branch but the last copies called
/// `names`, and schedules nothing.
static OwningOpRef<ModuleOp> branchOnly(poly::KernelOp kernel,
                                        ArrayRef<Branch> branches,
                                        ArrayRef<std::string> names) {
  MLIRContext *context = kernel.getContext();
  unsigned numSizes = kernel.getNumParameters();
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
    SmallVector<AffineExpr> constraints;
    for (auto [size, most] : branch.limits)
      constraints.push_back(most - getAffineSymbolExpr(size, context));
    SmallVector<bool> areEqualities(constraints.size(), false);
    os << IntegerSetAttr::get(
        IntegerSet::get(/*dimCount=*/0, numSizes, constraints, areEqualities));
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
    names.push_back(getName(branch, kernel.getNumParameters()));
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
