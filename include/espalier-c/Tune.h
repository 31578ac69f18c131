/*===- espalier-c/Tune.h - Faster schedules in C ------------------*- C -*-===*\
|*                                                                           *|
|* Searches for schedules of a model's kernels.                              *|
|*                                                                           *|
\*===----------------------------------------------------------------------===*/

#ifndef ESPALIER_C_TUNE_H
#define ESPALIER_C_TUNE_H

#include "espalier-c/Program.h"

#ifdef __cplusplus
extern "C" {
#endif

/** How far a search has come. */
typedef struct espalier_tune_progress {
  /** Candidates that were tried, and those of them that failed. */
  uint32_t trials, failures;
  double elapsed_seconds;
  /** The seconds of all calls of kernels, by default and with the best scripts.
   */
  double original_seconds, best_seconds;
} espalier_tune_progress;

/** How long to search, and how. */
typedef struct espalier_tune_options {
  /** Candidates of all kernels together. */
  uint32_t trials;
  /** Seconds after which no candidate is begun; 0 for no limit. */
  double seconds;
  uint64_t seed;
  /** How candidates are chosen: "random", "evolution", "drafts" or "model"; ""
     for the last. */
  const char *search;
  /** XGBoost's shared library, which "model" needs; "" for none: then it is
     "drafts". */
  const char *model_library;
  /** Called after each trial, from the thread of the call; may be NULL. */
  void (*progress)(const espalier_tune_progress *progress, void *user);
  void *user;
} espalier_tune_options;

/** Looks for better schedules of the kernels that the module becomes, which is
    at stage "graph" and stays as it is. `write` is called once with JSON: the
    transform script for the kernels that are faster with it, and what was found
    for each. The file `records` of the options, which is made if it is missing,
    has all trials, and what won, by which compiling then schedules kernels; it
    is read first. A call that is cancelled ends soon, without a script; what
   was tried is in the records. Returns a negative number on an error, whose
   diagnostics are the module's last error. */
ESPALIER_API int espalier_tune(espalier_module *module,
                               const espalier_compile_options *options,
                               const espalier_tune_options *tune,
                               void (*write)(const char *, size_t, void *),
                               void *user);

/** Judges how well costs are predicted of the candidates in the file `records`,
    each kernel's by a model that is trained on all others. `write` is called
    once, with JSON: by kernel the number of candidates, and the rank
    correlations with their times of the model and of the estimate. Returns a
    negative number on an error, which is written then. */
ESPALIER_API int
espalier_judge_model(const char *records, const char *model_library,
                     void (*write)(const char *, size_t, void *), void *user);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ESPALIER_C_TUNE_H */
