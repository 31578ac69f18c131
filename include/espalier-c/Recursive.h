/*===- espalier-c/Recursive.h - Recursive models in C -------------*- C -*-===*\
|*                                                                           *|
|* What becomes of a module's recursive models. Structures.h numbers what    *|
|* they run on.                                                              *|
|*                                                                           *|
\*===----------------------------------------------------------------------===*/

#ifndef ESPALIER_C_RECURSIVE_H
#define ESPALIER_C_RECURSIVE_H

#include "espalier-c/IRBuilder.h"

#ifdef __cplusplus
extern "C" {
#endif

/** Gives a line of text to `write` for each operator of the module's recursive
    models: its name, and when it is computed, and why, and where it is written;
    further lines say in which order nodes are computed, which leaves' results
    are stored, which terms could move to a child's cell, and which loop nests
    there are in each level, with what they compute. */
ESPALIER_API void espalier_module_explain_batching(
    const espalier_module *module,
    void (*write)(const char *text, size_t size, void *user), void *user);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ESPALIER_C_RECURSIVE_H */
