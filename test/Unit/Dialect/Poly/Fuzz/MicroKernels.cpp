//===- MicroKernels.cpp - Random micro-kernels ----------------------------===//

#include "MicroKernels.h"
#include "RandomCommands.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier::poly;
using namespace espalier::poly::fuzz;

namespace {
/// Writes what a computation does along its last dimensions, at zero of all
/// others and of the parameters.
class InnerPart {
public:
  InnerPart(ComputeOp compute, unsigned first)
      : compute(compute), first(first),
        numParams(compute.getKernel().getNumParameters()) {
    MLIRContext *context = compute.getContext();
    for (unsigned dim = 0; dim < compute.getNumDims(); ++dim)
      dims.push_back(dim < first ? getAffineConstantExpr(0, context)
                                 : getAffineDimExpr(dim - first, context));
    params.assign(numParams, getAffineConstantExpr(0, context));
  }

  void run(Random &random);

private:
  unsigned getNumDims() const { return dims.size() - first; }
  ArrayAttr restrict(ArrayAttr maps);
  IntegerSet restrict(IntegerSet set);
  IntegerSet makeBox(Random &random);

  ComputeOp compute;
  unsigned first, numParams;
  SmallVector<AffineExpr> dims, params;
};
} // namespace

ArrayAttr InnerPart::restrict(ArrayAttr maps) {
  SmallVector<AffineMap> results;
  for (auto map : maps.getAsValueRange<AffineMapAttr>()) {
    SmallVector<AffineExpr> symbols = params;
    for (unsigned i = numParams; i < map.getNumSymbols(); ++i)
      symbols.push_back(
          getAffineSymbolExpr(i - numParams, compute.getContext()));
    results.push_back(map.replaceDimsAndSymbols(dims, symbols, getNumDims(),
                                                symbols.size() - numParams));
  }
  return Builder(compute.getContext()).getAffineMapArrayAttr(results);
}

/// What the set says of these dimensions alone.
IntegerSet InnerPart::restrict(IntegerSet set) {
  SmallVector<AffineExpr> constraints;
  SmallVector<bool> flags;
  for (auto [constraint, isEquality] :
       llvm::zip_equal(set.getConstraints(), set.getEqFlags())) {
    bool isOther = false;
    constraint.walk([&](AffineExpr expr) {
      auto dim = dyn_cast<AffineDimExpr>(expr);
      isOther |=
          isa<AffineSymbolExpr>(expr) || (dim && dim.getPosition() < first);
    });
    if (isOther)
      continue;
    constraints.push_back(constraint.replaceDims(dims));
    flags.push_back(isEquality);
  }
  if (constraints.empty())
    return IntegerSet::getEmptySet(getNumDims(), 0, compute.getContext());
  return IntegerSet::get(getNumDims(), 0, constraints, flags);
}

/// The points of a tile.
IntegerSet InnerPart::makeBox(Random &random) {
  SmallVector<AffineExpr> constraints;
  for (unsigned dim = 0; dim < getNumDims(); ++dim) {
    AffineExpr index = getAffineDimExpr(dim, compute.getContext());
    constraints.push_back(index);
    constraints.push_back(random.pick(0, 3) - index);
  }
  return IntegerSet::get(getNumDims(), 0, constraints,
                         SmallVector<bool>(constraints.size(), false));
}

void InnerPart::run(Random &random) {
  SmallVector<Attribute> sets;
  if (random.chance(60))
    for (IntegerSet set : compute.getDomainSets())
      sets.push_back(IntegerSetAttr::get(restrict(set)));
  else
    sets.push_back(IntegerSetAttr::get(makeBox(random)));
  if (ArrayAttr names = compute.getDimsAttr())
    compute.setDimsAttr(
        ArrayAttr::get(names.getContext(), names.getValue().drop_front(first)));
  compute.setDomainAttr(ArrayAttr::get(compute.getContext(), sets));
  compute.setReadMapsAttr(restrict(compute.getReadMaps()));
  compute.setWriteMapsAttr(restrict(compute.getWriteMaps()));
}

OwningOpRef<KernelOp> fuzz::makeMicroKernel(Random &random, ComputeOp model,
                                            unsigned first) {
  OwningOpRef<KernelOp> kernel(model.getKernel().clone());
  ComputeOp compute = kernel->lookupCompute(model.getSymName());
  bool usesIndex = false;
  compute.getBody().walk([&](IndexOp) { usesIndex = true; });
  if (compute.getWhere() || compute.getInterleaved() || usesIndex ||
      first >= compute.getNumDims())
    return nullptr;
  kernel->setSymName("micro");
  InnerPart(compute, first).run(random);
  for (Operation &op : llvm::make_early_inc_range(kernel->getBody().front()))
    if (&op != compute && !isa<ArrayOp, CombinerOp>(op))
      op.erase();
  for (ArrayOp array : kernel->getArrays()) {
    unsigned number = kernel->getNumArguments();
    (void)kernel->insertArgument(number, array.getType(), {}, array.getLoc());
    array.getArray().replaceAllUsesWith(kernel->getArgument(number));
    array.erase();
  }
  for (unsigned number = kernel->getNumArguments(); number-- > 0;) {
    BlockArgument argument = kernel->getArgument(number);
    if (!argument.getType().isIndex())
      continue;
    if (!argument.use_empty())
      return nullptr;
    (void)kernel->eraseArgument(number);
  }
  for (int64_t i = random.pick(0, 3); i > 0; --i)
    llvm::consumeError(makeCommand(random, *kernel).apply(*kernel));
  return kernel;
}
