//===- Arrays.cpp - Arrays on the command line ----------------------------===//

#include "Arrays.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <limits>
#include <random>
#include <type_traits>

using namespace espalier::run;

/// Larger arrays are no use on a command line.
static constexpr int64_t kMaxElements = int64_t(1) << 32;

/// Writes "2x3xf32".
static std::string describe(int32_t dtype, llvm::ArrayRef<int64_t> extents) {
  std::string text;
  llvm::raw_string_ostream os(text);
  for (int64_t extent : extents)
    os << extent << 'x';
  os << espalier_dtype_name(dtype);
  return text;
}

llvm::Expected<Array> Array::create(int32_t dtype,
                                    std::vector<int64_t> extents) {
  int64_t count = 1, bytes;
  bool isTooLarge = false;
  for (int64_t extent : extents)
    isTooLarge |= llvm::MulOverflow(count, extent, count) != 0;
  if (llvm::is_contained(extents, 0)) {
    count = 0;
    isTooLarge = false;
  }
  isTooLarge |=
      llvm::MulOverflow<int64_t>(count, espalier_dtype_size(dtype), bytes) != 0;
  // One more, since calloc(0) may return null.
  void *memory = isTooLarge ? nullptr : std::calloc(size_t(bytes) + 1, 1);
  if (!memory)
    return llvm::createStringError("expects memory for " +
                                   describe(dtype, extents) +
                                   ", but there is none");
  return Array(dtype, std::move(extents), count, memory);
}

espalier_tensor Array::getTensor() {
  return {storage.get(), dtype, static_cast<int32_t>(extents.size()),
          extents.data()};
}

/// Converts between a 16-bit float and double.
static double decodeHalf(const llvm::fltSemantics &semantics, uint16_t bits) {
  llvm::APFloat value(semantics, llvm::APInt(16, bits));
  return value.convertToDouble();
}

static uint16_t encodeHalf(const llvm::fltSemantics &semantics, double value) {
  llvm::APFloat converted(value);
  bool losesInfo;
  converted.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return converted.bitcastToAPInt().getZExtValue();
}

double Array::get(int64_t index) const {
  switch (dtype) {
  case ESPALIER_F16:
    return decodeHalf(llvm::APFloat::IEEEhalf(),
                      reinterpret_cast<const uint16_t *>(storage.get())[index]);
  case ESPALIER_BF16:
    return decodeHalf(llvm::APFloat::BFloat(),
                      reinterpret_cast<const uint16_t *>(storage.get())[index]);
#define GET_CASE(name, ctype)                                                  \
  case ESPALIER_##name:                                                        \
    return reinterpret_cast<const ctype *>(storage.get())[index];
    GET_CASE(F32, float)
    GET_CASE(F64, double)
    GET_CASE(I8, int8_t)
    GET_CASE(I16, int16_t)
    GET_CASE(I32, int32_t)
    GET_CASE(I64, int64_t)
    GET_CASE(U8, uint8_t)
    GET_CASE(U16, uint16_t)
    GET_CASE(U32, uint32_t)
    GET_CASE(U64, uint64_t)
    GET_CASE(BOOL, uint8_t)
#undef GET_CASE
  default:
    llvm_unreachable("the constructor's callers check the type");
  }
}

/// Stores a number; false if `T` has no such number.
template <typename T>
static bool store(void *storage, int64_t index, double value) {
  if constexpr (std::is_integral_v<T>) {
    double end = std::ldexp(1.0, std::numeric_limits<T>::digits);
    bool isAbove = std::is_signed_v<T> ? value >= -end : value > -1;
    if (!isAbove || !(value < end))
      return false;
  }
  static_cast<T *>(storage)[index] = static_cast<T>(value);
  return true;
}

llvm::Error Array::set(int64_t index, double value) {
  auto check = [&](bool isStored) {
    return isStored ? llvm::Error::success()
                    : llvm::createStringError(
                          "expects a number that %s has, but got %g",
                          espalier_dtype_name(dtype), value);
  };
  switch (dtype) {
  case ESPALIER_F16:
    return check(store<uint16_t>(storage.get(), index,
                                 encodeHalf(llvm::APFloat::IEEEhalf(), value)));
  case ESPALIER_BF16:
    return check(store<uint16_t>(storage.get(), index,
                                 encodeHalf(llvm::APFloat::BFloat(), value)));
#define SET_CASE(name, ctype)                                                  \
  case ESPALIER_##name:                                                        \
    return check(store<ctype>(storage.get(), index, value));
    SET_CASE(F32, float)
    SET_CASE(F64, double)
    SET_CASE(I8, int8_t)
    SET_CASE(I16, int16_t)
    SET_CASE(I32, int32_t)
    SET_CASE(I64, int64_t)
    SET_CASE(U8, uint8_t)
    SET_CASE(U16, uint16_t)
    SET_CASE(U32, uint32_t)
    SET_CASE(U64, uint64_t)
    SET_CASE(BOOL, uint8_t)
#undef SET_CASE
  default:
    llvm_unreachable("the constructor's callers check the type");
  }
}

llvm::Expected<Array> Array::parse(llvm::StringRef text) {
  auto error = [&] {
    return llvm::createStringError(
        "expects an array like 2x3xf32=0.5, but got '" + text + "'");
  };
  std::vector<int64_t> extents;
  llvm::StringRef rest = text;
  int64_t count = 1;
  while (rest.contains('x')) {
    auto [extent, tail] = rest.split('x');
    if (extent.getAsInteger(10, extents.emplace_back()) || extents.back() < 0 ||
        llvm::MulOverflow(count, extents.back(), count) || count > kMaxElements)
      return error();
    rest = tail;
  }
  for (int32_t dtype = 0; dtype < ESPALIER_NUM_DTYPES; ++dtype)
    if (rest == espalier_dtype_name(dtype))
      return create(dtype, std::move(extents));
  return error();
}

llvm::Error Array::fill(llvm::StringRef values) {
  std::mt19937 generator(numElements);
  std::uniform_real_distribution<double> distribution(-1, 1);
  llvm::SmallVector<llvm::StringRef> numbers;
  bool isList = values != "iota" && values != "random";
  if (isList)
    values.split(numbers, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (isList && numbers.empty())
    return llvm::Error::success();
  if (numbers.size() > 1 && static_cast<int64_t>(numbers.size()) != numElements)
    return llvm::createStringError("expects " + llvm::Twine(numElements) +
                                   " values for " + describe(dtype, extents) +
                                   ", but got " + llvm::Twine(numbers.size()));
  for (int64_t i = 0; i < numElements; ++i) {
    double value = i;
    if (values == "random") {
      value = distribution(generator);
    } else if (isList) {
      llvm::StringRef number = numbers[numbers.size() == 1 ? 0 : i];
      if (number.getAsDouble(value))
        return llvm::createStringError("expects a number, but got '" + number +
                                       "'");
    }
    if (llvm::Error error = set(i, value))
      return error;
  }
  return llvm::Error::success();
}

void Array::printElements(llvm::raw_ostream &os, size_t dim,
                          int64_t &index) const {
  if (dim == extents.size()) {
    os << llvm::format("%.6g", get(index++));
    return;
  }
  os << '[';
  for (int64_t i = 0; i < extents[dim]; ++i) {
    os << (i ? ", " : "");
    printElements(os, dim + 1, index);
  }
  os << ']';
}

void Array::print(llvm::raw_ostream &os) const {
  os << describe(dtype, extents) << " = ";
  int64_t index = 0;
  printElements(os, 0, index);
}
