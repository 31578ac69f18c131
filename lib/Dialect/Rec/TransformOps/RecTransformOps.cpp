//===- RecTransformOps.cpp - Commands for recursive models ----------------===//

#include "espalier/Dialect/Rec/TransformOps/RecTransformOps.h"
#include "espalier/Dialect/Rec/Transforms/Transforms.h"

using namespace mlir;
using namespace espalier::rec;

DiagnosedSilenceableFailure
ConfigureOp::applyToOne(transform::TransformRewriter &, Operation *target,
                        transform::ApplyToEachResultList &,
                        transform::TransformState &) {
  auto model = dyn_cast<ModelOp>(target);
  if (!model)
    return emitDefiniteFailure("expects targets to be rec.model, but got ")
           << target->getName();
  if (std::optional<bool> hoist = getHoist())
    model.setHoist(*hoist);
  if (std::optional<bool> specialize = getSpecialize())
    model.setSpecialize(*specialize);
  if (std::optional<Batching> batching = getBatching())
    model.setBatching(*batching);
  return DiagnosedSilenceableFailure::success();
}

void ConfigureOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

DiagnosedSilenceableFailure
RefactorOp::applyToOne(transform::TransformRewriter &rewriter,
                       Operation *target, transform::ApplyToEachResultList &,
                       transform::TransformState &) {
  if (!target->getParentOfType<ModelOp>()) {
    target->walk(
        [&](ModelOp model) { refactorAll(rewriter, model, "rec-refactor"); });
    return DiagnosedSilenceableFailure::success();
  }
  auto moved = refactor(rewriter, target);
  if (moved)
    return DiagnosedSilenceableFailure::success();
  DiagnosedSilenceableFailure failure = emitSilenceableError()
                                        << llvm::toString(moved.takeError());
  failure.attachNote(target->getLoc()) << "target op";
  return failure;
}

void RefactorOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::consumesHandle(getTargetMutable(), effects);
  transform::modifiesPayload(effects);
}

namespace {
class RecTransformExtension
    : public transform::TransformDialectExtension<RecTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(RecTransformExtension)

  using Base::Base;

  void init() {
    declareGeneratedDialect<RecDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "espalier/Dialect/Rec/TransformOps/RecTransformOps.cpp.inc"
        >();
  }
};
} // namespace

#define GET_OP_CLASSES
#include "espalier/Dialect/Rec/TransformOps/RecTransformOps.cpp.inc"

void espalier::rec::registerTransformExtension(DialectRegistry &registry) {
  registry.addExtensions<RecTransformExtension>();
}
