//===- ShortFloats.cpp - Conversions that LLVM makes calls of -------------===//

#include "espalier/Runtime/ShortFloats.h"
#include "Context.h"
#include <stdint.h>
#include <string.h>

template <typename To, typename From>
static To bitCast(From from) {
  static_assert(sizeof(To) == sizeof(From), "expects types of one size");
  To to;
  memcpy(&to, &from, sizeof(to));
  return to;
}

ESPALIER_MERGED __bf16 __truncsfbf2(float value) {
  auto bits = bitCast<uint32_t>(value);
  if (value != value)
    // Quiet, so that the upper half is not that of an infinity.
    return bitCast<__bf16>((uint16_t)(bits >> 16 | 0x40));
  uint32_t isOdd = bits >> 16 & 1;
  return bitCast<__bf16>((uint16_t)((bits + 0x7fff + isOdd) >> 16));
}

ESPALIER_MERGED __bf16 __truncdfbf2(double value) {
  float rounded = (float)value;
  auto bits = bitCast<uint32_t>(rounded);
  // Two roundings in a row must not make a tie out of what was none. An inexact
  // f32 is made odd, which no tie is. Boldo and Melquiond, "Emulation of a FMA
  // and correctly rounded sums", 2008.
  if (value == value && (double)rounded != value) {
    if (__builtin_fabs((double)rounded) > __builtin_fabs(value))
      --bits;
    bits |= 1;
  }
  return __truncsfbf2(bitCast<float>(bits));
}
