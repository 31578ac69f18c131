//===- RunProgram.cpp - Runs of programs on made-up inputs ----------------===//

#include "RunProgram.h"
#include "llvm/ADT/bit.h"
#include "llvm/Support/MathExtras.h"
#include <algorithm>
#include <cmath>
#include <stdlib.h>
#include <string.h>
#include <time.h>

using namespace espalier;

/// A page, so that copies do not share one.
static constexpr uint64_t kCopyAlignment = 4096;

std::optional<int64_t> espalier::countBytes(int32_t dtype,
                                            llvm::ArrayRef<int64_t> extents) {
  int64_t bytes = espalier_dtype_size(dtype);
  for (int64_t extent : extents)
    if (extent < 0 || llvm::MulOverflow(bytes, extent, bytes))
      return std::nullopt;
  return bytes;
}

namespace {
/// The upper half of an f32.
struct BFloat16 {
  BFloat16() = default;
  explicit BFloat16(float value)
      : bits(llvm::bit_cast<uint32_t>(value) >> 16) {}
  operator float() const { return llvm::bit_cast<float>(uint32_t(bits) << 16); }

  uint16_t bits = 0;
};
} // namespace

/// Calls `function` with a number of the C++ type of `dtype` and the rounding
/// of one result; with none for what is no float.
template <typename Function>
static void dispatchFloat(int32_t dtype, Function function) {
  switch (dtype) {
  case ESPALIER_F32:
    return function(float(), 0.0);
  case ESPALIER_F64:
    return function(double(), 0.0);
  case ESPALIER_F16:
    return function(_Float16(), 0x1p-10);
  case ESPALIER_BF16:
    return function(BFloat16(), 0x1p-7);
  default:
    return;
  }
}

/// Writes numbers that repeat only after a long time: from -1 to 1, or with a
/// magnitude whole ones up to that.
template <typename Float>
static void fillWithNumbers(char *data, uint64_t bytes, int64_t magnitude) {
  auto *values = reinterpret_cast<Float *>(data);
  uint32_t state = 12345;
  for (uint64_t i = 0; i < bytes / sizeof(Float); ++i) {
    state = state * 1664525u + 1013904223u;
    if (magnitude == 0) {
      values[i] = Float(static_cast<int32_t>(state) * (1.0f / 2147483648.0f));
      continue;
    }
    // The lower bits repeat soon.
    float whole = 1 + (state << 1 >> 16) % magnitude;
    values[i] = Float(state >> 31 ? -whole : whole);
  }
}

/// Writes numbers from -8 to 7; from 0 to 15 where they have no sign, and 0 or
/// 1 for those that are nothing else.
template <typename Integer>
static void fillWithIntegers(char *data, uint64_t bytes, bool isBool) {
  auto *values = reinterpret_cast<Integer *>(data);
  uint32_t state = 54321;
  for (uint64_t i = 0; i < bytes / sizeof(Integer); ++i) {
    state = state * 1664525u + 1013904223u;
    values[i] = isBool                      ? state >> 31
                : std::is_signed_v<Integer> ? Integer(int(state >> 28) - 8)
                                            : Integer(state >> 28);
  }
}

static void fillWithIntegers(int32_t dtype, char *data, uint64_t bytes) {
  switch (dtype) {
  case ESPALIER_I8:
    return fillWithIntegers<int8_t>(data, bytes, false);
  case ESPALIER_I16:
    return fillWithIntegers<int16_t>(data, bytes, false);
  case ESPALIER_I32:
    return fillWithIntegers<int32_t>(data, bytes, false);
  case ESPALIER_I64:
    return fillWithIntegers<int64_t>(data, bytes, false);
  default:
    return;
  }
}

llvm::Expected<ProgramArray> ProgramArray::create(int32_t dtype,
                                                  std::vector<int64_t> extents,
                                                  unsigned copies,
                                                  const MadeUpValues &values) {
  ProgramArray result;
  std::optional<int64_t> bytes = countBytes(dtype, extents);
  void *memory = nullptr;
  if (bytes) {
    result.bytes = *bytes;
    result.stride =
        llvm::alignTo(std::max<uint64_t>(*bytes, 1), kCopyAlignment);
    if (result.stride > UINT64_MAX / copies ||
        posix_memalign(&memory, kCopyAlignment, result.stride * copies) != 0)
      memory = nullptr;
  }
  if (!memory)
    return llvm::createStringError("expects memory for an array, but got none");
  result.dtype = dtype;
  result.extents = std::move(extents);
  result.copies = copies;
  result.memory.reset(static_cast<char *>(memory));
  char *first = result.memory.get();
  memset(first, 0, result.stride);
  dispatchFloat(dtype, [&](auto zero, double) {
    fillWithNumbers<decltype(zero)>(first, result.stride, values.magnitude);
  });
  if (values.fillsIntegers)
    fillWithIntegers(dtype, first, result.stride);
  for (unsigned copy = 1; copy < copies; ++copy)
    memcpy(first + copy * result.stride, first, result.stride);
  return result;
}

espalier_tensor ProgramArray::get(unsigned index) const {
  return {memory.get() + index % copies * stride, dtype,
          static_cast<int32_t>(extents.size()), extents.data()};
}

template <typename Float>
static double measureFloats(const void *first, const void *second,
                            uint64_t bytes) {
  auto *firsts = static_cast<const Float *>(first);
  auto *seconds = static_cast<const Float *>(second);
  double difference = 0;
  for (uint64_t i = 0; i < bytes / sizeof(Float); ++i) {
    double a = firsts[i], b = seconds[i];
    if (a == b || (std::isnan(a) && std::isnan(b)))
      continue;
    double distance = std::fabs(a - b);
    difference =
        std::max(difference, std::isnan(distance) ? HUGE_VAL : distance);
  }
  return difference;
}

double espalier::measureDifference(int32_t dtype, const void *first,
                                   const void *second, uint64_t bytes) {
  if (memcmp(first, second, bytes) == 0)
    return 0;
  double difference = HUGE_VAL;
  dispatchFloat(dtype, [&](auto zero, double) {
    difference = measureFloats<decltype(zero)>(first, second, bytes);
  });
  return difference;
}

bool espalier::hasFinite(int32_t dtype, const void *data, uint64_t bytes) {
  bool found = true;
  dispatchFloat(dtype, [&](auto zero, double) {
    auto *values = static_cast<const decltype(zero) *>(data);
    size_t count = bytes / sizeof(zero);
    found = count == 0 || std::any_of(values, values + count, [](auto value) {
              return std::isfinite(double(value));
            });
  });
  return found;
}

double espalier::compareArrays(int32_t dtype, const void *first,
                               const void *second, uint64_t bytes) {
  double difference = measureDifference(dtype, first, second, bytes);
  if (difference == 0)
    return 0;
  dispatchFloat(dtype, [&](auto zero, double rounding) {
    auto *values = static_cast<const decltype(zero) *>(first);
    double scale = 1e-30;
    for (uint64_t i = 0; i < bytes / sizeof(zero); ++i)
      if (double value = values[i]; std::isfinite(value))
        scale = std::max(scale, std::fabs(value));
    difference = std::max(difference / scale - rounding, 0.0);
  });
  return difference;
}

llvm::Error ProgramRun::check(espalier_status status) {
  if (status == ESPALIER_OK)
    return llvm::Error::success();
  return llvm::createStringError(espalier_last_error(context.get()));
}

llvm::Error ProgramRun::makeInputs(const RunOptions &options) {
  for (int32_t i = 0; i < program->num_inputs; ++i) {
    const espalier_tensor_info &info = program->inputs[i];
    std::vector<int64_t> extents(info.extents, info.extents + info.rank);
    for (auto [extent, name] :
         llvm::zip_equal(extents, llvm::ArrayRef(info.symbols, info.rank))) {
      if (extent >= 0)
        continue;
      auto known = options.sizes.find(name ? name : "");
      extent =
          known != options.sizes.end() ? known->second : options.unknownExtent;
      if (extent == 0 && options.unknownExtent == 0)
        return llvm::createStringError(std::string("argument '") + info.name +
                                       "': expects a known shape");
    }
    unsigned copies = options.numCopies ? options.numCopies(i) : 1;
    auto array = ProgramArray::create(info.dtype, std::move(extents), copies,
                                      options.values);
    if (!array)
      return array.takeError();
    inputs.push_back(std::move(*array));
  }
  inputTensors.resize(inputs.size());
  return llvm::Error::success();
}

llvm::Error ProgramRun::makeOutputs(const RunOptions &options) {
  int64_t numExtents = 0;
  for (int32_t i = 0; i < program->num_outputs; ++i)
    numExtents += program->outputs[i].rank;
  std::vector<int64_t> planned(numExtents);
  selectCopies();
  if (llvm::Error error =
          check(espalier_plan(context.get(), inputTensors.data(),
                              inputTensors.size(), planned.data())))
    return error;
  auto *extents = planned.data();
  for (int32_t i = 0; i < program->num_outputs; ++i) {
    const espalier_tensor_info &info = program->outputs[i];
    // Some are read before they are written.
    MadeUpValues values = {/*fillsIntegers=*/false, options.values.magnitude};
    auto array = ProgramArray::create(
        info.dtype, {extents, extents + info.rank}, /*copies=*/1, values);
    if (!array)
      return array.takeError();
    outputs.push_back(std::move(*array));
    extents += info.rank;
  }
  for (const ProgramArray &output : outputs)
    outputTensors.push_back(output.get(0));
  return llvm::Error::success();
}

void ProgramRun::selectCopies() {
  for (auto [tensor, array] : llvm::zip(inputTensors, inputs))
    tensor = array.get(next);
}

llvm::Expected<std::unique_ptr<ProgramRun>>
ProgramRun::create(const espalier_program *program, const RunOptions &options) {
  std::unique_ptr<ProgramRun> result(new ProgramRun(program));
  espalier_context *context = nullptr;
  if (espalier_context_create(program, &context) != ESPALIER_OK)
    return llvm::createStringError(espalier_last_error(nullptr));
  result->context.reset(context);
  if (program->set_num_threads)
    if (llvm::Error error =
            result->check(espalier_set_num_threads(context, options.threads)))
      return error;
  if (llvm::Error error = result->makeInputs(options))
    return error;
  if (llvm::Error error = result->makeOutputs(options))
    return error;
  return result;
}

llvm::Error ProgramRun::run() {
  selectCopies();
  ++next;
  return check(espalier_run(context.get(), inputTensors.data(),
                            inputTensors.size(), outputTensors.data(),
                            outputTensors.size()));
}

double espalier::timeCall(llvm::function_ref<void()> call, bool ownTime) {
  clockid_t clock = ownTime ? CLOCK_THREAD_CPUTIME_ID : CLOCK_MONOTONIC;
  timespec start, end;
  clock_gettime(clock, &start);
  call();
  clock_gettime(clock, &end);
  return (end.tv_sec - start.tv_sec) + 1e-9 * (end.tv_nsec - start.tv_nsec);
}
