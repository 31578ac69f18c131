//===- Tune.cpp - Faster schedules, for C ---------------------------------===//

#include "espalier-c/Tune.h"
#include "espalier/CAPI/Module.h"
#include "espalier/Tuning/BenchPath.h"
#include "espalier/Tuning/Messenger.h"
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

/// A rule that C gives.
static tuning::SketchRule makeRule(const espalier_sketch_rule &given) {
  return {given.name ? given.name : "",
          [given](llvm::StringRef kernel, llvm::StringRef script)
              -> llvm::Expected<std::vector<std::string>> {
            std::vector<std::string> scripts;
            auto add = [](const char *text, void *list) {
              static_cast<std::vector<std::string> *>(list)->push_back(text);
            };
            if (const char *fault =
                    given.derive(kernel.str().c_str(), script.str().c_str(),
                                 add, &scripts, given.user))
              return llvm::createStringError(llvm::StringRef(fault));
            return scripts;
          }};
}

namespace {
/// A messenger that C gives.
class GivenMessenger : public tuning::Messenger {
public:
  explicit GivenMessenger(const espalier_messenger &given) : given(given) {}

  unsigned getSize() const override { return given.num_ranks; }
  void send(unsigned rank, llvm::StringRef bytes) override {
    given.send(rank, bytes.data(), bytes.size(), given.user);
  }
  std::optional<Message> receive(std::chrono::milliseconds limit) override {
    Message message;
    auto take = [](const char *bytes, size_t size, void *text) {
      static_cast<std::string *>(text)->assign(bytes, size);
    };
    int64_t rank =
        given.receive(1e-3 * limit.count(), take, &message.bytes, given.user);
    if (rank < 0)
      return std::nullopt;
    message.rank = rank;
    return message;
  }

private:
  espalier_messenger given;
};
} // namespace

static void writeJson(llvm::json::Value value,
                      void (*write)(const char *, size_t, void *), void *user) {
  std::string text;
  llvm::raw_string_ostream(text) << value;
  write(text.data(), text.size(), user);
}

static llvm::json::Object describe(const tuning::TunedModel &model) {
  llvm::json::Array kernels;
  for (const tuning::TunedKernel &kernel : model.kernels)
    kernels.push_back(describe(kernel));
  llvm::json::Array statements;
  for (const tuning::TunedStatement &statement : model.statements)
    statements.push_back(
        llvm::json::Object{{"name", statement.name},
                           {"command", statement.command},
                           {"option", statement.option},
                           {"original_s", statement.original},
                           {"best_s", statement.seconds},
                           {"is_chosen", !statement.script.empty()}});
  return llvm::json::Object{{"script", model.script},
                            {"kernels", std::move(kernels)},
                            {"statements", std::move(statements)}};
}

/// Parses what is a word. Fails if there is no such word.
static llvm::Error parseWords(const espalier_tune_options &given,
                              bool hasTargets, tuning::TuneOptions &options) {
  if (given.search && *given.search) {
    auto search = tuning::parseSearch(given.search);
    if (!search)
      return llvm::createStringError(
          "expects a search out of random, evolution, drafts, model, but got " +
          llvm::Twine(given.search));
    options.search = *search;
  }
  options.objective =
      hasTargets ? tuning::Objective::Target : tuning::Objective::Sum;
  if (given.objective && *given.objective) {
    auto objective = tuning::parseObjective(given.objective);
    if (!objective)
      return llvm::createStringError(
          "expects an objective out of sum, target, geomean, but got " +
          llvm::Twine(given.objective));
    options.objective = *objective;
  }
  return llvm::Error::success();
}

int espalier_tune(const espalier_model_to_tune *given_models,
                  uint32_t num_models, const espalier_compile_options *compile,
                  const espalier_tune_options *given,
                  void (*write)(const char *, size_t, void *), void *user) {
  if (!given_models || num_models == 0 || !compile || !given)
    return -1;
  llvm::ArrayRef givenModels(given_models, num_models);
  if (llvm::any_of(givenModels, [](const espalier_model_to_tune &model) {
        return !model.module;
      }))
    return -1;
  espalier_module *first = givenModels.front().module;
  std::vector<tuning::ModelToTune> models;
  // One for each context.
  llvm::SmallVector<std::unique_ptr<capi::ErrorCollector>> collectors;
  for (const espalier_model_to_tune &model : givenModels) {
    models.push_back({*model.module->module, model.weight, model.target});
    collectors.push_back(std::make_unique<capi::ErrorCollector>(
        &model.module->context, first->error));
  }
  tuning::TuneOptions options;
  options.measure = capi::makeMeasureOptions(first, compile);
  options.trials = given->trials;
  options.seconds = given->seconds;
  options.patience = given->patience;
  options.seed = given->seed;
  options.records = compile->records ? compile->records : "";
  options.modelLibrary = given->model_library ? given->model_library : "";
  options.choosesAlgorithms = given->algorithms != 0;
  bool hasTargets =
      llvm::any_of(models, [](const auto &model) { return model.target != 0; });
  if (llvm::Error error = parseWords(*given, hasTargets, options)) {
    first->error += llvm::toString(std::move(error));
    return -1;
  }
  for (uint32_t i = 0; i < given->num_rules; ++i)
    options.rules.push_back(makeRule(given->rules[i]));
  for (const espalier_measured_sizes &one :
       llvm::ArrayRef(given->sizes, given->num_sizes)) {
    MeasuredSizes &sizes = options.measure.sizes.emplace_back();
    sizes.extent = one.extent;
    sizes.weight = one.weight;
    for (uint32_t i = 0; i < one.num_names; ++i)
      sizes.named[one.names[i]] = one.numbers[i];
  }
  if (given->progress)
    options.progress = [&](const tuning::TuneProgress &now) {
      espalier_tune_progress progress = {now.trials, now.failures, now.elapsed,
                                         now.original, now.best};
      given->progress(&progress, given->user);
    };
  std::optional<GivenMessenger> messenger;
  if (given->messenger)
    options.messenger = &messenger.emplace(*given->messenger);
  llvm::Expected<tuning::TuneResult> result =
      tuning::tuneModels(models, options);
  if (!result) {
    first->error += llvm::toString(result.takeError());
    return -1;
  }
  llvm::json::Array tuned;
  for (const tuning::TunedModel &model : result->models)
    tuned.push_back(describe(model));
  auto listFaults = [](llvm::ArrayRef<std::string> faults) {
    llvm::json::Array list;
    for (const std::string &fault : faults)
      list.push_back(llvm::json::fixUTF8(fault));
    return list;
  };
  writeJson(llvm::json::Object{{"models", std::move(tuned)},
                               {"model_fault",
                                llvm::json::fixUTF8(result->modelFault)},
                               {"ranked_by_shipped", result->isRankedByShipped},
                               {"rule_faults", listFaults(result->ruleFaults)},
                               {"rank_faults", listFaults(result->rankFaults)},
                               {"interrupted", result->isInterrupted}},
            write, user);
  return 0;
}

int espalier_measure_for_ranks(espalier_module *module,
                               const espalier_compile_options *compile,
                               const espalier_messenger *given) {
  if (!module || !compile || !given)
    return -1;
  tuning::TuneOptions options;
  options.measure = capi::makeMeasureOptions(module, compile);
  GivenMessenger messenger(*given);
  tuning::measureForRanks(*module->module, messenger, options);
  return 0;
}

int espalier_bench_path(espalier_module *module,
                        const espalier_compile_options *compile,
                        uint32_t repeats, const int64_t *extents,
                        uint32_t num_extents,
                        void (*write)(const char *, size_t, void *),
                        void *user) {
  if (!module || !compile)
    return -1;
  capi::ErrorCollector collector(&module->context, module->error);
  tuning::TuneOptions options;
  options.measure = capi::makeMeasureOptions(module, compile);
  for (uint32_t i = 0; i < num_extents; ++i)
    options.measure.sizes.push_back({extents[i], /*weight=*/1});
  auto paths = tuning::benchPath(*module->module, options, repeats);
  if (!paths) {
    module->error += llvm::toString(paths.takeError());
    return -1;
  }
  llvm::json::Array kernels;
  for (const tuning::KernelPath &path : *paths) {
    llvm::json::Array steps;
    for (const tuning::PathStep &step : path.steps)
      steps.push_back(llvm::json::Array{step.name, step.seconds});
    kernels.push_back(
        llvm::json::Object{{"name", path.name},
                           {"steps", std::move(steps)},
                           {"seconds", path.seconds},
                           {"reason", llvm::json::fixUTF8(path.reason)}});
  }
  writeJson(std::move(kernels), write, user);
  return 0;
}

//===----------------------------------------------------------------------===//
// Records
//===----------------------------------------------------------------------===//

int espalier_replay_records(espalier_module *module,
                            const espalier_compile_options *compile,
                            uint32_t most,
                            void (*write)(const char *, size_t, void *),
                            void *user) {
  if (!module || !compile || !compile->records)
    return -1;
  capi::ErrorCollector collector(&module->context, module->error);
  tuning::TuneOptions options;
  options.measure = capi::makeMeasureOptions(module, compile);
  options.records = compile->records;
  auto replayed = tuning::replayRecords(*module->module, options, most);
  if (!replayed) {
    module->error += llvm::toString(replayed.takeError());
    return -1;
  }
  llvm::json::Array trials;
  for (const tuning::ReplayedTrial &trial : *replayed)
    trials.push_back(llvm::json::Object{
        {"kernel", trial.kernel},
        {"rule", trial.original.rule},
        {"build", trial.original.compiler},
        {"recorded_s", trial.original.seconds},
        {"status", tuning::getSpelling(trial.now.status)},
        {"seconds", trial.now.seconds},
        {"error", llvm::json::fixUTF8(trial.now.error)},
        {"same_code",
         !trial.now.code.empty() && trial.now.code == trial.original.code}});
  writeJson(std::move(trials), write, user);
  return 0;
}

/// Returns a number, or writes what is wrong.
static int64_t returnCount(llvm::Expected<uint64_t> count,
                           void (*write)(const char *, size_t, void *),
                           void *user) {
  if (count)
    return *count;
  std::string text = llvm::toString(count.takeError());
  write(text.data(), text.size(), user);
  return -1;
}

int64_t espalier_merge_records(const char *into, const char *from,
                               void (*write)(const char *, size_t, void *),
                               void *user) {
  if (!into || !from)
    return -1;
  auto records = tuning::TuningRecords::open(into);
  if (!records)
    return returnCount(records.takeError(), write, user);
  return returnCount((*records)->merge(from), write, user);
}

int64_t espalier_prune_records(const char *path, int other_builds,
                               uint64_t most,
                               void (*write)(const char *, size_t, void *),
                               void *user) {
  if (!path)
    return -1;
  auto records = tuning::TuningRecords::openToWrite(path);
  if (!records)
    return returnCount(records.takeError(), write, user);
  return returnCount(
      (*records)->prune(other_builds ? getCompilerIdentity() : "", most), write,
      user);
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
        llvm::json::Object{{"task", kernel.task},
                           {"candidates", int64_t(kernel.numCandidates)},
                           {"model", kernel.model},
                           {"estimate", kernel.estimate},
                           {"shipped", kernel.shipped},
                           {"measured", llvm::json::Array(kernel.measured)},
                           {"predicted", llvm::json::Array(kernel.predicted)}});
  os << llvm::json::Value(std::move(kernels));
  write(text.data(), text.size(), user);
  return 0;
}

int espalier_train_trees(const char *records, const char *model_library,
                         void (*write)(const char *, size_t, void *),
                         void *user) {
  if (!records || !model_library)
    return -1;
  auto trees = tuning::trainTrees(records, model_library);
  std::string text = trees ? *trees : llvm::toString(trees.takeError());
  write(text.data(), text.size(), user);
  return trees ? 0 : -1;
}

static llvm::json::Object describe(const tuning::RecordedKernel &kernel) {
  llvm::json::Array trials;
  for (const tuning::Trial &trial : kernel.trials)
    trials.push_back(llvm::json::Object{
        {"rule", llvm::json::fixUTF8(trial.rule)},
        {"status", tuning::getSpelling(trial.status)},
        {"seconds", trial.seconds},
        {"error", llvm::json::fixUTF8(trial.error)},
        {"estimate", trial.features[tuning::Feature::Cycles]}});
  llvm::json::Object object{{"task", llvm::json::fixUTF8(kernel.task)},
                            {"target", llvm::json::fixUTF8(kernel.target)},
                            {"trials", std::move(trials)}};
  if (kernel.winner)
    object["winner"] = llvm::json::Object{
        {"rule", llvm::json::fixUTF8(kernel.winner->rule)},
        {"script", llvm::json::fixUTF8(kernel.winner->script)},
        {"seconds", kernel.winner->seconds},
        {"original_s", kernel.winner->original}};
  return object;
}

int espalier_describe_records(const char *path,
                              void (*write)(const char *, size_t, void *),
                              void *user) {
  if (!path)
    return -1;
  auto describeAll = [&]() -> llvm::Expected<llvm::json::Array> {
    auto records = tuning::TuningRecords::openToRead(path);
    if (!records)
      return records.takeError();
    auto kernels = (*records)->findAll();
    if (!kernels)
      return kernels.takeError();
    llvm::json::Array described;
    for (const tuning::RecordedKernel &kernel : *kernels)
      described.push_back(describe(kernel));
    return std::move(described);
  };
  llvm::Expected<llvm::json::Array> described = describeAll();
  if (described) {
    writeJson(std::move(*described), write, user);
    return 0;
  }
  std::string text = llvm::toString(described.takeError());
  write(text.data(), text.size(), user);
  return -1;
}
