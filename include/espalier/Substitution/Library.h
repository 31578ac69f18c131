//===- Library.h - The rules that come with Espalier ------------*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_LIBRARY_H
#define ESPALIER_SUBSTITUTION_LIBRARY_H

#include "espalier/Substitution/Rule.h"

namespace espalier::substitution {

// Each rule of these has been proved and says under which condition (`where`)
// and what becomes of rounding (`arithmetic`). Tests prove them again.

/// The text of lib/Substitution/Rules/library.rules: rules of up to three
/// operators a side that were generated.
llvm::StringRef getLibraryText();
std::vector<Rule> loadLibrary();

/// The text of lib/Substitution/Rules/networks.rules: rules that a person has
/// written for what makes networks faster, which searches use.
llvm::StringRef getNetworkRulesText();
std::vector<Rule> loadNetworkRules();

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_LIBRARY_H
