//===- SExpr.cpp - Nested lists of words ----------------------------------===//

#include "SExpr.h"

using namespace espalier::proof;

/// Lines are broken beyond this length, and deeper lists are no proofs.
static constexpr size_t kMaxLine = 100;
static constexpr size_t kMaxDepth = 400;

std::string SExpr::str() const {
  if (!isList())
    return word;
  std::string text = "(";
  for (const SExpr &part : list)
    text += (text.size() > 1 ? " " : "") + part.str();
  return text + ")";
}

std::string SExpr::strIndented(unsigned indent) const {
  std::string flat = str();
  if (!isList() || flat.size() + indent <= kMaxLine)
    return flat;
  std::string text = "(";
  bool isStart = true;
  for (const SExpr &part : list) {
    if (!part.isList() && isStart)
      text += (text.size() > 1 ? " " : "") + part.word;
    else
      text +=
          "\n" + std::string(indent + 1, ' ') + part.strIndented(indent + 1);
    isStart &= !part.isList();
  }
  return text + ")";
}

std::optional<std::vector<SExpr>>
espalier::proof::parseSExprs(llvm::StringRef text) {
  std::vector<std::vector<SExpr>> open(1);
  while (!(text = text.ltrim()).empty()) {
    char first = text.front();
    if (first == '(' || first == ')')
      text = text.drop_front();
    if (first == '(') {
      if (open.size() > kMaxDepth)
        return std::nullopt;
      open.emplace_back();
    } else if (first == ')') {
      if (open.size() == 1)
        return std::nullopt;
      SExpr done(std::move(open.back()));
      open.pop_back();
      open.back().push_back(std::move(done));
    } else {
      llvm::StringRef word = text.take_front(text.find_first_of("() \t\r\n"));
      text = text.drop_front(word.size());
      open.back().push_back(SExpr(word));
    }
  }
  if (open.size() != 1)
    return std::nullopt;
  return std::move(open.front());
}

std::optional<unsigned> espalier::proof::getNumber(const SExpr &expr) {
  unsigned number;
  if (expr.isList() || llvm::StringRef(expr.word).getAsInteger(10, number) ||
      std::to_string(number) != expr.word)
    return std::nullopt;
  return number;
}
