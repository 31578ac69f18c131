//===- PolyTransformOps.cpp - Scheduling commands -------------------------===//

#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "CommandArguments.h"
#include "NumberSyntax.h"
#include "espalier/Dialect/Poly/TransformOps/Choices.h"
#include "espalier/Dialect/Poly/TransformOps/Script.h"
#include "espalier/Dialect/Poly/Transforms/KernelCommands.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtension.h"
#include "llvm/ADT/SetVector.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Error.h"

using namespace mlir;
using namespace espalier::poly;

/// `'transform.poly.split' op `: messages begin with the command.
static std::string getPrefix(Operation *op) {
  return ("'" + op->getName().getStringRef() + "' op ").str();
}

namespace espalier::poly {
/// A refusal as a silenceable failure, whose metadata is the violation.
static DiagnosedSilenceableFailure report(Operation *op, Operation *target,
                                          llvm::Error error) {
  if (!error)
    return DiagnosedSilenceableFailure::success();
  DictionaryAttr violation;
  error = llvm::handleErrors(std::move(error),
                             [&](std::unique_ptr<Refusal> refusal) {
                               violation = refusal->getEncodedViolation();
                               return llvm::Error(std::move(refusal));
                             });
  DiagnosedSilenceableFailure failure = emitSilenceableFailure(op)
                                        << getPrefix(op)
                                        << llvm::toString(std::move(error));
  failure.attachNote(target->getLoc()) << "target op";
  SmallVector<Diagnostic> diagnostics;
  failure.takeDiagnostics(diagnostics);
  if (violation)
    diagnostics.front().getMetadata().push_back(DiagnosticArgument(violation));
  return DiagnosedSilenceableFailure::silenceableFailure(
      std::move(diagnostics));
}

/// A target of another kind is a definite failure.
static DiagnosedDefiniteFailure rejectTarget(Operation *op, StringRef expected,
                                             Operation *target) {
  DiagnosedDefiniteFailure diag =
      emitDefiniteFailure(op) << getPrefix(op) << "expects targets to be "
                              << expected << ", but got " << target->getName();
  diag.attachNote(target->getLoc()) << "target op";
  return diag;
}

/// Fails for good if the script of `op` has edits that are no commands, or
/// leaves a choice open.
static DiagnosedSilenceableFailure checkScript(Operation *op) {
  for (Operation *sequence : getScriptOf(op)) {
    if (Operation *edit = findForeignEdit(sequence))
      (void)reportForeignEdit(edit);
    else if (Operation *choice = findOpenChoice(sequence))
      (void)reportOpenChoice(choice);
    else
      continue;
    return DiagnosedSilenceableFailure::definiteFailure();
  }
  return DiagnosedSilenceableFailure::success();
}

/// Runs `command` for each op of `target`, and collects what it returns.
template <typename TargetOp>
static DiagnosedSilenceableFailure
applyDataCommand(Operation *op, Value target,
                 transform::TransformResults &results,
                 transform::TransformState &state,
                 llvm::function_ref<llvm::Expected<SmallVector<Operation *>>(
                     InScript<TargetOp>)>
                     command) {
  if (auto checked = checkScript(op); !checked.succeeded())
    return checked;
  SmallVector<SmallVector<Operation *>> made(op->getNumResults());
  for (Operation *payload : llvm::to_vector(state.getPayloadOps(target))) {
    auto typed = dyn_cast<TargetOp>(payload);
    if (!typed)
      return rejectTarget(op, TargetOp::getOperationName(), payload);
    llvm::Expected<Script *> script =
        joinScript(op, typed->template getParentOfType<KernelOp>(), state);
    llvm::Expected<SmallVector<Operation *>> fresh =
        script ? command({typed, *script})
               : llvm::Expected<SmallVector<Operation *>>(script.takeError());
    if (!fresh) {
      // Handles must be set even if nobody will look at them.
      for (OpResult result : op->getResults())
        results.set(result, ArrayRef<Operation *>());
      return report(op, payload, fresh.takeError());
    }
    for (auto [list, item] : llvm::zip_equal(made, *fresh))
      if (item)
        list.push_back(item);
  }
  for (auto [result, list] : llvm::zip_equal(op->getResults(), made))
    results.set(result, list);
  return DiagnosedSilenceableFailure::success();
}

DiagnosedSilenceableFailure
applyCommand(Operation *op, Operation *target, transform::TransformState &state,
             llvm::function_ref<llvm::Error(ComputeTarget)> command) {
  if (auto checked = checkScript(op); !checked.succeeded())
    return checked;
  auto compute = dyn_cast<ComputeOp>(target);
  if (!compute)
    return rejectTarget(op, ComputeOp::getOperationName(), target);
  llvm::Expected<Script *> script = joinScript(op, compute.getKernel(), state);
  return report(op, compute,
                script ? command({compute, *script}) : script.takeError());
}

/// Runs `command` for each of `targets`, whether it is refused for others or
/// not.
static DiagnosedSilenceableFailure
applyToEach(Operation *op, ArrayRef<Operation *> targets,
            transform::TransformState &state,
            llvm::function_ref<llvm::Error(ComputeTarget)> command) {
  SmallVector<Diagnostic> refusals;
  for (Operation *target : targets) {
    DiagnosedSilenceableFailure applied =
        applyCommand(op, target, state, command);
    if (applied.isDefiniteFailure())
      return applied;
    if (applied.isSilenceableFailure())
      applied.takeDiagnostics(refusals);
  }
  if (refusals.empty())
    return DiagnosedSilenceableFailure::success();
  return DiagnosedSilenceableFailure::silenceableFailure(std::move(refusals));
}

/// Runs `command` for two computations.
static DiagnosedSilenceableFailure applyPairCommand(
    Operation *op, ArrayRef<Operation *> targets, ArrayRef<Operation *> others,
    transform::TransformState &state,
    llvm::function_ref<llvm::Error(ComputeTarget, ComputeOp)> command) {
  if (auto checked = checkScript(op); !checked.succeeded())
    return checked;
  SmallVector<ComputeOp> computes;
  for (ArrayRef<Operation *> payload : {targets, others}) {
    auto compute = payload.size() == 1 ? dyn_cast<ComputeOp>(payload.front())
                                       : ComputeOp();
    if (!compute)
      return emitDefiniteFailure(op)
             << getPrefix(op)
             << "expects each target to be one poly.compute, but got "
             << payload.size() << " ops"
             << (payload.empty() ? "" : ", the first of them a ")
             << (payload.empty() ? ""
                                 : payload.front()->getName().getStringRef());
    computes.push_back(compute);
  }
  llvm::Expected<Script *> script =
      joinScript(op, computes[0].getKernel(), state);
  if (script && computes[0].getKernel() != computes[1].getKernel())
    script = joinScript(op, computes[1].getKernel(), state);
  return report(op, computes[0],
                script ? command({computes[0], *script}, computes[1])
                       : script.takeError());
}
} // namespace espalier::poly

#define GET_OP_CLASSES
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.cpp.inc"

//===----------------------------------------------------------------------===//
// ComputationOp
//===----------------------------------------------------------------------===//

/// Names that are listed one and all.
static constexpr size_t kMaxListed = 8;

/// How far a name is from another: those of the same operators are near,
/// whatever the hash behind the last "_".
static std::pair<bool, unsigned> getDistance(StringRef name, StringRef other) {
  return {name.rsplit('_').first != other.rsplit('_').first,
          name.edit_distance(other)};
}

/// The kernels of a module; of many, those with the names nearest to `name`.
static std::string listKernels(Operation *module, StringRef name) {
  SmallVector<StringRef> names;
  for (auto kernel : module->getRegion(0).getOps<KernelOp>())
    names.push_back(kernel.getSymName());
  bool isLong = names.size() > kMaxListed;
  if (isLong) {
    llvm::stable_sort(names, [&](StringRef a, StringRef b) {
      return getDistance(name, a) < getDistance(name, b);
    });
    names.resize(kMaxListed);
  }
  return "[@" + llvm::join(names, ", @") + (isLong ? ", ...]" : "]");
}

/// Says what a handle that was not found is for, and which other kernels of the
/// script are missing.
static void explainMissing(DiagnosedSilenceableFailure &failure,
                           ComputationOp lookup, Operation *module) {
  // Uses are listed from the last to the first.
  Operation *first = nullptr;
  for (Operation *user : lookup.getComputation().getUsers())
    first = user;
  if (first)
    failure.attachNote(first->getLoc())
        << "it is for '" << first->getName() << "'";
  llvm::SetVector<StringRef> missing;
  missing.insert(lookup.getName().getRootReference());
  SmallVector<Operation *> others(lookup.getRoot().getUsers());
  for (Operation *other : llvm::reverse(others)) {
    auto next = dyn_cast<ComputationOp>(other);
    if (!next)
      continue;
    StringAttr name = next.getName().getRootReference();
    if (!isa_and_nonnull<KernelOp>(SymbolTable::lookupSymbolIn(module, name)))
      missing.insert(name);
  }
  for (StringRef name : llvm::drop_begin(missing))
    failure.attachNote(lookup.getLoc()) << "nor is there a kernel @" << name;
}

DiagnosedSilenceableFailure
ComputationOp::apply(transform::TransformRewriter &,
                     transform::TransformResults &results,
                     transform::TransformState &state) {
  if (auto checked = checkScript(*this); !checked.succeeded())
    return checked;
  auto roots = llvm::to_vector(state.getPayloadOps(getRoot()));
  if (roots.size() != 1 || !isa<ModuleOp, KernelOp>(roots.front()))
    return emitDefiniteFailure()
           << getPrefix(*this)
           << "expects one module or poly.kernel as root, but got "
           << roots.size() << " ops"
           << (roots.empty() ? "" : ", the first of them a ")
           << (roots.empty() ? "" : roots.front()->getName().getStringRef());
  Operation *root = roots.front();
  auto kernel = dyn_cast<KernelOp>(root);
  if (!kernel) {
    kernel = dyn_cast_or_null<KernelOp>(
        SymbolTable::lookupSymbolIn(root, getName().getRootReference()));
    if (!kernel) {
      StringRef name = getName().getRootReference();
      DiagnosedSilenceableFailure failure =
          emitSilenceableError()
          << getPrefix(*this) << "expects a kernel, one of "
          << listKernels(root, name) << ", but got @" << name;
      explainMissing(failure, *this, root);
      return failure;
    }
  }
  auto compute = dyn_cast_or_null<ComputeOp>(
      SymbolTable::lookupSymbolIn(kernel, getName().getLeafReference()));
  if (!compute)
    return emitSilenceableError()
           << getPrefix(*this) << "expects a computation of @"
           << kernel.getSymName() << ", one of "
           << listSymbols<ComputeOp>(kernel) << ", but got @"
           << getName().getLeafReference().getValue();
  results.set(cast<OpResult>(getComputation()), {compute});
  return DiagnosedSilenceableFailure::success();
}

void ComputationOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getRootMutable(), effects);
  transform::producesHandle(getOperation()->getOpResults(), effects);
  transform::onlyReadsPayload(effects);
}

//===----------------------------------------------------------------------===//
// WrittenArrayOp
//===----------------------------------------------------------------------===//

DiagnosedSilenceableFailure
WrittenArrayOp::apply(transform::TransformRewriter &,
                      transform::TransformResults &results,
                      transform::TransformState &state) {
  auto targets = llvm::to_vector(state.getPayloadOps(getComputation()));
  if (targets.size() != 1 || !isa<ComputeOp>(targets.front()))
    return emitDefiniteFailure()
           << getPrefix(*this) << "expects one poly.compute, but got "
           << targets.size() << " ops"
           << (targets.empty() ? "" : ", the first of them a ")
           << (targets.empty() ? ""
                               : targets.front()->getName().getStringRef());
  auto compute = cast<ComputeOp>(targets.front());
  auto writes = compute.getWrites();
  if (getNumber() >= writes.size())
    return emitSilenceableError()
           << getPrefix(*this) << "expects one of the " << writes.size()
           << " writes of @" << compute.getSymName() << ", but got "
           << getNumber();
  auto array = writes[getNumber()].getDefiningOp<ArrayOp>();
  if (!array)
    return emitSilenceableError()
           << getPrefix(*this) << "expects @" << compute.getSymName()
           << " to write an array of the kernel, but got an argument";
  results.set(cast<OpResult>(getArray()), {array});
  return DiagnosedSilenceableFailure::success();
}

void WrittenArrayOp::getEffects(
    SmallVectorImpl<MemoryEffects::EffectInstance> &effects) {
  transform::onlyReadsHandle(getComputationMutable(), effects);
  transform::producesHandle(getOperation()->getOpResults(), effects);
  transform::onlyReadsPayload(effects);
}

//===----------------------------------------------------------------------===//
// Registration
//===----------------------------------------------------------------------===//

namespace {
class PolyTransformExtension
    : public transform::TransformDialectExtension<PolyTransformExtension> {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(PolyTransformExtension)

  using Base::Base;

  void init() {
    declareGeneratedDialect<PolyDialect>();
    registerTransformOps<
#define GET_OP_LIST
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.cpp.inc"
        >();
  }
};
} // namespace

void espalier::poly::registerTransformExtension(DialectRegistry &registry) {
  registry.addExtensions<PolyTransformExtension>();
  transform::registerTuneExtension(registry);
}
