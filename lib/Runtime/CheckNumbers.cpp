//===- CheckNumbers.cpp - What all numbers of an array have in common -----===//
//
// Looks at all of them, several at once, and does not say which one is wrong.
//
//===----------------------------------------------------------------------===//

#include "Context.h"
#include <limits>
#include <string.h>
#include <type_traits>

using namespace espalier::runtime;

/// What the compiler may use for vectors in a function of a program that asks
/// for the same of the machine.
#if defined(__x86_64__)
#define ESPALIER_WIDE __attribute__((target("avx2")))
static constexpr const char *kWide = "avx2";
#else
#define ESPALIER_WIDE
static constexpr const char *kWide = "";
#endif

namespace {
/// Whether all numbers are from 0 to less than `bound`.
template <typename T>
struct AreBelow {
  T bound;

  __attribute__((always_inline)) bool check(const T *data,
                                            int64_t count) const {
    // A negative number is a large one without its sign. Flags would have to be
    // packed; a maximum is one instruction.
    using Unsigned = std::make_unsigned_t<T>;
    Unsigned most = 0;
    for (int64_t i = 0; i < count; ++i)
      most = (Unsigned)data[i] > most ? (Unsigned)data[i] : most;
    return !count || most < (Unsigned)bound;
  }
};

/// Whether none is less than the one before it.
template <typename T>
struct AreOrdered {
  __attribute__((always_inline)) bool check(const T *data,
                                            int64_t count) const {
    bool isLess = false;
    for (int64_t i = 1; i < count; ++i)
      isLess |= data[i] < data[i - 1];
    return !isLess;
  }
};
} // namespace

template <typename T, typename Check>
ESPALIER_WIDE static bool checkWide(const T *data, int64_t count, Check check) {
  return check.check(data, count);
}

template <typename T, typename Check>
static bool checkAll(const espalier_program &program, const void *data,
                     int64_t count, Check check) {
  for (const char *const *feature = program.features; feature && *feature;
       ++feature)
    if (!strcmp(*feature, kWide))
      return checkWide((const T *)data, count, check);
  return check.check((const T *)data, count);
}

template <typename T>
static bool areBelow(const espalier_program &program, const void *data,
                     int64_t count, int64_t bound) {
  if (bound <= 0 || bound > std::numeric_limits<T>::max())
    return false; // Not known.
  return checkAll<T>(program, data, count, AreBelow<T>{(T)bound});
}

ESPALIER_MERGED bool
espalier::runtime::areKnownBelow(const espalier_program &program,
                                 const espalier_tensor &tensor, int64_t count,
                                 int64_t bound) {
  switch (tensor.dtype) {
  case ESPALIER_I32:
    return areBelow<int32_t>(program, tensor.data, count, bound);
  case ESPALIER_I64:
    return areBelow<int64_t>(program, tensor.data, count, bound);
  default:
    return false;
  }
}

ESPALIER_MERGED bool
espalier::runtime::areKnownOrdered(const espalier_program &program,
                                   const espalier_tensor &tensor,
                                   int64_t count) {
  switch (tensor.dtype) {
  case ESPALIER_I32:
    return checkAll<int32_t>(program, tensor.data, count,
                             AreOrdered<int32_t>());
  case ESPALIER_I64:
    return checkAll<int64_t>(program, tensor.data, count,
                             AreOrdered<int64_t>());
  default:
    return false;
  }
}
