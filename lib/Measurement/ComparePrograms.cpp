//===- ComparePrograms.cpp - Which of two programs is faster --------------===//

#include "espalier/Measurement/ComparePrograms.h"
#include "RunProgram.h"
#include "espalier/Measurement/Samples.h"
#include "espalier/Support/ChildProcess.h"
#include "llvm/Support/JSON.h"
#include "llvm/Support/raw_ostream.h"
#include <algorithm>
#include <cmath>
#include <cstring>

using namespace espalier;

static constexpr unsigned kMinRuns = 9, kMaxRuns = 2000;

/// Returns the largest difference of two programs' outputs.
static double compareOutputs(const ProgramRun &first,
                             const ProgramRun &second) {
  double error = 0;
  for (auto [a, b] : llvm::zip(first.getOutputs(), second.getOutputs()))
    error = std::max(error, a.getBytes() == b.getBytes()
                                ? compareArrays(a.getDtype(), a.get(0).data,
                                                b.get(0).data, a.getBytes())
                                : HUGE_VAL);
  return error;
}

/// Runs the programs in turns.
static ProgramComparison timeInTurns(ProgramRun &first, ProgramRun &second,
                                     const CompareOptions &options) {
  bool ownTime = options.threads == 1;
  auto time = [&](ProgramRun &run) {
    // What ran once is not refused later.
    return timeCall([&] { llvm::cantFail(run.run()); }, ownTime);
  };
  std::vector<double> firsts, seconds, ratios;
  double total = 0;
  while (ratios.size() < kMinRuns ||
         (total < options.seconds && ratios.size() < kMaxRuns)) {
    // Whoever comes second finds other things in the caches.
    bool swapped = ratios.size() % 2;
    double a = time(swapped ? second : first);
    double b = time(swapped ? first : second);
    if (swapped)
      std::swap(a, b);
    firsts.push_back(a);
    seconds.push_back(b);
    ratios.push_back(b / a);
    total += a + b;
  }
  ProgramComparison result;
  result.first = getMedian(firsts);
  result.second = getMedian(seconds);
  result.share = llvm::count_if(ratios, [](double r) { return r < 1; }) /
                 double(ratios.size());
  result.ratio = getMedian(std::move(ratios));
  return result;
}

static llvm::Expected<ProgramComparison>
compareHere(const CompiledProgram &first, const CompiledProgram &second,
            const CompareOptions &options) {
  std::unique_ptr<LoadedProgram> loaded[2];
  std::unique_ptr<ProgramRun> runs[2];
  const CompiledProgram *programs[2] = {&first, &second};
  for (int i : {0, 1}) {
    auto program = LoadedProgram::create(*programs[i]);
    if (!program)
      return program.takeError();
    loaded[i] = std::move(*program);
    RunOptions runOptions;
    runOptions.threads = options.threads;
    runOptions.unknownExtent = options.unknownExtent;
    auto run = ProgramRun::create(loaded[i]->getProgram(), runOptions);
    if (!run)
      return run.takeError();
    runs[i] = std::move(*run);
    // Twice: the first run touches memory and code for the first time.
    for (int repeat = 0; repeat < 2; ++repeat)
      if (llvm::Error error = runs[i]->run())
        return error;
  }
  double error = compareOutputs(*runs[0], *runs[1]);
  ProgramComparison result = timeInTurns(*runs[0], *runs[1], options);
  result.error = error;
  return result;
}

/// The outcome as text that goes through a pipe. The error may be infinite,
/// which JSON has no number for.
static std::string encode(const ProgramComparison &result) {
  llvm::json::Object object{{"first", result.first},
                            {"second", result.second},
                            {"ratio", result.ratio},
                            {"share", result.share},
                            {"error", std::min(result.error, 1e300)}};
  std::string text;
  llvm::raw_string_ostream(text) << llvm::json::Value(std::move(object));
  return text;
}

static llvm::Expected<ProgramComparison> decode(llvm::StringRef text) {
  if (text.consume_front("!"))
    return llvm::createStringError(text);
  llvm::Expected<llvm::json::Value> value = llvm::json::parse(text);
  if (!value)
    return value.takeError();
  const llvm::json::Object *object = value->getAsObject();
  if (!object)
    return llvm::createStringError("expects times, but the process told none");
  auto get = [&](const char *name) {
    return object->getNumber(name).value_or(0);
  };
  return ProgramComparison{get("first"), get("second"), get("ratio"),
                           get("share"), get("error")};
}

llvm::Expected<ProgramComparison>
espalier::comparePrograms(const CompiledProgram &first,
                          const CompiledProgram &second,
                          const CompareOptions &options) {
  auto outcome = runInChild(
      [&] {
        auto result = compareHere(first, second, options);
        return result ? encode(*result)
                      : "!" + llvm::toString(result.takeError());
      },
      options.timeLimit, options.memoryLimit);
  if (!outcome)
    return outcome.takeError();
  return decode((*outcome)->getBuffer());
}
