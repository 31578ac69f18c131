//===- BuiltinRules.h - Rules that come with the compiler -------*- C++ -*-===//

#ifndef ESPALIER_LIB_OPTIMIZE_BUILTINRULES_H
#define ESPALIER_LIB_OPTIMIZE_BUILTINRULES_H

#include "llvm/ADT/StringRef.h"

namespace espalier {

/// The text of the rules.
llvm::StringRef getBuiltinRules();

} // namespace espalier

#endif // ESPALIER_LIB_OPTIMIZE_BUILTINRULES_H
