//===- FoldLimits.h - What is computed ahead of time ------------*- C++ -*-===//
//
// What depends on constants alone is computed when a program is compiled, if
// that takes little. Whoever predicts the time of a program has to know.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_DEFINITION_FOLDLIMITS_H
#define ESPALIER_DEFINITION_FOLDLIMITS_H

#include <cstdint>

namespace espalier::definition {

/// Nodes of expressions that are evaluated for one tensor: a fraction of a
/// second of the reference interpreter.
constexpr double kMaxFoldedWork = 1 << 26;
/// How many bytes larger than its operands the tensor may be.
constexpr uint64_t kMaxFoldedGrowth = 4 << 20;

} // namespace espalier::definition

#endif // ESPALIER_DEFINITION_FOLDLIMITS_H
