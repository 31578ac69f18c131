//===- Tensor.cpp - Dense tensors of the reference interpreter ------------===//

#include "espalier/Interpreter/Tensor.h"
#include "Elements.h"
#include "mlir/IR/BuiltinAttributes.h"
#include "mlir/IR/DialectResourceBlobManager.h"
#include "llvm/ADT/APFloat.h"
#include "llvm/Support/MathExtras.h"
#include <cmath>
#include <cstdlib>

using namespace mlir;
using namespace espalier::interpreter;

static constexpr size_t kAlignment = 64;
/// From this size on, values become resources rather than uniqued attributes.
static constexpr size_t kResourceBytes = 1 << 16;

//===----------------------------------------------------------------------===//
// Elements
//===----------------------------------------------------------------------===//

std::optional<ElementKind> espalier::interpreter::getElementKind(Type type) {
  if (type.isF64())
    return ElementKind::F64;
  if (type.isF32())
    return ElementKind::F32;
  if (type.isF16())
    return ElementKind::F16;
  if (type.isBF16())
    return ElementKind::BF16;
  if (type.isIndex())
    return ElementKind::I64;
  auto integer = dyn_cast<IntegerType>(type);
  if (!integer)
    return std::nullopt;
  bool isUnsigned = integer.isUnsigned();
  switch (integer.getWidth()) {
  case 1:
    return ElementKind::Bool;
  case 8:
    return isUnsigned ? ElementKind::U8 : ElementKind::I8;
  case 16:
    return isUnsigned ? ElementKind::U16 : ElementKind::I16;
  case 32:
    return isUnsigned ? ElementKind::U32 : ElementKind::I32;
  case 64:
    return isUnsigned ? ElementKind::U64 : ElementKind::I64;
  default:
    return std::nullopt;
  }
}

unsigned espalier::interpreter::getBytes(ElementKind kind) {
  return dispatch(kind, [](auto element) -> unsigned {
    return sizeof(typename decltype(element)::Stored);
  });
}

bool espalier::interpreter::isZero(ArrayRef<char> bytes, bool hasSign) {
  return llvm::all_of(bytes.drop_back(), [](char c) { return c == 0; }) &&
         (bytes.back() & (hasSign ? 0x7f : 0xff)) == 0;
}

double espalier::interpreter::decodeF16(uint16_t bits) {
  int exponent = (bits >> 10) & 31;
  double fraction = bits & 1023;
  double magnitude;
  if (exponent == 31)
    magnitude = fraction != 0 ? std::numeric_limits<double>::quiet_NaN()
                              : std::numeric_limits<double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(fraction, -24);
  else
    magnitude = std::ldexp(fraction + 1024, exponent - 25);
  return bits >> 15 ? -magnitude : magnitude;
}

static uint16_t encodeSmall(const llvm::fltSemantics &semantics, double value) {
  llvm::APFloat number(value);
  bool losesInfo;
  number.convert(semantics, llvm::APFloat::rmNearestTiesToEven, &losesInfo);
  return static_cast<uint16_t>(number.bitcastToAPInt().getZExtValue());
}

uint16_t espalier::interpreter::encodeF16(double value) {
  return encodeSmall(llvm::APFloat::IEEEhalf(), value);
}

uint16_t espalier::interpreter::encodeBF16(double value) {
  return encodeSmall(llvm::APFloat::BFloat(), value);
}

//===----------------------------------------------------------------------===//
// Tensor
//===----------------------------------------------------------------------===//

std::optional<unsigned> espalier::interpreter::getElementBytes(Type type) {
  if (std::optional<ElementKind> kind = getElementKind(type))
    return getBytes(*kind);
  return std::nullopt;
}

std::optional<size_t>
espalier::interpreter::getDenseBytes(RankedTensorType type) {
  std::optional<unsigned> elementBytes = getElementBytes(type.getElementType());
  if (!elementBytes || !type.hasStaticShape())
    return std::nullopt;
  // Extents of 0 do not hide an overflow of the others.
  int64_t bytes = *elementBytes;
  for (int64_t extent : type.getShape())
    if (llvm::MulOverflow(bytes, std::max<int64_t>(extent, 1), bytes))
      return std::nullopt;
  return llvm::is_contained(type.getShape(), 0) ? 0 : bytes;
}

void *espalier::interpreter::allocate(size_t size) {
  if (size > std::numeric_limits<size_t>::max() - kAlignment)
    return nullptr;
  return std::aligned_alloc(
      kAlignment, llvm::alignTo(std::max<size_t>(size, 1), kAlignment));
}

FailureOr<Tensor> Tensor::create(RankedTensorType type) {
  std::optional<size_t> size = getDenseBytes(type);
  if (!size)
    return failure();
  Tensor tensor;
  tensor.type = type;
  void *memory = allocate(*size);
  if (!memory)
    return failure();
  std::memset(memory, 0, *size);
  tensor.owned.reset(static_cast<char *>(memory),
                     [](char *memory) { std::free(memory); });
  tensor.bytes = ArrayRef(tensor.owned.get(), *size);
  return tensor;
}

Tensor Tensor::wrap(RankedTensorType type, ArrayRef<char> bytes) {
  assert(bytes.size() == getDenseBytes(type) &&
         "as many bytes as the type has");
  Tensor tensor;
  tensor.type = type;
  tensor.bytes = bytes;
  return tensor;
}

FailureOr<Tensor> Tensor::getSplat(ElementsAttr attribute) {
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense || !dense.isSplat())
    return failure();
  return get(dense.resizeSplat(
      RankedTensorType::get({1}, dense.getType().getElementType())));
}

FailureOr<Tensor> Tensor::get(ElementsAttr attribute) {
  auto type = dyn_cast<RankedTensorType>(attribute.getType());
  std::optional<size_t> size = type ? getDenseBytes(type) : std::nullopt;
  if (!size)
    return failure();
  if (auto resource = dyn_cast<DenseResourceElementsAttr>(attribute)) {
    AsmResourceBlob *blob = resource.getRawHandle().getBlob();
    if (!blob || blob->getData().size() != *size)
      return failure();
    return wrap(type, blob->getData());
  }
  auto dense = dyn_cast<DenseElementsAttr>(attribute);
  if (!dense)
    return failure();
  bool isBool = type.getElementType().isInteger(1);
  if (!isBool && !dense.isSplat() && dense.getRawData().size() == *size)
    return wrap(type, dense.getRawData());

  FailureOr<Tensor> tensor = create(type);
  if (failed(tensor))
    return failure();
  char *out = tensor->owned.get();
  if (isBool) {
    for (bool value : dense.getValues<bool>())
      *out++ = value;
    return tensor;
  }
  ArrayRef<char> element = dense.getRawData();
  for (size_t offset = 0; offset < *size; offset += element.size())
    std::memcpy(out + offset, element.data(), element.size());
  return tensor;
}

ElementsAttr Tensor::toAttribute() const {
  if (owned && bytes.size() >= kResourceBytes) {
    // The attribute keeps the buffer alive; nothing is copied or hashed.
    AsmResourceBlob blob(
        bytes, kAlignment, [keep = owned](void *, size_t, size_t) {},
        /*dataIsMutable=*/false);
    return DenseResourceElementsAttr::get(type, "folded", std::move(blob));
  }
  if (getElementType().isInteger(1)) {
    ArrayRef<bool> values(reinterpret_cast<const bool *>(bytes.data()),
                          bytes.size());
    return DenseElementsAttr::get(type, values);
  }
  return DenseElementsAttr::getFromRawBuffer(type, bytes);
}

double Tensor::getFloat(int64_t position) const {
  return dispatch(*getElementKind(getElementType()), [&](auto element) {
    typename decltype(element)::Stored stored;
    std::memcpy(&stored, bytes.data() + position * sizeof(stored),
                sizeof(stored));
    return static_cast<double>(element.decode(stored));
  });
}

bool Tensor::isFinite() const {
  return dispatch(*getElementKind(getElementType()), [&](auto element) {
    return llvm::all_of(llvm::seq(getNumElements()), [&](int64_t position) {
      typename decltype(element)::Stored stored;
      std::memcpy(&stored, bytes.data() + position * sizeof(stored),
                  sizeof(stored));
      return std::isfinite(static_cast<double>(element.decode(stored)));
    });
  });
}

int64_t Tensor::getInteger(int64_t position) const {
  return dispatch(*getElementKind(getElementType()), [&](auto element) {
    typename decltype(element)::Stored stored;
    std::memcpy(&stored, bytes.data() + position * sizeof(stored),
                sizeof(stored));
    return static_cast<int64_t>(element.decode(stored));
  });
}
