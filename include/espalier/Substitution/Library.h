//===- Library.h - The rules that come with Espalier ------------*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_LIBRARY_H
#define ESPALIER_SUBSTITUTION_LIBRARY_H

#include "espalier/Substitution/Rule.h"

namespace espalier::substitution {

/// The text of lib/Substitution/Rules/library.rules: rules of up to three
/// operators a side that were generated and proved, each with its condition
/// (`where`) and what becomes of rounding (`arithmetic`). A test proves them
/// again.
llvm::StringRef getLibraryText();

/// The rules of that text.
std::vector<Rule> loadLibrary();

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_LIBRARY_H
