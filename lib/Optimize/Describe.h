//===- Describe.h - Graphs and substitutions as JSON ------------*- C++ -*-===//

#ifndef ESPALIER_LIB_OPTIMIZE_DESCRIBE_H
#define ESPALIER_LIB_OPTIMIZE_DESCRIBE_H

#include "espalier/Substitution/Search/Search.h"
#include "mlir/IR/BuiltinOps.h"
#include "llvm/Support/JSON.h"

namespace espalier {

/// Describes the operators of `main` in their order: each has an `op`, its
/// `type`, its `attributes` as text, the numbers of its `operands` among all
/// values of the list, and whether it `is_constant`, which is also said of what
/// depends on constants alone. Inputs come first, with the op `input`.
llvm::json::Array describeGraph(mlir::ModuleOp module);

/// Describes substitutions by their rules: how often each was made, and the sum
/// of what they were predicted to gain.
llvm::json::Array
describeSubstitutions(llvm::ArrayRef<substitution::Substitution> substitutions);

/// Describes the rules in `substitutions` with their texts, verdicts and
/// proofs.
llvm::json::Array
describeProofs(llvm::ArrayRef<substitution::Substitution> substitutions,
               const substitution::RuleSet &rules);

} // namespace espalier

#endif // ESPALIER_LIB_OPTIMIZE_DESCRIBE_H
