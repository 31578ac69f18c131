//===- Schedule.cpp - C API for scheduling kernels ------------------------===//

#include "espalier-c/Schedule.h"
#include "espalier/CAPI/Module.h"
#include "espalier/Conversion/ProfileCalls.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/Analysis/Trace.h"
#include "espalier/Dialect/Poly/TransformOps/Choices.h"
#include "espalier/Dialect/Poly/TransformOps/PlanScript.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/TransformOps/Script.h"
#include "espalier/Dialect/Poly/Transforms/Commands.h"
#include "espalier/Dialect/Poly/Transforms/Plan.h"
#include "espalier/ExecutionEngine/Compile.h"
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
  /// The dependence for which the last script was refused; or null.
  DictionaryAttr violation;
};

static int fail(espalier_module *module, const Twine &message) {
  if (module->error.empty())
    module->error = message.str();
  return -1;
}

int espalier_module_lower(espalier_module *module, const char *stage,
                          const espalier_compile_options *options) {
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  if (!stage)
    return fail(module, "expects a stage, but got a null pointer");
  std::optional<Stage> to = parseStage(stage);
  if (!to)
    return fail(module, "expects one of the stages " + listStages() +
                            ", but got '" + stage + "'");
  module->function = {};
  if (failed(compileToStage(*module->module, *to,
                            capi::makePipelineOptions(options))))
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
                                         const char *text, size_t size) {
  if (!text) {
    fail(module, "expects a script, but got a null pointer");
    return nullptr;
  }
  OwningOpRef<ModuleOp> script = parseSourceString<ModuleOp>(
      StringRef(text, size), &module->context, "script.mlir");
  if (!script)
    return nullptr;
  transform::NamedSequenceOp sequence = findSequence(*script);
  if (sequence && !sequence.isExternal() && sequence.getNumArguments() == 1)
    return script;
  fail(module, "expects a script with a sequence @__transform_main that has "
               "one argument");
  return nullptr;
}

/// Applies a script to a copy of the module, which then takes its place. A
/// module with kernels takes scheduling alone.
static int apply(espalier_module *module, ModuleOp script) {
  Operation *edit = poly::findForeignEdit(findSequence(script));
  if (edit && !module->module->getOps<poly::KernelOp>().empty()) {
    (void)poly::reportForeignEdit(edit);
    return fail(module, "expects a script that can be applied");
  }
  if (Operation *choice = poly::findOpenChoice(findSequence(script))) {
    (void)poly::reportOpenChoice(choice);
    return fail(module, "expects a script that can be applied");
  }
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
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  OwningOpRef<ModuleOp> parsed = parseScript(module, script, size);
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

/// A kernel of the module; null after an error.
static poly::KernelOp findKernel(espalier_module *module, StringRef name) {
  ModuleOp op = *module->module;
  if (auto kernel = op.lookupSymbol<poly::KernelOp>(name))
    return kernel;
  std::string names;
  llvm::raw_string_ostream os(names);
  llvm::interleaveComma(
      op.getOps<poly::KernelOp>(), os,
      [&](poly::KernelOp other) { os << other.getSymName(); });
  fail(module,
       "expects a kernel, one of [" + names + "], but got '" + name + "'");
  return {};
}

int espalier_module_default_schedule(
    espalier_module *module, const char *kernel,
    const espalier_compile_options *options,
    void (*write)(const char *text, size_t size, void *user), void *user) {
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  if (kernel && *kernel) {
    poly::KernelOp op = findKernel(module, kernel);
    if (!op)
      return -1;
    if (!poly::hasProgramOrder(op))
      return fail(module, "expects the kernel '" + Twine(kernel) +
                              "' in program order, but it has a schedule; "
                              "take the kernel or the module as it was made");
  }
  CodegenOptions machineOptions;
  if (options && options->cpu)
    machineOptions.cpu = options->cpu;
  if (options && options->features)
    machineOptions.features = options->features;
  poly::TargetAttr target;
  if (!(*module->module)->hasAttr(poly::TargetAttr::getAttrName())) {
    auto machine = describeMachine(&module->context, machineOptions);
    if (!machine)
      return fail(module, llvm::toString(machine.takeError()));
    target = *machine;
  }
  OwningOpRef<ModuleOp> script =
      poly::makeDefaultScript(*module->module, target, kernel ? kernel : "");
  std::string text;
  llvm::raw_string_ostream os(text);
  script->print(os);
  write(text.data(), text.size(), user);
  return 0;
}

//===----------------------------------------------------------------------===//
// Choices
//===----------------------------------------------------------------------===//

/// A number, a string or a boolean; any other attribute as MLIR text.
static llvm::json::Value toJson(Attribute value) {
  if (auto flag = dyn_cast<BoolAttr>(value))
    return flag.getValue();
  if (auto number = dyn_cast<IntegerAttr>(value);
      number && number.getValue().getSignificantBits() <= 64)
    return number.getValue().getSExtValue();
  if (auto number = dyn_cast<FloatAttr>(value))
    return number.getValueAsDouble();
  if (auto text = dyn_cast<StringAttr>(value))
    return text.str();
  std::string text;
  llvm::raw_string_ostream(text) << value;
  return text;
}

static llvm::json::Value describeChoice(const poly::Choice &choice) {
  llvm::json::Value options = toJson(choice.options);
  if (auto list = dyn_cast<ArrayAttr>(choice.options)) {
    llvm::json::Array values;
    for (Attribute option : list)
      values.push_back(toJson(option));
    options = std::move(values);
  }
  return llvm::json::Object{{"name", choice.name},
                            {"options", std::move(options)},
                            {"selected", choice.selected
                                             ? toJson(choice.selected)
                                             : llvm::json::Value(nullptr)}};
}

/// Reads a script, which is where its choices are; null after an error.
static OwningOpRef<ModuleOp> parseChoices(espalier_module *module,
                                          const char *text, size_t size,
                                          SmallVector<poly::Choice> &choices) {
  OwningOpRef<ModuleOp> script = parseScript(module, text, size);
  if (!script)
    return nullptr;
  FailureOr<SmallVector<poly::Choice>> found = poly::getChoices(*script);
  if (failed(found)) {
    fail(module, "expects a script with choices");
    return nullptr;
  }
  choices = std::move(*found);
  return script;
}

int espalier_module_describe_choices(
    espalier_module *module, const char *script, size_t size,
    void (*write)(const char *text, size_t size, void *user), void *user) {
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  SmallVector<poly::Choice> choices;
  OwningOpRef<ModuleOp> parsed = parseChoices(module, script, size, choices);
  if (!parsed)
    return -1;
  llvm::json::Array all;
  for (const poly::Choice &choice : choices)
    all.push_back(describeChoice(choice));
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(all));
  write(text.data(), text.size(), user);
  return 0;
}

/// The value of `choice` that `json` stands for; null if there is none.
static Attribute findOption(const poly::Choice &choice,
                            const llvm::json::Value &json) {
  MLIRContext *context = choice.options.getContext();
  if (auto list = dyn_cast<ArrayAttr>(choice.options)) {
    for (Attribute option : list)
      if (toJson(option) == json)
        return option;
    return {};
  }
  Builder builder(context);
  if (std::optional<bool> flag = json.getAsBoolean())
    return builder.getBoolAttr(*flag);
  if (std::optional<int64_t> number = json.getAsInteger())
    return builder.getI64IntegerAttr(*number);
  if (std::optional<double> number = json.getAsNumber())
    return builder.getF64FloatAttr(*number);
  if (std::optional<StringRef> text = json.getAsString())
    return builder.getStringAttr(*text);
  return {};
}

/// Selects what `values` says, by the names of choices.
static int selectAll(espalier_module *module, ArrayRef<poly::Choice> choices,
                     const llvm::json::Object &values) {
  SmallVector<StringRef> unknown;
  for (const auto &entry : values)
    if (llvm::none_of(choices, [&](const poly::Choice &choice) {
          return choice.name == StringRef(entry.first);
        }))
      unknown.push_back(entry.first);
  if (!unknown.empty()) {
    llvm::sort(unknown);
    std::string names;
    llvm::raw_string_ostream os(names);
    llvm::interleaveComma(
        choices, os, [&](const poly::Choice &choice) { os << choice.name; });
    return fail(module, "expects one of the choices [" + names +
                            "], but got '" + unknown.front() + "'");
  }
  for (const poly::Choice &choice : choices) {
    const llvm::json::Value *value = values.get(choice.name);
    if (!value)
      continue;
    Attribute option = findOption(choice, *value);
    if (!option) {
      std::string text;
      llvm::raw_string_ostream(text)
          << *describeChoice(choice).getAsObject()->get("options")
          << " for the choice \"" << choice.name << "\", but got " << *value;
      return fail(module, "expects one of " + text);
    }
    if (failed(poly::select(choice, option)))
      return -1;
  }
  return 0;
}

int espalier_module_select(espalier_module *module, const char *script,
                           size_t size, const char *values, size_t values_size,
                           void (*write)(const char *text, size_t size,
                                         void *user),
                           void *user) {
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  SmallVector<poly::Choice> choices;
  OwningOpRef<ModuleOp> parsed = parseChoices(module, script, size, choices);
  if (!parsed)
    return -1;
  llvm::Expected<llvm::json::Value> json =
      llvm::json::parse(values ? StringRef(values, values_size) : StringRef());
  llvm::json::Object *object = json ? json->getAsObject() : nullptr;
  if (!json)
    llvm::consumeError(json.takeError());
  if (!object)
    return fail(module, "expects a JSON object with what is selected");
  if (selectAll(module, choices, *object) < 0)
    return -1;
  std::string text;
  llvm::raw_string_ostream os(text);
  parsed->print(os);
  write(text.data(), text.size(), user);
  return 0;
}

//===----------------------------------------------------------------------===//
// Schedules
//===----------------------------------------------------------------------===//

espalier_schedule *espalier_schedule_create(espalier_module *module,
                                            const char *kernel) {
  if (!module)
    return nullptr;
  ErrorCollector collector(&module->context, module->error);
  if (!kernel) {
    fail(module, "expects a kernel's name, but got a null pointer");
    return nullptr;
  }
  poly::KernelOp op = findKernel(module, kernel);
  if (!op)
    return nullptr;
  // Whatever the command, it starts from a schedule with named loops.
  llvm::Error error = poly::applyChecked(
      op, [](poly::KernelOp) { return llvm::Error::success(); });
  if (error) {
    fail(module, llvm::toString(std::move(error)));
    return nullptr;
  }
  return new espalier_schedule{module, kernel, {}, {}};
}

void espalier_schedule_destroy(espalier_schedule *schedule) { delete schedule; }

int espalier_schedule_apply(espalier_schedule *schedule, const char *script,
                            size_t size) {
  if (!schedule)
    return -1;
  espalier_module *module = schedule->module;
  schedule->violation = {};
  ErrorCollector collector(&module->context, module->error,
                           &schedule->violation);
  OwningOpRef<ModuleOp> parsed = parseScript(module, script, size);
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
  if (schedule && schedule->script)
    schedule->script.get()->print(os);
  write(text.data(), text.size(), user);
}

//===----------------------------------------------------------------------===//
// Descriptions
//===----------------------------------------------------------------------===//

int espalier_schedule_loops(espalier_schedule *schedule,
                            void (*write)(const char *, size_t, void *),
                            void *user) {
  if (!schedule)
    return -1;
  espalier_module *module = schedule->module;
  ErrorCollector collector(&module->context, module->error);
  poly::KernelOp kernel = findKernel(module, schedule->kernel);
  SmallVector<std::string> parameters;
  for (BlockArgument parameter : kernel.getParameters())
    parameters.push_back(kernel.getArgumentName(parameter.getArgNumber()));
  llvm::Expected<std::string> text = poly::printLoops(kernel, parameters);
  if (!text)
    return fail(module, llvm::toString(text.takeError()));
  write(text->data(), text->size(), user);
  return 0;
}

/// The names of the dimensions of each computation.
static llvm::json::Object describeComputations(poly::KernelOp kernel) {
  llvm::json::Object computations;
  for (poly::ComputeOp compute : kernel.getComputes()) {
    llvm::json::Array dims;
    for (unsigned dim = 0; dim < compute.getNumDims(); ++dim)
      dims.push_back(compute.getDimName(dim).str());
    computations[compute.getSymName()] = std::move(dims);
  }
  return computations;
}

/// An attribute of strings and lists of integers.
static llvm::json::Value describeViolation(DictionaryAttr attr) {
  if (!attr)
    return nullptr;
  llvm::json::Object object;
  for (NamedAttribute entry : attr)
    if (auto text = dyn_cast<StringAttr>(entry.getValue()))
      object[entry.getName().getValue()] = text.str();
    else
      object[entry.getName().getValue()] = llvm::json::Array(
          cast<DenseI64ArrayAttr>(entry.getValue()).asArrayRef());
  return object;
}

void espalier_schedule_violation(const espalier_schedule *schedule,
                                 void (*write)(const char *, size_t, void *),
                                 void *user) {
  std::string text;
  llvm::raw_string_ostream(text)
      << describeViolation(schedule ? schedule->violation : DictionaryAttr());
  write(text.data(), text.size(), user);
}

int espalier_schedule_trace(espalier_schedule *schedule, const int64_t *sizes,
                            size_t num_sizes,
                            void (*write)(const char *, size_t, void *),
                            void *user) {
  if (!schedule)
    return -1;
  espalier_module *module = schedule->module;
  ErrorCollector collector(&module->context, module->error);
  poly::KernelOp kernel = findKernel(module, schedule->kernel);
  if (num_sizes > 0 && !sizes)
    return fail(module, "expects sizes, but got a null pointer");
  ArrayRef<int64_t> values(sizes, num_sizes);
  if (kernel.getNumParameters() != num_sizes ||
      llvm::any_of(values, [](int64_t value) { return value < 0; }))
    return fail(module, "expects " + Twine(kernel.getNumParameters()) +
                            " sizes that are not negative, but got " +
                            Twine(num_sizes));
  auto trace = poly::traceKernel(kernel, values);
  if (!trace)
    return fail(module, llvm::toString(trace.takeError()));

  llvm::json::Array points, dependences;
  for (const poly::TracedPoint &point : trace->points) {
    llvm::json::Object iterations;
    for (auto [loop, value] : point.iterations)
      iterations[trace->loops[loop]] = value;
    poly::ComputeOp compute = trace->computations[point.computation];
    points.push_back(llvm::json::Object{{"computation", compute.getSymName()},
                                        {"at", llvm::json::Array(point.point)},
                                        {"iterations", std::move(iterations)}});
  }
  for (const poly::TracedDependence &dependence : trace->dependences)
    dependences.push_back(
        llvm::json::Object{{"kind", polyhedral::getName(dependence.kind)},
                           {"source", dependence.source},
                           {"sink", dependence.sink},
                           {"reduction", dependence.isReduction}});
  llvm::json::Value result =
      llvm::json::Object{{"computations", describeComputations(kernel)},
                         {"loops", llvm::json::Array(trace->loops)},
                         {"sizes", llvm::json::Array(values)},
                         {"points", std::move(points)},
                         {"dependences", std::move(dependences)},
                         {"violation", describeViolation(schedule->violation)}};
  std::string text;
  llvm::raw_string_ostream(text) << result;
  write(text.data(), text.size(), user);
  return 0;
}

void espalier_module_describe_kernels(const espalier_module *module,
                                      void (*write)(const char *, size_t,
                                                    void *),
                                      void *user) {
  if (!module)
    return write("{}", 2, user);
  llvm::json::Object kernels;
  ModuleOp op = *const_cast<espalier_module *>(module)->module;
  for (auto kernel : op.getOps<poly::KernelOp>()) {
    llvm::json::Array arguments, parameters;
    for (BlockArgument argument : kernel.getArguments()) {
      std::string name = kernel.getArgumentName(argument.getArgNumber());
      if (argument.getType().isIndex())
        parameters.push_back(name);
      arguments.push_back(std::move(name));
    }
    kernels[kernel.getSymName()] =
        llvm::json::Object{{"arguments", std::move(arguments)},
                           {"parameters", std::move(parameters)},
                           {"computations", describeComputations(kernel)}};
  }
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(kernels));
  write(text.data(), text.size(), user);
}

int espalier_module_profile(espalier_module *module,
                            void (*write)(const char *, size_t, void *),
                            void *user) {
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  module->function = {};
  auto calls = profileCalls(*module->module);
  if (failed(calls))
    return -1;
  llvm::json::Array rows;
  for (const ProfiledCall &call : *calls)
    rows.push_back(llvm::json::Object{{"kernel", call.kernel},
                                      {"operators", call.operators},
                                      {"nodes", call.nodes}});
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(rows));
  write(text.data(), text.size(), user);
  return 0;
}
