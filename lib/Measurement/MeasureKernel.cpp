//===- MeasureKernel.cpp - The time of one kernel -------------------------===//

#include "espalier/Measurement/MeasureKernel.h"
#include "RunProgram.h"
#include "espalier/Measurement/Samples.h"
#include "espalier/Support/ChildProcess.h"
#include "mlir/IR/BuiltinAttributeInterfaces.h"
#include "mlir/IR/Diagnostics.h"
#include "mlir/IR/OpDefinition.h"
#include "mlir/Parser/Parser.h"
#include "llvm/ADT/SmallPtrSet.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/Format.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>

using namespace mlir;
using namespace espalier;

/// Two copies would follow each other in memory and be fetched ahead.
static constexpr unsigned kMaxCopies = 64;
/// Constants that are less than this are in a cache whatever else there is.
static constexpr uint64_t kMinConstantBytes = 256 << 10;
/// Calls shorter than this are timed several at a time.
static constexpr double kSampleSeconds = 100e-6;

/// The largest difference of outputs, relative to their largest value, where
/// nothing is known of rounding.
static constexpr double kTolerance = 1e-4;

char WrongResult::ID = 0;

uint64_t espalier::countConstantBytes(ModuleOp module) {
  llvm::SmallPtrSet<Attribute, 32> seen;
  uint64_t bytes = 0;
  module.walk([&](Operation *op) {
    if (!op->hasTrait<OpTrait::ConstantLike>())
      return;
    for (NamedAttribute attr : op->getAttrs()) {
      auto elements = dyn_cast<ElementsAttr>(attr.getValue());
      if (!elements || !seen.insert(elements).second ||
          !elements.getElementType().isIntOrFloat())
        continue;
      bytes += elements.getNumElements() *
               llvm::divideCeil(
                   elements.getElementType().getIntOrFloatBitWidth(), 8);
    }
  });
  return bytes;
}

uint64_t espalier::roundConstantBytes(uint64_t bytes) {
  if (bytes <= kMinConstantBytes)
    return 0;
  return std::min(llvm::PowerOf2Ceil(bytes), MeasureOptions::kMaxConstantBytes);
}

namespace {
/// Either a number or a reason, as text that goes through a pipe.
struct Outcome {
  static std::string success(double seconds) {
    std::string text;
    llvm::raw_string_ostream(text) << "=" << llvm::format("%.9e", seconds);
    return text;
  }
  static std::string failure(const llvm::Twine &reason) {
    return ("!" + reason).str();
  }
  static llvm::Expected<double> parse(StringRef text) {
    double seconds = 0;
    if (text.consume_front("=") && !text.getAsDouble(seconds) && seconds > 0)
      return seconds;
    if (text.consume_front("!"))
      return llvm::createStringError(text);
    return llvm::createStringError("expects a time, but the process told none");
  }
};
} // namespace

/// Returns times of one run, after a first one, the shortest first; one time if
/// that is hopeless beside `best`.
static std::vector<double> timeRuns(ProgramRun &program, bool ownTime,
                                    double best) {
  unsigned calls = 1;
  auto sample = [&] {
    return timeCall(
        [&] {
          for (unsigned i = 0; i < calls; ++i)
            // What ran once is not refused later.
            llvm::cantFail(program.run());
        },
        ownTime);
  };
  double seconds = sample();
  while (seconds < kSampleSeconds && calls < 4096) {
    calls *= 2;
    seconds = sample();
  }
  SampleLimits limits;
  limits.best = best;
  std::vector<double> times = takeSamples(sample, limits);
  for (double &time : times)
    time /= calls;
  return times;
}

/// Compiles the kernel in a context of its own, since the threads of the one at
/// hand stayed in the other process.
static llvm::Expected<CompiledProgram>
compileKernel(const KernelModule &kernel, const DialectRegistry &registry,
              const CodegenOptions &codegen) {
  MLIRContext context(registry, MLIRContext::Threading::DISABLED);
  DialectRegistry compilation;
  registerCompilation(compilation);
  context.appendDialectRegistry(compilation);
  context.loadAllAvailableDialects();
  std::string reasons;
  ScopedDiagnosticHandler handler(&context, [&](Diagnostic &diagnostic) {
    if (diagnostic.getSeverity() == DiagnosticSeverity::Error)
      reasons += diagnostic.str() + "\n";
    return success();
  });
  auto module = parseSourceString<ModuleOp>(kernel.text, &context);
  if (!module)
    return llvm::createStringError(reasons);
  CodegenOptions options = codegen;
  options.jobs = 1;
  FailureOr<CompiledProgram> program = compileModule(*module, options);
  if (failed(program))
    return llvm::createStringError(reasons);
  return std::move(*program);
}

/// Fails if `output` differs from `expected` by more than rounding, which
/// explains at most `difference`, if that is known.
static llvm::Error compareOutput(unsigned number, const MeasuredOutput &output,
                                 const MeasuredOutput &expected,
                                 std::optional<double> difference) {
  auto measure = [&](auto &&function) {
    return expected.getBytes().size() == output.getBytes().size()
               ? function(output.dtype, expected.getBytes().data(),
                          output.getBytes().data(), output.getBytes().size())
               : HUGE_VAL;
  };
  double error = measure(difference ? measureDifference : compareArrays);
  if (error <= difference.value_or(kTolerance))
    return llvm::Error::success();
  if (difference)
    return llvm::make_error<WrongResult>(
        llvm::formatv("expects an output {0} within {1:e2}, which is what "
                      "rounding explains, but it differs by {2:e2}",
                      number, *difference, error)
            .str());
  return llvm::make_error<WrongResult>(
      llvm::formatv("output {0} differs by {1:e2} of its largest value", number,
                    error)
          .str());
}

/// Fails if one of `outputs`, of which `differences` tells what it tells of a
/// kernel's, differs from what is expected by more than rounding.
static llvm::Error compareOutputs(ArrayRef<MeasuredOutput> outputs,
                                  ArrayRef<MeasuredOutput> expected,
                                  ArrayRef<std::optional<double>> differences) {
  if (outputs.size() != expected.size())
    return llvm::createStringError("expects " + Twine(expected.size()) +
                                   " outputs, but got " +
                                   Twine(outputs.size()));
  for (auto [number, output] : llvm::enumerate(outputs))
    if (llvm::Error error = compareOutput(
            number, output, expected[number],
            number < differences.size() ? differences[number] : std::nullopt))
      return error;
  return llvm::Error::success();
}

bool espalier::hasNumbers(const MeasuredOutput &output) {
  return hasFinite(output.dtype, output.getBytes().data(),
                   output.getBytes().size());
}

static bool hasUnknownExtent(const espalier_program &program) {
  auto isUnknown = [](const espalier_tensor_info &info) {
    return llvm::any_of(ArrayRef(info.extents, info.rank),
                        [](int64_t extent) { return extent < 0; });
  };
  return llvm::any_of(ArrayRef(program.inputs, program.num_inputs), isUnknown);
}

/// Runs `program`, compares what it computes with what follows in `expected`,
/// if that is not empty, on `outputs`, to which it is added, and returns the
/// seconds of runs, the shortest first; one run if that is hopeless beside
/// `best`. Of `differences`, see `KernelNumbers`.
static llvm::Expected<std::vector<double>>
measureRun(const espalier_program &program, const RunOptions &options,
           ArrayRef<MeasuredOutput> expected,
           ArrayRef<std::optional<double>> differences, double best,
           std::vector<MeasuredOutput> &outputs) {
  auto run = ProgramRun::create(&program, options);
  if (!run)
    return run.takeError();
  bool ownTime = options.threads == 1;
  // The first run touches memory and code for the first time.
  std::optional<llvm::Error> error;
  double first = timeCall([&] { error.emplace((*run)->run()); }, ownTime);
  if (*error)
    return std::move(*error);
  size_t begin = outputs.size();
  for (const ProgramArray &output : (*run)->getOutputs()) {
    // Later runs write the same arrays.
    auto copy = llvm::MemoryBuffer::getMemBufferCopy(
        {static_cast<const char *>(output.get(0).data), output.getBytes()});
    if (!copy)
      return llvm::createStringError(
          "expects memory for an output, but got none");
    outputs.push_back({output.getDtype(), std::move(copy)});
  }
  ArrayRef<MeasuredOutput> made = ArrayRef(outputs).drop_front(begin);
  if (!expected.empty())
    if (llvm::Error error =
            compareOutputs(made,
                           expected.drop_front(std::min(begin, expected.size()))
                               .take_front(made.size()),
                           differences))
      return error;
  if (isHopeless(first, best))
    return std::vector<double>{first};
  return timeRuns(**run, ownTime, best);
}

llvm::Expected<MeasuredProgram>
espalier::measureProgram(CompiledProgram compiled, const KernelModule &kernel,
                         const MeasureOptions &options,
                         ArrayRef<MeasuredOutput> expected) {
  auto loaded = LoadedProgram::create(std::move(compiled));
  if (!loaded)
    return loaded.takeError();
  options.codegen.finishStep("load");
  const espalier_program *program = (*loaded)->getProgram();
  // `poly-add-main` makes inputs of what a kernel reads, in their order; the
  // constants are among them.
  int64_t constantBytes = 0;
  auto isInputConstant = [&](unsigned input) {
    return input < kernel.isConstant.size() && kernel.isConstant[input];
  };
  for (int32_t i = 0; i < program->num_inputs; ++i) {
    const espalier_tensor_info &info = program->inputs[i];
    if (isInputConstant(i))
      constantBytes +=
          countBytes(info.dtype, {info.extents, size_t(info.rank)}).value_or(0);
  }
  unsigned copies = std::clamp<int64_t>(options.constantBytes /
                                            std::max<int64_t>(constantBytes, 1),
                                        1, kMaxCopies);
  RunOptions runOptions;
  runOptions.threads = options.threads;
  runOptions.numCopies = [&](unsigned input) {
    return isInputConstant(input) ? copies : 1;
  };
  runOptions.values = {kernel.takesAnyInteger, kernel.numbers.magnitude};
  // None stands for a size if all are known.
  const MeasuredSizes none = {0, 1};
  ArrayRef<MeasuredSizes> all = none;
  if (!options.sizes.empty() && hasUnknownExtent(*program))
    all = options.sizes;
  MeasuredProgram result;
  double logarithms = 0, weights = 0;
  for (auto [number, sizes] : llvm::enumerate(all)) {
    runOptions.unknownExtent = sizes.extent;
    if (number < kernel.sizes.size())
      runOptions.sizes = kernel.sizes[number];
    double best = number < options.best.size() ? options.best[number] : 0;
    auto times = measureRun(*program, runOptions, expected,
                            kernel.numbers.differences, best, result.outputs);
    if (!times)
      return times.takeError();
    logarithms += sizes.weight * std::log(getMedian(*times));
    result.times.push_back(std::move(*times));
    weights += sizes.weight;
  }
  result.seconds = std::exp(logarithms / weights);
  options.codegen.finishStep("run");
  return result;
}

static llvm::Expected<double> measureHere(const KernelModule &kernel,
                                          const DialectRegistry &registry,
                                          const MeasureOptions &options) {
  auto compiled = compileKernel(kernel, registry, options.codegen);
  if (!compiled)
    return compiled.takeError();
  auto measured = measureProgram(std::move(*compiled), kernel, options);
  if (!measured)
    return measured.takeError();
  return measured->seconds;
}

llvm::Expected<double> espalier::measureKernel(const KernelModule &kernel,
                                               const DialectRegistry &registry,
                                               const MeasureOptions &options) {
  auto outcome = runInChild(
      [&] {
        llvm::Expected<double> seconds = measureHere(kernel, registry, options);
        return seconds ? Outcome::success(*seconds)
                       : Outcome::failure(llvm::toString(seconds.takeError()));
      },
      options.timeLimit, options.memoryLimit,
      [&] { return options.codegen.mustStop(); });
  if (!outcome)
    return outcome.takeError();
  return Outcome::parse((*outcome)->getBuffer());
}
