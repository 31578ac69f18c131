//===- ExplainFusion.cpp - Says what shares loops, and why ----------------===//

#include "../KernelShape.h"
#include "espalier/Dialect/Poly/IR/Target.h"
#include "espalier/Dialect/Poly/Transforms/Explain.h"
#include "mlir/Dialect/Arith/IR/Arith.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace espalier::poly;

/// What a computation does with what it reads: the functions of its body on
/// elements, or what it moves.
static std::string describeBody(ComputeOp compute) {
  llvm::SmallSetVector<StringRef, 4> functions;
  bool chooses = false;
  for (Operation &op : compute.getBody().getOps()) {
    chooses |= isa<arith::SelectOp>(op);
    if (op.getNumResults() == 1 && !op.getResult(0).getType().isIntOrIndex() &&
        !isa<arith::SelectOp>(op) && !isa<CastOpInterface>(op) &&
        !op.hasTrait<OpTrait::ConstantLike>())
      functions.insert(op.getName().stripDialect());
  }
  if (!functions.empty())
    return llvm::join(functions, ", ");
  auto written = cast<MemRefType>(compute.getWrites().front().getType());
  if (written.getElementType().isIntOrIndex())
    return "places to read at";
  return chooses ? "a choice of what is read" : "a copy";
}

/// A line's part on one computation.
static std::string describe(const ComputeShape &shape) {
  ComputeOp compute = shape.op;
  std::string text = describeBody(compute);
  if (!compute.getReduction())
    return text;
  SmallVector<StringRef> reduced;
  for (unsigned dim = 0; dim < shape.getNumDims(); ++dim)
    if (shape.isReduced(dim))
      reduced.push_back(compute.getDimName(dim).getValue());
  return text + " reduced over " + llvm::join(reduced, ", ");
}

/// The loops of one step that the computations of a group share.
static SmallVector<StringRef> getLoops(ArrayRef<ComputeShape> shapes,
                                       const Component &group) {
  SmallVector<StringRef> loops;
  ComputeOp first = shapes[group.computes.front()].op;
  for (unsigned dim = group.numOuter; dim < group.sharedDims; ++dim)
    loops.push_back(first.getDimName(dim).getValue());
  return loops;
}

/// Why `group` is not part of the one before it.
static std::string explainCut(ArrayRef<ComputeShape> shapes,
                              const Component &before, const Component &group) {
  const ComputeShape &first = shapes[group.computes.front()];
  if (before.sharedDims != group.sharedDims)
    return "it has other loops than what is before";
  if (readsFarRows(shapes, before, first))
    return "it reads rows that are computed before the recurrence";
  return "it needs what is before at other points of these loops";
}

void espalier::poly::explainFusion(
    KernelOp kernel, TargetAttr target,
    llvm::function_ref<void(const Twine &)> say) {
  std::vector<ComputeShape> shapes;
  for (ComputeOp compute : kernel.getComputes())
    shapes.push_back(getShape(compute));
  for (const Component &component : findComponents(shapes, target.getL2())) {
    if (component.numOuter == 0)
      continue;
    SmallVector<Component> groups = findGroups(shapes, component);
    say("each step of the recurrence is " + Twine(groups.size()) +
        " loop nests:");
    for (auto [number, group] : llvm::enumerate(groups)) {
      SmallVector<std::string> parts;
      for (auto [place, compute] : llvm::enumerate(group.computes)) {
        bool startsNext = place + 1 < group.computes.size() &&
                          startsSum(shapes, compute, group.computes[place + 1]);
        if (!startsNext)
          parts.push_back(describe(shapes[compute]));
      }
      std::string cut =
          number == 0
              ? ""
              : " (" + explainCut(shapes, groups[number - 1], group) + ")";
      say("  over " + llvm::join(getLoops(shapes, group), ", ") + ": " +
          llvm::join(parts, "; ") + cut);
    }
  }
}
