//===- BenchPath.cpp - What trying one candidate costs --------------------===//

#include "espalier/Tuning/BenchPath.h"
#include "Measuring/KernelBench.h"
#include "Search.h"
#include "Task.h"
#include "espalier/Measurement/Samples.h"
#include "espalier/Support/ChildProcess.h"
#include "llvm/ADT/MapVector.h"
#include "llvm/Support/Format.h"
#include <sys/resource.h>
#include <time.h>

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

//===----------------------------------------------------------------------===//
// The way of one candidate
//===----------------------------------------------------------------------===//

namespace {
/// Says how much processor time passes.
class StopWatch {
public:
  explicit StopWatch(clockid_t clock) : clock(clock), last(read()) {}

  /// Since the last call, or since this was made.
  double takeSeconds() {
    double now = read();
    return now - std::exchange(last, now);
  }

private:
  double read() const {
    timespec time = {};
    clock_gettime(clock, &time);
    return time.tv_sec + 1e-9 * time.tv_nsec;
  }

  clockid_t clock;
  double last;
};
} // namespace

/// The processor time of all child processes that have ended.
static double getChildSeconds() {
  rusage usage = {};
  getrusage(RUSAGE_CHILDREN, &usage);
  auto count = [](const timeval &time) {
    return time.tv_sec + 1e-6 * time.tv_usec;
  };
  return count(usage.ru_utime) + count(usage.ru_stime);
}

/// Adds what a process says of its steps, each of which may occur several
/// times.
static llvm::Error readSteps(StringRef text, std::vector<PathStep> &steps) {
  if (text.consume_front("!"))
    return llvm::createStringError(text);
  while (!text.empty()) {
    auto [line, rest] = text.split('\n');
    auto [name, number] = line.split(' ');
    double seconds = 0;
    if (number.getAsDouble(seconds))
      return llvm::createStringError("expects steps, but got '" + line + "'");
    auto place = llvm::find_if(steps, [&, &name = name](const PathStep &step) {
      return step.name == name;
    });
    if (place == steps.end())
      steps.push_back({name.str(), seconds});
    else
      place->seconds += seconds;
    text = rest;
  }
  return llvm::Error::success();
}

llvm::Expected<std::vector<PathStep>> Task::tracePath() const {
  StopWatch own(CLOCK_THREAD_CPUTIME_ID);
  const Sketch &sketch = sketches.front();
  OwningOpRef<ModuleOp> script = sketch.select(sketch.getDefault());
  std::string text;
  llvm::raw_string_ostream(text) << *script;
  describe(*script);
  KernelBench bench(*module, kernel.module, getMeasure(), options);
  std::vector<PathStep> steps = {{"draft", own.takeSeconds()}};
  double others = getChildSeconds();
  auto said = runInChild(
      [&] {
        StopWatch watch(CLOCK_PROCESS_CPUTIME_ID);
        std::string lines;
        llvm::raw_string_ostream os(lines);
        MeasureOptions measure = getMeasure();
        measure.codegen.stepDone = [&](StringRef step) {
          os << step << ' ' << llvm::format("%.9e", watch.takeSeconds())
             << '\n';
        };
        std::string outcome =
            bench.evaluate(text, /*returnsOutputs=*/false, measure);
        return Outcome::parse(outcome).status == TrialStatus::Measured
                   ? lines
                   : "!" + Outcome::parse(outcome).error;
      },
      getMeasure().timeLimit, getMeasure().memoryLimit);
  if (!said)
    return said.takeError();
  steps.push_back({"fork", own.takeSeconds()});
  if (llvm::Error error = readSteps((*said)->getBuffer(), steps))
    return std::move(error);
  double rest = getChildSeconds() - others;
  for (const PathStep &step : ArrayRef(steps).drop_front(2))
    rest -= step.seconds;
  steps.push_back({"exit", std::max(rest, 0.0)});
  return steps;
}

//===----------------------------------------------------------------------===//
// Several times
//===----------------------------------------------------------------------===//

/// The medians of several ways, which have the same steps.
static void summarize(ArrayRef<std::vector<PathStep>> ways, KernelPath &path) {
  llvm::MapVector<StringRef, std::vector<double>> byName;
  std::vector<double> sums;
  for (const std::vector<PathStep> &way : ways) {
    double sum = 0;
    for (const PathStep &step : way) {
      byName[step.name].push_back(step.seconds);
      if (step.name != "run")
        sum += step.seconds;
    }
    sums.push_back(sum);
  }
  for (auto &[name, seconds] : byName)
    path.steps.push_back({name.str(), getMedian(seconds)});
  path.seconds = getMedian(std::move(sums));
}

static llvm::Error traceKernel(Task &task, unsigned repeats,
                               const TuneOptions &options, KernelPath &path) {
  std::vector<std::vector<PathStep>> ways;
  while (ways.size() < repeats && !options.measure.codegen.mustStop()) {
    llvm::Expected<std::vector<PathStep>> way = task.tracePath();
    if (way) {
      ways.push_back(std::move(*way));
      continue;
    }
    llvm::Error error = way.takeError();
    if (error.isA<NoChildProcess>())
      return error;
    path.reason = llvm::toString(std::move(error));
    return llvm::Error::success();
  }
  if (!ways.empty())
    summarize(ways, path);
  return llvm::Error::success();
}

llvm::Expected<std::vector<KernelPath>>
tuning::benchPath(ModuleOp module, const TuneOptions &options,
                  unsigned repeats) {
  auto kernels = collectTasks(module, options);
  if (!kernels)
    return kernels.takeError();
  SearchContext search(module);
  std::unique_ptr<Measurer> measurer = makeLocalMeasurer(options);
  std::vector<KernelPath> paths;
  for (const ProgramKernel &kernel : *kernels) {
    auto task = Task::create(kernel, search.get(), options, *measurer);
    if (!task)
      return task.takeError();
    KernelPath path;
    path.name = kernel.name;
    if (!(*task)->hasSpace())
      path.reason = "runs in program order";
    else if (llvm::Error error = traceKernel(**task, repeats, options, path))
      return std::move(error);
    paths.push_back(std::move(path));
  }
  return std::move(paths);
}
