/*===- espalier-c/Compile.h - Compiling modules -------------------*- C -*-===*\
|*                                                                           *|
|* Turns a module into a program that can be run in this process or stored   *|
|* as a shared library:                                                      *|
|*                                                                           *|
|*   espalier_compiled *c = espalier_compile(module, NULL);                  *|
|*   if (!c)                                                                 *|
|*     die(espalier_module_last_error(module));                              *|
|*   const espalier_program *program = espalier_compiled_load(c);            *|
|*   ...                        contexts and runs: see espalier-c/Runtime.h  *|
|*   espalier_compiled_destroy(c);                                           *|
|*                                                                           *|
|* No function throws or prints.                                             *|
|*                                                                           *|
\*===---------------------------------------------------------------------===*/

#ifndef ESPALIER_C_COMPILE_H
#define ESPALIER_C_COMPILE_H

#include "espalier-c/IRBuilder.h"
#include "espalier-c/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How to compile. Zero stands for the default of each member. */
typedef struct espalier_compile_options {
  /** LLVM's name of the CPU; NULL or "" for the one at hand. */
  const char *cpu;
  /** Differences to that CPU, such as "+avx2,-avx512f". */
  const char *features;
  /** Whether parallel loops stay in one thread, whatever a context asks for. */
  int32_t single_threaded;
  /** Number of kernels to compile at once; 0 for one per core. */
  int32_t jobs;
  /** Folder of compiled programs; NULL or "" for none. */
  const char *cache_dir;
  /** Called after each finished part, one call at a time, from any thread. */
  void (*progress)(int32_t done, int32_t all, void *user);
  void *user;
} espalier_compile_options;

typedef struct espalier_compiled espalier_compiled;

/** Compiles `module`, which is changed on the way and cannot be compiled again.
    Returns NULL on an error, whose diagnostics are the module's last error.
    `options` may be NULL. */
ESPALIER_API espalier_compiled *
espalier_compile(espalier_module *module,
                 const espalier_compile_options *options);

/** Frees a compiled program, which may be NULL. Contexts made from it must be
    gone. */
ESPALIER_API void espalier_compiled_destroy(espalier_compiled *compiled);

/** Links the program into this process, the first time, and returns its
    description, valid as long as `compiled`. Returns NULL on an error: when
   this machine cannot execute the code, or the OpenMP runtime is missing. */
ESPALIER_API const espalier_program *
espalier_compiled_load(espalier_compiled *compiled);

/** Writes the shared library `path` and, beside it, its C header. Returns a
    negative number on an error; nothing half-written is left then. */
ESPALIER_API int espalier_compiled_save(espalier_compiled *compiled,
                                        const char *path);

/** The message of the last error; "" if there was none. */
ESPALIER_API const char *
espalier_compiled_last_error(const espalier_compiled *compiled);

/** The number of kernels. */
ESPALIER_API int64_t
espalier_compiled_num_kernels(const espalier_compiled *compiled);

/** The seconds that compilation took; 0 if the program was in the cache. */
ESPALIER_API double
espalier_compiled_seconds(const espalier_compiled *compiled);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ESPALIER_C_COMPILE_H */
