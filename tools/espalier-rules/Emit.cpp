//===- Emit.cpp - espalier-rules emit -------------------------------------===//

#include "Commands.h"
#include "espalier/Dialect/Graph/IR/Graph.h"
#include "espalier/Substitution/Patterns/Patterns.h"
#include "llvm/Support/CommandLine.h"

using namespace espalier::substitution;
using namespace llvm;

static cl::SubCommand emitCommand("emit", "Proves rules and prints them as "
                                          "PDL patterns");
static cl::list<std::string> files(cl::Positional, cl::OneOrMore,
                                   cl::desc("<rules, .mlir or .pdll>"),
                                   cl::sub(emitCommand));
static cl::opt<bool> allowUnproved("allow-unproved", cl::sub(emitCommand),
                                   cl::desc("Print rules that are not proved, "
                                            "too, and mark them"));
static cl::opt<bool> asText("text", cl::sub(emitCommand),
                            cl::desc("Print them in the text form"));

std::optional<int> espalier::rules::runEmit() {
  if (!emitCommand)
    return std::nullopt;
  mlir::MLIRContext context{mlir::MLIRContext::Threading::DISABLED};
  context.loadDialect<graph::GraphDialect>();
  auto report = [](const Twine &message) { errs() << message << '\n'; };
  std::vector<UsableRule> rules;
  bool isFaulty = false;
  for (const std::string &file : files)
    isFaulty |= failed(
        loadRuleFile(file, allowUnproved, &context, rules, report, report));
  if (!asText) {
    emitPatterns(rules, outs());
    return isFaulty;
  }
  outs() << "version " << kRulesVersion << "\n\n";
  for (const UsableRule &rule : rules) {
    print(rule.rule, outs());
    outs() << '\n';
  }
  outs() << "end " << rules.size() << '\n';
  return isFaulty;
}
