//===- Interpreter.cpp - The reference interpreter, in Python -------------===//

#include "espalier-c/Interpreter.h"
#include "Arrays.h"
#include "Bindings.h"

namespace nb = nanobind;
using namespace espalier::python;

using Result = std::tuple<std::string, std::vector<int64_t>, nb::bytes>;

static std::vector<Result> interpret(const Module &module,
                                     const std::vector<InputArray> &inputs) {
  std::vector<espalier_tensor> tensors = toTensors(inputs);
  ModuleInUse used(module, module.get());
  espalier_results *raw;
  {
    WithoutGil release;
    raw = espalier_interpret(used.get(), tensors.data(), tensors.size());
  }
  std::unique_ptr<espalier_results, void (*)(espalier_results *)> results(
      raw, espalier_results_destroy);
  if (!results)
    throw CompileError(espalier_module_last_error(used.get()));
  std::vector<Result> arrays;
  for (int32_t i = 0; i < espalier_results_count(results.get()); ++i) {
    espalier_tensor tensor = espalier_results_get(results.get(), i);
    std::vector<int64_t> shape(tensor.extents, tensor.extents + tensor.rank);
    size_t size = espalier_dtype_size(tensor.dtype);
    for (int64_t extent : shape)
      size *= extent;
    arrays.emplace_back(espalier_dtype_name(tensor.dtype), std::move(shape),
                        nb::bytes(tensor.data, size));
  }
  return arrays;
}

void espalier::python::bindInterpreter(nb::module_ &extension) {
  extension.def("interpret", interpret, nb::arg("module"), nb::arg("inputs"),
                "Run `main` of a module of graph operators by definitions.");
}
