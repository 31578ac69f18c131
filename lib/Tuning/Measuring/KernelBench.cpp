//===- KernelBench.cpp - A kernel that is measured here -------------------===//

#include "KernelBench.h"
#include "../Script.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/xxhash.h"

using namespace mlir;
using namespace espalier;
using namespace espalier::tuning;

/// No kernel is worth more code.
static constexpr uint64_t kMaxCodeBytes = 1 << 20;

/// Says what machine code `program` has.
static std::string hashCode(const CompiledProgram &program) {
  uint64_t hash = 0;
  for (const auto &object : program.getObjects())
    hash = hash * 31 + llvm::xxh3_64bits(object->getBuffer());
  return llvm::utohexstr(hash, /*LowerCase=*/true);
}

/// The bytes of machine code, with what comes with it.
static uint64_t countBytes(const CompiledProgram &program) {
  uint64_t bytes = 0;
  for (const auto &object : program.getObjects())
    bytes += object->getBufferSize();
  return bytes;
}

std::string KernelBench::evaluate(StringRef text, bool returnsOutputs,
                                  MeasureOptions measure) const {
  ModuleOp module = payload;
  std::string reasons;
  ScopedDiagnosticHandler handler(
      module.getContext(), [&](Diagnostic &diagnostic) {
        if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
          reasons += diagnostic.str() + "\n";
        return success();
      });
  if (!text.empty()) {
    OwningOpRef<ModuleOp> script = parseScript(text, module.getContext());
    if (!script || failed(applyScript(*script, module)))
      return Outcome::print(TrialStatus::Refused, reasons);
  }
  measure.codegen.jobs = 1;
  // Whoever is interrupted ends this process.
  measure.codegen.isCancelled = nullptr;
  measure.codegen.finishStep("apply");
  FailureOr<CompiledProgram> program = compileModule(module, measure.codegen);
  if (failed(program))
    return Outcome::print(TrialStatus::NotCompiled, reasons);
  if (!text.empty() && countBytes(*program) > kMaxCodeBytes)
    return Outcome::print(TrialStatus::NotCompiled,
                          "expects at most " + Twine(kMaxCodeBytes) +
                              " bytes of code, but got " +
                              Twine(countBytes(*program)));
  std::string code = hashCode(*program);
  measure.codegen.finishStep("descriptor");
  if (!text.empty() && options.interfere)
    options.interfere(text, expected);
  auto measured =
      measureProgram(std::move(*program), kernel, measure, expected);
  if (measured)
    return Outcome::print(*measured, code, returnsOutputs);
  TrialStatus status = TrialStatus::Failed;
  std::string error;
  llvm::handleAllErrors(
      measured.takeError(),
      [&](const WrongResult &wrong) {
        status = TrialStatus::Wrong;
        error = wrong.message();
      },
      [&](const llvm::ErrorInfoBase &other) { error = other.message(); });
  return Outcome::print(status, error);
}

/// Why other candidates cannot be compared with `outputs`; empty if they can.
static StringRef findUncomparable(ArrayRef<MeasuredOutput> outputs) {
  if (llvm::all_of(outputs, [](const MeasuredOutput &output) {
        return output.getBytes().empty();
      }))
    return "has no results to compare";
  if (!llvm::all_of(outputs, hasNumbers))
    return "has results that are not numbers, which cannot be compared";
  return "";
}

llvm::Expected<Outcome> KernelBench::run(const Job &job) {
  Outcome simulated;
  if (options.simulate) {
    simulated.status = TrialStatus::Measured;
    simulated.seconds = options.simulate(job.script);
    return std::move(simulated);
  }
  MeasureOptions limited = measure;
  limited.best = job.best;
  limited.timeLimit = job.timeLimit;
  bool isFirst = job.script.empty() && expected.empty();
  llvm::Expected<Outcome> outcome = runOutcome(
      [&] { return evaluate(job.script, /*returnsOutputs=*/isFirst, limited); },
      limited);
  if (!outcome || !isFirst || outcome->status != TrialStatus::Measured)
    return outcome;
  StringRef fault = findUncomparable(outcome->outputs);
  if (!fault.empty()) {
    outcome->status = TrialStatus::Failed;
    outcome->error = fault.str();
  } else {
    expected = std::move(outcome->outputs);
  }
  return outcome;
}
