//===- OperatorText.h - Operators without their operands --------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_PATTERNS_OPERATORTEXT_H
#define ESPALIER_LIB_SUBSTITUTION_PATTERNS_OPERATORTEXT_H

#include "espalier/Substitution/Rule.h"

namespace espalier::substitution {

/// An operator and its parameters.
struct OperatorText {
  OpKind kind;
  llvm::SmallVector<Param, 3> params;
};

/// Prints `conv2d :stride 1,1 :pad same :act none`.
std::string printOperator(const Node &node);
/// Parses the same. Nothing, and a complaint, if it is malformed.
std::optional<OperatorText> parseOperator(llvm::StringRef text,
                                          std::string &complaint);

/// Names of native functions, and of attributes of patterns.
namespace names {
constexpr llvm::StringLiteral kIs = "espalier_is";
constexpr llvm::StringLiteral kFits = "espalier_fits";
constexpr llvm::StringLiteral kSimplifies = "espalier_simplifies";
constexpr llvm::StringLiteral kBegin = "espalier_begin";
constexpr llvm::StringLiteral kCreate = "espalier_create";
constexpr llvm::StringLiteral kCreateSized = "espalier_create_sized";
} // namespace names

} // namespace espalier::substitution

#endif // ESPALIER_LIB_SUBSTITUTION_PATTERNS_OPERATORTEXT_H
