//===- Program.cpp - C API for compiling modules --------------------------===//

#include "espalier-c/Program.h"
#include "espalier/CAPI/Module.h"
#include "espalier/ExecutionEngine/Compile.h"
#include "espalier/ExecutionEngine/Link.h"
#include "espalier/ExecutionEngine/LoadedProgram.h"
#include "espalier/Optimize/ChooseSparse.h"
#include "espalier/Tuning/TunedSchedules.h"
#include "mlir/IR/Diagnostics.h"

using namespace espalier;

struct espalier_executable {
  std::unique_ptr<LoadedProgram> program;
  CacheResult cacheResult = CacheResult::Disabled;
  std::string error;
};

espalier_compile_options espalier_default_compile_options() {
  espalier_compile_options options = {};
  options.cpu = options.features = options.cache_dir = "";
  options.optimize = options.kernel_times = options.records = "";
  options.run_threads = 1;
#define PIPELINE_OPTION(name, value, summary) options.name = value;
#include "espalier-c/PipelineOptions.def"
  options.cache_limit = CacheOptions().limit;
  return options;
}

static const char *getText(const char *text) { return text ? text : ""; }

CodegenOptions
capi::makeCodegenOptions(const espalier_compile_options *options) {
  CodegenOptions codegen;
  if (!options)
    return codegen;
  codegen.cpu = getText(options->cpu);
  codegen.features = getText(options->features);
#define PIPELINE_OPTION(name, value, summary)                                  \
  codegen.pipeline.name = options->name != 0;
#include "espalier-c/PipelineOptions.def"
  codegen.jobs = options->jobs;
  if (options->progress)
    codegen.progress = [options](unsigned done, unsigned all) {
      options->progress(done, all, options->user);
    };
  if (options->cancelled)
    codegen.isCancelled = [options] {
      return options->cancelled(options->user) != 0;
    };
  return codegen;
}

MeasureOptions
capi::makeMeasureOptions(espalier_module *module,
                         const espalier_compile_options *options) {
  MeasureOptions measure;
  measure.codegen = makeCodegenOptions(options);
  measure.codegen.progress = nullptr;
  measure.threads = std::max(options->run_threads, 1u);
  measure.constantBytes =
      roundConstantBytes(countConstantBytes(*module->module));
  return measure;
}

/// Prepares a compilation. Fails after an error if an option is no such thing.
static mlir::FailureOr<OptimizeOptions>
makeOptimizeOptions(espalier_module *module,
                    const espalier_compile_options *options) {
  mlir::DialectRegistry registry;
  registerCompilation(registry);
  module->context.appendDialectRegistry(registry);
  OptimizeOptions result;
  llvm::StringRef name = getText(options->optimize);
  auto optimization = parseOptimization(name.empty() ? "none" : name);
  if (!optimization)
    return module->module->emitError("expects an optimization out of ")
           << listOptimizations() << ", but got '" << name << "'";
  result.optimization = *optimization;
  result.cost.table = getText(options->kernel_times);
  result.cost.budget = options->measure_seconds;
  result.cost.measure = capi::makeMeasureOptions(module, options);
  result.compare.threads = result.cost.measure.threads;
  return result;
}

espalier_executable *espalier_compile(espalier_module *module,
                                      const espalier_compile_options *given) {
  if (!module)
    return nullptr;
  espalier_compile_options defaults = espalier_default_compile_options();
  const espalier_compile_options *options = given ? given : &defaults;
  capi::ErrorCollector collector(&module->context, module->error,
                                 /*data=*/nullptr, &module->warnings);
  mlir::FailureOr<OptimizeOptions> optimize =
      makeOptimizeOptions(module, options);
  if (mlir::failed(optimize))
    return nullptr;

  CodegenOptions codegen = capi::makeCodegenOptions(options);
  tuning::useRecords(*module->module, getText(options->records),
                     optimize->cost.measure, codegen);
  InterruptiblePasses passes(&module->context, codegen.isCancelled);
  auto result = std::make_unique<espalier_executable>();
  CacheOptions cache = {getText(options->cache_dir), options->cache_limit};
  mlir::FailureOr<CompiledProgram> compiled = compileOptimized(
      *module->module, codegen, cache, *optimize, &result->cacheResult);
  if (mlir::failed(compiled)) {
    if (module->error.empty())
      module->error = "the compiler gave no reason";
    return nullptr;
  }
  auto loaded = LoadedProgram::create(std::move(*compiled));
  if (!loaded) {
    module->error = llvm::toString(loaded.takeError());
    return nullptr;
  }
  result->program = std::move(*loaded);
  return result.release();
}

void espalier_executable_destroy(espalier_executable *executable) {
  delete executable;
}

const espalier_program *
espalier_executable_program(const espalier_executable *executable) {
  return executable ? executable->program->getProgram() : nullptr;
}

uint64_t espalier_executable_kernels(const espalier_executable *executable) {
  return executable->program->getCompiled().getInfo().numKernels;
}

double espalier_executable_seconds(const espalier_executable *executable) {
  return executable->program->getCompiled().getInfo().compileSeconds;
}

int32_t espalier_executable_cached(const espalier_executable *executable) {
  return executable->cacheResult == CacheResult::Hit;
}

const char *
espalier_executable_optimization(const espalier_executable *executable) {
  return executable->program->getCompiled().getInfo().optimization.c_str();
}

/// Calls `write` with what `run` reports; returns 0, or -1 after an error.
static int writeReport(espalier_module *module,
                       const espalier_compile_options *options,
                       void (*write)(const char *, size_t, void *), void *user,
                       llvm::function_ref<mlir::FailureOr<llvm::json::Value>(
                           const OptimizeOptions &)>
                           run) {
  if (!module || !options)
    return -1;
  capi::ErrorCollector collector(&module->context, module->error);
  mlir::FailureOr<OptimizeOptions> optimize =
      makeOptimizeOptions(module, options);
  if (mlir::failed(optimize))
    return -1;
  optimize->explains = true;
  InterruptiblePasses passes(&module->context,
                             optimize->cost.measure.codegen.isCancelled);
  mlir::FailureOr<llvm::json::Value> report = run(*optimize);
  if (mlir::failed(report))
    return -1;
  std::string text;
  llvm::raw_string_ostream(text) << *report;
  write(text.data(), text.size(), user);
  return 0;
}

int espalier_optimize(espalier_module *module,
                      const espalier_compile_options *options,
                      void (*write)(const char *, size_t, void *), void *user) {
  auto run = [&](const OptimizeOptions &optimize)
      -> mlir::FailureOr<llvm::json::Value> {
    mlir::FailureOr<OptimizeReport> report =
        optimizeModule(*module->module, optimize);
    if (mlir::failed(report))
      return mlir::failure();
    if (optimize.cost.measure.codegen.mustStop()) {
      module->error = "the search was interrupted";
      return mlir::failure();
    }
    return llvm::json::Value(std::move(*report));
  };
  return writeReport(module, options, write, user, run);
}

int espalier_choose_sparse(espalier_module *module,
                           const espalier_compile_options *options,
                           const char *others, const char *choices,
                           void (*write)(const char *, size_t, void *),
                           void *user) {
  auto run = [&](const OptimizeOptions &optimize)
      -> mlir::FailureOr<llvm::json::Value> {
    llvm::Expected<SparseChoices> read =
        readSparseChoices(getText(others), getText(choices));
    if (!read)
      return module->module->emitError(llvm::toString(read.takeError()));
    mlir::FailureOr<llvm::json::Array> report =
        chooseSparse(*module->module, optimize, *read);
    if (mlir::failed(report))
      return mlir::failure();
    return llvm::json::Value(std::move(*report));
  };
  return writeReport(module, options, write, user, run);
}

int espalier_executable_save(espalier_executable *executable,
                             const char *path) {
  if (!executable)
    return -1;
  executable->error.clear();
  if (!path) {
    executable->error = "expects a path, but got a null pointer";
    return -1;
  }
  const CompiledProgram &compiled = executable->program->getCompiled();
  llvm::Error error = linkProgram(compiled, path);
  if (!error)
    return 0;
  executable->error = llvm::toString(std::move(error));
  return -1;
}

const char *
espalier_executable_last_error(const espalier_executable *executable) {
  return executable->error.c_str();
}
