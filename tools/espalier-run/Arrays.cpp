//===- Arrays.cpp - Arrays on the command line ----------------------------===//

#include "Arrays.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/MathExtras.h"
#include <random>

using namespace espalier::run;

/// Larger arrays are no use on a command line.
static constexpr int64_t kMaxElements = int64_t(1) << 32;

Array::Array(int32_t dtype, std::vector<int64_t> extents)
    : dtype(dtype), extents(std::move(extents)) {
  storage.resize(
      llvm::divideCeil(getNumElements() * espalier_dtype_size(dtype), 8) + 1);
}

int64_t Array::getNumElements() const {
  int64_t count = 1;
  for (int64_t extent : extents)
    count *= extent;
  return count;
}

espalier_tensor Array::getTensor() {
  return {storage.data(), dtype, static_cast<int32_t>(extents.size()),
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
    return decodeHalf(
        llvm::APFloat::IEEEhalf(),
        reinterpret_cast<const uint16_t *>(storage.data())[index]);
  case ESPALIER_BF16:
    return decodeHalf(
        llvm::APFloat::BFloat(),
        reinterpret_cast<const uint16_t *>(storage.data())[index]);
#define GET_CASE(name, ctype)                                                  \
  case ESPALIER_##name:                                                        \
    return reinterpret_cast<const ctype *>(storage.data())[index];
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

void Array::set(int64_t index, double value) {
  switch (dtype) {
  case ESPALIER_F16:
    reinterpret_cast<uint16_t *>(storage.data())[index] =
        encodeHalf(llvm::APFloat::IEEEhalf(), value);
    return;
  case ESPALIER_BF16:
    reinterpret_cast<uint16_t *>(storage.data())[index] =
        encodeHalf(llvm::APFloat::BFloat(), value);
    return;
#define SET_CASE(name, ctype)                                                  \
  case ESPALIER_##name:                                                        \
    reinterpret_cast<ctype *>(storage.data())[index] =                         \
        static_cast<ctype>(value);                                             \
    return;
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

/// Parses "2x3xf32".
static llvm::Expected<Array> parseType(llvm::StringRef text) {
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
      return Array(dtype, std::move(extents));
  return error();
}

llvm::Expected<Array> Array::parse(llvm::StringRef text) {
  auto [type, values] = text.split('=');
  llvm::Expected<Array> array = parseType(type);
  if (!array)
    return array.takeError();
  int64_t count = array->getNumElements();
  if (values == "iota") {
    for (int64_t i = 0; i < count; ++i)
      array->set(i, i);
    return array;
  }
  if (values == "random") {
    std::mt19937 generator(count);
    std::uniform_real_distribution<double> distribution(-1, 1);
    for (int64_t i = 0; i < count; ++i)
      array->set(i, distribution(generator));
    return array;
  }
  llvm::SmallVector<llvm::StringRef> numbers;
  values.split(numbers, ',', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
  if (numbers.size() > 1 && static_cast<int64_t>(numbers.size()) != count)
    return llvm::createStringError("expects " + llvm::Twine(count) +
                                   " values for " + type + ", but got " +
                                   llvm::Twine(numbers.size()));
  for (int64_t i = 0; i < count && !numbers.empty(); ++i) {
    double value;
    llvm::StringRef number = numbers[numbers.size() == 1 ? 0 : i];
    if (number.getAsDouble(value))
      return llvm::createStringError("expects a number, but got '" + number +
                                     "'");
    array->set(i, value);
  }
  return array;
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
  for (int64_t extent : extents)
    os << extent << 'x';
  os << espalier_dtype_name(dtype) << " = ";
  int64_t index = 0;
  printElements(os, 0, index);
}
