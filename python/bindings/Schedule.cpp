//===- Schedule.cpp - Scheduling kernels, in Python -----------------------===//

#include "espalier-c/Schedule.h"
#include "Bindings.h"
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace espalier::python;

namespace {
/// A schedule keeps its module alive.
class Schedule {
public:
  Schedule(const Module &module, const std::string &kernel)
      : module(module),
        handle(espalier_schedule_create(module.get(), kernel.c_str()),
               espalier_schedule_destroy) {
    if (!handle)
      throw CompileError(espalier_module_last_error(module.get()));
  }

  /// Throws the module's last error if `status` is negative.
  void check(int status) const {
    if (status < 0)
      throw CompileError(espalier_module_last_error(module.get()));
  }
  /// Throws if another thread works on the module.
  espalier_schedule *get() const {
    module.get();
    return handle.get();
  }

private:
  Module module;
  std::unique_ptr<espalier_schedule, void (*)(espalier_schedule *)> handle;
};
} // namespace

static void lower(const Module &module, const std::string &stage,
                  const CompileOptions &given) {
  espalier_compile_options options = given.get();
  if (espalier_module_lower(module.edit(), stage.c_str(), &options) < 0)
    throw CompileError(espalier_module_last_error(module.get()));
}

static void transform(const Module &module, const std::string &script) {
  if (espalier_module_transform(module.edit(), script.data(), script.size()) <
      0)
    throw CompileError(espalier_module_last_error(module.get()));
}

static void schedule(const Module &module, const std::string &script,
                     const CompileOptions &given) {
  espalier_compile_options options = given.get();
  if (espalier_module_schedule(module.edit(), script.data(), script.size(),
                               &options) < 0)
    throw CompileError(espalier_module_last_error(module.get()));
}

static std::string describeChoices(const Module &module,
                                   const std::string &script) {
  std::string text;
  if (espalier_module_describe_choices(module.get(), script.data(),
                                       script.size(), appendText, &text) < 0)
    throw CompileError(espalier_module_last_error(module.get()));
  return text;
}

static std::string selectChoices(const Module &module,
                                 const std::string &script,
                                 const std::string &values) {
  std::string text;
  if (espalier_module_select(module.get(), script.data(), script.size(),
                             values.data(), values.size(), appendText,
                             &text) < 0)
    throw CompileError(espalier_module_last_error(module.get()));
  return text;
}

static std::string printDefaultSchedule(const Module &module,
                                        const std::string &kernel,
                                        const CompileOptions &given) {
  espalier_compile_options options = given.get();
  std::string text;
  if (espalier_module_default_schedule(module.get(), kernel.c_str(), &options,
                                       appendText, &text) < 0)
    throw CompileError(espalier_module_last_error(module.get()));
  return text;
}

static std::string describeKernels(const Module &module) {
  std::string text;
  espalier_module_describe_kernels(module.get(), appendText, &text);
  return text;
}

static std::string profile(Module &module) {
  std::string text;
  if (espalier_module_profile(module.get(), appendText, &text) < 0)
    throw CompileError(espalier_module_last_error(module.get()));
  return text;
}

static std::string printLoops(const Schedule &schedule) {
  std::string text;
  schedule.check(espalier_schedule_loops(schedule.get(), appendText, &text));
  return text;
}

static std::string trace(const Schedule &schedule,
                         const std::vector<int64_t> &sizes) {
  std::string text;
  schedule.check(espalier_schedule_trace(schedule.get(), sizes.data(),
                                         sizes.size(), appendText, &text));
  return text;
}

void espalier::python::bindSchedule(nb::module_ &extension) {
  nb::class_<Schedule>(extension, "Schedule", "What was done to a kernel.")
      .def(nb::init<const Module &, const std::string &>(), nb::arg("module"),
           nb::arg("kernel"), "Start from the kernel's schedule.")
      .def(
          "apply",
          [](const Schedule &schedule, const std::string &script) {
            schedule.check(espalier_schedule_apply(
                schedule.get(), script.data(), script.size()));
          },
          nb::arg("script"), "Apply a transform script, all of it or nothing.")
      .def("loops", printLoops, "Return the loops as they are now.")
      .def_prop_ro(
          "violation",
          [](const Schedule &schedule) {
            std::string text;
            espalier_schedule_violation(schedule.get(), appendText, &text);
            return text;
          },
          "The dependence for which the last script was refused, as JSON.")
      .def("trace", trace, nb::arg("sizes"),
           "Return points and dependences for given sizes as JSON.")
      .def(
          "__str__",
          [](const Schedule &schedule) {
            std::string text;
            espalier_schedule_print(schedule.get(), appendText, &text);
            return text;
          },
          "Return the script of all that was applied.");

  extension.def("lower", lower, nb::arg("module"), nb::arg("stage"),
                nb::arg("options") = CompileOptions(),
                "Take a module to a later stage of compilation.");
  extension.def("schedule", schedule, nb::arg("module"), nb::arg("script"),
                nb::arg("options") = CompileOptions(),
                "Lower a module to kernels, and apply a script on the way.");
  extension.def("transform", transform, nb::arg("module"), nb::arg("script"),
                "Apply a transform script to a module.");
  extension.def("describe_choices", describeChoices, nb::arg("module"),
                nb::arg("script"),
                "Describe the choices of a transform script as JSON.");
  extension.def(
      "select", selectChoices, nb::arg("module"), nb::arg("script"),
      nb::arg("values"),
      "Return a transform script with choices selected, as JSON says.");
  extension.def("default_schedule", printDefaultSchedule, nb::arg("module"),
                nb::arg("kernel") = "", nb::arg("options") = CompileOptions(),
                "Return the script of the default schedule of a module's "
                "kernels, or of one.");
  extension.def("profile", profile, nb::arg("module"),
                "Let a module's program time its kernels; return the calls as "
                "JSON.");
  extension.def("describe_kernels", describeKernels, nb::arg("module"),
                "Describe the kernels of a module as JSON.");
}
