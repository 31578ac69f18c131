//===- Call.cpp - Calls without a look at each argument in Python ---------===//

#include "Program.h"
#include <cstdlib>
#include <nanobind/ndarray.h>
#include <optional>
#include <string_view>

namespace nb = nanobind;
using namespace espalier::python;

static_assert(sizeof(Py_ssize_t) == sizeof(int64_t),
              "shapes of buffers are those of tensors");

/// Returns the element type that NumPy's buffers call `format`, or -1.
static int32_t parseFormat(const char *format, Py_ssize_t size) {
  if (!format || !format[0] || format[1])
    return -1;
  auto ofSize = [&](int32_t one, int32_t two, int32_t four, int32_t eight) {
    return size == 1 ? one : size == 2 ? two : size == 4 ? four : eight;
  };
  switch (format[0]) {
  case '?':
    return ESPALIER_BOOL;
  case 'e':
    return ESPALIER_F16;
  case 'f':
    return ESPALIER_F32;
  case 'd':
    return ESPALIER_F64;
  case 'b':
  case 'h':
  case 'i':
  case 'l':
  case 'q':
    return ofSize(ESPALIER_I8, ESPALIER_I16, ESPALIER_I32, ESPALIER_I64);
  case 'B':
  case 'H':
  case 'I':
  case 'L':
  case 'Q':
    return ofSize(ESPALIER_U8, ESPALIER_U16, ESPALIER_U32, ESPALIER_U64);
  default:
    return -1;
  }
}

/// Returns NumPy's element type, or none if NumPy has it not.
static std::optional<nb::dlpack::dtype> getArrayType(int32_t dtype) {
  using Code = nb::dlpack::dtype_code;
  auto make = [&](Code code) {
    return nb::dlpack::dtype{
        static_cast<uint8_t>(code),
        static_cast<uint8_t>(8 * espalier_dtype_size(dtype)), 1};
  };
  switch (dtype) {
  case ESPALIER_F16:
  case ESPALIER_F32:
  case ESPALIER_F64:
    return make(Code::Float);
  case ESPALIER_I8:
  case ESPALIER_I16:
  case ESPALIER_I32:
  case ESPALIER_I64:
    return make(Code::Int);
  case ESPALIER_U8:
  case ESPALIER_U16:
  case ESPALIER_U32:
  case ESPALIER_U64:
    return make(Code::UInt);
  case ESPALIER_BOOL:
    return make(Code::Bool);
  default:
    return std::nullopt;
  }
}

/// Whether `value` is an array of NumPy, and not of a class derived from it.
static bool isArray(nb::handle value) {
  return std::string_view(Py_TYPE(value.ptr())->tp_name) == "numpy.ndarray";
}

PlainInputs::~PlainInputs() {
  for (Py_buffer &view : views)
    PyBuffer_Release(&view);
}

bool PlainInputs::set(size_t i, nb::handle value) {
  Py_buffer view;
  if (!isArray(value))
    return false;
  if (PyObject_GetBuffer(value.ptr(), &view,
                         PyBUF_C_CONTIGUOUS | PyBUF_FORMAT)) {
    PyErr_Clear();
    return false;
  }
  views.push_back(view);
  int32_t dtype = parseFormat(view.format, view.itemsize);
  if (dtype < 0)
    return false;
  tensors[i] = {view.buf, dtype, view.ndim,
                reinterpret_cast<const int64_t *>(view.shape)};
  return true;
}

bool Program::setInputs(PlainInputs &inputs, nb::dict values,
                        const std::vector<bool> &isGiven) const {
  size_t count = 0;
  for (size_t i = 0; i < names.size(); ++i) {
    if (isGiven[i])
      continue;
    PyObject *value = PyDict_GetItem(values.ptr(), names[i].ptr());
    if (!value || !inputs.set(i, value))
      return false;
    ++count;
  }
  return count == values.size();
}

namespace {
/// An output before it is an array.
struct Output {
  std::unique_ptr<void, void (*)(void *)> memory{nullptr, std::free};
  nb::dlpack::dtype type;
  std::vector<size_t> shape;
};
} // namespace

/// Allocates the outputs of `program` and points `tensors` to them. False if
/// there is no memory for one, or NumPy has no such arrays.
static bool allocate(const espalier_program &program, const int64_t *extents,
                     std::vector<Output> &outputs,
                     std::vector<espalier_tensor> &tensors) {
  for (int32_t i = 0; i < program.num_outputs; ++i) {
    const espalier_tensor_info &info = program.outputs[i];
    auto type = getArrayType(info.dtype);
    int64_t bytes = espalier_dtype_size(info.dtype);
    for (int32_t dim = 0; dim < info.rank; ++dim)
      if (__builtin_mul_overflow(bytes, extents[dim], &bytes))
        return false;
    void *memory = nullptr;
    // One byte at least, so that the array has a place.
    if (!type || bytes > kMaxBytes ||
        posix_memalign(&memory, kCacheLine, bytes ? bytes : 1))
      return false;
    Output &output = outputs.emplace_back();
    output.memory.reset(memory);
    output.type = *type;
    output.shape.assign(extents, extents + info.rank);
    tensors.push_back({memory, info.dtype, info.rank, extents});
    extents += info.rank;
  }
  return true;
}

nb::object Program::run(const PlainInputs &inputs) {
  const espalier_program &program = *description();
  const std::vector<espalier_tensor> &in = inputs.get();
  size_t numExtents = 0;
  for (int32_t i = 0; i < program.num_outputs; ++i)
    numExtents += program.outputs[i].rank;
  // An address at least, for the plan.
  std::vector<int64_t> extents(numExtents + 1);
  std::vector<Output> outputs;
  std::vector<espalier_tensor> out;
  outputs.reserve(program.num_outputs);
  out.reserve(program.num_outputs);
  bool isDone = false;
  {
    WithoutGil release;
    std::lock_guard<std::mutex> lock(mutex);
    espalier_context *made = getContext();
    isDone = made &&
             !espalier_plan(made, in.data(), in.size(), extents.data()) &&
             allocate(program, extents.data(), outputs, out) &&
             !espalier_run(made, in.data(), in.size(), out.data(), out.size());
  }
  if (!isDone)
    return nb::none();
  auto results = nb::steal<nb::tuple>(PyTuple_New(outputs.size()));
  for (size_t i = 0; i < outputs.size(); ++i) {
    Output &output = outputs[i];
    void *memory = output.memory.get();
    nb::capsule owner(memory, [](void *p) noexcept { std::free(p); });
    output.memory.release();
    nb::ndarray<nb::numpy> array(memory, output.shape.size(),
                                 output.shape.data(), owner,
                                 /*strides=*/nullptr, output.type);
    PyTuple_SET_ITEM(results.ptr(), i, nb::cast(array).release().ptr());
  }
  return results;
}
