//===- GivenLimits.h - Numbers of statements on data ------------*- C++ -*-===//

#ifndef ESPALIER_DIALECT_POLY_IR_GIVENLIMITS_H
#define ESPALIER_DIALECT_POLY_IR_GIVENLIMITS_H

#include <cstdint>

namespace espalier::poly {
/// The integers that a statement is about are at least -kMaxGivenValue and less
/// than kMaxGivenValue; its dimensions and parameters are at most kMaxGivenSize
/// in size. So what it calculates fits into 64 bits (`GivenOp`, C7).
constexpr int64_t kMaxGivenValue = int64_t(1) << 31;
constexpr int64_t kMaxGivenSize = int64_t(1) << 40;
} // namespace espalier::poly

#endif // ESPALIER_DIALECT_POLY_IR_GIVENLIMITS_H
