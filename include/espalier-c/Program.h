/*===- espalier-c/Program.h - Compiling modules -------------------*- C -*-===*\
|*                                                                            *|
|* Compiles a module in memory. The result runs through Runtime.h:            *|
|*                                                                            *|
|*   espalier_compile_options options = espalier_default_compile_options();   *|
|*   espalier_executable *e = espalier_compile(module, &options);             *|
|*   if (!e)                                                                  *|
|*     die(espalier_module_last_error(module));                               *|
|*   espalier_context *ctx;                                                   *|
|*   espalier_context_create(espalier_executable_program(e), &ctx);           *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ESPALIER_C_PROGRAM_H
#define ESPALIER_C_PROGRAM_H

#include "espalier-c/IRBuilder.h"
#include "espalier-c/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A compiled module, its code in this process. */
typedef struct espalier_executable espalier_executable;

/** How to compile. A NULL among the texts stands for "". */
typedef struct espalier_compile_options {
  /** LLVM's name of the CPU; "" for the one at hand. */
  const char *cpu;
  /** Differences to it, such as "+avx2,-avx512f". */
  const char *features;
/** The switches of that list, each 0 or 1. */
#define PIPELINE_OPTION(name, value, summary) int32_t name;
#include "espalier-c/PipelineOptions.def"
  /** Number of parts to compile at once, 0 for one per core. */
  uint32_t jobs;
  /** The folder of compiled programs; "" for no cache. */
  const char *cache_dir;
  /** Bytes of all programs in that folder, of which the least recently used
     ones are removed; 0 for what the disk allows. */
  uint64_t cache_limit;
  /** How to look for substitutions: "none" or "", "egraph", "ilp" or
     "backtracking". What is found is used only if it is faster when run. */
  const char *optimize;
  /** The file with the times of kernels, which is made if it is missing; "" for
     none. */
  const char *kernel_times;
  /** Seconds for measuring kernels that the file has not; the cost of others
     is estimated. */
  double measure_seconds;
  /** The file of what `espalier_tune` found, by which kernels are scheduled;
     "", or one that is missing, for none. */
  const char *records;
  /** Number of threads that programs are compared with, and were tuned for. */
  uint32_t run_threads;
  /** Called after each part, from any thread but one at a time; may be NULL. */
  void (*progress)(uint32_t done, uint32_t all, void *user);
  /** Asked between steps, from any thread and by several at once; may be NULL.
     Once the answer is not 0, the call fails soon. */
  int32_t (*cancelled)(void *user);
  void *user;
} espalier_compile_options;

/** Options for this machine, without a cache. */
ESPALIER_API espalier_compile_options espalier_default_compile_options(void);

/** Compiles a module, which is changed on the way; NULL for `options` stands
   for the default ones. Returns NULL on an error, whose diagnostics are the
   module's last error. What it could do without, such as a cache that cannot be
   written, is among the module's last warnings. */
ESPALIER_API espalier_executable *
espalier_compile(espalier_module *module,
                 const espalier_compile_options *options);

/** Frees an executable, which may be NULL; no context may be left. */
ESPALIER_API void espalier_executable_destroy(espalier_executable *executable);

/** The description from which contexts are made; lives as long. */
ESPALIER_API const espalier_program *
espalier_executable_program(const espalier_executable *executable);

/** The number of kernels. */
ESPALIER_API uint64_t
espalier_executable_kernels(const espalier_executable *executable);

/** The seconds that compilation took, also if that was in an earlier process.
 */
ESPALIER_API double
espalier_executable_seconds(const espalier_executable *executable);

/** Whether the program came from the cache. */
ESPALIER_API int32_t
espalier_executable_cached(const espalier_executable *executable);

/** What optimization did, as JSON; "" if there was none. */
ESPALIER_API const char *
espalier_executable_optimization(const espalier_executable *executable);

/** Replaces the module's graph by one that is predicted to be faster, as the
    options say. `write` is called once with a report in JSON, which has both
    graphs and the proofs of the substitutions. Returns a
   negative number on an error, whose diagnostics are the module's last error.
 */
ESPALIER_API int espalier_optimize(espalier_module *module,
                                   const espalier_compile_options *options,
                                   void (*write)(const char *, size_t, void *),
                                   void *user);

/** Stores weights without their zeros, for sums that run over the others where
    the option `entries` is set when compiling. `choices` is a JSON array of
    objects, each with the name of a `node` whose weights it is about, a
    `choice`, "sparse" or "dense", and perhaps a `format`, and the `density` of
    the weights, which is an error if these have another; NULL or "" is none.
    Weights that it does not name become sparse with `others`
      "auto": where that makes the operator that reads them faster when run,
              which is measured for `measure_seconds`; times that the table has
              are taken from there,
      "all":  where few of their elements are not zero,
      "off":  nowhere; with "none" they are an error.
    `write` is called once with a report in JSON, one object for each operator
    whose weights were looked at, which may be the `choices` of another call.
    Returns a negative number on an error, whose diagnostics are the module's
    last error. */
ESPALIER_API int
espalier_choose_sparse(espalier_module *module,
                       const espalier_compile_options *options,
                       const char *others, const char *choices,
                       void (*write)(const char *, size_t, void *), void *user);

/** Writes the program to `path`, as a shared library or an object as the name
    ends in .so or .o, and its C header beside it. Both appear complete or not
   at all. Objects of several programs can be linked together; they need libm
   and, unless compiled without threads, libomp.so.5. Returns a negative number
   on an error, whose message is `espalier_executable_last_error`. */
ESPALIER_API int espalier_executable_save(espalier_executable *executable,
                                          const char *path);

/** The message of the last error of `espalier_executable_save`, or "". */
ESPALIER_API const char *
espalier_executable_last_error(const espalier_executable *executable);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ESPALIER_C_PROGRAM_H */
