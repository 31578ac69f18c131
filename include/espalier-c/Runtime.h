/*===- espalier-c/Runtime.h - Running a compiled program ----------*- C -*-===*\
|*                                                                           *|
|* A compiled program is described by a constant `espalier_program`. A       *|
|* context holds what running it needs: the arena and the number of threads. *|
|*                                                                           *|
|*   espalier_context *ctx;                                                  *|
|*   if (espalier_context_create(&program, &ctx))                            *|
|*     die(espalier_last_error(NULL));                                       *|
|*   int64_t extents[2] = {2, 3};                                            *|
|*   espalier_tensor x = {data, ESPALIER_F32, 2, extents};                   *|
|*   ...                                                                     *|
|*   if (espalier_run(ctx, &x, 1, &y, 1))                                    *|
|*     die(espalier_last_error(ctx));                                        *|
|*   espalier_context_destroy(ctx);                                          *|
|*                                                                           *|
|* One context serves one thread at a time; several contexts of one program  *|
|* may run at once. No function throws or ends the process.                  *|
|*                                                                           *|
\*===----------------------------------------------------------------------==*/

#ifndef ESPALIER_C_RUNTIME_H
#define ESPALIER_C_RUNTIME_H

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#ifndef ESPALIER_API
#if defined(__GNUC__)
#define ESPALIER_API __attribute__((visibility("default")))
#else
#define ESPALIER_API
#endif
#endif

/** Version of the structures below. A program states the one it was built
    with, and a context is only made for an equal one. */
#define ESPALIER_ABI_VERSION 7

/** Largest rank of a tensor at the boundary. */
#define ESPALIER_MAX_RANK 15

/** X(enumerator, spelling, bytes, C type): every element type there is. */
#define ESPALIER_FOR_EACH_DTYPE(X)                                             \
  X(F32, "f32", 4, float)                                                      \
  X(F64, "f64", 8, double)                                                     \
  X(F16, "f16", 2, uint16_t)                                                   \
  X(BF16, "bf16", 2, uint16_t)                                                 \
  X(I8, "i8", 1, int8_t)                                                       \
  X(I16, "i16", 2, int16_t)                                                    \
  X(I32, "i32", 4, int32_t)                                                    \
  X(I64, "i64", 8, int64_t)                                                    \
  X(U8, "u8", 1, uint8_t)                                                      \
  X(U16, "u16", 2, uint16_t)                                                   \
  X(U32, "u32", 4, uint32_t)                                                   \
  X(U64, "u64", 8, uint64_t)                                                   \
  X(BOOL, "bool", 1, uint8_t)

typedef enum espalier_dtype {
#define ESPALIER_DTYPE_ENUMERATOR(name, spelling, bytes, ctype) ESPALIER_##name,
  ESPALIER_FOR_EACH_DTYPE(ESPALIER_DTYPE_ENUMERATOR)
#undef ESPALIER_DTYPE_ENUMERATOR
      ESPALIER_NUM_DTYPES
} espalier_dtype;

/** What a function returns: 0, or the kind of error. */
typedef int32_t espalier_status;
enum {
  ESPALIER_OK = 0,
  /** An argument breaks a rule that the message states. */
  ESPALIER_INVALID_ARGUMENT = 1,
  ESPALIER_OUT_OF_MEMORY = 2,
  /** The program needs another version of this library, or another machine. */
  ESPALIER_UNSUPPORTED = 3,
  /** Another thread is using the context; there is no message. */
  ESPALIER_BUSY = 4
};

/** What a program may rely on for the values of an input of integers. */
enum {
  /** They are from 0 to less than a bound. */
  ESPALIER_BOUNDED = 1,
  /** No value occurs twice, and there is a bound. */
  ESPALIER_INJECTIVE = 2,
  /** None is less than the one before it. */
  ESPALIER_MONOTONIC = 4
};

/** An input or output as the program declares it. */
typedef struct espalier_tensor_info {
  const char *name;
  int32_t dtype;
  int32_t rank;
  /** `rank` extents; -1 where only the run knows it. */
  const int64_t *extents;
  /** `rank` names of extents, NULL for one without a name. Extents with equal
      names must be equal. */
  const char *const *symbols;
  /** Bits of ESPALIER_BOUNDED and those after it: what the code relies on. */
  int64_t properties;
  /** With ESPALIER_BOUNDED: what all values are less than; with a name, that
      is the extent of this name plus `bound`. */
  int64_t bound;
  const char *bound_symbol;
} espalier_tensor_info;

/** A dense row-major array of the caller's. */
typedef struct espalier_tensor {
  void *data;
  int32_t dtype;
  int32_t rank;
  const int64_t *extents;
} espalier_tensor;

/** A compiled program. Made by the compiler, never by hand. */
typedef struct espalier_program {
  uint32_t abi_version;
  int32_t num_inputs;
  int32_t num_outputs;
  int32_t num_plan_messages;
  const char *name;
  /** The CPU that the code was generated for. */
  const char *cpu;
  /** The extensions that the code needs, by LLVM's names; ends in NULL. */
  const char *const *features;
  const espalier_tensor_info *inputs;
  const espalier_tensor_info *outputs;
  /** Maps all extents of all inputs to all extents of all outputs and the
      bytes of the arena, or -k there when plan_messages[k - 1] applies, and
      behind it the ESPALIER_PLAN_VALUES numbers that replace the `%` of that
      message; `%%` stands for `%`. */
  void (*plan)(const int64_t *input_extents, int64_t *result);
  /** Runs on checked arguments: inputs, then outputs, then a record of zeros,
      which it writes as `check` does: what is wrong with data that it has made.
      What would use them is not computed then. */
  void (*run)(void *const *data, const int64_t *extents, void *arena,
              const void *constants);
  const void *constants;
  const char *const *plan_messages;
  /** Number of threads of the calling thread's next parallel region; both NULL
      in a program that was compiled without threads. */
  int (*get_max_threads)(void);
  void (*set_num_threads)(int);
  /** Bytes of the stack of a thread that OpenMP starts; may be NULL. */
  size_t (*get_stack_size)(void);
  /** Has a team of threads call `task`, as __kmpc_fork_call; may be NULL. */
  void (*fork_threads)(const void *place, int32_t num_arguments,
                       void (*task)(int32_t *, int32_t *, int32_t *), ...);
  /** Looks at the data of the inputs before a run: writes 0, or k where
      check_messages[k - 1] applies, to record[0], and numbers that replace the
      `%` of that message behind it. NULL if there is nothing to check. */
  void (*check)(void *const *data, const int64_t *extents, int64_t *record);
  const char *const *check_messages;
} espalier_program;

/** The numbers of a record. */
#define ESPALIER_RECORD_SIZE 32
/** The numbers that a plan has for a message. */
#define ESPALIER_PLAN_VALUES 2

typedef struct espalier_context espalier_context;

/** Makes a context for `program`, which must outlive it. On an error `*ctx` is
    NULL and the message is `espalier_last_error(NULL)`. */
ESPALIER_API espalier_status espalier_context_create(
    const espalier_program *program, espalier_context **ctx);

/** Frees `ctx`, which may be NULL. */
ESPALIER_API void espalier_context_destroy(espalier_context *ctx);

/** Computes the extents of the outputs, one output after the other, from those
    of `inputs`. The data pointers of `inputs` are not looked at. */
ESPALIER_API espalier_status espalier_plan(espalier_context *ctx,
                                           const espalier_tensor *inputs,
                                           int32_t num_inputs,
                                           int64_t *output_extents);

/** Runs the program. Each output must have the extents that `espalier_plan`
    gives and must not overlap another output or an input. On an error nothing
    was written, unless it is about data that the program has made itself: then
    outputs may hold anything. */
ESPALIER_API espalier_status espalier_run(espalier_context *ctx,
                                          const espalier_tensor *inputs,
                                          int32_t num_inputs,
                                          const espalier_tensor *outputs,
                                          int32_t num_outputs);

/** More threads than this are an error: OpenMP's library ends the process where
    the system cannot start as many as it is asked for. */
#define ESPALIER_MAX_THREADS 1024

/** Sets the number of threads of later runs, up to ESPALIER_MAX_THREADS; at
    first OpenMP's default. */
ESPALIER_API espalier_status espalier_set_num_threads(espalier_context *ctx,
                                                      int32_t num_threads);

/** The message of the last error in `ctx`, or, for NULL, of the calling
    thread's last failed `espalier_context_create`; "" if there was none. */
ESPALIER_API const char *espalier_last_error(const espalier_context *ctx);

/** The number of bytes of one element, or 0 if `dtype` is not a type. */
ESPALIER_API size_t espalier_dtype_size(int32_t dtype);

/** The spelling of `dtype`, "?" if it is not a type. */
ESPALIER_API const char *espalier_dtype_name(int32_t dtype);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ESPALIER_C_RUNTIME_H */
