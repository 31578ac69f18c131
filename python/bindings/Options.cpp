//===- Options.cpp - How to compile, in Python ----------------------------===//

#include "Bindings.h"
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace espalier::python;

espalier_compile_options CompileOptions::get() const {
  espalier_compile_options options = other;
  options.cpu = cpu.c_str();
  options.features = features.c_str();
  options.cache_dir = cache.c_str();
  options.optimize = optimize.c_str();
  options.kernel_times = kernelTimes.c_str();
  options.records = records.c_str();
  return options;
}

/// Adds the attribute `name` that stands for a field of the C structure.
template <typename Value, typename Field>
static void bindField(nb::class_<CompileOptions> &options, const char *name,
                      Field espalier_compile_options::*field) {
  options.def_prop_rw(
      name,
      [field](const CompileOptions &given) {
        return static_cast<Value>(given.other.*field);
      },
      [field](CompileOptions &given, Value value) {
        given.other.*field = value;
      });
}

void espalier::python::bindOptions(nb::module_ &extension) {
  nb::class_<CompileOptions> options(extension, "CompileOptions",
                                     "How to compile.");
  options.def(nb::init<>())
      .def_rw("cpu", &CompileOptions::cpu)
      .def_rw("features", &CompileOptions::features)
      .def_rw("cache", &CompileOptions::cache)
      .def_rw("optimize", &CompileOptions::optimize)
      .def_rw("kernel_times", &CompileOptions::kernelTimes)
      .def_rw("records", &CompileOptions::records);
  bindField<uint64_t>(options, "cache_limit",
                      &espalier_compile_options::cache_limit);
  bindField<double>(options, "measure_seconds",
                    &espalier_compile_options::measure_seconds);
  bindField<uint32_t>(options, "run_threads",
                      &espalier_compile_options::run_threads);
  nb::dict switches;
#define PIPELINE_OPTION(name, value, summary)                                  \
  bindField<bool>(options, #name, &espalier_compile_options::name);            \
  switches[#name] = summary;
#include "espalier-c/PipelineOptions.def"
  extension.attr("PIPELINE_OPTIONS") = switches;
}
