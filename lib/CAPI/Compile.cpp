//===- Compile.cpp - Compiling behind the C API ---------------------------===//

#include "espalier-c/Compile.h"
#include "espalier/CAPI/Module.h"
#include "espalier/ExecutionEngine/Compile.h"
#include "espalier/ExecutionEngine/Link.h"
#include "espalier/ExecutionEngine/LoadedProgram.h"

using namespace mlir;
using namespace espalier;

struct espalier_compiled {
  explicit espalier_compiled(CompiledProgram program)
      : program(std::move(program)) {}

  CompiledProgram program;
  /// Made by the first `espalier_compiled_load`.
  std::unique_ptr<LoadedProgram> loaded;
  bool fromCache = false;
  std::string error;
};

static CodegenOptions makeOptions(const espalier_compile_options &options) {
  CodegenOptions codegen;
  codegen.cpu = options.cpu ? options.cpu : "";
  codegen.features = options.features ? options.features : "";
  codegen.threads = !options.single_threaded;
  codegen.jobs = std::max(options.jobs, 0);
  if (auto progress = options.progress)
    codegen.progress = [progress, user = options.user](unsigned done,
                                                       unsigned all) {
      progress(done, all, user);
    };
  return codegen;
}

espalier_compiled *espalier_compile(espalier_module *module,
                                    const espalier_compile_options *options) {
  capi::ErrorCollector collector(&module->context, module->error);
  DialectRegistry registry;
  registerCompilation(registry);
  module->context.appendDialectRegistry(registry);
  espalier_compile_options defaults = {};
  const espalier_compile_options &chosen = options ? *options : defaults;
  CacheResult found;
  FailureOr<CompiledProgram> program =
      compileCached(*module->module, makeOptions(chosen),
                    chosen.cache_dir ? chosen.cache_dir : "", &found);
  if (failed(program)) {
    if (module->error.empty())
      module->error = "compilation failed without a message";
    return nullptr;
  }
  auto *compiled = new espalier_compiled(std::move(*program));
  compiled->fromCache = found == CacheResult::Hit;
  return compiled;
}

void espalier_compiled_destroy(espalier_compiled *compiled) { delete compiled; }

const espalier_program *espalier_compiled_load(espalier_compiled *compiled) {
  if (!compiled->loaded) {
    auto loaded = LoadedProgram::create(compiled->program);
    if (!loaded) {
      compiled->error = llvm::toString(loaded.takeError());
      return nullptr;
    }
    compiled->loaded = std::move(*loaded);
  }
  return compiled->loaded->getProgram();
}

int espalier_compiled_save(espalier_compiled *compiled, const char *path) {
  if (llvm::Error error = linkSharedLibrary(compiled->program, path)) {
    compiled->error = llvm::toString(std::move(error));
    return -1;
  }
  return 0;
}

const char *espalier_compiled_last_error(const espalier_compiled *compiled) {
  return compiled->error.c_str();
}

int64_t espalier_compiled_num_kernels(const espalier_compiled *compiled) {
  return compiled->program.getInfo().numKernels;
}

double espalier_compiled_seconds(const espalier_compiled *compiled) {
  return compiled->fromCache ? 0 : compiled->program.getInfo().compileSeconds;
}
