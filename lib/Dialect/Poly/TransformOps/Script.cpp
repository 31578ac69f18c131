//===- Script.cpp - What a schedule script may hold -----------------------===//
//
// A kernel's definition is what its schedules are checked against. The commands
// of `poly` keep it, or prove what they change; whatever else edits the payload
// (`transform.annotate`, `transform.apply_registered_pass`, patterns) could
// change it unseen. So a script that has commands of `poly` has no other edits.
//
//===----------------------------------------------------------------------===//

#include "espalier/Dialect/Poly/TransformOps/Script.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Interfaces/TransformInterfaces.h"
#include "llvm/ADT/SetVector.h"

using namespace mlir;
using namespace espalier::poly;

/// Whether `op` does nothing but run the operations inside of it, or those of
/// the sequences that it names.
static bool isControl(Operation *op) {
  return isa<transform::NamedSequenceOp, transform::SequenceOp,
             transform::ForeachOp, transform::ForeachMatchOp,
             transform::IncludeOp, transform::AlternativesOp>(op) ||
         op->getName().getStringRef() == "transform.tune.alternatives";
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

/// `sequence`, and those that it runs.
static llvm::SetVector<Operation *> getSequences(Operation *sequence) {
  llvm::SetVector<Operation *> sequences;
  sequences.insert(sequence);
  for (size_t next = 0; next < sequences.size(); ++next)
    sequences[next]->walk([&](Operation *op) {
      if (!isControl(op))
        return;
      op->getAttrDictionary().walk([&](SymbolRefAttr symbol) {
        if (auto named = SymbolTable::lookupNearestSymbolFrom<
                transform::NamedSequenceOp>(op, symbol))
          sequences.insert(named);
      });
    });
  return sequences;
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

Operation *espalier::poly::findForeignEditBeside(Operation *command) {
  Operation *sequence = command;
  while (
      isa_and_nonnull<transform::TransformOpInterface>(sequence->getParentOp()))
    sequence = sequence->getParentOp();
  if (Operation *edit = findForeignEdit(sequence))
    return edit;
  for (auto other :
       sequence->getParentRegion()->getOps<transform::NamedSequenceOp>())
    if (other != sequence && getSequences(other).contains(sequence))
      if (Operation *edit = findForeignEdit(other))
        return edit;
  return nullptr;
}

LogicalResult espalier::poly::reportForeignEdit(Operation *edit) {
  return edit->emitError("expects a script of scheduling commands, which keep "
                         "the definition of a kernel, but '")
         << edit->getName() << "' may change it";
}
