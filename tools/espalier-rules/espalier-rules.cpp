//===- espalier-rules.cpp - Proves and finds substitution rules -----------===//

#include "Commands.h"
#include "espalier/Substitution/Verify.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

namespace cl = llvm::cl;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::OptionCategory none("No options");
  cl::HideUnrelatedOptions(none); // Those that LLVM brings with it.
  cl::SubCommand verify("verify", "Prove or refute each rule of a file");
  cl::opt<std::string> file(cl::Positional, cl::Required, cl::desc("<rules>"),
                            cl::sub(verify));
  cl::opt<std::string> proofs("proofs", cl::desc("Write proofs to here"),
                              cl::value_desc("folder"), cl::sub(verify));
  cl::ParseCommandLineOptions(argc, argv, "Espalier substitution rules\n");
  if (verify)
    return espalier::substitution::verifyFile(file, proofs, llvm::outs(),
                                              llvm::errs());
  if (std::optional<int> status = espalier::rules::runGenerate())
    return *status;
  if (std::optional<int> status = espalier::rules::runProve())
    return *status;
  if (std::optional<int> status = espalier::rules::runEmit())
    return *status;
  llvm::errs() << "error: expects a command, but got none; see --help\n";
  return 2;
}
