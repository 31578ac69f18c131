//===- TryScript.cpp - One check for a whole script -----------------------===//
//
// At the first command of a script, all of it runs on a copy of the payload,
// and the order that comes out is checked once. If nothing is wrong, the
// commands are then applied without checks; otherwise one by one, so that the
// first that is refused is reported as if it were alone. This is for scripts of
// nothing but commands: what others do to the payload cannot be foreseen.
//
//===----------------------------------------------------------------------===//

#include "CommandArguments.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/Diagnostics.h"

using namespace mlir;
using namespace espalier::poly;

namespace {
/// The script that a state of the interpreter runs.
class ScriptOfState : public transform::TransformState::Extension {
public:
  MLIR_DEFINE_EXPLICIT_INTERNAL_INLINE_TYPE_ID(ScriptOfState)

  ScriptOfState(transform::TransformState &state, Script::Mode mode)
      : Extension(state), script(mode) {}

  Script script;
};
} // namespace

/// Whether a command changes nothing but the order of points, how loops run and
/// where arrays store.
static bool changesOrderOnly(Operation *op) {
  return isa<ArrangeOp, FissionOp, FoldOp, FoldStorageOp, FuseOp, InterchangeOp,
             LayoutOp, MarkCommandOp, MoveOp, ParallelizeOp, PeelOp, PlaceOp,
             PlanOp, PrefetchCommandOp, RemapOp, RetileOp, ReverseOp,
             SeparateFullTilesOp, SerializeOp, ShiftOp, SkewOp, SpecializeOp,
             SplitOp, TileOp, UnfoldOp, UnrollOp, UnrollAndJamOp, VectorizeOp,
             WavefrontOp>(op);
}

/// Whether `op` only says what commands work on, and with which numbers.
static bool isLookup(Operation *op) {
  return isa<ComputationOp, WrittenArrayOp, transform::ParamConstantOp,
             transform::tune::KnobOp, transform::YieldOp>(op);
}

/// Whether a copy of `sequence` can foretell what it does from `first` on, and
/// saves checks.
static bool isWorthTrying(transform::NamedSequenceOp sequence,
                          Operation *first) {
  int64_t numSaved = -1;
  bool isBefore = true, isForeseen = true;
  walkRun(sequence, [&](Operation *op) {
    isBefore &= op != first;
    if (op == sequence || isLookup(op))
      return;
    if (isa<transform::tune::AlternativesOp>(op)) {
      isForeseen &= getSelectedRegion(op) != nullptr;
      return;
    }
    isForeseen &= !isBefore &&
                  op->getName().getStringRef().starts_with("transform.poly.");
    // Others are checked on the copy, too.
    numSaved += changesOrderOnly(op) ? 1 : -1;
  });
  return isForeseen && numSaved > 0;
}

/// Whether all of the script that `first` begins is legal.
static bool tryScript(Operation *first, transform::TransformState &state) {
  Operation *parent = first->getParentOp();
  while (isa<transform::tune::AlternativesOp>(parent))
    parent = parent->getParentOp();
  auto sequence = dyn_cast<transform::NamedSequenceOp>(parent);
  if (!sequence || !isWorthTrying(sequence, first) ||
      sequence.getNumArguments() != 1)
    return false;
  Operation *root = state.getTopLevel();
  if (!llvm::equal(
          state.getPayloadOps(sequence.getBody().front().getArgument(0)),
          ArrayRef(root)))
    return false;
  ScopedDiagnosticHandler silence(root->getContext(),
                                  [](Diagnostic &) { return success(); });
  OwningOpRef<Operation *> copy(root->clone());
  return succeeded(transform::applyTransforms(
      *copy, cast<transform::TransformOpInterface>(sequence.getOperation()), {},
      state.getOptions(), /*enforceToplevelTransformOp=*/false,
      [](transform::TransformState &trial) {
        trial.addExtension<ScriptOfState>(Script::Mode::Deferred);
      },
      [](transform::TransformState &trial) {
        llvm::Error error =
            trial.getExtension<ScriptOfState>()->script.settleAll();
        bool isLegal = !error;
        llvm::consumeError(std::move(error));
        return success(isLegal);
      }));
}

llvm::Expected<Script *>
espalier::poly::joinScript(Operation *op, KernelOp kernel,
                           transform::TransformState &state) {
  auto *known = state.getExtension<ScriptOfState>();
  if (!known)
    known = &state.addExtension<ScriptOfState>(
        tryScript(op, state) ? Script::Mode::Approved : Script::Mode::Each);
  if (changesOrderOnly(op))
    return &known->script;
  if (llvm::Error error = known->script.settle(kernel))
    return std::move(error);
  return nullptr;
}
