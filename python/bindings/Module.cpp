//===- Module.cpp - The Python extension ----------------------------------===//

#include "Bindings.h"

namespace nb = nanobind;

NB_MODULE(_espalier, extension) {
  nb::register_exception_translator(
      [](const std::exception_ptr &error, void *) {
        try {
          std::rethrow_exception(error);
        } catch (const espalier::python::CompileError &e) {
          nb::object type =
              nb::module_::import_("espalier.errors").attr("CompileError");
          PyErr_SetString(type.ptr(), e.what());
        }
      });
  espalier::python::bindOptions(extension);
  espalier::python::bindIR(extension);
  espalier::python::bindInterpreter(extension);
  espalier::python::bindProgram(extension);
  espalier::python::bindSchedule(extension);
  espalier::python::bindStructures(extension);
  espalier::python::bindTuning(extension);
}
