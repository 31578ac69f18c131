//===- espalier-rules.cpp - Works on substitution rules -------------------===//

#include "Commands.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"
#include "llvm/Support/raw_ostream.h"

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  llvm::cl::ParseCommandLineOptions(argc, argv,
                                    "Works on graph substitution rules\n");
  if (std::optional<int> status = espalier::rules::runGenerate())
    return *status;
  llvm::errs() << argv[0] << ": expects a command, such as 'generate'\n";
  return 1;
}
