//===- Choices.cpp - What a schedule script leaves open -------------------===//

#include "espalier/Dialect/Poly/TransformOps/Choices.h"
#include "CommandArguments.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"

using namespace mlir;
using namespace espalier::poly;

using transform::tune::AlternativesOp;
using transform::tune::KnobOp;

//===----------------------------------------------------------------------===//
// Single operations
//===----------------------------------------------------------------------===//

static StringRef getName(Operation *op) {
  if (auto knob = dyn_cast<KnobOp>(op))
    return knob.getName().getValue();
  return cast<AlternativesOp>(op).getName().getValue();
}

static Attribute getOptions(Operation *op) {
  if (auto knob = dyn_cast<KnobOp>(op))
    return knob.getOptions();
  return Builder(op).getI64ArrayAttr(
      llvm::to_vector(llvm::seq<int64_t>(0, op->getNumRegions())));
}

static Attribute getSelected(Operation *op) {
  if (auto knob = dyn_cast<KnobOp>(op))
    return knob.getSelected().value_or(Attribute());
  std::optional<APInt> region =
      cast<AlternativesOp>(op).getSelectedRegionAttr();
  return region ? Builder(op).getI64IntegerAttr(region->getSExtValue())
                : Attribute();
}

/// Whether something has to be selected for `op` itself.
static bool isChoice(Operation *op) {
  auto alternatives = dyn_cast<AlternativesOp>(op);
  return isa<KnobOp>(op) ||
         (alternatives && !alternatives.getSelectedRegionParam());
}

Region *espalier::poly::getSelectedRegion(Operation *op) {
  auto alternatives = cast<AlternativesOp>(op);
  Attribute selected = getSelected(op);
  if (Value param = alternatives.getSelectedRegionParam()) {
    if (auto knob = param.getDefiningOp<KnobOp>())
      selected = getSelected(knob);
    else if (auto constant = param.getDefiningOp<transform::ParamConstantOp>())
      selected = constant.getValue();
  }
  auto number = dyn_cast_or_null<IntegerAttr>(selected);
  if (!number || number.getValue().isNegative() ||
      number.getValue().uge(op->getNumRegions()))
    return nullptr;
  return &op->getRegion(number.getValue().getZExtValue());
}

static std::string print(Attribute attr) {
  std::string text;
  llvm::raw_string_ostream(text) << attr;
  // Numbers as they are written in options.
  if (auto number = dyn_cast<IntegerAttr>(attr);
      number && number.getType().isInteger(64))
    return std::to_string(number.getInt());
  return text;
}

//===----------------------------------------------------------------------===//
// Scripts
//===----------------------------------------------------------------------===//

FailureOr<SmallVector<Choice>> espalier::poly::getChoices(ModuleOp script) {
  SmallVector<Choice> choices;
  WalkResult walked = script.walk<WalkOrder::PreOrder>([&](Operation *op) {
    if (!isChoice(op))
      return WalkResult::advance();
    Choice *known = llvm::find_if(choices, [&](const Choice &choice) {
      return choice.name == getName(op);
    });
    if (known == choices.end()) {
      choices.push_back({getName(op), getOptions(op), getSelected(op), {op}});
      return WalkResult::advance();
    }
    if (known->selected != getSelected(op))
      known->selected = {};
    known->ops.push_back(op);
    if (known->options == getOptions(op))
      return WalkResult::advance();
    InFlightDiagnostic diag = op->emitError("expects the options ")
                              << print(known->options) << " where the choice \""
                              << getName(op) << "\" is made again, but got "
                              << print(getOptions(op));
    diag.attachNote(known->ops.front()->getLoc()) << "it is made here first";
    return WalkResult::interrupt();
  });
  if (walked.wasInterrupted())
    return failure();
  return choices;
}

LogicalResult espalier::poly::select(const Choice &choice, Attribute value) {
  auto options = dyn_cast<ArrayAttr>(choice.options);
  if (options && !llvm::is_contained(options, value))
    return choice.ops.front()->emitError("expects one of ")
           << print(options) << " for the choice \"" << choice.name
           << "\", but got " << print(value);
  for (Operation *op : choice.ops)
    if (auto knob = dyn_cast<KnobOp>(op))
      knob.setSelectedAttr(value);
    else
      cast<AlternativesOp>(op).setSelectedRegionAttrAttr(
          cast<IntegerAttr>(value));
  return success();
}

Operation *espalier::poly::findOpenChoice(Operation *sequence) {
  Operation *found = nullptr;
  walkRun(sequence, [&](Operation *op) {
    if (!found && isChoice(op) && !getSelected(op))
      found = op;
  });
  return found;
}

LogicalResult espalier::poly::reportOpenChoice(Operation *choice) {
  return choice->emitError("expects the choice \"")
         << getName(choice) << "\" to be selected, one of "
         << print(getOptions(choice)) << ", but nothing is";
}
