//===- Elements.h - Elements in dense buffers -------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_INTERPRETER_ELEMENTS_H
#define ESPALIER_LIB_INTERPRETER_ELEMENTS_H

#include "mlir/IR/BuiltinTypes.h"
#include <cstdint>
#include <cstring>
#include <optional>

namespace espalier::interpreter {

/// The representation of an element in memory.
enum class ElementKind {
  F64,
  F32,
  F16,
  BF16,
  Bool,
  I8,
  I16,
  I32,
  I64,
  U8,
  U16,
  U32,
  U64
};

/// Returns the representation of a type, if tensors of it can be held; `index`
/// is held as I64.
std::optional<ElementKind> getElementKind(mlir::Type type);
unsigned getBytes(ElementKind kind);
inline bool isFloat(ElementKind kind) { return kind <= ElementKind::BF16; }

double decodeF16(uint16_t bits);
uint16_t encodeF16(double value);
uint16_t encodeBF16(double value);
inline double decodeBF16(uint16_t bits) {
  uint32_t wide = static_cast<uint32_t>(bits) << 16;
  float value;
  std::memcpy(&value, &wide, sizeof(value));
  return value;
}

/// Describes one representation: how it lies in memory (`Stored`), what it is
/// computed in (`Computed`), and the conversions.
template <typename StoredT, typename ComputedT>
struct PlainElement {
  using Stored = StoredT;
  using Computed = ComputedT;
  static Computed decode(Stored value) { return static_cast<Computed>(value); }
  static Stored encode(Computed value) { return static_cast<Stored>(value); }
};
/// Any byte but 0 is true.
struct BoolElement {
  using Stored = uint8_t;
  using Computed = int64_t;
  static int64_t decode(uint8_t value) { return value != 0; }
  static uint8_t encode(int64_t value) { return value != 0; }
};
struct F16Element {
  using Stored = uint16_t;
  using Computed = double;
  static double decode(uint16_t bits) { return decodeF16(bits); }
  static uint16_t encode(double value) { return encodeF16(value); }
};
struct BF16Element {
  using Stored = uint16_t;
  using Computed = double;
  static double decode(uint16_t bits) { return decodeBF16(bits); }
  static uint16_t encode(double value) { return encodeBF16(value); }
};

/// Calls `body` with a value of the type that describes `kind`.
template <typename Body>
auto dispatch(ElementKind kind, Body &&body) {
  switch (kind) {
  case ElementKind::F64:
    return body(PlainElement<double, double>());
  case ElementKind::F32:
    return body(PlainElement<float, double>());
  case ElementKind::F16:
    return body(F16Element());
  case ElementKind::BF16:
    return body(BF16Element());
  case ElementKind::Bool:
    return body(BoolElement());
  case ElementKind::U8:
    return body(PlainElement<uint8_t, int64_t>());
  case ElementKind::I8:
    return body(PlainElement<int8_t, int64_t>());
  case ElementKind::I16:
    return body(PlainElement<int16_t, int64_t>());
  case ElementKind::I32:
    return body(PlainElement<int32_t, int64_t>());
  case ElementKind::I64:
  case ElementKind::U64:
    return body(PlainElement<int64_t, int64_t>());
  case ElementKind::U16:
    return body(PlainElement<uint16_t, int64_t>());
  case ElementKind::U32:
    return body(PlainElement<uint32_t, int64_t>());
  }
  llvm_unreachable("every kind is handled above");
}

} // namespace espalier::interpreter

#endif // ESPALIER_LIB_INTERPRETER_ELEMENTS_H
