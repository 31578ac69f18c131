//===- espalier-run.cpp - Compiles a module and runs it -------------------===//

#include "Run.h"
#include "espalier/InitAll.h"
#include "mlir/InitAllDialects.h"
#include "mlir/InitAllExtensions.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/InitLLVM.h"

namespace cl = llvm::cl;

int main(int argc, char **argv) {
  llvm::InitLLVM init(argc, argv);
  espalier::run::RunOptions options;
  auto &codegen = options.codegen;
  cl::opt<std::string, true> inputFile(cl::Positional, cl::Required,
                                       cl::desc("<module>"),
                                       cl::location(options.inputFile));
  cl::opt<std::string, true> outputFile(
      "o", cl::desc("Link a shared library instead of running"),
      cl::value_desc("file.so"), cl::location(options.outputFile));
  cl::list<std::string> inputs("input",
                               cl::desc("An input: 2x3xf32=0.5, =1,2,3,4,5,6, "
                                        "=iota or =random; once per input"));
  cl::opt<std::string, true> cacheDir("cache-dir",
                                      cl::desc("Folder of compiled programs"),
                                      cl::location(options.cacheDir));
  cl::opt<std::string, true> cpu("cpu", cl::desc("CPU to compile for"),
                                 cl::location(codegen.cpu));
  cl::opt<std::string, true> features("features",
                                      cl::desc("Differences to that CPU"),
                                      cl::location(codegen.features));
  cl::opt<unsigned, true> optLevel("O", cl::Prefix,
                                   cl::desc("Optimization level"),
                                   cl::location(codegen.optLevel), cl::init(3));
  cl::opt<unsigned, true> jobs("jobs", cl::desc("Kernels to compile at once"),
                               cl::location(codegen.jobs), cl::init(0));
  cl::opt<int> threads("num-threads", cl::init(0),
                       cl::desc("Threads to run on"));
  cl::opt<unsigned, true> repeat("repeat", cl::desc("Timed repetitions"),
                                 cl::location(options.repeat), cl::init(0));
  cl::opt<bool> quiet("quiet", cl::desc("Do not print the outputs"));
  cl::ParseCommandLineOptions(argc, argv, "Espalier program runner\n");
  options.inputs = inputs;
  options.numThreads = threads;
  options.printOutputs = !quiet;

  mlir::DialectRegistry registry;
  mlir::registerAllDialects(registry);
  mlir::registerAllExtensions(registry);
  espalier::registerAllDialects(registry);
  espalier::registerCompilation(registry);
  mlir::MLIRContext context(registry);
  return espalier::run::run(context, options);
}
