//===- Tune.cpp - Faster schedules, for C ---------------------------------===//

#include "espalier-c/Tune.h"
#include "espalier/CAPI/Module.h"
#include "espalier/Tuning/Tuner.h"
#include "llvm/Support/JSON.h"

using namespace espalier;

static llvm::json::Object describe(const tuning::TunedKernel &kernel) {
  return llvm::json::Object{{"name", kernel.name},
                            {"calls", kernel.numCalls},
                            {"original_s", kernel.original},
                            {"best_s", kernel.best},
                            {"trials", kernel.trials},
                            {"failures", kernel.failures},
                            {"rule", kernel.rule},
                            {"reason", llvm::json::fixUTF8(kernel.reason)}};
}

int espalier_tune(espalier_module *module,
                  const espalier_compile_options *compile,
                  const espalier_tune_options *given,
                  void (*write)(const char *, size_t, void *), void *user) {
  if (!module || !compile || !given)
    return -1;
  capi::ErrorCollector collector(&module->context, module->error);
  tuning::TuneOptions options;
  options.measure = capi::makeMeasureOptions(module, compile);
  options.trials = given->trials;
  options.seconds = given->seconds;
  options.seed = given->seed;
  options.records = compile->records ? compile->records : "";
  options.modelLibrary = given->model_library ? given->model_library : "";
  if (given->search && *given->search) {
    auto search = tuning::parseSearch(given->search);
    if (!search) {
      module->error += "expects a search out of random, evolution, drafts, "
                       "model, but got " +
                       std::string(given->search);
      return -1;
    }
    options.search = *search;
  }
  if (given->progress)
    options.progress = [&](const tuning::TuneProgress &now) {
      espalier_tune_progress progress = {now.trials, now.failures, now.elapsed,
                                         now.original, now.best};
      given->progress(&progress, given->user);
    };
  llvm::Expected<tuning::TuneResult> result =
      tuning::tuneModule(*module->module, options);
  if (!result) {
    module->error += llvm::toString(result.takeError());
    return -1;
  }
  llvm::json::Array kernels;
  for (const tuning::TunedKernel &kernel : result->kernels)
    kernels.push_back(describe(kernel));
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(llvm::json::Object{
      {"script", std::move(result->script)},
      {"kernels", std::move(kernels)},
      {"model_fault", llvm::json::fixUTF8(result->modelFault)},
      {"interrupted", result->isInterrupted}});
  write(text.data(), text.size(), user);
  return 0;
}

int espalier_judge_model(const char *records, const char *model_library,
                         void (*write)(const char *, size_t, void *),
                         void *user) {
  if (!records || !model_library)
    return -1;
  auto judged = tuning::judgeModel(records, model_library);
  std::string text;
  llvm::raw_string_ostream os(text);
  if (!judged) {
    os << llvm::toString(judged.takeError());
    write(text.data(), text.size(), user);
    return -1;
  }
  llvm::json::Array kernels;
  for (const tuning::JudgedKernel &kernel : *judged)
    kernels.push_back(
        llvm::json::Object{{"candidates", int64_t(kernel.numCandidates)},
                           {"model", kernel.model},
                           {"estimate", kernel.estimate}});
  os << llvm::json::Value(std::move(kernels));
  write(text.data(), text.size(), user);
  return 0;
}
