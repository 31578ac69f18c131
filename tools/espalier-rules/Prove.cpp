//===- Prove.cpp - espalier-rules prove -----------------------------------===//

#include "Commands.h"
#include "espalier/Substitution/RuleProver.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/MemoryBuffer.h"

using namespace espalier::substitution;
using namespace llvm;

static cl::SubCommand
    proveCommand("prove", "Prints the rules that are proved, each with the "
                          "condition that it needs");
static cl::opt<std::string> file(cl::Positional, cl::Required,
                                 cl::desc("<rules>"), cl::sub(proveCommand));

std::optional<int> espalier::rules::runProve() {
  if (!proveCommand)
    return std::nullopt;
  auto buffer = MemoryBuffer::getFileOrSTDIN(file, /*IsText=*/true);
  if (!buffer) {
    errs() << file << ": error: " << buffer.getError().message() << '\n';
    return 2;
  }
  std::vector<Rule> parsed;
  bool isFaulty = failed(parseRules(
      (*buffer)->getBuffer(), parsed, [&](unsigned line, const Twine &message) {
        errs() << file << ':' << line << ": error: " << message << '\n';
      }));
  outs() << "version " << kRulesVersion << "\n\n";
  RuleProver prover;
  unsigned numProved = 0;
  for (Rule &rule : parsed) {
    Verdict verdict = prover.prove(rule);
    if (!verdict.isProved()) {
      errs() << rule.name << ": " << verdict << '\n';
      continue;
    }
    ++numProved;
    print(rule, outs());
    outs() << '\n';
  }
  outs() << "end " << numProved << '\n';
  if (isFaulty)
    return 2;
  return numProved == parsed.size() ? 0 : 1;
}
