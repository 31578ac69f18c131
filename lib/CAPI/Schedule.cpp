//===- Schedule.cpp - C API for scheduling kernels ------------------------===//

#include "espalier-c/Schedule.h"
#include "espalier/CAPI/Module.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/Transforms/Commands.h"
#include "espalier/Pipeline/Pipeline.h"
#include "mlir/Dialect/Transform/IR/TransformOps.h"
#include "mlir/Dialect/Transform/Transforms/TransformInterpreterUtils.h"
#include "mlir/IR/IRMapping.h"
#include "mlir/Parser/Parser.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace espalier;
using capi::ErrorCollector;

struct espalier_schedule {
  espalier_module *module;
  std::string kernel;
  /// All that was applied; empty as long as that is nothing.
  OwningOpRef<ModuleOp> script;
};

static int fail(espalier_module *module, const Twine &message) {
  if (module->error.empty())
    module->error = message.str();
  return -1;
}

int espalier_module_lower(espalier_module *module, const char *stage) {
  ErrorCollector collector(&module->context, module->error);
  std::optional<Stage> to = parseStage(stage);
  if (!to)
    return fail(module, "expects one of the stages " + listStages() +
                            ", but got '" + stage + "'");
  module->function = {};
  if (failed(compileToStage(*module->module, *to)))
    return fail(module, "expects a module that can be lowered");
  return 0;
}

//===----------------------------------------------------------------------===//
// Scripts
//===----------------------------------------------------------------------===//

static transform::NamedSequenceOp findSequence(ModuleOp script) {
  return script.lookupSymbol<transform::NamedSequenceOp>(
      transform::TransformDialect::kTransformEntryPointSymbolName);
}

/// Reads a script with one sequence of one argument; null after an error.
static OwningOpRef<ModuleOp> parseScript(espalier_module *module,
                                         StringRef text) {
  OwningOpRef<ModuleOp> script =
      parseSourceString<ModuleOp>(text, &module->context, "script");
  if (!script)
    return nullptr;
  transform::NamedSequenceOp sequence = findSequence(*script);
  if (sequence && !sequence.isExternal() && sequence.getNumArguments() == 1)
    return script;
  fail(module, "expects a script with a sequence @__transform_main that has "
               "one argument");
  return nullptr;
}

/// Applies a script to a copy of the module, which then takes its place.
static int apply(espalier_module *module, ModuleOp script) {
  OwningOpRef<ModuleOp> trial(module->module->clone());
  if (failed(transform::applyTransformNamedSequence(
          *trial, findSequence(script), ModuleOp(),
          transform::TransformOptions())))
    return fail(module, "expects a script that can be applied");
  module->function = {};
  module->module = std::move(trial);
  return 0;
}

int espalier_module_transform(espalier_module *module, const char *script,
                              size_t size) {
  ErrorCollector collector(&module->context, module->error);
  OwningOpRef<ModuleOp> parsed = parseScript(module, StringRef(script, size));
  return parsed ? apply(module, *parsed) : -1;
}

/// A lookup in `block` that gives the same handle as `op`, or null. Commands
/// keep computations, but they may replace the arrays that these write.
static Operation *findLookup(Block &block, Operation &op,
                             const IRMapping &mapping) {
  if (!isa<poly::ComputationOp>(op))
    return nullptr;
  for (Operation &other : block)
    if (other.getName() == op.getName() &&
        other.getAttrDictionary() == op.getAttrDictionary() &&
        other.getOperand(0) == mapping.lookupOrNull(op.getOperand(0)))
      return &other;
  return nullptr;
}

/// Adds the commands of one script to the end of another.
static void append(ModuleOp script, ModuleOp more) {
  Block &to = findSequence(script).getBody().front();
  Block &from = findSequence(more).getBody().front();
  OpBuilder builder(to.getTerminator());
  IRMapping mapping;
  mapping.map(from.getArgument(0), to.getArgument(0));
  for (Operation &op : from.without_terminator())
    if (Operation *known = findLookup(to, op, mapping))
      mapping.map(op.getResults(), known->getResults());
    else
      builder.clone(op, mapping);
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

static poly::KernelOp findKernel(ModuleOp module, StringRef name) {
  return module.lookupSymbol<poly::KernelOp>(name);
}

espalier_schedule *espalier_schedule_create(espalier_module *module,
                                            const char *kernel) {
  ErrorCollector collector(&module->context, module->error);
  poly::KernelOp op = findKernel(*module->module, kernel);
  if (!op) {
    std::string names;
    llvm::raw_string_ostream os(names);
    llvm::interleaveComma(
        module->module->getOps<poly::KernelOp>(), os,
        [&](poly::KernelOp other) { os << other.getSymName(); });
    fail(module,
         "expects a kernel, one of [" + names + "], but got '" + kernel + "'");
    return nullptr;
  }
  // Whatever the command, it starts from a schedule with named loops.
  llvm::Error error = poly::applyChecked(
      op, [](poly::KernelOp) { return llvm::Error::success(); });
  if (error) {
    fail(module, llvm::toString(std::move(error)));
    return nullptr;
  }
  return new espalier_schedule{module, kernel, {}};
}

void espalier_schedule_destroy(espalier_schedule *schedule) { delete schedule; }

int espalier_schedule_apply(espalier_schedule *schedule, const char *script,
                            size_t size) {
  espalier_module *module = schedule->module;
  ErrorCollector collector(&module->context, module->error);
  OwningOpRef<ModuleOp> parsed = parseScript(module, StringRef(script, size));
  if (!parsed || apply(module, *parsed) < 0)
    return -1;
  if (!schedule->script)
    schedule->script = std::move(parsed);
  else
    append(*schedule->script, *parsed);
  return 0;
}

void espalier_schedule_print(const espalier_schedule *schedule,
                             void (*write)(const char *, size_t, void *),
                             void *user) {
  std::string text;
  llvm::raw_string_ostream os(text);
  if (schedule->script)
    schedule->script.get()->print(os);
  write(text.data(), text.size(), user);
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

int espalier_schedule_loops(espalier_schedule *schedule,
                            void (*write)(const char *, size_t, void *),
                            void *user) {
  espalier_module *module = schedule->module;
  ErrorCollector collector(&module->context, module->error);
  poly::KernelOp kernel = findKernel(*module->module, schedule->kernel);
  SmallVector<std::string> parameters;
  for (BlockArgument parameter : kernel.getParameters())
    parameters.push_back(kernel.getArgumentName(parameter.getArgNumber()));
  llvm::Expected<std::string> text = poly::printLoops(kernel, parameters);
  if (!text)
    return fail(module, llvm::toString(text.takeError()));
  write(text->data(), text->size(), user);
  return 0;
}

void espalier_module_describe_kernels(const espalier_module *module,
                                      void (*write)(const char *, size_t,
                                                    void *),
                                      void *user) {
  llvm::json::Object kernels;
  ModuleOp op = *const_cast<espalier_module *>(module)->module;
  for (auto kernel : op.getOps<poly::KernelOp>()) {
    llvm::json::Array arguments;
    for (unsigned i = 0; i < kernel.getNumArguments(); ++i)
      arguments.push_back(kernel.getArgumentName(i));
    llvm::json::Object computations;
    for (poly::ComputeOp compute : kernel.getComputes()) {
      llvm::json::Array dims;
      for (unsigned dim = 0; dim < compute.getNumDims(); ++dim)
        dims.push_back(compute.getDimName(dim).str());
      computations[compute.getSymName()] = std::move(dims);
    }
    kernels[kernel.getSymName()] =
        llvm::json::Object{{"arguments", std::move(arguments)},
                           {"computations", std::move(computations)}};
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(kernels));
  write(text.data(), text.size(), user);
}
