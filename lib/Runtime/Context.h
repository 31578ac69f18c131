//===- Context.h - The state behind an espalier_context ---------*- C++ -*-===//
//
// The runtime is linked into compiled programs, so it uses the C library only.
//
//===----------------------------------------------------------------------===//

#ifndef ESPALIER_LIB_RUNTIME_CONTEXT_H
#define ESPALIER_LIB_RUNTIME_CONTEXT_H

#include "espalier-c/Runtime.h"

struct espalier_context {
  const espalier_program *program;
  /// Kept between runs, so that its pages are only touched anew if it grows.
  void *arena;
  int64_t arenaSize;
  /// 0 for the default of OpenMP.
  int32_t numThreads;
  /// Set while a call uses the context.
  int32_t busy;
  /// All extents of all inputs, then of all outputs and the arena's size.
  int64_t *extents;
  int64_t numInputExtents;
  int64_t numOutputExtents;
  /// Data pointers of the inputs, then of the outputs and the record.
  void **data;
  char message[512];
};

/// Precedes the definition of every function that others see: each object that
/// is made of a program has a copy, and in one link they become one.
/// Declarations are not weak, since those do not fetch the definition from an
/// archive.
#define ESPALIER_MERGED __attribute__((weak))

namespace espalier::runtime {

/// Stores a formatted message and returns `status`. A null `ctx` stores the
/// message of the calling thread.
espalier_status fail(espalier_context *ctx, espalier_status status,
                     const char *format, ...)
    __attribute__((format(printf, 3, 4)));

/// Whether this machine and its operating system have the extension that LLVM
/// calls `feature`; true for one that CpuFeatures.def does not list.
bool machineHas(const char *feature);

/// Checks the inputs' types, ranks and extents against the program's and copies
/// the extents into the context. Looks at the data too if `withData` is set.
espalier_status checkInputs(espalier_context *ctx,
                            const espalier_tensor *inputs, int32_t numInputs,
                            bool withData);

/// Whether all of `count` numbers are from 0 to less than `bound`; false where
/// it takes a look at each of them to tell.
bool areKnownBelow(const espalier_program &program,
                   const espalier_tensor &tensor, int64_t count, int64_t bound);

/// The same of numbers none of which is less than the one before it.
bool areKnownOrdered(const espalier_program &program,
                     const espalier_tensor &tensor, int64_t count);

/// Checks the outputs against the planned extents in the context, and that none
/// overlaps another one or an input.
espalier_status checkOutputs(espalier_context *ctx,
                             const espalier_tensor *inputs,
                             const espalier_tensor *outputs,
                             int32_t numOutputs);

/// Lets the calling thread's next run have `wanted` threads, itself included,
/// or as many of them as the system starts.
void startThreads(const espalier_program &program, int wanted);

/// Lets the calling thread's later parallel regions have up to `count` threads,
/// and gives those beyond to other callers. Starts none.
void setNumThreads(const espalier_program &program, int count);

} // namespace espalier::runtime

#endif // ESPALIER_LIB_RUNTIME_CONTEXT_H
