//===- PolyDataOps.cpp - Commands on data and reductions ------------------===//

#include "CommandArguments.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/Transforms/DataCommands.h"

using namespace mlir;
using namespace espalier::poly;

using Results = llvm::Expected<SmallVector<Operation *>>;

static LocalOptions getOptions(std::optional<AffineMap> layout,
                               std::optional<Placement> placement) {
  LocalOptions options;
  options.layout = layout;
  options.placement = placement;
  return options;
}

Results CacheReadOp::command(ComputeOp compute) {
  llvm::Expected<LocalCopy> copy =
      cacheRead(compute, getRead(), getLoop().value_or(""),
                getOptions(getLayout(), getPlacement()));
  if (!copy)
    return copy.takeError();
  return SmallVector<Operation *>{copy->array, copy->in};
}

/// The results of a command that makes computations before and after.
static Results toResults(llvm::Expected<LocalCopy> copy) {
  if (!copy)
    return copy.takeError();
  return SmallVector<Operation *>{copy->array, copy->in, copy->out};
}

Results CacheWriteOp::command(ComputeOp compute) {
  return toResults(cacheWrite(compute, getWrite(), getLoop().value_or(""),
                              getOptions(getLayout(), getPlacement())));
}

DiagnosedSilenceableFailure
InlineOp::applyToOne(transform::TransformRewriter &rewriter, Operation *target,
                     transform::ApplyToEachResultList &,
                     transform::TransformState &) {
  return applyCommand(getOperation(), target, [&](ComputeOp compute) {
    return inlineProducer(compute,
                          [&](Operation *op) { rewriter.eraseOp(op); });
  });
}

void InlineOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::consumesHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

llvm::Error ComputeAtOp::command(ComputeOp target, ComputeOp other) {
  return computeAt(target, other, getLoop(),
                   getOptions(getLayout(), getPlacement()));
}

Results RfactorOp::command(ComputeOp compute) {
  return toResults(rfactor(compute, getLoop(), getOptions({}, getPlacement())));
}

llvm::Error DecomposeOp::command(ComputeOp compute) {
  return decompose(compute, getLoop());
}

Results RegisterBlockOp::command(ComputeOp compute) {
  return toResults(
      registerBlock(compute, toStrings(getLoops()), getSizes(), getWidth()));
}

Results PlaceOp::command(ArrayOp array) {
  if (llvm::Error error = place(array, getPlacement()))
    return std::move(error);
  return SmallVector<Operation *>{};
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

Results UnfoldOp::command(ArrayOp array) {
  if (llvm::Error error = unfold(array))
    return std::move(error);
  return SmallVector<Operation *>{};
}

Results FoldOp::command(ArrayOp array) {
  if (llvm::Error error = fold(array, getIndex(), getPlaces()))
    return std::move(error);
  return SmallVector<Operation *>{};
}

Results LayoutOp::command(ArrayOp array) {
  if (llvm::Error error = changeLayout(
          array, getLayout(), getPadding().value_or(ArrayRef<int64_t>()),
          getMultiples().value_or(ArrayRef<int64_t>())))
    return std::move(error);
  return SmallVector<Operation *>{};
}

Results PackOp::command(ComputeOp compute) {
  llvm::Expected<LocalCopy> copy =
      pack(compute, getRead(), getLoop().value_or(""), getBlocks(),
           getOrder().value_or(ArrayRef<int64_t>()), getPlacement());
  if (!copy)
    return copy.takeError();
  return SmallVector<Operation *>{copy->array, copy->in};
}

llvm::Error TensorizeOp::command(ComputeOp compute) {
  Operation *module = compute.getKernel()->getParentOp();
  auto micro = module ? dyn_cast_or_null<KernelOp>(SymbolTable::lookupSymbolIn(
                            module, getKernelAttr()))
                      : KernelOp();
  if (!micro)
    return refuse("expects a micro-kernel, one of " +
                  listSymbols<KernelOp>(module) + ", but got @" + getKernel());
  return tensorize(compute, getLoop(), micro);
}

llvm::Error ContractOp::command(ComputeOp compute) {
  return contract(compute, getNumber(), getLoop(),
                  getOptions(getLayout(), getPlacement()));
}
