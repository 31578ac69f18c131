//===- Library.cpp - The rules that come with Espalier --------------------===//

#include "espalier/Substitution/Library.h"

using namespace espalier::substitution;

static constexpr llvm::StringLiteral kText =
#include "LibraryText.inc"
    ;

llvm::StringRef espalier::substitution::getLibraryText() { return kText; }

std::vector<Rule> espalier::substitution::loadLibrary() {
  std::vector<Rule> rules;
  bool isFaulty =
      failed(parseRules(kText, rules, [](unsigned, const llvm::Twine &) {}));
  assert(!isFaulty && "the library is tested");
  (void)isFaulty;
  return rules;
}
