//===- Patterns.h - Rules as PDL patterns -----------------------*- C++ -*-===//
//
// A rule is a `pdl.pattern` on operations of `graph`. What PDL cannot say by
// itself are functions that the compiler which uses the patterns registers
// (`registerPatternFunctions`):
//
//   espalier_is(op, "conv2d :stride 1,1 :pad same :act none")
//       The operation computes the operator of the text form, for its sizes.
//   espalier_fits(rule, tensors..)
//       The sizes of the tensors of `src` are right: those of both sides agree,
//       slices cut where the rule says, the condition (`where`) holds, and the
//       operations of `dst` can take the place of those of `src`.
//   espalier_simplifies(rule, tensors..)
//       More operations become unused than are new, and no fewer convolutions,
//       matrix products and pools. What depends on constants alone does not
//       count. Applying such rules ends.
//   espalier_begin(rule, tensors..)
//       Comes before all creations.
//   espalier_create("relu", operands..)
//       Creates an operation of `dst`.
//   espalier_create_sized("split :axis 1 :part 0", rule, number, tensors..,
//                         operands..)
//       The same where the context decides sizes: constants and splits.
//
// `tensors` are those of `src` in the order of `listTensors`: variables as
// values, operators as operations.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_SUBSTITUTION_PATTERNS_PATTERNS_H
#define ESPALIER_SUBSTITUTION_PATTERNS_PATTERNS_H

#include "espalier/Substitution/Rule.h"
#include "espalier/Substitution/RuleTensors.h"
#include "mlir/IR/BuiltinOps.h"
#include "mlir/IR/PatternMatch.h"
#include <functional>

namespace espalier::substitution {

/// What a rule does to the number of operators, constants apart.
struct RuleCost {
  unsigned numSrc = 0, numDst = 0;
  /// Of these, convolutions, matrix products and pools.
  unsigned numSrcKernels = 0, numDstKernels = 0;

  /// Whether the rule may leave fewer operations, which also depends on which
  /// of them are used elsewhere, or depend on constants alone.
  bool maySimplify() const { return numDstKernels <= numSrcKernels; }
};
/// Operators that both sides share count on neither.
RuleCost getCost(const Rule &rule, const RuleTensors &uses);

/// A rule, and whether it was proved.
struct UsableRule {
  Rule rule;
  bool isProved = true;
};

/// Prints a rule as a `pdl.pattern`. If there is none, prints nothing, and
/// returns why: PDL begins to match at operations, of which each must be
/// connected to the others.
std::string emitPattern(const UsableRule &rule, llvm::raw_ostream &os);
/// Prints a module of the patterns of all rules; a comment stands for each that
/// has none.
void emitPatterns(llvm::ArrayRef<UsableRule> rules, llvm::raw_ostream &os);

/// Reads the patterns of a module as rules. Emits an error for each that the
/// text form cannot say, which names the operation, and leaves it out; fails if
/// there was any.
mlir::LogicalResult importPatterns(mlir::ModuleOp module,
                                   std::vector<Rule> &rules);

/// Registers what emitted patterns call. Calls `onApply`, if set, with each
/// rule that is applied, and an operation that it replaces.
void registerPatternFunctions(
    mlir::PDLPatternModule &patterns,
    std::function<void(const Rule &, mlir::Operation *)> onApply = {});

/// Reads a file of rules: the text form, PDL (`.mlir`), or PDLL (`.pdll`,
/// translated by the command `mlir-pdll`). Proves each rule; one that is not
/// proved is an error with the counterexample, or, with `allowUnproved`, a
/// warning. Fails if there was an error.
mlir::LogicalResult
loadRuleFile(llvm::StringRef path, bool allowUnproved,
             mlir::MLIRContext *context, std::vector<UsableRule> &rules,
             llvm::function_ref<void(const llvm::Twine &)> error,
             llvm::function_ref<void(const llvm::Twine &)> warn);

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_PATTERNS_PATTERNS_H
