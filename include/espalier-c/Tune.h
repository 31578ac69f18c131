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
  /** The seconds of all calls of kernels, by default and with the best scripts;
      of several models their sum or geometric mean, by weights. */
  double original_seconds, best_seconds;
} espalier_tune_progress;

/** A model that is searched for, maybe with others. */
typedef struct espalier_model_to_tune {
  /** At stage "graph"; stays as it is. */
  espalier_module *module;
  /** How much its time counts, above 0. */
  double weight;
  /** The seconds of all its calls of kernels that are good enough; 0 for no
      such target. The search ends once all models have one and reach it. */
  double target;
} espalier_model_to_tune;

/** A rule that derives scripts for a kernel. */
typedef struct espalier_sketch_rule {
  const char *name;
  /** Gets the texts of a module that is one kernel and of the script of its
      default schedule, "" for the order of the program, and calls `add` for
      each script. Returns NULL, or what is wrong, which is reported and has to
      live until the next call. */
  const char *(*derive)(const char *kernel, const char *script,
                        void (*add)(const char *script, void *scripts),
                        void *scripts, void *user);
  void *user;
} espalier_sketch_rule;

/** What stands for sizes that are not known. */
typedef struct espalier_measured_sizes {
  /** Each one that does not follow from those with names. */
  int64_t extent;
  /** How much the time with these sizes counts, above 0. */
  double weight;
  /** The sizes with names, as the inputs' extents or a kernel's parameters have
      them: all, or none. */
  uint32_t num_names;
  const char *const *names;
  const int64_t *numbers;
} espalier_measured_sizes;

/** What a search needs of message passing between the ranks of a program, such
    as MPI's: rank 0 searches, and the others measure for it. Called by one
    thread at a time. */
typedef struct espalier_messenger {
  /** The number of ranks, this one among them. */
  uint32_t num_ranks;
  /** Sends bytes to a rank, without waiting for it. Messages to one rank arrive
      in their order, or are lost if it is. */
  void (*send)(uint32_t rank, const char *bytes, size_t size, void *user);
  /** Calls `take` with the next message of any rank and returns that rank; a
      negative number if none comes within so many seconds. */
  int64_t (*receive)(double seconds,
                     void (*take)(const char *bytes, size_t size,
                                  void *message),
                     void *message, void *user);
  void *user;
} espalier_messenger;

/** How long to search, and how. */
typedef struct espalier_tune_options {
  /** Candidates of all kernels of all models together. */
  uint32_t trials;
  /** Seconds after which no candidate is begun; 0 for no limit. */
  double seconds;
  /** Ends the search of a kernel after so many trials that found nothing
     faster; 0 for never. */
  uint32_t patience;
  /** What becomes small of the seconds of models: their "sum", by weights; the
      same of those that have not reached their "target"; or their geometric
      mean, by weights, "geomean". "" is "target" if there are some, else "sum".
   */
  const char *objective;
  uint64_t seed;
  /** How candidates are chosen: "random", "evolution", "drafts" or "model"; ""
     for the last. */
  const char *search;
  /** XGBoost's shared library, which "model" needs; "" for none: then it is
     "drafts". */
  const char *model_library;
  /** Whether convolutions are computed in other ways, too, and kernels split
     and fused, where the program's kernels are faster so by default; kernels
     are searched after that. */
  int32_t algorithms;
  /** Rules beside those that there are. */
  const espalier_sketch_rule *rules;
  uint32_t num_rules;
  /** Kernels of sizes that are not known run with each of these, and the time
     is the geometric mean, with weights. With none, such kernels are left
     alone.
   */
  const espalier_measured_sizes *sizes;
  uint32_t num_sizes;
  /** Called after each trial, from the thread of the call; may be NULL. */
  void (*progress)(const espalier_tune_progress *progress, void *user);
  void *user;
  /** The ranks that measure all candidates, which call
      `espalier_measure_for_ranks`, for the one that searches; NULL to measure
      here. */
  const espalier_messenger *messenger;
} espalier_tune_options;

/** Looks for better schedules of the kernels that models become; those that
    several have are searched for once. `write` is called once with JSON: for
    each model the transform script for the kernels that are faster with it, and
    what was found for each. The file `records` of the options, which is made if
    it is missing, has all trials, and what won, by which compiling then
    schedules kernels; it is read first. A call that is cancelled ends soon,
    without scripts; what was tried is in the records. Returns a negative number
    on an error, whose diagnostics are the first module's last error. */
ESPALIER_API int espalier_tune(const espalier_model_to_tune *models,
                               uint32_t num_models,
                               const espalier_compile_options *options,
                               const espalier_tune_options *tune,
                               void (*write)(const char *, size_t, void *),
                               void *user);

/** Measures for rank 0, which calls `espalier_tune` with the same options and a
    messenger of its own, until it sends an empty message, which is what it does
    after its last search, or until the options say that this is cancelled.
    `module` lends its context. Returns a negative number if something is
    missing. Rank 0 learns what is wrong with this rank. */
ESPALIER_API int
espalier_measure_for_ranks(espalier_module *module,
                           const espalier_compile_options *options,
                           const espalier_messenger *messenger);

/** Tries the script of the default schedule of each kernel `repeats` times, and
    measures the steps on the way. Kernels of extents that are not known run
    with each of `extents`, and not at all without. `write` is called once with
    JSON: for each kernel the medians of steps in seconds of processor time.
    Returns a negative number on an error, whose diagnostics are the module's
    last error. */
ESPALIER_API int
espalier_bench_path(espalier_module *module,
                    const espalier_compile_options *options, uint32_t repeats,
                    const int64_t *extents, uint32_t num_extents,
                    void (*write)(const char *, size_t, void *), void *user);

/** Tries the `most` fastest scripts that the file `records` of the options has
    of each kernel of the module, of whichever build, again with all checks.
    `write` is called once, with JSON: what the records say, and what came of
    them now. The file stays as it is. Returns a negative number on an error,
    whose diagnostics are the module's last error. */
ESPALIER_API int espalier_replay_records(
    espalier_module *module, const espalier_compile_options *options,
    uint32_t most, void (*write)(const char *, size_t, void *), void *user);

/** Adds to the file of records `into`, which is made if it is missing, what it
    has not of the file `from`. Returns the number of new trials, a negative
    number on an error, which is written then; both files are as before. */
ESPALIER_API int64_t espalier_merge_records(const char *into, const char *from,
                                            void (*write)(const char *, size_t,
                                                          void *),
                                            void *user);

/** Removes from the file `records` the trials of other builds if
    `other_builds`, and of each kernel and build all but the `most` fastest
    unless that is 0. Returns the number of trials that went, a negative number
    on an error, which is written then. */
ESPALIER_API int64_t
espalier_prune_records(const char *records, int other_builds, uint64_t most,
                       void (*write)(const char *, size_t, void *), void *user);

/** Calls `write` once with all that the file `records` has, in JSON: for each
    kernel and machine the trials, and what won. Returns a negative number on an
    error, which is written then. */
ESPALIER_API int espalier_describe_records(const char *records,
                                           void (*write)(const char *, size_t,
                                                         void *),
                                           void *user);

/** Trains the model of costs by all kernels in the file `records`. `write` is
    called once with what it has learned, in JSON. Returns a negative number on
    an error, which is written then. */
ESPALIER_API int
espalier_train_trees(const char *records, const char *model_library,
                     void (*write)(const char *, size_t, void *), void *user);

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
