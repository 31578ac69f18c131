//===- Outcome.cpp - What becomes of one candidate ------------------------===//

#include "Outcome.h"
#include "espalier/Support/ChildProcess.h"
#include "llvm/ADT/STLExtras.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"

using namespace espalier;
using namespace espalier::tuning;

std::string tuning::printTimes(llvm::ArrayRef<std::vector<double>> times) {
  std::string text;
  llvm::raw_string_ostream os(text);
  llvm::interleave(
      times, os,
      [&](llvm::ArrayRef<double> part) {
        llvm::interleave(
            part, os, [&](double time) { os << llvm::format("%.6e", time); },
            " ");
      },
      "; ");
  return text;
}

std::vector<std::vector<double>> tuning::parseTimes(llvm::StringRef text) {
  std::vector<std::vector<double>> times;
  for (llvm::StringRef part : llvm::split(text, "; ")) {
    llvm::SmallVector<llvm::StringRef> texts;
    part.split(texts, ' ', /*MaxSplit=*/-1, /*KeepEmpty=*/false);
    std::vector<double> samples(texts.size());
    for (auto [one, sample] : llvm::zip_equal(texts, samples))
      if (one.getAsDouble(sample))
        return {};
    if (samples.empty())
      return {};
    times.push_back(std::move(samples));
  }
  return times;
}

void Outcome::scale(double factor) {
  seconds *= factor;
  std::vector<std::vector<double>> all = parseTimes(times);
  for (std::vector<double> &part : all)
    for (double &time : part)
      time *= factor;
  times = printTimes(all);
}

std::string Outcome::print(const MeasuredProgram &measured,
                           llvm::StringRef code, bool withOutputs) {
  std::string text;
  llvm::raw_string_ostream os(text);
  os << code << '\n'
     << llvm::format("%.9e\n", measured.seconds) << printTimes(measured.times)
     << '\n';
  if (withOutputs)
    for (const MeasuredOutput &output : measured.outputs)
      os << output.dtype << ' ' << output.getBytes().size() << '\n'
         << output.getBytes();
  return print(TrialStatus::Measured, text);
}

Outcome Outcome::parse(llvm::StringRef text) {
  Outcome outcome;
  auto takeLine = [&] {
    auto [line, rest] = text.split('\n');
    text = rest;
    return line;
  };
  unsigned status = 0;
  if (takeLine().getAsInteger(10, status) ||
      status > static_cast<unsigned>(TrialStatus::Wrong)) {
    outcome.error = "expects a time, but the process told none";
    return outcome;
  }
  outcome.status = static_cast<TrialStatus>(status);
  if (outcome.status != TrialStatus::Measured) {
    outcome.error = text.rtrim().str();
    return outcome;
  }
  outcome.code = takeLine().str();
  if (takeLine().getAsDouble(outcome.seconds) || !(outcome.seconds > 0)) {
    outcome.status = TrialStatus::Failed;
    outcome.error = "expects a time, but the process told none";
    return outcome;
  }
  outcome.times = takeLine().str();
  while (!text.empty()) {
    auto [dtype, size] = takeLine().split(' ');
    MeasuredOutput output;
    size_t bytes = 0;
    if (dtype.getAsInteger(10, output.dtype) || size.getAsInteger(10, bytes))
      break;
    // A copy is aligned.
    output.buffer =
        llvm::MemoryBuffer::getMemBufferCopy(text.take_front(bytes));
    if (!output.buffer) {
      outcome.status = TrialStatus::Failed;
      outcome.error = "expects memory for an output, but got none";
      break;
    }
    text = text.drop_front(bytes);
    outcome.outputs.push_back(std::move(output));
  }
  return outcome;
}

llvm::Expected<Outcome>
tuning::runOutcome(llvm::function_ref<std::string()> evaluate,
                   const MeasureOptions &options) {
  auto start = std::chrono::steady_clock::now();
  auto text = runInChild(evaluate, options.timeLimit, options.memoryLimit,
                         [&] { return options.codegen.mustStop(); });
  if (text) {
    Outcome outcome = Outcome::parse((*text)->getBuffer());
    outcome.wall =
        std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
            .count();
    return std::move(outcome);
  }
  llvm::Error error = text.takeError();
  if (error.isA<NoChildProcess>())
    return std::move(error);
  Outcome outcome;
  outcome.error = llvm::toString(std::move(error));
  return outcome;
}
