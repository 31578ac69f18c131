//===- IR.cpp - Modules under construction, in Python ---------------------===//

#include "Bindings.h"
#include <exception>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>
#include <optional>
#include <vector>

namespace nb = nanobind;
using namespace espalier::python;

namespace {
/// A value keeps its module alive, but not what others do away with.
struct Value {
  Module module;
  espalier_value value;
  unsigned numEdits = module.getNumEdits();

  espalier_value get() const {
    module.get();
    if (module.getNumEdits() != numEdits)
      throw CompileError("expects a value of the module as it is, but the "
                         "module was changed since");
    return value;
  }
};
using Extents = std::vector<std::optional<int64_t>>;
using Bytes =
    nb::ndarray<const uint8_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
} // namespace

/// Throws the module's last error if `status` is negative.
static int check(const Module &module, int status) {
  if (status < 0)
    throw CompileError(espalier_module_last_error(module.get()));
  return status;
}

static std::vector<int64_t> toExtents(const Extents &shape) {
  std::vector<int64_t> extents;
  for (std::optional<int64_t> extent : shape)
    extents.push_back(extent.value_or(-1));
  return extents;
}

static Value addInput(const Module &module, const std::string &name,
                      const Extents &shape, const std::string &dtype,
                      const std::vector<std::string> &dims) {
  std::vector<int64_t> extents = toExtents(shape);
  if (dims.size() != extents.size())
    throw nb::value_error("expects one name per dimension");
  std::vector<const char *> symbols;
  for (const std::string &dim : dims)
    symbols.push_back(dim.c_str());
  Value result{module, {}};
  check(module, espalier_module_input(module.get(), name.c_str(), dtype.c_str(),
                                      extents.size(), extents.data(),
                                      symbols.data(), &result.value));
  return result;
}

static void limitInput(const Module &module, const Value &input,
                       const std::optional<std::string> &size, int64_t limit) {
  check(module,
        espalier_module_limit_input(module.get(), input.get(),
                                    size ? size->c_str() : nullptr, limit));
}

/// Gives up the reference that a constant has on its data.
static void releaseData(void *user) {
  WithGil gil;
  delete static_cast<Bytes *>(user);
}

static Value addConstant(const Module &module, const std::string &dtype,
                         const Extents &shape, Bytes data) {
  std::vector<int64_t> extents = toExtents(shape);
  auto *owner = new Bytes(std::move(data));
  Value result{module, {}};
  check(module,
        espalier_module_constant(module.get(), dtype.c_str(), extents.size(),
                                 extents.data(), owner->data(), owner->size(),
                                 releaseData, owner, &result.value));
  return result;
}

static void bindInput(const Module &module, const std::string &name,
                      Bytes data) {
  auto *owner = new Bytes(std::move(data));
  check(module,
        espalier_module_bind_input(module.get(), name.c_str(), owner->data(),
                                   owner->size(), releaseData, owner));
}

namespace {
/// Attributes with the memory that their C form points into.
class Attributes {
public:
  explicit Attributes(const nb::dict &values) {
    attributes.reserve(values.size());
    names.reserve(values.size());
    texts.reserve(values.size());
    lists.reserve(values.size());
    for (auto [name, value] : values)
      add(nb::cast<std::string>(name), value);
  }

  const std::vector<espalier_attribute> &get() const { return attributes; }

private:
  void add(std::string name, nb::handle value) {
    names.push_back(std::move(name));
    espalier_attribute result = {};
    result.name = names.back().c_str();
    // A Python bool is an int too, so it comes first.
    if (nb::isinstance<nb::bool_>(value)) {
      result.kind = ESPALIER_ATTRIBUTE_BOOLEAN;
      result.integer = nb::cast<bool>(value);
    } else if (nb::isinstance<nb::int_>(value)) {
      result.kind = ESPALIER_ATTRIBUTE_INTEGER;
      result.integer = nb::cast<int64_t>(value);
    } else if (nb::isinstance<nb::float_>(value)) {
      result.kind = ESPALIER_ATTRIBUTE_REAL;
      result.real = nb::cast<double>(value);
    } else if (nb::isinstance<nb::str>(value)) {
      result.kind = ESPALIER_ATTRIBUTE_TEXT;
      texts.push_back(nb::cast<std::string>(value));
      result.text = texts.back().c_str();
    } else {
      result.kind = ESPALIER_ATTRIBUTE_INTEGERS;
      lists.push_back(nb::cast<std::vector<int64_t>>(value));
      result.integers = lists.back().data();
      result.num_integers = lists.back().size();
    }
    attributes.push_back(result);
  }

  std::vector<espalier_attribute> attributes;
  std::vector<std::string> names, texts;
  std::vector<std::vector<int64_t>> lists;
};
} // namespace

static std::vector<espalier_value> unwrap(const Module &module,
                                          const std::vector<Value> &values) {
  std::vector<espalier_value> result;
  for (const Value &value : values) {
    if (value.module != module)
      throw nb::value_error("expects values of this module");
    result.push_back(value.get());
  }
  return result;
}

constexpr size_t maxResults = 16;

/// Returns the results of an operation, `count` by number or an error.
static std::vector<Value> wrap(const Module &module, int count,
                               const espalier_value *results) {
  check(module, count);
  if (count > static_cast<int>(maxResults))
    throw CompileError("expects an operation with at most 16 results");
  std::vector<Value> wrapped;
  for (int i = 0; i < count; ++i)
    wrapped.push_back({module, results[i]});
  return wrapped;
}

static std::vector<Value> addOp(const Module &module, const std::string &name,
                                const std::vector<Value> &operands,
                                const nb::dict &attributes,
                                const std::string &location) {
  Attributes values(attributes);
  std::vector<espalier_value> inputs = unwrap(module, operands);
  espalier_operation operation = {name.c_str(),        location.c_str(),
                                  inputs.data(),       inputs.size(),
                                  values.get().data(), values.get().size()};
  espalier_value results[maxResults];
  return wrap(module,
              espalier_module_op(module.get(), &operation, results, maxResults),
              results);
}

namespace {
/// A body that Python adds the operations of.
struct Body {
  const Module &module;
  size_t numArguments;
  nb::callable add;
  std::vector<espalier_value> yielded;
  std::exception_ptr error;

  static int run(const espalier_value *arguments,
                 const espalier_value **yielded, void *user) noexcept {
    auto &body = *static_cast<Body *>(user);
    try {
      std::vector<Value> values;
      for (size_t i = 0; i < body.numArguments; ++i)
        values.push_back({body.module, arguments[i]});
      body.yielded =
          unwrap(body.module, nb::cast<std::vector<Value>>(body.add(values)));
    } catch (...) {
      body.error = std::current_exception();
      return -1;
    }
    *yielded = body.yielded.data();
    return body.yielded.size();
  }
};
} // namespace

static std::vector<Value> addScan(const Module &module,
                                  const std::vector<Value> &states,
                                  const std::vector<Value> &sequences,
                                  nb::callable add,
                                  const std::string &location) {
  std::vector<espalier_value> initial = unwrap(module, states);
  std::vector<espalier_value> rows = unwrap(module, sequences);
  Body body{module, initial.size() + rows.size(), std::move(add), {}, {}};
  espalier_scan scan = {
      location.c_str(), initial.data(), initial.size(), rows.data(),
      rows.size(),      Body::run,      &body};
  espalier_value results[maxResults];
  int count = espalier_module_scan(module.get(), &scan, results, maxResults);
  if (body.error)
    std::rethrow_exception(body.error);
  return wrap(module, count, results);
}

static Value addIndex(const Module &module, int64_t number) {
  Value result{module, {}};
  check(module, espalier_module_index(module.get(), number, &result.value));
  return result;
}

static Value addDim(const Module &module, const Value &value, int dimension) {
  unwrap(module, {value});
  Value result{module, {}};
  check(module, espalier_module_dim(module.get(), value.value, dimension,
                                    &result.value));
  return result;
}

static Value addIndexOp(const Module &module, const std::string &name,
                        const Value &left, const Value &right) {
  unwrap(module, {left, right});
  Value result{module, {}};
  check(module, espalier_module_index_op(module.get(), name.c_str(), left.value,
                                         right.value, &result.value));
  return result;
}

static void finish(const Module &module, const std::vector<Value> &outputs,
                   const std::vector<std::string> &names) {
  if (outputs.size() != names.size())
    throw nb::value_error("expects one name per output");
  std::vector<espalier_value> values = unwrap(module, outputs);
  std::vector<const char *> texts;
  for (const std::string &name : names)
    texts.push_back(name.c_str());
  check(module, espalier_module_finish(module.get(), values.data(),
                                       texts.data(), values.size()));
}

static Module parse(const std::string &text) {
  espalier_module *module = espalier_module_parse(text.data(), text.size());
  if (!module)
    throw CompileError(espalier_module_last_error(nullptr));
  return Module(module);
}

static Extents shapeOf(const Value &value) {
  Extents shape;
  for (int32_t i = 0; i < espalier_value_rank(value.get()); ++i) {
    int64_t extent = espalier_value_extent(value.get(), i);
    shape.push_back(extent < 0 ? std::nullopt : std::optional(extent));
  }
  return shape;
}

static std::string dtypeOf(const Value &value) {
  std::string text;
  espalier_value_element_type(value.get(), appendText, &text);
  return text;
}

static std::string print(const Module &module) {
  std::string text;
  espalier_module_print(module.get(), appendText, &text);
  return text;
}

static std::string getName(const Module &module) {
  std::string text;
  espalier_module_name(module.get(), appendText, &text);
  return text;
}

static void setName(Module &module, const std::string &name) {
  check(module, espalier_module_set_name(module.get(), name.c_str()));
}

using WriteName = void (*)(const espalier_module *, int32_t,
                           void (*)(const char *, size_t, void *), void *);

static std::vector<std::string> names(const Module &module, int32_t count,
                                      WriteName writeName) {
  if (count < 0)
    throw CompileError("expects a module with a function 'main'");
  std::vector<std::string> result(count);
  for (int32_t i = 0; i < count; ++i)
    writeName(module.get(), i, appendText, &result[i]);
  return result;
}

static std::vector<std::string> inputNames(const Module &module) {
  return names(module, espalier_module_num_inputs(module.get()),
               espalier_module_input_name);
}

static std::vector<std::string> outputNames(const Module &module) {
  return names(module, espalier_module_num_outputs(module.get()),
               espalier_module_output_name);
}

void espalier::python::bindIR(nb::module_ &extension) {
  nb::class_<Value>(extension, "Value", "A tensor or an index of a module.")
      .def_prop_ro("shape", shapeOf, "Extents of a tensor; None where unknown.")
      .def_prop_ro("dtype", dtypeOf, "Element type in MLIR's spelling.");

  nb::class_<Module>(extension, "Module", "A module of the graph dialect.")
      .def(nb::init<>(), "Make a module with an empty function `main`.")
      .def_static("parse", parse, nb::arg("text"),
                  "Read a module from MLIR's text, which must be trusted.")
      .def("input", addInput, nb::arg("name"), nb::arg("shape"),
           nb::arg("dtype"), nb::arg("dims"),
           "Add a function argument; `dims` names its symbolic dimensions.")
      .def("limit_input", limitInput, nb::arg("input"), nb::arg("size").none(),
           nb::arg("limit"),
           "Say that an input's integers are from 0 to `limit`, counted from a "
           "size if there is one.")
      .def("constant_bytes", addConstant, nb::arg("dtype"), nb::arg("shape"),
           nb::arg("data"),
           "Add a constant; its bytes are not copied and must not change.")
      .def("bind_input", bindInput, nb::arg("name"), nb::arg("data"),
           "Make an input a constant; its bytes are not copied and must not "
           "change.")
      .def("op", addOp, nb::arg("name"), nb::arg("operands"),
           nb::arg("attributes") = nb::dict(), nb::arg("location") = "",
           "Add an operation; its result types are inferred.")
      .def("scan", addScan, nb::arg("states"), nb::arg("sequences"),
           nb::arg("body"), nb::arg("location") = "",
           "Add a cell for each element of sequences; `body` adds its "
           "operations.")
      .def("index", addIndex, nb::arg("number"), "Add a constant index.")
      .def("dim", addDim, nb::arg("value"), nb::arg("dimension"),
           "Return the extent of a dimension as an index.")
      .def("index_op", addIndexOp, nb::arg("name"), nb::arg("left"),
           nb::arg("right"), "Compute on indices.")
      .def("finish", finish, nb::arg("outputs"), nb::arg("names"),
           "Return `outputs` from the function and verify the module.")
      .def_prop_rw("name", getName, setName,
                   "What the program is called in C; empty without a name.")
      .def_prop_ro("input_names", inputNames, "Names of the inputs.")
      .def_prop_ro("output_names", outputNames, "Names of the outputs.")
      .def("__str__", print);
}
