//===- Arrays.h - NumPy arrays as tensors of the C API ----------*- C++ -*-===//
//
// Python passes an array as (element type, shape, bytes): NumPy's buffers know
// nothing of bfloat16, and every rule was checked before.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_PYTHON_BINDINGS_ARRAYS_H
#define ESPALIER_PYTHON_BINDINGS_ARRAYS_H

#include "espalier-c/Runtime.h"
#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>
#include <string>
#include <tuple>
#include <vector>

namespace espalier::python {

using InputBytes = nanobind::ndarray<const uint8_t, nanobind::ndim<1>,
                                     nanobind::c_contig, nanobind::device::cpu>;
using OutputBytes =
    nanobind::ndarray<uint8_t, nanobind::ndim<1>, nanobind::c_contig,
                      nanobind::device::cpu>;

template <typename Bytes>
using Array = std::tuple<std::string, std::vector<int64_t>, Bytes>;
using InputArray = Array<InputBytes>;
using OutputArray = Array<OutputBytes>;

/// Returns the element type with the given spelling, or -1.
inline int32_t parseDtype(const std::string &name) {
  for (int32_t dtype = 0; dtype < ESPALIER_NUM_DTYPES; ++dtype)
    if (name == espalier_dtype_name(dtype))
      return dtype;
  return -1;
}

/// Points tensors into arrays, which must outlive the result. Throws if the
/// bytes of one do not fill its shape.
template <typename Bytes>
std::vector<espalier_tensor>
toTensors(const std::vector<Array<Bytes>> &arrays) {
  std::vector<espalier_tensor> tensors;
  for (const auto &[name, shape, bytes] : arrays) {
    int32_t dtype = parseDtype(name);
    size_t size = dtype < 0 ? 0 : espalier_dtype_size(dtype);
    for (int64_t extent : shape)
      size *= extent;
    if (dtype < 0 || size != bytes.size())
      throw nanobind::value_error("expects bytes that fill the array's shape");
    tensors.push_back({const_cast<uint8_t *>(bytes.data()), dtype,
                       static_cast<int32_t>(shape.size()), shape.data()});
  }
  return tensors;
}

} // namespace espalier::python

#endif // ESPALIER_PYTHON_BINDINGS_ARRAYS_H
