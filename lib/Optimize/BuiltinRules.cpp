//===- BuiltinRules.cpp - Rules that come with the compiler ---------------===//

#include "BuiltinRules.h"

// NOLINTBEGIN: assembly
__asm__(".section .rodata\n"
        "espalierBuiltinRules:\n"
        ".incbin \"" ESPALIER_BUILTIN_RULES "\"\n"
        "espalierBuiltinRulesEnd:\n"
        ".previous\n");
extern "C" __attribute__((visibility("hidden")))
const char espalierBuiltinRules[];
extern "C" __attribute__((visibility("hidden")))
const char espalierBuiltinRulesEnd[];
// NOLINTEND

llvm::StringRef espalier::getBuiltinRules() {
  return {espalierBuiltinRules,
          static_cast<size_t>(espalierBuiltinRulesEnd - espalierBuiltinRules)};
}
