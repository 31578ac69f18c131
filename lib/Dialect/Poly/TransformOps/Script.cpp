//===- Script.cpp - What a schedule script may hold -----------------------===//
//
// A kernel's definition is what its schedules are checked against. The commands
// of `poly` keep it, or prove what they change; whatever else edits the payload
// (`transform.annotate`, `transform.apply_registered_pass`, patterns) could
// change it unseen. So a script that has commands of `poly` has no other edits.
//
//===----------------------------------------------------------------------===//

#include "espalier/Dialect/Poly/TransformOps/Script.h"
#include "CommandArguments.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace espalier::poly;

/// Whether `op` does nothing but run the operations inside of it, or those of
/// the sequences that it names.
static bool isControl(Operation *op) {
  return isa<transform::NamedSequenceOp, transform::SequenceOp,
             transform::ForeachOp, transform::ForeachMatchOp,
             transform::IncludeOp, transform::AlternativesOp,
             transform::tune::AlternativesOp>(op);
}

static bool changesPayload(Operation *op) {
  if (!isa<transform::TransformOpInterface>(op))
    return false;
  auto effects = dyn_cast<MemoryEffectOpInterface>(op);
  if (!effects)
    return true;
  SmallVector<MemoryEffects::EffectInstance> all;
  effects.getEffects(all);
  return llvm::any_of(all, [](const MemoryEffects::EffectInstance &effect) {
    return isa<MemoryEffects::Write>(effect.getEffect()) &&
           effect.getResource() == transform::PayloadIRResource::get();
  });
}

/// Adds the sequences that `op` itself runs.
static void addSequences(Operation *op,
                         llvm::SetVector<Operation *> &sequences) {
  if (!isControl(op))
    return;
  op->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
    if (auto named =
            SymbolTable::lookupNearestSymbolFrom<transform::NamedSequenceOp>(
                op, symbol))
      sequences.insert(named);
  });
}

/// `sequence`, and those that it runs.
static llvm::SetVector<Operation *> getSequences(Operation *sequence) {
  llvm::SetVector<Operation *> sequences;
  sequences.insert(sequence);
  for (size_t next = 0; next < sequences.size(); ++next)
    sequences[next]->walk([&](Operation *op) { addSequences(op, sequences); });
  return sequences;
}

void espalier::poly::walkRun(Operation *sequence,
                             llvm::function_ref<void(Operation *)> visit) {
  llvm::SetVector<Operation *> sequences;
  sequences.insert(sequence);
  // In the order of the text; of alternatives, the region that is selected.
  std::function<WalkResult(Operation *)> enter = [&](Operation *op) {
    visit(op);
    addSequences(op, sequences);
    if (!isa<transform::tune::AlternativesOp>(op))
      return WalkResult::advance();
    if (Region *selected = getSelectedRegion(op))
      selected->walk<WalkOrder::PreOrder>(enter);
    return WalkResult::skip();
  };
  for (size_t next = 0; next < sequences.size(); ++next)
    sequences[next]->walk<WalkOrder::PreOrder>(enter);
}

/// The first edit in `sequence` itself that is no command of `poly`.
static Operation *findEdit(Operation *sequence) {
  Operation *found = nullptr;
  sequence->walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (isControl(op) ||
        op->getName().getStringRef().starts_with("transform.poly.") ||
        !changesPayload(op))
      return WalkResult::advance();
    found = op;
    return WalkResult::interrupt();
  });
  return found;
}

Operation *espalier::poly::findForeignEdit(Operation *sequence) {
  for (Operation *part : getSequences(sequence))
    if (Operation *edit = findEdit(part))
      return edit;
  return nullptr;
}

SmallVector<Operation *> espalier::poly::getScriptOf(Operation *command) {
  Operation *sequence = command;
  while (
      isa_and_nonnull<transform::TransformOpInterface>(sequence->getParentOp()))
    sequence = sequence->getParentOp();
  SmallVector<Operation *> script = {sequence};
  for (auto other :
       sequence->getParentRegion()->getOps<transform::NamedSequenceOp>())
    if (other != sequence && getSequences(other).contains(sequence))
      script.push_back(other);
  return script;
}

LogicalResult espalier::poly::reportForeignEdit(Operation *edit) {
  return edit->emitError("expects a script of scheduling commands, which keep "
                         "the definition of a kernel, but '")
         << edit->getName() << "' may change it";
}
