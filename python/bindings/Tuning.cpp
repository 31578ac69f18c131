//===- Tuning.cpp - Faster schedules, in Python ---------------------------===//

#include "Bindings.h"
#include "Interruptible.h"
#include "espalier-c/Tune.h"
#include <deque>
#include <nanobind/stl/map.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace espalier::python;

/// Hands the progress of a search to Python.
static void reportProgress(const espalier_tune_progress *now, void *user) {
  WithGil gil;
  try {
    (*static_cast<nb::callable *>(user))(
        now->trials, now->failures, now->elapsed_seconds, now->original_seconds,
        now->best_seconds);
  } catch (nb::python_error &error) {
    // There is nobody to throw to; Python prints it.
    error.discard_as_unraisable("espalier progress");
  }
}

namespace {
/// A rule in Python, and what it said last.
struct PythonRule {
  std::string name;
  nb::callable derive;
  std::string fault;
};
} // namespace

/// Calls a rule in Python; what it raises is what is wrong.
static const char *deriveSketches(const char *kernel, const char *script,
                                  void (*add)(const char *, void *),
                                  void *scripts, void *user) {
  WithGil gil;
  auto *rule = static_cast<PythonRule *>(user);
  try {
    for (nb::handle derived : rule->derive(kernel, script)) {
      if (!nb::isinstance<nb::str>(derived)) {
        rule->fault = std::string("expects scripts as texts, but got ") +
                      nb::repr(nb::type_name(derived.type())).c_str();
        return rule->fault.c_str();
      }
      add(nb::cast<std::string>(derived).c_str(), scripts);
    }
    return nullptr;
  } catch (nb::python_error &error) {
    rule->fault = std::string(nb::str(nb::type_name(error.type())).c_str()) +
                  ": " + nb::str(error.value()).c_str();
  } catch (std::exception &error) {
    rule->fault = error.what();
  }
  return rule->fault.c_str();
}

/// Sends a message through a messenger in Python.
static void sendMessage(uint32_t rank, const char *bytes, size_t size,
                        void *user) {
  WithGil gil;
  try {
    static_cast<nb::object *>(user)->attr("send")(rank, nb::bytes(bytes, size));
  } catch (nb::python_error &error) {
    // A rank that cannot be reached is silent.
    error.discard_as_unraisable("espalier messenger");
  }
}

/// Receives a message through a messenger in Python.
static int64_t receiveMessage(double seconds,
                              void (*take)(const char *, size_t, void *),
                              void *message, void *user) {
  WithGil gil;
  try {
    nb::object received =
        static_cast<nb::object *>(user)->attr("receive")(seconds);
    if (received.is_none())
      return -1;
    auto [rank, bytes] = nb::cast<std::pair<uint32_t, nb::bytes>>(received);
    take(bytes.c_str(), bytes.size(), message);
    return rank;
  } catch (nb::python_error &error) {
    error.discard_as_unraisable("espalier messenger");
  } catch (std::exception &error) {
    PyErr_SetString(PyExc_TypeError, error.what());
    PyErr_WriteUnraisable(nullptr);
  }
  return -1;
}

/// The messenger of C that is one of Python, which has to outlive it.
static espalier_messenger makeMessenger(nb::object &messenger) {
  return {nb::cast<uint32_t>(messenger.attr("size")), sendMessage,
          receiveMessage, &messenger};
}

/// Calls a function on modules that a signal can interrupt; returns what it
/// writes.
template <typename Function>
static std::string runOnModules(const std::vector<Module> &modules,
                                const CompileOptions &given,
                                Function function) {
  Interruptible<int> work;
  espalier_compile_options options = given.get();
  options.user = &work;
  options.cancelled = [](void *user) -> int32_t {
    return static_cast<Interruptible<int> *>(user)->isCancelled();
  };
  std::string found;
  std::vector<std::unique_ptr<ModuleInUse>> used;
  std::vector<espalier_module *> handles;
  for (const Module &module : modules) {
    used.push_back(std::make_unique<ModuleInUse>(module, module.get()));
    handles.push_back(used.back()->get());
  }
  int status = work.run([&] { return function(handles, &options, &found); });
  if (status != 0)
    throw CompileError(espalier_module_last_error(handles.front()));
  return found;
}

template <typename Function>
static std::string runOnModule(const Module &module,
                               const CompileOptions &given, Function function) {
  return runOnModules({module}, given,
                      [&](auto &handles, auto *options, auto *found) {
                        return function(handles.front(), options, found);
                      });
}

/// What stands for sizes that are not known: those without names, how much it
/// counts, and those with names.
using GivenSizes = std::tuple<int64_t, double, std::map<std::string, int64_t>>;

/// Returns what was found in JSON; there is a weight and a target for each
/// module.
static std::string tune(
    const std::vector<Module> &modules, const CompileOptions &given,
    uint32_t trials, double seconds, uint32_t patience,
    const std::vector<double> &modelWeights, const std::vector<double> &targets,
    const std::string &objective, uint64_t seed, const std::string &search,
    const std::string &modelLibrary, bool algorithms,
    std::vector<std::pair<std::string, nb::callable>> givenRules,
    const std::vector<GivenSizes> &givenSizes,
    std::optional<nb::callable> progress, std::optional<nb::object> messenger) {
  if (modules.empty() || modelWeights.size() != modules.size() ||
      targets.size() != modules.size())
    throw CompileError("expects models, each with a weight and a target");
  std::vector<PythonRule> rules;
  for (auto &[name, derive] : givenRules)
    rules.push_back({name, std::move(derive), ""});
  std::vector<espalier_sketch_rule> sketchRules;
  for (PythonRule &rule : rules)
    sketchRules.push_back({rule.name.c_str(), deriveSketches, &rule});
  espalier_tune_options tune = {};
  tune.trials = trials;
  tune.seconds = seconds;
  tune.patience = patience;
  tune.objective = objective.c_str();
  tune.seed = seed;
  tune.search = search.c_str();
  tune.model_library = modelLibrary.c_str();
  tune.algorithms = algorithms;
  tune.rules = sketchRules.data();
  tune.num_rules = sketchRules.size();
  std::vector<espalier_measured_sizes> sizes;
  std::deque<std::vector<const char *>> names;
  std::deque<std::vector<int64_t>> numbers;
  for (const auto &[extent, weight, named] : givenSizes) {
    names.emplace_back();
    numbers.emplace_back();
    for (const auto &[name, number] : named) {
      names.back().push_back(name.c_str());
      numbers.back().push_back(number);
    }
    sizes.push_back({extent, weight, uint32_t(named.size()),
                     names.back().data(), numbers.back().data()});
  }
  tune.sizes = sizes.data();
  tune.num_sizes = sizes.size();
  if (progress) {
    tune.progress = reportProgress;
    tune.user = &*progress;
  }
  espalier_messenger ranks = {};
  if (messenger) {
    ranks = makeMessenger(*messenger);
    tune.messenger = &ranks;
  }
  return runOnModules(
      modules, given, [&](auto &handles, auto *options, auto *found) {
        std::vector<espalier_model_to_tune> models;
        for (size_t i = 0; i < handles.size(); ++i)
          models.push_back({handles[i], modelWeights[i], targets[i]});
        return espalier_tune(models.data(), models.size(), options, &tune,
                             appendText, found);
      });
}

/// Measures what rank 0 asks for.
static void measureForRanks(const Module &module, const CompileOptions &given,
                            nb::object messenger) {
  espalier_messenger ranks = makeMessenger(messenger);
  runOnModule(module, given, [&](auto *used, auto *options, auto *) {
    return espalier_measure_for_ranks(used, options, &ranks);
  });
}

/// Returns the steps of one candidate of each kernel in JSON.
static std::string benchPath(const Module &module, const CompileOptions &given,
                             uint32_t repeats,
                             const std::vector<int64_t> &lengths) {
  return runOnModule(
      module, given, [&](auto *used, auto *options, auto *found) {
        return espalier_bench_path(used, options, repeats, lengths.data(),
                                   lengths.size(), appendText, found);
      });
}

/// Returns what became of records in JSON.
static std::string replayRecords(const Module &module,
                                 const CompileOptions &given, uint32_t most) {
  return runOnModule(
      module, given, [&](auto *used, auto *options, auto *found) {
        return espalier_replay_records(used, options, most, appendText, found);
      });
}

static int64_t mergeRecords(const std::string &into, const std::string &from) {
  std::string fault;
  int64_t added =
      espalier_merge_records(into.c_str(), from.c_str(), appendText, &fault);
  if (added < 0)
    throw CompileError(fault);
  return added;
}

static int64_t pruneRecords(const std::string &records, bool otherBuilds,
                            uint64_t most) {
  std::string fault;
  int64_t removed = espalier_prune_records(records.c_str(), otherBuilds, most,
                                           appendText, &fault);
  if (removed < 0)
    throw CompileError(fault);
  return removed;
}

/// Returns how well costs are predicted in JSON.
static std::string judgeModel(const std::string &records,
                              const std::string &modelLibrary) {
  std::string found;
  if (espalier_judge_model(records.c_str(), modelLibrary.c_str(), appendText,
                           &found) != 0)
    throw CompileError(found);
  return found;
}

/// Returns what records have in JSON.
static std::string describeRecords(const std::string &records) {
  std::string found;
  if (espalier_describe_records(records.c_str(), appendText, &found) != 0)
    throw CompileError(found);
  return found;
}

/// Returns what a model of costs learns of records.
static std::string trainTrees(const std::string &records,
                              const std::string &modelLibrary) {
  std::string found;
  if (espalier_train_trees(records.c_str(), modelLibrary.c_str(), appendText,
                           &found) != 0)
    throw CompileError(found);
  return found;
}

void espalier::python::bindTuning(nb::module_ &extension) {
  extension.def(
      "tune", tune, nb::arg("modules"), nb::arg("options"), nb::arg("trials"),
      nb::arg("seconds"), nb::arg("patience"), nb::arg("model_weights"),
      nb::arg("targets"), nb::arg("objective"), nb::arg("seed"),
      nb::arg("search"), nb::arg("model_library"), nb::arg("algorithms"),
      nb::arg("rules"), nb::arg("sizes"), nb::arg("progress") = nb::none(),
      nb::arg("messenger") = nb::none(),
      "Look for better schedules of modules' kernels; return what "
      "was found in JSON.");
  extension.def("measure_for_ranks", measureForRanks, nb::arg("module"),
                nb::arg("options"), nb::arg("messenger"),
                "Measure the candidates that rank 0 sends.");
  extension.def("bench_path", benchPath, nb::arg("module"), nb::arg("options"),
                nb::arg("repeats"), nb::arg("lengths") = std::vector<int64_t>(),
                "Measure the steps of trying one candidate of each kernel; "
                "return them in JSON.");
  extension.def("replay_records", replayRecords, nb::arg("module"),
                nb::arg("options"), nb::arg("most"),
                "Try records again; return what became of them in JSON.");
  extension.def("merge_records", mergeRecords, nb::arg("into"),
                nb::arg("other"),
                "Add the records of another file; return how many were new.");
  extension.def("prune_records", pruneRecords, nb::arg("records"),
                nb::arg("other_builds"), nb::arg("most"),
                "Remove records; return how many went.");
  extension.def("describe_records", describeRecords, nb::arg("records"),
                "Return all that records have in JSON.");
  extension.def("train_trees", trainTrees, nb::arg("records"),
                nb::arg("model_library"),
                "Train a model of costs by records; return it in JSON.");
  extension.def("judge_model", judgeModel, nb::arg("records"),
                nb::arg("model_library"),
                "Judge how well costs are predicted; return that in JSON.");
}
