/*===- espalier-c/Interpreter.h - The reference interpreter -------*- C -*-===*\
|*                                                                            *|
|* Runs the function `main` of a module of graph operators by their           *|
|* definitions: plain loops in double precision. It is slow, and what every   *|
|* other way to run a program is compared with.                               *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ESPALIER_C_INTERPRETER_H
#define ESPALIER_C_INTERPRETER_H

#include "espalier-c/IRBuilder.h"
#include "espalier-c/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The results of a run. */
typedef struct espalier_results espalier_results;

/** Runs `main` on dense arrays. Returns NULL on an error, whose diagnostics are
    the module's last error. */
ESPALIER_API espalier_results *espalier_interpret(espalier_module *module,
                                                  const espalier_tensor *inputs,
                                                  int32_t num_inputs);

/** The number of results. */
ESPALIER_API int32_t espalier_results_count(const espalier_results *results);

/** One result, valid as long as `results`. */
ESPALIER_API espalier_tensor
espalier_results_get(const espalier_results *results, int32_t index);

/** Frees results, which may be NULL. */
ESPALIER_API void espalier_results_destroy(espalier_results *results);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ESPALIER_C_INTERPRETER_H */
