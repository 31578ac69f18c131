//===- Library.cpp - The rules that come with Espalier --------------------===//

#include "espalier/Substitution/Library.h"

using namespace espalier::substitution;

static constexpr llvm::StringLiteral kLibraryText =
#include "library.inc"
    ;
static constexpr llvm::StringLiteral kNetworkRulesText =
#include "networks.inc"
    ;

static std::vector<Rule> load(llvm::StringRef text) {
  std::vector<Rule> rules;
  bool isFaulty =
      failed(parseRules(text, rules, [](unsigned, const llvm::Twine &) {}));
  assert(!isFaulty && "the library is tested");
  (void)isFaulty;
  return rules;
}

llvm::StringRef espalier::substitution::getLibraryText() {
  return kLibraryText;
}
std::vector<Rule> espalier::substitution::loadLibrary() {
  return load(kLibraryText);
}

llvm::StringRef espalier::substitution::getNetworkRulesText() {
  return kNetworkRulesText;
}
std::vector<Rule> espalier::substitution::loadNetworkRules() {
  return load(kNetworkRulesText);
}
