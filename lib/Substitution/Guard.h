//===- Guard.h - What a rule asks of the sizes it is applied to -*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_GUARD_H
#define ESPALIER_LIB_SUBSTITUTION_GUARD_H

#include "Typing.h"

namespace espalier::substitution {

struct Guard {
  /// What must hold beyond what `src` asks for; empty if nothing.
  std::string text;
  /// Whether it could not be determined.
  bool isUnknown = false;
};

/// Compares the shapes that fit both sides (`cases`, under assumptions) with
/// those that fit `src`.
Guard getGuard(const Typing &typing, const std::vector<Sizes> &cases,
               llvm::ArrayRef<Assumption> assumptions);

/// Whether `cases` fit only where some extent of `src` is 1 that need not be.
bool isDegenerate(const Typing &typing, const std::vector<Sizes> &cases);

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_GUARD_H
