//===- Program.cpp - Compiling and running, in Python ---------------------===//

#include "Bindings.h"
#include "espalier-c/Compile.h"
#include <functional>
#include <mutex>
#include <nanobind/ndarray.h>
#include <nanobind/stl/function.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <vector>

namespace nb = nanobind;
using namespace espalier::python;

namespace {
using Shape = std::vector<int64_t>;
using Progress = std::function<void(int, int)>;
using InputBytes =
    nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using OutputBytes =
    nb::ndarray<uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
/// Element type, shape and bytes of an array.
using Input = std::tuple<std::string, Shape, InputBytes>;
using Output = std::tuple<std::string, Shape, OutputBytes>;

struct ContextDeleter {
  void operator()(espalier_context *ctx) const {
    espalier_context_destroy(ctx);
  }
};
struct CompiledDeleter {
  void operator()(espalier_compiled *compiled) const {
    espalier_compiled_destroy(compiled);
  }
};

/// A compiled program and, once it runs, a context.
class Program {
public:
  explicit Program(espalier_compiled *compiled) : compiled(compiled) {}

  nb::list describe(bool isOutput);
  std::vector<Shape> plan(const std::vector<Shape> &shapes);
  void run(const std::vector<Input> &inputs,
           const std::vector<Output> &outputs);
  void setNumThreads(int count);
  void save(const std::string &path);
  int64_t getNumKernels() const {
    return espalier_compiled_num_kernels(compiled.get());
  }
  double getSeconds() const {
    return espalier_compiled_seconds(compiled.get());
  }

private:
  const espalier_program *load();
  espalier_context *getContext();
  void check(espalier_status status);

  std::unique_ptr<espalier_compiled, CompiledDeleter> compiled;
  /// Destroyed before what it runs.
  std::unique_ptr<espalier_context, ContextDeleter> context;
  /// Lets the runs of several Python threads wait for each other.
  std::mutex mutex;
};
} // namespace

/// Raises the class `name` of espalier.errors.
[[noreturn]] static void raise(const char *name, const char *message) {
  nb::object type = nb::module_::import_("espalier.errors").attr(name);
  PyErr_SetString(type.ptr(), message);
  throw nb::python_error();
}

const espalier_program *Program::load() {
  const espalier_program *program = espalier_compiled_load(compiled.get());
  if (!program)
    raise("EspalierError", espalier_compiled_last_error(compiled.get()));
  return program;
}

espalier_context *Program::getContext() {
  if (!context) {
    espalier_context *made;
    if (espalier_context_create(load(), &made))
      raise("EspalierError", espalier_last_error(nullptr));
    context.reset(made);
  }
  return context.get();
}

void Program::check(espalier_status status) {
  if (status == ESPALIER_OK)
    return;
  raise(status == ESPALIER_INVALID_ARGUMENT ? "ArgumentError" : "EspalierError",
        espalier_last_error(context.get()));
}

/// Lists (name, element type, shape); an extent that is not fixed is a name, or
/// None without one.
nb::list Program::describe(bool isOutput) {
  const espalier_program *program = load();
  nb::list result;
  for (int32_t i = 0;
       i < (isOutput ? program->num_outputs : program->num_inputs); ++i) {
    const espalier_tensor_info &info =
        (isOutput ? program->outputs : program->inputs)[i];
    nb::list shape;
    for (int32_t dim = 0; dim < info.rank; ++dim) {
      if (info.extents[dim] >= 0)
        shape.append(info.extents[dim]);
      else if (info.symbols[dim])
        shape.append(info.symbols[dim]);
      else
        shape.append(nb::none());
    }
    result.append(
        nb::make_tuple(info.name, espalier_dtype_name(info.dtype), shape));
  }
  return result;
}

std::vector<Shape> Program::plan(const std::vector<Shape> &shapes) {
  espalier_context *ctx = getContext();
  const espalier_program *program = load();
  std::vector<espalier_tensor> tensors;
  for (size_t i = 0; i < shapes.size(); ++i) {
    bool isKnown = i < static_cast<size_t>(program->num_inputs);
    tensors.push_back({nullptr, isKnown ? program->inputs[i].dtype : 0,
                       static_cast<int32_t>(shapes[i].size()),
                       shapes[i].data()});
  }
  Shape extents;
  for (int32_t i = 0; i < program->num_outputs; ++i)
    extents.resize(extents.size() + program->outputs[i].rank);
  check(espalier_plan(ctx, tensors.data(), tensors.size(), extents.data()));
  std::vector<Shape> result;
  auto next = extents.begin();
  for (int32_t i = 0; i < program->num_outputs; ++i) {
    result.emplace_back(next, next + program->outputs[i].rank);
    next += program->outputs[i].rank;
  }
  return result;
}

/// Makes the C form of an array, which must hold as many bytes as it says.
template <typename Bytes>
static espalier_tensor
toTensor(const std::tuple<std::string, Shape, Bytes> &array) {
  const auto &[type, shape, bytes] = array;
  int32_t dtype = 0;
  while (dtype < ESPALIER_NUM_DTYPES && type != espalier_dtype_name(dtype))
    ++dtype;
  unsigned __int128 size = espalier_dtype_size(dtype);
  for (int64_t extent : shape)
    size = extent < 0 || size > bytes.size() ? bytes.size() + 1 : size * extent;
  if (size != bytes.size())
    raise("ArgumentError", "expects as many bytes as the shape and the element "
                           "type say");
  return {const_cast<uint8_t *>(bytes.data()), dtype,
          static_cast<int32_t>(shape.size()), shape.data()};
}

void Program::run(const std::vector<Input> &inputs,
                  const std::vector<Output> &outputs) {
  espalier_context *ctx = getContext();
  std::vector<espalier_tensor> from, to;
  for (const Input &input : inputs)
    from.push_back(toTensor(input));
  for (const Output &output : outputs)
    to.push_back(toTensor(output));
  espalier_status status;
  {
    nb::gil_scoped_release release;
    std::lock_guard<std::mutex> lock(mutex);
    status = espalier_run(ctx, from.data(), from.size(), to.data(), to.size());
  }
  check(status);
}

void Program::setNumThreads(int count) {
  check(espalier_set_num_threads(getContext(), count));
}

void Program::save(const std::string &path) {
  int status;
  {
    nb::gil_scoped_release release;
    status = espalier_compiled_save(compiled.get(), path.c_str());
  }
  if (status < 0)
    raise("EspalierError", espalier_compiled_last_error(compiled.get()));
}

static Program *compile(const Module &module, const std::string &cpu,
                        const std::string &features, bool threads, int jobs,
                        const std::string &cacheDir,
                        std::optional<Progress> progress) {
  espalier_compile_options options = {};
  options.cpu = cpu.c_str();
  options.features = features.c_str();
  options.single_threaded = !threads;
  options.jobs = jobs;
  options.cache_dir = cacheDir.c_str();
  if (progress) {
    options.user = &*progress;
    options.progress = [](int32_t done, int32_t all, void *user) {
      nb::gil_scoped_acquire acquire;
      // An exception must not cross the compiler.
      try {
        (*static_cast<Progress *>(user))(done, all);
      } catch (nb::python_error &error) {
        error.discard_as_unraisable("espalier.compile");
      }
    };
  }
  espalier_compiled *compiled;
  {
    nb::gil_scoped_release release;
    compiled = espalier_compile(module.get(), &options);
  }
  if (!compiled)
    throw CompileError(espalier_module_last_error(module.get()));
  return new Program(compiled);
}

void espalier::python::bindProgram(nb::module_ &extension) {
  nb::class_<Program>(extension, "Program", "A compiled program.")
      .def_prop_ro(
          "inputs", [](Program &self) { return self.describe(false); },
          "The inputs as (name, element type, shape).")
      .def_prop_ro(
          "outputs", [](Program &self) { return self.describe(true); },
          "The outputs as (name, element type, shape).")
      .def_prop_ro("kernels", &Program::getNumKernels, "The number of kernels.")
      .def_prop_ro("compile_seconds", &Program::getSeconds,
                   "How long compilation took; 0 from the cache.")
      .def("plan", &Program::plan, nb::arg("shapes"),
           "Return the outputs' shapes for shapes of the inputs.")
      .def("run", &Program::run, nb::arg("inputs"), nb::arg("outputs"),
           "Run on (element type, shape, bytes) of each input and output.")
      .def("set_num_threads", &Program::setNumThreads, nb::arg("count"),
           "Set the number of threads of later runs.")
      .def("save", &Program::save, nb::arg("path"),
           "Write a shared library and, beside it, its C header.");
  extension.def("compile", &compile, nb::arg("module"), nb::kw_only(),
                nb::arg("cpu") = "", nb::arg("features") = "",
                nb::arg("threads") = true, nb::arg("jobs") = 0,
                nb::arg("cache_dir") = "", nb::arg("progress") = nb::none(),
                "Compile a module, which is changed on the way.");
}
