//===- RuleSet.h - Rules that a search may use ------------------*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_SEARCH_RULESET_H
#define ESPALIER_SUBSTITUTION_SEARCH_RULESET_H

#include "espalier/Substitution/Verify.h"
#include "mlir/IR/Operation.h"

namespace espalier::substitution {

struct ProvedRule {
  Rule rule;
  /// What must hold, beyond what `src` asks for, for `dst` to be equal.
  Guard guard;
};

/// Rules, each of which is proved.
class RuleSet {
public:
  using Report = llvm::function_ref<void(const llvm::Twine &)>;

  /// Reads the rules of a text, proves them, and adds those that hold,
  /// under a condition or not. Tells `warn` of each other one. Fails, after
  /// calls of `error`, if the text is ill-formed.
  mlir::LogicalResult add(llvm::StringRef text, Report error, Report warn);
  /// The same for a file.
  mlir::LogicalResult addFile(llvm::StringRef path, Report error, Report warn);

  /// Adds rules that have been proved under the conditions that they state,
  /// as those of Library.h have.
  void addProved(std::vector<Rule> proved);
  /// Proves and adds, of the rules about convolutions that are there, those
  /// with the strides and paddings of `root` that are not.
  void addWindowRules(mlir::Operation *root);
  /// Adds a rule that has been proved.
  void add(ProvedRule rule) { rules.push_back(std::move(rule)); }

  llvm::ArrayRef<ProvedRule> getRules() const { return rules; }

private:
  std::vector<ProvedRule> rules;
};

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_SEARCH_RULESET_H
