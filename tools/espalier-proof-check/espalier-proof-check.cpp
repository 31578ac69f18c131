//===- espalier-proof-check.cpp - Checks proofs of rules ------------------===//

#include "espalier/Proof/Proof.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

namespace cl = llvm::cl;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  cl::list<std::string> paths(cl::Positional, cl::OneOrMore,
                              cl::desc("proofs, or folders of proofs"));
  cl::opt<std::string> rules(
      "rules", cl::desc("The rules that the proofs must be about, and all of"),
      cl::value_desc("file"));
  cl::ParseCommandLineOptions(argc, argv, "Checks proofs of rules.\n");
  return espalier::proof::checkProofs(
      std::vector<std::string>(paths.begin(), paths.end()), rules, llvm::outs(),
      llvm::errs());
}
