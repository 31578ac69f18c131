//===- CommandSketches.cpp - Sketches of many commands --------------------===//

#include "CommandSketches.h"
#include "../Script.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

CommandSketcher::CommandSketcher(ModuleOp module)
    : module(module), kernel(*module.getOps<poly::KernelOp>().begin()),
      target(poly::getTarget(module)),
      computes(llvm::to_vector(kernel.getComputes())) {}

int64_t CommandSketcher::getWidth(poly::ComputeOp compute) {
  Type type = compute.getWriteAccesses().front().getType().getElementType();
  return type.isIntOrFloat() ? target.getVectorBits() /
                                   std::max(type.getIntOrFloatBitWidth(), 8u)
                             : 1;
}

Attribute CommandSketcher::quote(const Twine &name) {
  return StringAttr::get(module.getContext(), name);
}

std::string CommandSketcher::printHandles() {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (auto [number, compute] : llvm::enumerate(computes))
    os << "%c" << number << " = transform.poly.computation "
       << SymbolRefAttr::get(kernel.getSymNameAttr(),
                             FlatSymbolRefAttr::get(compute.getSymNameAttr()))
       << " of %module : (" << kHandle << ") -> " << kHandle << "\n";
  return text;
}

std::string CommandSketcher::printKnob(StringRef value, const Twine &name,
                                       ArrayRef<int64_t> sizes, int64_t usual) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << value << " = transform.tune.knob<" << quote(name) << "> = " << usual
     << " from options = [";
  llvm::interleaveComma(sizes, os);
  os << "] -> !transform.param<i64>\n";
  return text;
}

/// A script of these commands.
static std::string printScript(StringRef commands) {
  return ("module attributes {transform.with_named_sequence} {\n"
          "transform.named_sequence @__transform_main(%module: " +
          kHandle + " {transform.readonly}) {\n" + commands +
          "transform.yield\n}\n}\n")
      .str();
}

/// A copy of `module` after `script`; null if that is not legal.
static OwningOpRef<ModuleOp> applyToCopy(ModuleOp script, ModuleOp module) {
  FirstError error(module.getContext());
  OwningOpRef<ModuleOp> copy = module.clone();
  return succeeded(applyScript(script, *copy)) ? std::move(copy) : nullptr;
}

OwningOpRef<ModuleOp> CommandSketcher::apply(StringRef commands) {
  OwningOpRef<ModuleOp> script =
      parseScript(printScript(commands), module.getContext());
  return script ? applyToCopy(*script, module) : nullptr;
}

std::optional<Sketch> CommandSketcher::make(StringRef rule,
                                            StringRef commands) {
  llvm::Expected<Sketch> sketch =
      parseSketch(rule, printScript(commands), module);
  if (!sketch) {
    llvm::consumeError(sketch.takeError());
    return std::nullopt;
  }
  if (!applyToCopy(*sketch->select(sketch->getDefault()), module))
    return std::nullopt;
  return std::move(*sketch);
}
