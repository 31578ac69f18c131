/*===- espalier-c/IRBuilder.h - Building and reading modules ------*- C -*-===*\
|*                                                                            *|
|* A module holds one function `main` under construction, or was read from    *|
|* text. Operations are made by name; their result types are inferred.        *|
|*                                                                            *|
|*   espalier_module *m = espalier_module_create();                           *|
|*   espalier_value x, y;                                                     *|
|*   int64_t extents[2] = {-1, 3};                                            *|
|*   const char *symbols[2] = {"batch", NULL};                                *|
|*   espalier_module_input(m, "x", "f32", 2, extents, symbols, &x);           *|
|*   espalier_operation op = {"graph.relu", "", &x, 1, NULL, 0};              *|
|*   if (espalier_module_op(m, &op, &y, 1) < 0)                               *|
|*     die(espalier_module_last_error(m));                                    *|
|*   const char *names[1] = {"y"};                                            *|
|*   espalier_module_finish(m, &y, names, 1);                                 *|
|*                                                                            *|
|* Functions that return an int return a negative number on an error, whose   *|
|* diagnostics are then the module's last error; the module is as before. A   *|
|* null pointer where something is needed is an error.                        *|
|* A module serves one thread at a time. No function throws or prints.        *|
|*                                                                            *|
\*===----------------------------------------------------------------------===*/

#ifndef ESPALIER_C_IRBUILDER_H
#define ESPALIER_C_IRBUILDER_H

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

typedef struct espalier_module espalier_module;

/** A value of a module, valid as long as the module; NULL when there is none.
 */
typedef struct espalier_value {
  void *ptr;
} espalier_value;

/** What an attribute is made from. */
typedef enum espalier_attribute_kind {
  /** `text` in MLIR's syntax, such as "#graph.pad_mode<edge>". */
  ESPALIER_ATTRIBUTE_TEXT,
  /** `integer`, as i64. */
  ESPALIER_ATTRIBUTE_INTEGER,
  /** `real`, as f64. */
  ESPALIER_ATTRIBUTE_REAL,
  /** `integer`, as a boolean. */
  ESPALIER_ATTRIBUTE_BOOLEAN,
  /** `integers`, as array<i64: ..>. */
  ESPALIER_ATTRIBUTE_INTEGERS
} espalier_attribute_kind;

typedef struct espalier_attribute {
  const char *name;
  espalier_attribute_kind kind;
  const char *text;
  int64_t integer;
  double real;
  const int64_t *integers;
  size_t num_integers;
} espalier_attribute;

typedef struct espalier_operation {
  /** The operation's full name, such as "graph.conv". */
  const char *name;
  /** What the operation comes from, for diagnostics; may be "". */
  const char *location;
  const espalier_value *operands;
  size_t num_operands;
  const espalier_attribute *attributes;
  size_t num_attributes;
} espalier_operation;

/** Makes a module with an empty function `main`. */
ESPALIER_API espalier_module *espalier_module_create(void);

/** Reads a module from MLIR's text. Returns NULL on an error, whose message is
    `espalier_module_last_error(NULL)`. The parser is not hardened: read text
    that is not trusted in a process of its own. */
ESPALIER_API espalier_module *espalier_module_parse(const char *text,
                                                    size_t size);

/** Frees a module, which may be NULL, and releases the data of constants. */
ESPALIER_API void espalier_module_destroy(espalier_module *module);

/** The diagnostics of the last error of a module, or, for NULL, of the calling
    thread's last failed parse; "" if there was none. */
ESPALIER_API const char *
espalier_module_last_error(const espalier_module *module);

/** The warnings of a module's last compilation, one per line; "" if there were
    none. */
ESPALIER_API const char *
espalier_module_last_warnings(const espalier_module *module);

/** Adds an argument to the function. `extents` are -1 where unknown; `symbols`,
    or single ones, may be NULL. */
ESPALIER_API int espalier_module_input(espalier_module *module,
                                       const char *name,
                                       const char *element_type, int32_t rank,
                                       const int64_t *extents,
                                       const char *const *symbols,
                                       espalier_value *result);

/** Says that the values of an input of integers are from 0 to `limit`, which is
    counted from the size called `size` if that is not NULL: with "steps" and 0
    they are at most the number of steps. The program refuses other values, and
    names the first of them. */
ESPALIER_API int espalier_module_limit_input(espalier_module *module,
                                             espalier_value input,
                                             const char *size, int64_t limit);

/** Adds a constant tensor of `size` bytes. Large data is referred to, not
    copied: it must not change until `release(user)` is called, at the latest
    when the module is destroyed. `release` may be NULL. On an error too, it is
    called. i1 elements are one byte each. */
ESPALIER_API int espalier_module_constant(espalier_module *module,
                                          const char *element_type,
                                          int32_t rank, const int64_t *extents,
                                          const void *data, size_t size,
                                          void (*release)(void *), void *user,
                                          espalier_value *result);

/** Makes an input of `main` a constant, in a module that is complete. The
    program does not take it any more, and what depends on it alone, such as
    packed weights, is computed when compiling. The data is as in
    espalier_module_constant. */
ESPALIER_API int espalier_module_bind_input(espalier_module *module,
                                            const char *name, const void *data,
                                            size_t size,
                                            void (*release)(void *),
                                            void *user);

/** Adds an operation. Returns the number of its results, of which the first
    `max_results` are stored in `results`. */
ESPALIER_API int espalier_module_op(espalier_module *module,
                                    const espalier_operation *operation,
                                    espalier_value *results,
                                    size_t max_results);

/** A cell that is computed for each step of sequences: `graph.scan`. */
typedef struct espalier_scan {
  /** What the operation comes from, for diagnostics; may be "". */
  const char *location;
  /** The initial states. */
  const espalier_value *states;
  size_t num_states;
  /** Tensors with an element of dimension 0 for each step. */
  const espalier_value *sequences;
  size_t num_sequences;
  /** Adds the operations of the cell to the module, for states and elements of
      the sequences, which are its `arguments`; they may use any other values,
      too. Returns the number of values that the step gives, and these as
      `yielded`, which the caller owns: the next states, then what is collected;
      or a negative number to give up. */
  int (*body)(const espalier_value *arguments, const espalier_value **yielded,
              void *user);
  void *user;
} espalier_scan;

/** Adds a cell with the operations that `scan->body` adds meanwhile. Results
    are as for espalier_module_op: the last states, then the collected values.
 */
ESPALIER_API int espalier_module_scan(espalier_module *module,
                                      const espalier_scan *scan,
                                      espalier_value *results,
                                      size_t max_results);

/** Adds a constant index. */
ESPALIER_API int espalier_module_index(espalier_module *module, int64_t number,
                                       espalier_value *result);

/** Returns the extent of a dimension of a tensor as an index. The tensor is not
    one of a cell under construction. */
ESPALIER_API int espalier_module_dim(espalier_module *module,
                                     espalier_value value, int32_t dimension,
                                     espalier_value *result);

/** Computes on indices; `name` is add, sub, mul, div (towards zero), floordiv,
    mod (not negative), max or min. */
ESPALIER_API int espalier_module_index_op(espalier_module *module,
                                          const char *name, espalier_value left,
                                          espalier_value right,
                                          espalier_value *result);

/** Lets the function return `outputs`, and verifies the module. */
ESPALIER_API int espalier_module_finish(espalier_module *module,
                                        const espalier_value *outputs,
                                        const char *const *names,
                                        size_t num_outputs);

/** Names the program that the module becomes: what it exports in C starts with
    that. A name that is no identifier of C is an error of compiling. Without
   one the name is "program". */
ESPALIER_API int espalier_module_set_name(espalier_module *module,
                                          const char *name);

/** The name that was set, or that of the parsed `module @name`; empty without
    one. */
ESPALIER_API void espalier_module_name(const espalier_module *module,
                                       void (*write)(const char *text,
                                                     size_t size, void *user),
                                       void *user);

/** Gives the module's text to `write`, in one or several pieces. */
ESPALIER_API void espalier_module_print(const espalier_module *module,
                                        void (*write)(const char *text,
                                                      size_t size, void *user),
                                        void *user);

/** The number of arguments and of results of `main`; -1 if there is none. */
ESPALIER_API int32_t espalier_module_num_inputs(const espalier_module *module);
ESPALIER_API int32_t espalier_module_num_outputs(const espalier_module *module);

/** The name of an argument or a result of `main`: its attribute espalier.name,
    or else "input<index>" or "output<index>". The index is one of those that
    there are. */
ESPALIER_API void espalier_module_input_name(
    const espalier_module *module, int32_t index,
    void (*write)(const char *text, size_t size, void *user), void *user);
ESPALIER_API void espalier_module_output_name(
    const espalier_module *module, int32_t index,
    void (*write)(const char *text, size_t size, void *user), void *user);

/** The rank of a tensor; -1 for an index and for no value. */
ESPALIER_API int32_t espalier_value_rank(espalier_value value);

/** The extent of a dimension; -1 if it is unknown or there is none. */
ESPALIER_API int64_t espalier_value_extent(espalier_value value,
                                           int32_t dimension);

/** Gives the element type's text to `write`; for an index it is "index", and ""
    for no value. */
ESPALIER_API void espalier_value_element_type(
    espalier_value value,
    void (*write)(const char *text, size_t size, void *user), void *user);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ESPALIER_C_IRBUILDER_H */
