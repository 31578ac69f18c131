//===- Names.h - Names in patterns ------------------------------*- C++ -*-===//

#ifndef ESPALIER_LIB_SUBSTITUTION_PATTERNS_NAMES_H
#define ESPALIER_LIB_SUBSTITUTION_PATTERNS_NAMES_H

#include "llvm/ADT/StringRef.h"

namespace espalier::substitution {

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

#endif // ESPALIER_LIB_SUBSTITUTION_PATTERNS_NAMES_H
