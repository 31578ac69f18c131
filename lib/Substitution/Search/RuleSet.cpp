//===- RuleSet.cpp - Rules that a search may use --------------------------===//

#include "espalier/Substitution/Search/RuleSet.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace mlir;
using namespace espalier::substitution;

LogicalResult RuleSet::add(StringRef text, Report error, Report warn) {
  std::vector<Rule> parsed;
  LogicalResult result =
      parseRules(text, parsed, [&](unsigned line, const Twine &message) {
        error("line " + Twine(line) + ": " + message);
      });
  if (failed(result))
    return failure();
  Verifier verifier;
  for (Rule &rule : parsed) {
    Verdict verdict = verifier.verify(rule);
    if (verdict.kind == Verdict::Kind::Proved ||
        verdict.kind == Verdict::Kind::ProvedIf) {
      Guard guard = rule.where;
      guard.add(verdict.guard);
      add({std::move(rule), std::move(guard)});
      continue;
    }
    std::string text;
    llvm::raw_string_ostream(text) << verdict;
    warn("rule " + rule.name + " is not used: " + text);
  }
  return success();
}

void RuleSet::addProved(std::vector<Rule> proved) {
  for (Rule &rule : proved) {
    Guard guard = rule.where;
    add({std::move(rule), std::move(guard)});
  }
}

LogicalResult RuleSet::addFile(StringRef path, Report error, Report warn) {
  auto buffer = llvm::MemoryBuffer::getFile(path, /*IsText=*/true);
  if (!buffer) {
    error("cannot read: " + buffer.getError().message());
    return failure();
  }
  return add((*buffer)->getBuffer(), error, warn);
}
