//===- KernelCost.cpp - What kernels and programs cost --------------------===//

#include "espalier/Measurement/KernelCost.h"
#include "llvm/ADT/StringExtras.h"
#include "llvm/Support/BLAKE3.h"
#include "llvm/Support/FileSystem.h"
#include "llvm/Support/FormatVariadic.h"
#include "llvm/Support/Path.h"

using namespace mlir;
using namespace espalier;

/// What is assumed of a machine before a kernel has shown more.
static constexpr double kFlopsPerSecond = 30e9, kBytesPerSecond = 8e9;
/// Only arrays that do not fit a core's caches tell the speed of memory.
static constexpr double kMemoryBytes = 8 << 20;
/// Calling a kernel takes this long.
static constexpr double kCallSeconds = 0.2e-6;

KernelCost::KernelCost(MLIRContext *context, const KernelCostOptions &options,
                       std::function<void(const std::string &)> warn)
    : context(context), options(options), warn(std::move(warn)),
      flopsPerSecond(kFlopsPerSecond), bytesPerSecond(kBytesPerSecond) {
  if (!options.table.empty())
    openTable();
}

void KernelCost::openTable() {
  StringRef folder = llvm::sys::path::parent_path(options.table);
  if (std::error_code code = llvm::sys::fs::create_directories(folder))
    return dropTable(llvm::createStringError(
        code, "table of kernels '" + options.table + "': cannot make folder"));
  auto opened = KernelTimes::open(options.table, getCompilerIdentity());
  if (opened)
    table = std::move(*opened);
  else
    dropTable(opened.takeError());
}

void KernelCost::dropTable(llvm::Error error) {
  table.reset();
  warn(llvm::toString(std::move(error)) + "; goes on without it");
}

/// Names what `text` describes and whatever else its time depends on, but for
/// the compiler.
static std::string computeKey(StringRef text, const MeasureOptions &options) {
  const CodegenOptions &codegen = options.codegen;
  std::string all;
  llvm::raw_string_ostream os(all);
  os << codegen.cpu << '\n'
     << codegen.features << '\n'
     << codegen.optLevel << ' ' << codegen.vectorBits << ' '
     << codegen.pipeline.threads << ' ' << options.threads << ' '
     << options.constantBytes << '\n'
     << text;
  return llvm::toHex(llvm::BLAKE3::hash<20>(llvm::arrayRefFromStringRef(all)),
                     /*LowerCase=*/true);
}

std::string espalier::computeKernelKey(const ProgramKernel &kernel,
                                       const MeasureOptions &options) {
  std::string text;
  for (bool isConstant : kernel.module.isConstant)
    text += isConstant ? 'c' : 'v';
  return computeKey(text + "\n" + kernel.module.text, options);
}

std::optional<double> KernelCost::lookUp(StringRef key, bool &isKnown) {
  if (!table)
    return std::nullopt;
  auto record = table->find(key);
  if (!record) {
    dropTable(record.takeError());
    return std::nullopt;
  }
  isKnown = record->has_value();
  return isKnown ? (*record)->seconds : std::nullopt;
}

std::optional<double> KernelCost::measure(StringRef key,
                                          const ProgramKernel &kernel) {
  double left = options.budget - counts.secondsMeasuring;
  if (left <= 0 || options.measure.codegen.mustStop())
    return std::nullopt;
  MeasureOptions limited = options.measure;
  limited.timeLimit = std::min(limited.timeLimit,
                               std::chrono::milliseconds(int64_t(left * 1000)));
  auto start = std::chrono::steady_clock::now();
  llvm::Expected<double> seconds =
      measureKernel(kernel.module, context->getDialectRegistry(), limited);
  counts.secondsMeasuring +=
      std::chrono::duration<double>(std::chrono::steady_clock::now() - start)
          .count();
  KernelTime time;
  if (seconds)
    time.seconds = *seconds;
  else
    time.error = llvm::toString(seconds.takeError());
  // What failed for want of the budget, or was ended, may succeed another time.
  bool isFinal =
      time.seconds || (limited.timeLimit == options.measure.timeLimit &&
                       !options.measure.codegen.mustStop());
  if (isFinal)
    store(key, time,
          llvm::formatv("{0:f3} Mflop, {1:f3} MB, {2} threads",
                        kernel.work.flops * 1e-6, kernel.work.bytes * 1e-6,
                        options.measure.threads)
              .str());
  return time.seconds;
}

void KernelCost::store(StringRef key, const KernelTime &time, StringRef label) {
  if (!table)
    return;
  if (llvm::Error error = table->store(key, time, label))
    dropTable(std::move(error));
}

double KernelCost::estimate(const KernelWork &work) {
  return std::max(work.flops / flopsPerSecond, work.bytes / bytesPerSecond) +
         kCallSeconds;
}

double KernelCost::getSeconds(const ProgramKernel &kernel) {
  std::string key = computeKernelKey(kernel, options.measure);
  auto [place, isNew] = known.try_emplace(key, 0.0);
  if (!isNew)
    return place->second;
  bool isKnown = false;
  std::optional<double> seconds = lookUp(key, isKnown);
  if (seconds) {
    ++counts.numFound;
  } else if (!isKnown && (seconds = measure(key, kernel))) {
    ++counts.numMeasured;
  } else {
    ++counts.numEstimated;
    return place->second = estimate(kernel.work);
  }
  flopsPerSecond = std::max(flopsPerSecond, kernel.work.flops / *seconds);
  if (kernel.work.bytes > kMemoryBytes)
    bytesPerSecond = std::max(bytesPerSecond, kernel.work.bytes / *seconds);
  return place->second = *seconds;
}

std::optional<double>
KernelCost::getSeconds(StringRef text,
                       function_ref<std::optional<double>()> compute) {
  std::string key = computeKey(text, options.measure);
  bool isKnown = false;
  if (std::optional<double> seconds = lookUp(key, isKnown)) {
    ++counts.numFound;
    return seconds;
  }
  unsigned numEstimated = counts.numEstimated;
  std::optional<double> seconds = compute();
  if (seconds && counts.numEstimated == numEstimated)
    store(key, {seconds, ""}, "operator");
  return seconds;
}

FailureOr<double> KernelCost::getProgramSeconds(ModuleOp module) {
  auto kernels = formKernels(module, options.measure.codegen);
  if (failed(kernels))
    return failure();
  double seconds = 0;
  for (const ProgramKernel &kernel : *kernels)
    seconds += kernel.numCalls * getSeconds(kernel);
  return seconds;
}
