//===- RunProgram.h - Runs of programs on made-up inputs --------*- C++ -*-===//

#ifndef ESPALIER_LIB_MEASUREMENT_RUNPROGRAM_H
#define ESPALIER_LIB_MEASUREMENT_RUNPROGRAM_H

#include "espalier/ExecutionEngine/LoadedProgram.h"
#include "llvm/ADT/StringMap.h"
#include <functional>

namespace espalier {

/// What made-up values are.
struct MadeUpValues {
  /// Integers are small numbers rather than 0, which an index may be.
  bool fillsIntegers = false;
  /// Floats are whole numbers up to so much but 0, of either sign; with 0, they
  /// are any from -1 to 1.
  int64_t magnitude = 0;
};

/// An array of a program's input or output, in one or several copies.
class ProgramArray {
public:
  /// An array of elements of type `dtype`, in so many copies. Fails if there is
  /// not enough memory.
  static llvm::Expected<ProgramArray> create(int32_t dtype,
                                             std::vector<int64_t> extents,
                                             unsigned copies,
                                             const MadeUpValues &values);

  int32_t getDtype() const { return dtype; }
  uint64_t getBytes() const { return bytes; }
  /// The array, in copy number `index` modulo the number of copies.
  espalier_tensor get(unsigned index) const;

private:
  ProgramArray() : memory(nullptr, free) {}

  int32_t dtype = 0;
  std::vector<int64_t> extents;
  unsigned copies = 1;
  uint64_t bytes = 0;
  /// From one copy to the next.
  uint64_t stride = 0;
  std::unique_ptr<char, void (*)(void *)> memory;
};

/// Returns the bytes of an array, or nothing if that is no number of 63 bits.
std::optional<int64_t> countBytes(int32_t dtype,
                                  llvm::ArrayRef<int64_t> extents);

/// Returns the largest difference of elements of two arrays of type `dtype`.
/// Those that are no floats differ by 0 or infinity.
double measureDifference(int32_t dtype, const void *first, const void *second,
                         uint64_t bytes);

/// Returns the largest difference relative to the largest finite value of the
/// first array; of f16 and bf16 what is beyond the rounding of a result.
double compareArrays(int32_t dtype, const void *first, const void *second,
                     uint64_t bytes);

/// Whether an array has a finite number, if it is not empty and has floats.
bool hasFinite(int32_t dtype, const void *data, uint64_t bytes);

/// How a program is to be run.
struct RunOptions {
  unsigned threads = 1;
  /// Number of copies of the input with a number; one if this is empty.
  std::function<unsigned(unsigned)> numCopies;
  /// What stands for extents that only the run knows: by name, and for all
  /// others; 0 to refuse these.
  llvm::StringMap<int64_t> sizes = {};
  int64_t unknownExtent = 0;
  MadeUpValues values = {};
};

/// A program with a context and arrays to run on.
class ProgramRun {
public:
  /// Makes one for `program`, which must outlive it.
  static llvm::Expected<std::unique_ptr<ProgramRun>>
  create(const espalier_program *program, const RunOptions &options);

  /// Runs on the next copies. Fails if the program refuses.
  llvm::Error run();

  llvm::ArrayRef<ProgramArray> getOutputs() const { return outputs; }

private:
  explicit ProgramRun(const espalier_program *program)
      : program(program), context(nullptr, espalier_context_destroy) {}

  llvm::Error makeInputs(const RunOptions &options);
  llvm::Error makeOutputs(const RunOptions &options);
  void selectCopies();
  llvm::Error check(espalier_status status);

  const espalier_program *program;
  std::unique_ptr<espalier_context, void (*)(espalier_context *)> context;
  std::vector<ProgramArray> inputs, outputs;
  std::vector<espalier_tensor> inputTensors, outputTensors;
  unsigned next = 0;
};

/// The seconds that one call takes: of this thread's own time, or of the time
/// that passes.
double timeCall(llvm::function_ref<void()> call, bool ownTime);

} // namespace espalier

#endif // ESPALIER_LIB_MEASUREMENT_RUNPROGRAM_H
