//===- Options.cpp - The command line of espalier-run ---------------------===//

#include "Run.h"
#include "llvm/Support/CommandLine.h"

using namespace espalier::run;

namespace cl = llvm::cl;

RunOptions espalier::run::parseCommandLine(int argc, char **argv) {
  cl::OptionCategory none("No options");
  cl::HideUnrelatedOptions(none); // Those that LLVM brings with it.
  RunOptions options;
  auto &codegen = options.codegen;
  cl::opt<std::string, true> inputFile(cl::Positional, cl::Required,
                                       cl::desc("<module>"),
                                       cl::location(options.inputFile));
  cl::opt<std::string, true> outputFile(
      "o", cl::desc("Make a shared library or an object instead of running"),
      cl::value_desc("file.so|file.o"), cl::location(options.outputFile));
  cl::list<std::string> inputs("input",
                               cl::desc("An input: 2x3xf32=0.5, =1,2,3,4,5,6, "
                                        "=iota or =random; once per input"));
  cl::opt<std::string, true> cacheDir("cache-dir",
                                      cl::desc("Folder of compiled programs"),
                                      cl::location(options.cache.dir));
  cl::opt<uint64_t, true> cacheLimit(
      "cache-limit", cl::desc("Bytes of all programs in that folder"),
      cl::location(options.cache.limit), cl::init(options.cache.limit));
  cl::opt<std::string, true> toolsDir(
      "tools-dir", cl::desc("Folder of the C compiler to link with"),
      cl::location(options.link.toolsDir));
  cl::opt<std::string, true> ompLibrary("omp-library",
                                        cl::desc("The OpenMP runtime"),
                                        cl::location(options.link.ompLibrary));
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
  cl::opt<bool> sequential("sequential", cl::desc("Compile without threads"));
  cl::opt<bool> quiet("quiet", cl::desc("Do not print the outputs"));
  cl::ParseCommandLineOptions(argc, argv, "Espalier program runner\n");
  options.inputs = inputs;
  options.numThreads = threads;
  options.printOutputs = !quiet;
  codegen.pipeline.threads = !sequential;
  return options;
}
