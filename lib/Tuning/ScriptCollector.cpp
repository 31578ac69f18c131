//===- ScriptCollector.cpp - The script of a program ----------------------===//

#include "ScriptCollector.h"
#include "Script.h"
#include "espalier/Measurement/KernelCost.h"
#include "mlir/Dialect/Transform/TuneExtension/TuneExtensionOps.h"
#include "mlir/IR/AttrTypeSubElements.h"
#include "mlir/IR/Builders.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// The sequence for modules whose kernels are not formed yet.
static constexpr llvm::StringLiteral kStatementsSequence =
    "__transform_statements";

ScriptCollector::ScriptCollector(MLIRContext *context) {
  OpBuilder builder(context);
  Location loc = builder.getUnknownLoc();
  script = ModuleOp::create(builder, loc);
  script->getOperation()->setAttr(
      transform::TransformDialect::kWithNamedSequenceAttrName,
      builder.getUnitAttr());
  sequence =
      addSequence(transform::TransformDialect::kTransformEntryPointSymbolName);
}

transform::NamedSequenceOp ScriptCollector::addSequence(StringRef name) {
  auto builder = OpBuilder::atBlockBegin(script->getBody());
  auto added = transform::NamedSequenceOp::create(
      builder, builder.getUnknownLoc(), name,
      transform::AnyOpType::get(builder.getContext()), TypeRange(),
      [](OpBuilder &body, Location loc, BlockArgument) {
        transform::YieldOp::create(body, loc);
      });
  added.setArgAttr(0, transform::TransformDialect::kArgReadOnlyAttrName,
                   builder.getUnitAttr());
  return added;
}

void ScriptCollector::addChoice(ModuleOp part) {
  if (!choices)
    choices = addSequence(kStatementsSequence);
  appendCommands(getSequence(part), choices);
}

void ScriptCollector::add(ModuleOp part, StringRef name) {
  Builder builder(part.getContext());
  AttrTypeReplacer replacer;
  replacer.addReplacement(
      [&](SymbolRefAttr symbol) -> std::optional<Attribute> {
        if (symbol.getRootReference() != kKernelName)
          return std::nullopt;
        return SymbolRefAttr::get(builder.getStringAttr(name),
                                  symbol.getNestedReferences());
      });
  replacer.recursivelyReplaceElementsIn(part);
  // One choice of the program is of one kernel.
  part.walk([&](transform::tune::KnobOp knob) {
    knob.setNameAttr(
        builder.getStringAttr(name + "." + knob.getName().getValue()));
  });
  appendCommands(getSequence(part), sequence);
}

std::string ScriptCollector::print() const {
  std::string text;
  llvm::raw_string_ostream os(text);
  script.get().print(os);
  return text;
}
