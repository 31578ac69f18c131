//===- Program.cpp - Compiled programs, in Python -------------------------===//

#include "Program.h"
#include "Arrays.h"
#include "Interruptible.h"
#include <nanobind/stl/optional.h>
#include <nanobind/stl/unique_ptr.h>
#include <optional>

namespace nb = nanobind;
using namespace espalier::python;

Program::Program(espalier_executable *executable)
    : executable(executable, espalier_executable_destroy),
      context(nullptr, espalier_context_destroy) {
  const espalier_program *info = description();
  for (int32_t i = 0; i < info->num_inputs; ++i)
    names.push_back(nb::str(info->inputs[i].name));
}

espalier_context *Program::getContext() {
  espalier_context *made = context.get();
  if (!made && !espalier_context_create(description(), &made))
    context.reset(made);
  return made;
}

void Program::save(const std::string &path) {
  std::string message;
  {
    WithoutGil release;
    std::lock_guard<std::mutex> lock(mutex);
    if (espalier_executable_save(executable.get(), path.c_str()) >= 0)
      return;
    message = espalier_executable_last_error(executable.get());
  }
  throw CompileError(message);
}

namespace {
/// A program with the arrays that it runs on. It keeps both alive.
class Call {
public:
  Call(nb::object program, std::vector<InputArray> inputs,
       std::vector<OutputArray> outputs)
      : owner(std::move(program)), program(nb::cast<Program &>(owner)),
        inputs(std::move(inputs)), outputs(std::move(outputs)),
        in(toTensors(this->inputs)), out(toTensors(this->outputs)) {}
  // The tensors point into the arrays.
  Call(const Call &) = delete;
  Call &operator=(const Call &) = delete;

  void run() {
    program.call([&](espalier_context *context) {
      return espalier_run(context, in.data(), in.size(), out.data(),
                          out.size());
    });
  }

private:
  nb::object owner;
  Program &program;
  std::vector<InputArray> inputs;
  std::vector<OutputArray> outputs;
  std::vector<espalier_tensor> in, out;
};

/// An input or output: name, element type, and a number or name per dimension.
using Info = std::tuple<std::string, std::string, nb::list>;
} // namespace

static std::vector<Info> describe(const espalier_tensor_info *infos,
                                  int32_t count) {
  std::vector<Info> result;
  for (int32_t i = 0; i < count; ++i) {
    const espalier_tensor_info &info = infos[i];
    nb::list shape;
    for (int32_t d = 0; d < info.rank; ++d) {
      const char *symbol = info.symbols ? info.symbols[d] : nullptr;
      if (info.extents[d] >= 0)
        shape.append(info.extents[d]);
      else
        shape.append(symbol ? nb::object(nb::str(symbol)) : nb::none());
    }
    result.emplace_back(info.name, espalier_dtype_name(info.dtype),
                        std::move(shape));
  }
  return result;
}

namespace {
/// What is asked and told while a module is compiled.
template <typename Result>
struct Conversation {
  explicit Conversation(espalier_compile_options &options) {
    options.user = this;
    options.cancelled = [](void *user) -> int32_t {
      return static_cast<Conversation *>(user)->work.isCancelled();
    };
  }

  Interruptible<Result> work;
  std::optional<nb::callable> progress;
};
} // namespace

/// Hands the progress of a compilation to Python.
static void reportProgress(uint32_t done, uint32_t all, void *user) {
  WithGil gil;
  try {
    (*static_cast<Conversation<espalier_executable *> *>(user)->progress)(done,
                                                                          all);
  } catch (nb::python_error &error) {
    // There is nobody to throw to; Python prints it.
    error.discard_as_unraisable("espalier progress");
  }
}

static std::unique_ptr<Program> compile(const Module &module,
                                        const CompileOptions &given,
                                        std::optional<nb::callable> progress) {
  espalier_compile_options options = given.get();
  Conversation<espalier_executable *> conversation(options);
  conversation.progress = std::move(progress);
  if (conversation.progress)
    options.progress = reportProgress;
  ModuleInUse used(module, module.edit());
  espalier_executable *executable = conversation.work.run(
      [&] { return espalier_compile(used.get(), &options); },
      espalier_executable_destroy);
  if (!executable)
    throw CompileError(espalier_module_last_error(used.get()));
  auto result = std::make_unique<Program>(executable);
  const char *warnings = espalier_module_last_warnings(used.get());
  // The place is that of the call of `espalier.compile`.
  if (*warnings &&
      PyErr_WarnEx(PyExc_RuntimeWarning, warnings, /*stack_level=*/3) != 0)
    throw nb::python_error();
  return result;
}

/// Lets `edit`, which changes the module, write a report in JSON.
template <typename Edit, typename... Arguments>
static std::string edit(const Module &module, const CompileOptions &given,
                        Edit edit, Arguments... arguments) {
  espalier_compile_options options = given.get();
  std::string report;
  auto write = [](const char *text, size_t size, void *user) {
    static_cast<std::string *>(user)->assign(text, size);
  };
  Conversation<int> conversation(options);
  ModuleInUse used(module, module.edit());
  int status = conversation.work.run(
      [&] { return edit(used.get(), &options, arguments..., write, &report); });
  if (status != 0)
    throw CompileError(espalier_module_last_error(used.get()));
  return report;
}

static std::string optimize(const Module &module, const CompileOptions &given) {
  return edit(module, given, espalier_optimize);
}

static std::string chooseSparse(const Module &module,
                                const CompileOptions &given,
                                const std::string &others,
                                const std::string &choices) {
  return edit(module, given, espalier_choose_sparse, others.c_str(),
              choices.c_str());
}

using AnyArray = nb::ndarray<nb::device::cpu>;
using ReadArray = nb::ndarray<nb::ro, nb::device::cpu>;

/// Returns the numbers of 16 bits that stand for the elements of a tensor of
/// bfloat16, which NumPy does not know; nothing for another tensor.
template <typename Array, typename Bits>
static std::optional<nb::ndarray<nb::numpy, Bits>>
viewBits(const Array &array) {
  nb::dlpack::dtype bfloat16{
      static_cast<uint8_t>(nb::dlpack::dtype_code::Bfloat), 16, 1};
  if (array.dtype() != bfloat16)
    return std::nullopt;
  std::vector<size_t> shape;
  std::vector<int64_t> strides;
  for (size_t axis = 0; axis < array.ndim(); ++axis) {
    shape.push_back(array.shape(axis));
    strides.push_back(array.stride(axis));
  }
  auto *owner = new Array(array);
  nb::capsule keeper(
      owner, [](void *kept) noexcept { delete static_cast<Array *>(kept); });
  return nb::ndarray<nb::numpy, Bits>(
      const_cast<void *>(static_cast<const void *>(array.data())), shape.size(),
      shape.data(), keeper, strides.data());
}

static std::vector<std::vector<int64_t>>
plan(Program &program, const std::vector<std::vector<int64_t>> &shapes) {
  const espalier_program *info = program.description();
  if (static_cast<size_t>(info->num_inputs) != shapes.size())
    throw nb::value_error("expects one shape per input");
  std::vector<espalier_tensor> inputs;
  for (size_t i = 0; i < shapes.size(); ++i)
    inputs.push_back({nullptr, info->inputs[i].dtype,
                      static_cast<int32_t>(shapes[i].size()),
                      shapes[i].data()});
  size_t total = 0;
  for (int32_t i = 0; i < info->num_outputs; ++i)
    total += info->outputs[i].rank;
  std::vector<int64_t> extents(total);
  program.call([&](espalier_context *context) {
    return espalier_plan(context, inputs.data(), inputs.size(), extents.data());
  });
  std::vector<std::vector<int64_t>> result;
  const int64_t *next = extents.data();
  for (int32_t i = 0; i < info->num_outputs; ++i) {
    result.emplace_back(next, next + info->outputs[i].rank);
    next += info->outputs[i].rank;
  }
  return result;
}

void espalier::python::bindProgram(nb::module_ &extension) {
  extension.attr("MAX_THREADS") = ESPALIER_MAX_THREADS;
  extension.attr("MAX_OUTPUT_BYTES") = kMaxBytes;
  extension.attr("CACHE_LINE") = kCacheLine;
  nb::class_<Program>(extension, "Program", "A compiled module.")
      .def_prop_ro(
          "inputs",
          [](Program &program) {
            const espalier_program *info = program.description();
            return describe(info->inputs, info->num_inputs);
          },
          "Name, element type and shape of each input.")
      .def_prop_ro(
          "outputs",
          [](Program &program) {
            const espalier_program *info = program.description();
            return describe(info->outputs, info->num_outputs);
          },
          "Name, element type and shape of each output.")
      .def_prop_ro(
          "kernels",
          [](Program &program) {
            return espalier_executable_kernels(program.get());
          },
          "The number of kernels.")
      .def_prop_ro(
          "compile_seconds",
          [](Program &program) {
            return espalier_executable_seconds(program.get());
          },
          "The seconds that compilation took, perhaps in an earlier process.")
      .def_prop_ro(
          "cached",
          [](Program &program) {
            return espalier_executable_cached(program.get()) != 0;
          },
          "Whether the program came from the cache.")
      .def_prop_ro(
          "optimization",
          [](Program &program) {
            return espalier_executable_optimization(program.get());
          },
          "What optimization did, as JSON; empty if there was none.")
      .def("plan", plan, nb::arg("shapes"),
           "Return the outputs' shapes for shapes of the inputs.")
      .def(
          "run",
          [](Program &program, nb::dict values) -> nb::object {
            size_t count = program.description()->num_inputs;
            PlainInputs inputs(count);
            return program.setInputs(inputs, values, std::vector<bool>(count))
                       ? program.run(inputs)
                       : nb::none();
          },
          nb::arg("values"),
          "Run on arrays by name; return new arrays, or None if the program "
          "does not take these as they are.")
      .def(
          "bind",
          [](nb::handle_t<Program> program, std::vector<InputArray> inputs,
             std::vector<OutputArray> outputs) {
            return std::make_unique<Call>(
                nb::borrow(program), std::move(inputs), std::move(outputs));
          },
          nb::arg("inputs"), nb::arg("outputs"),
          "Return a call that reads the inputs and writes the outputs.")
      .def(
          "set_num_threads",
          [](Program &program, int32_t count) {
            // Without parallel loops any number of threads means one.
            if (!program.description()->set_num_threads && count > 1)
              count = 1;
            program.call([&](espalier_context *context) {
              return espalier_set_num_threads(context, count);
            });
          },
          nb::arg("count"), "Set the number of threads of later runs.")
      .def("save", &Program::save, nb::arg("path"),
           "Write a shared library or an object and, beside it, its C header.");

  extension.def("bfloat16_bits", viewBits<AnyArray, uint16_t>,
                nb::arg("tensor"));
  extension.def("bfloat16_bits", viewBits<ReadArray, const uint16_t>,
                nb::arg("tensor"),
                "Return the bits of a tensor of bfloat16 that offers DLPack.");

  nb::class_<Call>(extension, "Call", "A program with the arrays of a run.")
      .def("__call__", &Call::run, "Run on the inputs and write the outputs.");

  extension.def("compile", compile, nb::arg("module"), nb::arg("options"),
                nb::arg("progress") = nb::none(),
                "Compile a module; it is changed on the way.");
  extension.def("optimize", optimize, nb::arg("module"), nb::arg("options"),
                "Change a module's graph by substitutions; return a report in "
                "JSON.");
  extension.def("choose_sparse", chooseSparse, nb::arg("module"),
                nb::arg("options"), nb::arg("others"), nb::arg("choices"),
                "Store weights without their zeros as choices say; return a "
                "report in JSON.");
}
