//===- Run.cpp - Compiles, runs and stores one program --------------------===//

#include "Run.h"
#include "Arrays.h"
#include "espalier/ExecutionEngine/LoadedProgram.h"
#include "mlir/Parser/Parser.h"
#include "mlir/Support/FileUtilities.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/SourceMgr.h"
#include <algorithm>
#include <chrono>

using namespace espalier;
using namespace espalier::run;

static int fail(const llvm::Twine &message) {
  llvm::errs() << "error: " << message << '\n';
  return 1;
}

static int fail(llvm::Error error) {
  return fail(llvm::toString(std::move(error)));
}

static mlir::FailureOr<CompiledProgram> compile(mlir::MLIRContext &context,
                                                const RunOptions &options) {
  std::string error;
  auto file = mlir::openInputFile(options.inputFile, &error);
  if (!file) {
    fail(error);
    return mlir::failure();
  }
  llvm::SourceMgr sources;
  sources.AddNewSourceBuffer(std::move(file), llvm::SMLoc());
  mlir::SourceMgrDiagnosticHandler handler(sources, &context);
  auto module = mlir::parseSourceFile<mlir::ModuleOp>(sources, &context);
  if (!module)
    return mlir::failure();
  CacheResult result;
  auto program =
      compileCached(*module, options.codegen, options.cache, &result);
  static constexpr llvm::StringLiteral kNames[] = {"disabled", "hit", "miss",
                                                   "damaged"};
  if (succeeded(program) && result != CacheResult::Disabled)
    llvm::outs() << "cache: " << kNames[static_cast<int>(result)] << '\n';
  return program;
}

/// Runs again and prints the median time.
static void measure(llvm::function_ref<void()> once, unsigned repeat) {
  using Clock = std::chrono::steady_clock;
  std::vector<double> times;
  for (unsigned i = 0; i < repeat; ++i) {
    auto start = Clock::now();
    once();
    times.push_back(
        std::chrono::duration<double, std::milli>(Clock::now() - start)
            .count());
  }
  if (times.empty())
    return;
  std::sort(times.begin(), times.end());
  llvm::outs() << "median_ms: " << llvm::format("%.4f", times[times.size() / 2])
               << '\n';
}

static int execute(const LoadedProgram &loaded, const RunOptions &options) {
  const espalier_program *program = loaded.getProgram();
  espalier_context *ctx;
  if (espalier_context_create(program, &ctx))
    return fail(espalier_last_error(nullptr));
  std::unique_ptr<espalier_context, void (*)(espalier_context *)> owner(
      ctx, espalier_context_destroy);
  if (options.numThreads && espalier_set_num_threads(ctx, options.numThreads))
    return fail(espalier_last_error(ctx));

  std::vector<Array> arrays;
  std::vector<espalier_tensor> inputs, outputs;
  for (llvm::StringRef text : options.inputs) {
    llvm::Expected<Array> array = Array::parse(text.split('=').first);
    if (!array)
      return fail(array.takeError());
    arrays.push_back(std::move(*array));
  }
  for (Array &array : arrays)
    inputs.push_back(array.getTensor());
  int64_t numExtents = 0;
  for (int32_t i = 0; i < program->num_outputs; ++i)
    numExtents += program->outputs[i].rank;
  std::vector<int64_t> extents(numExtents);
  if (espalier_plan(ctx, inputs.data(), inputs.size(), extents.data()))
    return fail(espalier_last_error(ctx));
  // What the program refuses is not filled: it may be large.
  for (auto [array, text] : llvm::zip(arrays, options.inputs))
    if (llvm::Error error = array.fill(llvm::StringRef(text).split('=').second))
      return fail(std::move(error));
  std::vector<Array> results;
  auto next = extents.begin();
  for (int32_t i = 0; i < program->num_outputs; ++i) {
    auto end = next + program->outputs[i].rank;
    llvm::Expected<Array> result = Array::create(
        program->outputs[i].dtype, std::vector<int64_t>(next, end));
    if (!result)
      return fail(result.takeError());
    results.push_back(std::move(*result));
    next = end;
  }
  for (Array &array : results)
    outputs.push_back(array.getTensor());
  auto once = [&] {
    return espalier_run(ctx, inputs.data(), inputs.size(), outputs.data(),
                        outputs.size());
  };
  if (once())
    return fail(espalier_last_error(ctx));
  measure(once, options.repeat);
  for (int32_t i = 0; options.printOutputs && i < program->num_outputs; ++i) {
    llvm::outs() << program->outputs[i].name << ": ";
    results[i].print(llvm::outs());
    llvm::outs() << '\n';
  }
  return 0;
}

int run::run(mlir::MLIRContext &context, const RunOptions &options) {
  mlir::FailureOr<CompiledProgram> program = compile(context, options);
  if (failed(program))
    return 1;
  if (!options.outputFile.empty()) {
    if (llvm::Error error =
            linkProgram(*program, options.outputFile, options.link))
      return fail(std::move(error));
    return 0;
  }
  auto loaded =
      LoadedProgram::create(std::move(*program), options.link.ompLibrary);
  if (!loaded)
    return fail(loaded.takeError());
  return execute(**loaded, options);
}
