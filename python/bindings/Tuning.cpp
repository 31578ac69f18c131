//===- Tuning.cpp - Faster schedules, in Python ---------------------------===//

#include "Bindings.h"
#include "Interruptible.h"
#include "espalier-c/Tune.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

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

/// Returns what was found in JSON.
static std::string tune(const Module &module, const CompileOptions &given,
                        uint32_t trials, double seconds, uint64_t seed,
                        const std::string &search,
                        const std::string &modelLibrary,
                        std::optional<nb::callable> progress) {
  Interruptible<int> work;
  espalier_compile_options options = given.get();
  options.user = &work;
  options.cancelled = [](void *user) -> int32_t {
    return static_cast<Interruptible<int> *>(user)->isCancelled();
  };
  espalier_tune_options tune = {
      trials,  seconds, seed, search.c_str(), modelLibrary.c_str(),
      nullptr, nullptr};
  if (progress) {
    tune.progress = reportProgress;
    tune.user = &*progress;
  }
  std::string found;
  ModuleInUse used(module, module.get());
  int status = work.run([&] {
    return espalier_tune(used.get(), &options, &tune, appendText, &found);
  });
  if (status != 0)
    throw CompileError(espalier_module_last_error(used.get()));
  return found;
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

void espalier::python::bindTuning(nb::module_ &extension) {
  extension.def("tune", tune, nb::arg("module"), nb::arg("options"),
                nb::arg("trials"), nb::arg("seconds"), nb::arg("seed"),
                nb::arg("search"), nb::arg("model_library"),
                nb::arg("progress") = nb::none(),
                "Look for better schedules of a module's kernels; return what "
                "was found in JSON.");
  extension.def("judge_model", judgeModel, nb::arg("records"),
                nb::arg("model_library"),
                "Judge how well costs are predicted; return that in JSON.");
}
