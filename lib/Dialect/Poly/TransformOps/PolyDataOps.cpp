//===- PolyDataOps.cpp - Commands on data and reductions ------------------===//

#include "CommandArguments.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/Transforms/DataCommands.h"

using namespace mlir;
using namespace espalier::poly;

using Results = llvm::Expected<SmallVector<Operation *>>;

static LocalOptions getOptions(std::optional<AffineMap> layout,
                               MemorySpaceAttrInterface placement) {
  LocalOptions options;
  options.layout = layout;
  options.placement = placement;
  return options;
}

Results CacheReadOp::command(ComputeTarget compute) {
  llvm::Expected<LocalCopy> copy =
      cacheRead(compute, getRead(), getLoop().value_or(""),
                getOptions(getLayout(), getPlacementAttr()));
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

Results CacheWriteOp::command(ComputeTarget compute) {
  return toResults(cacheWrite(compute, getWrite(), getLoop().value_or(""),
                              getOptions(getLayout(), getPlacementAttr())));
}

DiagnosedSilenceableFailure
InlineOp::applyToOne(transform::TransformRewriter &rewriter, Operation *target,
                     transform::ApplyToEachResultList &,
                     transform::TransformState &state) {
  return applyCommand(
      getOperation(), target, state, [&](ComputeTarget compute) {
        return inlineProducer(compute,
                              [&](Operation *op) { rewriter.eraseOp(op); });
      });
}

void InlineOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::consumesHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

llvm::Error ComputeAtOp::command(ComputeTarget target, ComputeOp other) {
  return computeAt(target, other, getLoop(),
                   getOptions(getLayout(), getPlacementAttr()));
}

Results RfactorOp::command(ComputeTarget compute) {
  return toResults(
      rfactor(compute, getLoop(), getOptions({}, getPlacementAttr())));
}

llvm::Error DecomposeOp::command(ComputeTarget compute) {
  return decompose(compute, getLoop());
}

Results RegisterBlockOp::command(ComputeTarget compute) {
  return toResults(
      registerBlock(compute, toStrings(getLoops()), getSizes(), getWidth()));
}

Results PlaceOp::command(ArrayTarget array) {
  if (llvm::Error error = place(array, getPlacementAttr()))
    return std::move(error);
  return SmallVector<Operation *>{};
}

//===----------------------------------------------------------------------===//
// Storage
//===----------------------------------------------------------------------===//

Results UnfoldOp::command(ArrayTarget array) {
  if (llvm::Error error = unfold(array))
    return std::move(error);
  return SmallVector<Operation *>{};
}

template <typename Op>
static Results applyFoldStorage(Op op, ArrayTarget array) {
  if (llvm::Error error = foldStorage(array, op.getIndex(), op.getPlaces()))
    return std::move(error);
  return SmallVector<Operation *>{};
}

Results FoldStorageOp::command(ArrayTarget array) {
  return applyFoldStorage(*this, array);
}

Results FoldOp::command(ArrayTarget array) {
  return applyFoldStorage(*this, array);
}

Results LayoutOp::command(ArrayTarget array) {
  if (llvm::Error error = changeLayout(
          array, getLayout(), getPadding().value_or(ArrayRef<int64_t>()),
          getMultiples().value_or(ArrayRef<int64_t>())))
    return std::move(error);
  return SmallVector<Operation *>{};
}

Results PackOp::command(ComputeTarget compute) {
  llvm::Expected<LocalCopy> copy =
      pack(compute, getRead(), getLoop().value_or(""), getBlocks(),
           getOrder().value_or(ArrayRef<int64_t>()), getPlacementAttr());
  if (!copy)
    return copy.takeError();
  return SmallVector<Operation *>{copy->array, copy->in};
}

llvm::Error TensorizeOp::command(ComputeTarget compute) {
  Operation *module = compute.getKernel()->getParentOp();
  auto micro = module ? dyn_cast_or_null<KernelOp>(SymbolTable::lookupSymbolIn(
                            module, getKernelAttr()))
                      : KernelOp();
  if (!micro)
    return refuse("expects a micro-kernel, one of " +
                  listSymbols<KernelOp>(module) + ", but got @" + getKernel());
  return tensorize(compute, getLoop(), micro);
}

template <typename Op>
static llvm::Error applyPrivatize(Op op, ComputeTarget compute) {
  return privatize(compute, op.getNumber(), op.getLoop(),
                   getOptions(op.getLayout(), op.getPlacementAttr()));
}

llvm::Error PrivatizeOp::command(ComputeTarget compute) {
  return applyPrivatize(*this, compute);
}

llvm::Error ContractOp::command(ComputeTarget compute) {
  return applyPrivatize(*this, compute);
}
