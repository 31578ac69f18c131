/*===- espalier-c/Schedule.h - Scheduling kernels -----------------*- C -*-===*\
|*                                                                            *|
|* Applies scripts of scheduling commands to the kernels of a module, and *|
|* keeps the script of all that was applied:                                  *|
|*                                                                            *|
|*   espalier_schedule *s = espalier_schedule_create(module, "matmul");       *|
|*   if (espalier_schedule_apply(s, text, size) < 0)                          *|
|*     puts(espalier_module_last_error(module));                              *|
|*   espalier_schedule_print(s, write, user);                                 *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ESPALIER_C_SCHEDULE_H
#define ESPALIER_C_SCHEDULE_H

#include "espalier-c/Program.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What was done to one kernel of a module. */
typedef struct espalier_schedule espalier_schedule;

/** Takes a module to a later stage of compilation. At stage "poly" the kernels
    of a model can be scheduled; at stage "statements", before it, there is a
    kernel for each statement of an operator, for which layouts and algorithms
    can be chosen. If `options` name a CPU, layouts and kernels are for it, and
    the module names it. NULL for `options` stands for the default ones. Returns
    a negative number on an error. */
ESPALIER_API int espalier_module_lower(espalier_module *module,
                                       const char *stage,
                                       const espalier_compile_options *options);

/** Applies a transform script, a module with the named sequence
    @__transform_main, to a module; all of it or nothing. Every choice that the
    script runs has to be selected. Values of the module become invalid. Returns
    a negative number on an error. */
ESPALIER_API int espalier_module_transform(espalier_module *module,
                                           const char *script, size_t size);

/** Takes a module to stage "poly" and applies a transform script on the way: to
    the statements of operators, before kernels are formed, its named sequence
    @__transform_statements, then @__transform_main to the kernels. Either may
    be missing. Returns a negative number on an error; the module may be lowered
    then. */
ESPALIER_API int
espalier_module_schedule(espalier_module *module, const char *script,
                         size_t size, const espalier_compile_options *options);

/** Gives the choices of a transform script to `write`, those that
    transform.tune.knob and transform.tune.alternatives make, as JSON: by name,
    with what may be selected and what is,

      [{"name": "rows", "options": [4, 8], "selected": 8},
       {"name": "order", "options": [0, 1], "selected": null}]

    Options that are no numbers, strings or booleans are MLIR text, and so are
    those of a knob whose options are not an array. The module is not changed.
    Returns a negative number on an error. */
ESPALIER_API int espalier_module_describe_choices(
    espalier_module *module, const char *script, size_t size,
    void (*write)(const char *text, size_t size, void *user), void *user);

/** Gives a transform script to `write` with choices selected as `values` says,
   a JSON object such as {"rows": 4, "order": 0}; others stay as they are. The
    module is not changed. Returns a negative number on an error. */
ESPALIER_API int
espalier_module_select(espalier_module *module, const char *script, size_t size,
                       const char *values, size_t values_size,
                       void (*write)(const char *text, size_t size, void *user),
                       void *user);

/** Gives the script of the default schedule to `write`: what is done to the
    kernels of a module at stage "poly" that have no schedule, as commands that
    can be edited and applied; for the processor that `options` name, NULL for
    the default ones. With `kernel`, of this one only, which may have the
    schedule of its program order; another is an error. Returns a negative
   number on an error. */
ESPALIER_API int espalier_module_default_schedule(
    espalier_module *module, const char *kernel,
    const espalier_compile_options *options,
    void (*write)(const char *text, size_t size, void *user), void *user);

/** Gives a JSON object that describes a module's kernels to `write`:
    {"kernel": {"arguments": ["a", "n"], "parameters": ["n"],
    "computations": {"S0": ["i", "j"]}}}, with the names of the kernels'
    arguments, of those that are parameters, of their computations and of the
    computations' dimensions. */
ESPALIER_API void espalier_module_describe_kernels(
    const espalier_module *module,
    void (*write)(const char *text, size_t size, void *user), void *user);

/** Lets the program of a module at stage "poly" time its calls of kernels, in
   an output more (see -poly-profile-calls), and gives a JSON array with an
   object for each row of it to `write`: {"kernel": "relu_1f", "operators":
   ["relu"], "nodes": ["/act/Relu"]}. Returns a negative number on an error. */
ESPALIER_API int espalier_module_profile(espalier_module *module,
                                         void (*write)(const char *text,
                                                       size_t size, void *user),
                                         void *user);

/** Starts to schedule a kernel of a module, which must outlive the result. A
    kernel without a schedule gets that of its program order. Returns NULL on an
    error, whose diagnostics are the module's last error. */
ESPALIER_API espalier_schedule *
espalier_schedule_create(espalier_module *module, const char *kernel);

/** Frees a schedule, which may be NULL; the kernel keeps what was done. */
ESPALIER_API void espalier_schedule_destroy(espalier_schedule *schedule);

/** Applies a transform script to the module, as `espalier_module_transform`
    does, and adds it to what `espalier_schedule_print` gives. */
ESPALIER_API int espalier_schedule_apply(espalier_schedule *schedule,
                                         const char *script, size_t size);

/** Gives the script of all commands that were applied to `write`. */
ESPALIER_API void espalier_schedule_print(
    const espalier_schedule *schedule,
    void (*write)(const char *text, size_t size, void *user), void *user);

/** Gives the dependence for which the last script was refused to `write`, as
    JSON; null if there was another reason, or none:

      {"kind": "flow", "source": "S0", "source_point": [0, 1], "sink": "S0",
       "sink_point": [1, 0], "parameters": [2]} */
ESPALIER_API void espalier_schedule_violation(
    const espalier_schedule *schedule,
    void (*write)(const char *text, size_t size, void *user), void *user);

/** Gives a JSON object with what the kernel does to `write`: its points in the
    order of execution, and the dependences between them,

      {"computations": {"S0": ["i", "j"]}, "loops": ["i.0"], "sizes": [5],
       "points": [{"computation": "S0", "at": [0, 1], "iterations": {"i.0":
   0}}], "dependences": [{"kind": "flow", "source": 0, "sink": 1, "reduction":
   false}], "violation": null}

    for `sizes`, the values of its parameters, which should be small. The
    violation is that of `espalier_schedule_violation`. Returns a negative
   number on an error. */
ESPALIER_API int espalier_schedule_trace(
    espalier_schedule *schedule, const int64_t *sizes, size_t num_sizes,
    void (*write)(const char *text, size_t size, void *user), void *user);

/** Gives the loops of the kernel as they are now, as text, to `write`. Returns
    a negative number on an error. */
ESPALIER_API int espalier_schedule_loops(espalier_schedule *schedule,
                                         void (*write)(const char *text,
                                                       size_t size, void *user),
                                         void *user);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ESPALIER_C_SCHEDULE_H */
