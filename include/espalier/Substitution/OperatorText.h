//===- OperatorText.h - Operators without their operands --------*- C++ -*-===//

#ifndef ESPALIER_SUBSTITUTION_OPERATORTEXT_H
#define ESPALIER_SUBSTITUTION_OPERATORTEXT_H

#include "espalier/Substitution/Rule.h"

namespace espalier::substitution {

/// An operator and its parameters.
struct OperatorText {
  OpKind kind;
  llvm::SmallVector<Param, 3> params;
};

/// Prints `conv2d :stride 1,1 :pad same :act none`.
std::string printOperator(const RuleNode &node);
/// Parses the same. Nothing, and a complaint, if it is malformed.
std::optional<OperatorText> parseOperator(llvm::StringRef text,
                                          std::string &complaint);

} // namespace espalier::substitution

#endif // ESPALIER_SUBSTITUTION_OPERATORTEXT_H
