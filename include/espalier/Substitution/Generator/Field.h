//===- Field.h - Arithmetic modulo 2^31 - 1 ---------------------*- C++ -*-===//
//
// The generator of substitutions evaluates graphs on random elements of the
// prime field with 2^31 - 1 elements, `kLanes` points at a time: sums and
// products are exact whatever the depth, and an average is the sum times the
// inverse of its weight.
//
// relu and max need an order. Averages make fractions whose denominators divide
// a power of `kScale`: times that, an element stands for the integer of least
// magnitude in its class, and these are compared. Inputs are drawn from
// [-kBound, kBound], so as long as nothing wraps around, relu and max are those
// of the rational numbers; after a wrap they are still one fixed function and a
// total order, so an equation that needs no more than that still holds.
//
// Collision bound: two graphs that differ in an output element as polynomials
// of degree d agree there with probability at most d / (2 kBound + 1) at a
// random point (Schwartz, Zippel), where d is at most 2^k for k operators of
// which none is a relu or a maximum. With p points the bound is its p-th power;
// a candidate of depth 3 is tested on 192 such points, (8 / 255)^192, and on as
// many that are less random. For relu and maxima there is no such bound: proofs
// decide. Coincidences in the other direction cannot happen: equal graphs have
// equal values.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_GENERATOR_FIELD_H
#define ESPALIER_SUBSTITUTION_GENERATOR_FIELD_H

#include <cstdint>
#include <iterator>

namespace espalier::substitution::generator {

constexpr uint32_t kPrime = 0x7fffffff;
/// Points that are evaluated together; the innermost dimension of all data.
constexpr unsigned kLanes = 4;
/// Inputs are integers of at most this magnitude.
constexpr int32_t kBound = 127;
/// A multiple of the denominators that are compared: up to three averages over
/// windows of 3 x 3, or of 2 x 2 and 2 x 3.
constexpr uint32_t kScale = 9 * 9 * 9 * 8;

/// Reduces a product of two elements to a number below 2^32 in the same class.
inline uint64_t foldOnce(uint64_t value) {
  return (value & kPrime) + (value >> 31);
}

/// Reduces any number to the representative below the prime.
inline uint32_t reduce(uint64_t value) {
  value = foldOnce(foldOnce(value)); // At most the prime and five.
  return static_cast<uint32_t>(value >= kPrime ? value - kPrime : value);
}

inline uint32_t add(uint32_t lhs, uint32_t rhs) {
  uint32_t sum = lhs + rhs;
  return sum >= kPrime ? sum - kPrime : sum;
}

inline uint32_t subtract(uint32_t lhs, uint32_t rhs) {
  return add(lhs, kPrime - rhs);
}

inline uint32_t multiply(uint32_t lhs, uint32_t rhs) {
  return reduce(uint64_t(lhs) * rhs);
}

/// The element that stands for an integer.
inline uint32_t fromInteger(int64_t value) {
  int64_t rest = value % int64_t(kPrime);
  return static_cast<uint32_t>(rest < 0 ? rest + kPrime : rest);
}

/// The integer of least magnitude that an element stands for.
inline int32_t toInteger(uint32_t element) {
  return element > kPrime / 2 ? int32_t(element) - int32_t(kPrime)
                              : int32_t(element);
}

/// The inverse of an element other than zero.
inline uint32_t invert(uint32_t element) {
  uint32_t result = 1;
  for (uint32_t exponent = kPrime - 2; exponent; exponent >>= 1) {
    if (exponent & 1)
      result = multiply(result, element);
    element = multiply(element, element);
  }
  return result;
}

/// What stands for an element when elements are compared.
inline int32_t getOrder(uint32_t element) {
  return toInteger(multiply(element, kScale));
}

inline uint32_t relu(uint32_t element) {
  return getOrder(element) < 0 ? 0 : element;
}

inline uint32_t maximum(uint32_t lhs, uint32_t rhs) {
  return getOrder(lhs) < getOrder(rhs) ? rhs : lhs;
}

/// Less than all others, or equal.
inline uint32_t getLeast() { return multiply(kPrime / 2 + 1, invert(kScale)); }

/// The values of `applyExp`: one more than each divides `kScale`, so that
/// 1 / (1 + exp) can be compared too.
constexpr uint32_t kExpValues[] = {1,  2,  3,  5,  7,  8, 11,
                                   17, 23, 26, 35, 53, 71};

/// A mixing step of 64 bits; a bijection (the finalizer of MurmurHash3).
inline uint64_t mix(uint64_t value) {
  value = (value ^ (value >> 33)) * 0xff51afd7ed558ccdULL;
  value = (value ^ (value >> 33)) * 0xc4ceb9fe1a85ec53ULL;
  return value ^ (value >> 33);
}

/// exp is any function with positive values, and tanh any that keeps signs:
/// what holds for these owes nothing to the real ones.
inline uint32_t applyExp(uint32_t element) {
  return kExpValues[mix(element) % std::size(kExpValues)];
}
inline uint32_t applyTanh(uint32_t element) {
  int32_t order = getOrder(element);
  auto size = static_cast<int64_t>(1 + mix(~uint64_t(element)) % kBound);
  return fromInteger(order == 0 ? 0 : order < 0 ? -size : size);
}

/// 1 / (1 + exp(-x)).
inline uint32_t applySigmoid(uint32_t element) {
  return invert(add(1, applyExp(subtract(0, element))));
}

/// A repeatable source of random numbers (SplitMix64).
class Random {
public:
  explicit Random(uint64_t seed) : state(seed) {}

  uint64_t next() { return mix(state += 0x9e3779b97f4a7c15ULL); }
  /// A number from 0 to `count` - 1.
  unsigned below(unsigned count) { return next() % count; }
  /// An input value of either sign.
  uint32_t input() {
    return fromInteger(int64_t(below(2 * kBound + 1)) - kBound);
  }
  /// Input values of both signs or of one, large or small: that a maximum of
  /// many is negative, or a product less than its factors, would hardly happen
  /// otherwise. Calls `set` with the number of each.
  template <typename Set>
  void drawInputs(unsigned count, Set set) {
    unsigned kind = below(8);
    int32_t bound = kind < 4 ? kBound : 2;
    for (unsigned i = 0; i < count; ++i) {
      int64_t value = int64_t(below(2 * bound + 1)) - bound;
      if (kind % 4 == 2)
        value = value < 0 ? -value : value;
      else if (kind % 4 == 3)
        value = value < 0 ? value : -value;
      set(i, fromInteger(value));
    }
  }

private:
  uint64_t state;
};

} // namespace espalier::substitution::generator

#endif // ESPALIER_SUBSTITUTION_GENERATOR_FIELD_H
