//===- SExpr.h - Nested lists of words --------------------------*- C++ -*-===//
//
// Rules, sizes and proofs are nested lists of words in parentheses.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_PROOF_SEXPR_H
#define ESPALIER_LIB_PROOF_SEXPR_H

#include "llvm/ADT/StringRef.h"
#include <optional>
#include <string>
#include <vector>

namespace espalier::proof {

/// A word, or a list.
struct SExpr {
  std::string word; ///< Empty for a list.
  std::vector<SExpr> list;

  SExpr() = default;
  SExpr(llvm::StringRef word) : word(word.str()) {}
  SExpr(const char *word) : word(word) {}
  SExpr(std::vector<SExpr> list) : list(std::move(list)) {}

  bool isList() const { return word.empty(); }
  /// Whether it is a list that begins with this word.
  bool is(llvm::StringRef head) const {
    return !list.empty() && list.front().word == head;
  }
  /// Without the line breaks, or with them where a line would be long.
  std::string str() const;
  std::string strIndented(unsigned indent = 0) const;
};

/// All lists and words of `text`; nothing if parentheses do not match.
std::optional<std::vector<SExpr>> parseSExprs(llvm::StringRef text);

/// The number that a word is.
std::optional<unsigned> getNumber(const SExpr &expr);

} // namespace espalier::proof

#endif // ESPALIER_LIB_PROOF_SEXPR_H
