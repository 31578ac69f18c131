//===- Generate.cpp - espalier-rules generate -----------------------------===//

#include "espalier/Substitution/Generator/Generate.h"
#include "Commands.h"
#include "llvm/Support/CommandLine.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/WithColor.h"

using namespace espalier;
using namespace espalier::substitution;
using namespace llvm;

static cl::SubCommand generateCommand("generate",
                                      "Finds rules by enumerating graphs");
static cl::opt<unsigned> depth("depth", cl::init(3), cl::sub(generateCommand),
                               cl::desc("Operators on a side, at most"));
static cl::opt<std::string>
    operators("operators", cl::init("taso"), cl::sub(generateCommand),
              cl::desc("Table of operators: taso, paper, strided, grouped "
                       "or extended"));
static cl::opt<bool>
    keepImplied("keep-implied", cl::sub(generateCommand),
                cl::desc("Print rules that follow from others too"));
static cl::opt<unsigned> threads("threads", cl::init(2),
                                 cl::sub(generateCommand),
                                 cl::desc("Threads of each process"));
static cl::opt<unsigned>
    partitions("partitions", cl::init(1), cl::sub(generateCommand),
               cl::desc("Parts of the work, a power of two: more need less "
                        "memory"));
static cl::opt<std::string>
    resume("resume", cl::sub(generateCommand), cl::value_desc("folder"),
           cl::desc("Keep finished partitions here and go on from them"));
static cl::opt<uint64_t> maxMegabytes("max-memory", cl::init(8192),
                                      cl::sub(generateCommand),
                                      cl::desc("MiB of a process, at most"));
static cl::opt<unsigned> maxSeconds("max-seconds", cl::init(3600),
                                    cl::sub(generateCommand),
                                    cl::desc("Time, at most"));

static void print(const GenerateStatistics &statistics, size_t numRules) {
  auto line = [](StringRef name, uint64_t number) {
    errs() << right_justify(std::to_string(number), 12) << "  " << name << '\n';
  };
  line("graphs", statistics.graphs);
  line("operators evaluated", statistics.evaluations);
  line("fingerprints", statistics.fingerprints);
  line("graphs equal to another", statistics.equalities);
  line("classes of equal graphs, up to renaming", statistics.classes);
  line("candidates in them", statistics.candidates);
  if (statistics.renamed) {
    line("rules up to renaming", statistics.renamed);
    line("rules without common subgraphs", statistics.unshared);
  }
  line("tested at other sizes", statistics.tested);
  line("of these, coincidences", statistics.failed);
  line("rules", numRules);
  line("of these, with a condition", statistics.conditional);
  if (statistics.resumed)
    line("partitions that were there", statistics.resumed);
  errs() << format("%12.2f  s to enumerate\n%12.2f  s to prune\n",
                   statistics.enumerateSeconds, statistics.pruneSeconds);
}

std::optional<int> rules::runGenerate() {
  if (!generateCommand)
    return std::nullopt;
  std::unique_ptr<Communicator> communicator = makeCommunicator();
  if (!communicator) {
    WithColor::error() << "expects to be one process, since it was built "
                          "without MPI\n";
    return 1;
  }
  GenerateOptions options;
  options.depth = depth;
  options.operators = operators;
  options.keepImplied = keepImplied;
  options.numThreads = threads;
  options.numPartitions = partitions;
  options.folder = resume;
  options.maxMegabytes = maxMegabytes;
  options.maxSeconds = maxSeconds;
  std::vector<GeneratedRule> generated;
  GenerateStatistics statistics;
  if (failed(generateRules(
          options, *communicator, generated, statistics,
          [](const Twine &message) { WithColor::error() << message << '\n'; })))
    return 1;
  if (communicator->getRank() != 0)
    return 0;
  for (const GeneratedRule &rule : generated) {
    substitution::print(rule.rule, outs());
    if (!rule.condition.empty())
      outs() << "tested-where " << rule.condition << '\n';
    outs() << '\n';
  }
  print(statistics, generated.size());
  return 0;
}
