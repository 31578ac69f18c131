//===- ShortFloats.h - Conversions that LLVM makes calls of -----*- C++ -*-===//
//
// Where a CPU cannot convert to bf16, LLVM calls these functions of the
// compiler's support library. libgcc has them from version 13 on, so the
// runtime brings its own.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_RUNTIME_SHORTFLOATS_H
#define ESPALIER_RUNTIME_SHORTFLOATS_H

/// X(function, type that it takes): every one of them.
#define ESPALIER_FOR_EACH_BF16_CONVERSION(X)                                   \
  X(__truncsfbf2, float)                                                       \
  X(__truncdfbf2, double)

/// Each rounds to the nearest number, of two to the even one.
#define ESPALIER_DECLARE_CONVERSION(name, type) extern "C" __bf16 name(type);
ESPALIER_FOR_EACH_BF16_CONVERSION(ESPALIER_DECLARE_CONVERSION)
#undef ESPALIER_DECLARE_CONVERSION

#endif // ESPALIER_RUNTIME_SHORTFLOATS_H
