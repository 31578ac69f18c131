//===- Schedule.cpp - C API for scheduling kernels ------------------------===//

#include "espalier-c/Schedule.h"
#include "Script.h"
#include "espalier/Conversion/ProfileCalls.h"
#include "espalier/Dialect/Poly/Analysis/Model.h"
#include "espalier/Dialect/Poly/Analysis/Trace.h"
#include "espalier/Dialect/Poly/TransformOps/PlanScript.h"
#include "espalier/Dialect/Poly/TransformOps/PolyTransformOps.h"
#include "espalier/Dialect/Poly/Transforms/Commands.h"
#include "espalier/Dialect/Poly/Transforms/Plan.h"
#include "espalier/ExecutionEngine/Compile.h"
#include "espalier/Pipeline/Pipeline.h"
#include "mlir/IR/IRMapping.h"
#include "llvm/Support/JSON.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::capi;

struct espalier_schedule {
  espalier_module *module;
  std::string kernel;
  /// All that was applied; empty as long as that is nothing.
  OwningOpRef<ModuleOp> script;
  /// The dependence for which the last script was refused; or null.
  DictionaryAttr violation;
};

/// Takes a module to a stage; for the machine that `options` name, if they do.
static LogicalResult lower(ModuleOp module, Stage stage,
                           const espalier_compile_options *options) {
  CodegenOptions codegen = makeCodegenOptions(options);
  if (!codegen.cpu.empty() || !codegen.features.empty())
    if (llvm::Error error = setMachine(module, codegen))
      return module->emitError(llvm::toString(std::move(error)));
  return compileToStage(module, stage, codegen.pipeline);
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
  if (failed(lower(*module->module, *to, options)))
    return fail(module, "expects a module that can be lowered");
  return 0;
}

//===----------------------------------------------------------------------===//
// Scripts
//===----------------------------------------------------------------------===//

int espalier_module_transform(espalier_module *module, const char *script,
                              size_t size) {
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  OwningOpRef<ModuleOp> parsed = parseScript(module, script, size);
  return parsed ? applySequence(module, findSequence(*parsed)) : -1;
}

int espalier_module_schedule(espalier_module *module, const char *script,
                             size_t size,
                             const espalier_compile_options *options) {
  if (!module)
    return -1;
  ErrorCollector collector(&module->context, module->error);
  OwningOpRef<ModuleOp> parsed =
      parseScript(module, script, size, /*mayChoose=*/true);
  if (!parsed)
    return -1;
  FailureOr<Stage> from = detectStage(*module->module);
  if (failed(from))
    return fail(module, "expects a module that can be lowered");
  module->function = {};
  for (auto [stage, name] : {std::pair(Stage::Statements, kStatementsSequence),
                             std::pair(Stage::Poly, kMainSequence)}) {
    transform::NamedSequenceOp sequence = findSequence(*parsed, name);
    if (stage == Stage::Statements && sequence && *from > stage)
      return fail(module, "expects a module whose kernels are not formed yet "
                          "for @" +
                              name);
    if (failed(lower(*module->module, stage, options)))
      return fail(module, "expects a module that can be lowered");
    if (sequence && applySequence(module, sequence) < 0)
      return -1;
  }
  return 0;
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
  poly::TargetAttr target;
  if (!(*module->module)->hasAttr(poly::TargetAttr::getAttrName())) {
    auto machine =
        describeMachine(&module->context, makeCodegenOptions(options));
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
  OwningOpRef<ModuleOp> parsed =
      parseScript(module, script, size, /*mayChoose=*/true);
  if (parsed && findSequence(*parsed, kStatementsSequence))
    return fail(module, "expects a script for kernels that are formed, but got "
                        "@" +
                            kStatementsSequence);
  if (!parsed || applySequence(module, findSequence(*parsed)) < 0)
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
