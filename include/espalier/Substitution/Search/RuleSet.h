//===- RuleSet.h - Rules that a search may use ------------------*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_SEARCH_RULESET_H
#define ESPALIER_SUBSTITUTION_SEARCH_RULESET_H

#include "espalier/Substitution/Verify.h"

namespace espalier::substitution {

/// Rules, each of which is proved.
class RuleSet {
public:
  using Report = llvm::function_ref<void(const llvm::Twine &)>;

  /// Reads the rules of a text, proves them, and adds those that hold for all
  /// sizes. Tells `warn` of each that does not. Fails, after calls of `error`,
  /// if the text is ill-formed.
  mlir::LogicalResult add(llvm::StringRef text, Report error, Report warn);
  /// The same for a file.
  mlir::LogicalResult addFile(llvm::StringRef path, Report error, Report warn);

  llvm::ArrayRef<Rule> getRules() const { return rules; }

private:
  std::vector<Rule> rules;
};

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_SEARCH_RULESET_H
