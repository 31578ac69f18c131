//===- Order.h - Is an order legal? By all pairs of points ------*- C++ -*-===//

#ifndef ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_ORDER_H
#define ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_ORDER_H

#include "Execute.h"

namespace espalier::poly::fuzz {

/// Compares the order in which `tree` runs all pairs of points that touch the
/// same element, one of them writing it, with program order. Returns what is
/// wrong with the first that is run in another order, or that a parallel or
/// vector loop runs at the same time; nothing if all are right. The updates of
/// one reduction may be in any order, and in lanes.
std::optional<std::string> findViolation(const Statements &statements,
                                         const polyhedral::ScheduleNode *tree);

} // namespace espalier::poly::fuzz

#endif // ESPALIER_TEST_UNIT_DIALECT_POLY_FUZZ_ORDER_H
