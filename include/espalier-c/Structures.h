/*===- espalier-c/Structures.h - Numbering of trees and DAGs ------*- C -*-===*\
|*                                                                           *|
|* A recursive model runs on structures whose nodes are numbered together:   *|
|* leaves first, then level by level, each child below its parents. A        *|
|* linearizer checks structures and numbers them. It takes time linear in    *|
|* the nodes and edges, uses no recursion, and keeps its memory for the next *|
|* call.                                                                     *|
|*                                                                           *|
|*   espalier_linearizer *lin = espalier_linearizer_create();                *|
|*   int64_t starts[] = {0, 3};                                              *|
|*   int32_t children[] = {1, 2, -1, -1, -1, -1};                            *|
|*   espalier_structures in = {ESPALIER_TREE, 2, 1, starts, children, 2};    *|
|*   espalier_linearization out;                                             *|
|*   if (espalier_linearize(lin, &in, &out))                                 *|
|*     die(espalier_linearizer_last_error(lin));                             *|
|*   ...                                                                     *|
|*   espalier_linearizer_destroy(lin);                                       *|
|*                                                                           *|
\*===----------------------------------------------------------------------===*/

#ifndef ESPALIER_C_STRUCTURES_H
#define ESPALIER_C_STRUCTURES_H

#include "espalier-c/Runtime.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What nodes may share. */
enum {
  /** No node has two parents, and one node has none. */
  ESPALIER_TREE = 0,
  /** A tree in which no node has two children. */
  ESPALIER_SEQUENCE = 1,
  /** Nodes may share children. */
  ESPALIER_DAG = 2
};

/** Which level a node with children is in. The nodes of a level are computed
    together; the results are the same in all ways. */
enum {
  /** By height: as soon as its children are there. */
  ESPALIER_SOONEST = 0,
  /** As late as its parents allow, with all roots in the last level. */
  ESPALIER_LATEST = 1,
  /** Each alone, soon after what is below it: in post-order. */
  ESPALIER_POST_ORDER = 2
};

/** Structures as the caller has them: either `children` or `parents`. Numbers
    of nodes count from 0 in each structure. */
typedef struct espalier_structures {
  int32_t kind;
  /** The number of children of nodes that are not leaves; 0 if any. */
  int32_t arity;
  int64_t num_structures;
  /** num_structures + 1 numbers: where the nodes of each begin, and the end. */
  const int64_t *starts;
  /** `columns` entries for each node: its children, then negative numbers. Or
      else rows of any length, which `rows` tells apart. */
  const int32_t *children;
  int64_t columns;
  /** The parent of each node, or a negative number. Children of a node are in
      the order of their numbers. */
  const int32_t *parents;
  /** A word for each node; NULL for none. Those of leaves are from 0 to less
      than `leaf_vocabulary`, those of other nodes to less than
      `interior_vocabulary`; 0 where words are not used, and so not checked. */
  const int32_t *words;
  int64_t leaf_vocabulary;
  int64_t interior_vocabulary;
  /** One of `ESPALIER_SOONEST`, `ESPALIER_LATEST`, `ESPALIER_POST_ORDER`. */
  int32_t batching;
  /** The nodes + 1 numbers: where each node's children begin in `children`,
     which has them side by side then, without negative numbers, and where the
     last ones end. NULL for `columns` entries for each node. */
  const int64_t *rows;
} espalier_structures;

/** Structures numbered together. The arrays live until the linearizer's next
    call. */
typedef struct espalier_linearization {
  int64_t num_nodes, num_leaves, num_levels, num_roots;
  /** The entries of a row of `children`: the arity, or the most children. */
  int64_t columns;
  /** num_nodes: how many children each has. */
  const int32_t *arity;
  /** (num_nodes - num_leaves, columns): the children, then zeros. */
  const int32_t *children;
  /** num_levels + 1: where levels of nodes with children begin, counted from
      the first such node, and where the last one ends. */
  const int32_t *levels;
  /** num_roots: the nodes without parents, structure by structure. */
  const int32_t *roots;
  /** num_nodes: which of the caller's nodes each is, counted over all
      structures. Rows of features are permuted so. */
  const int32_t *order;
  /** num_nodes: the word of each; NULL if there were none. */
  const int32_t *words;
} espalier_linearization;

typedef struct espalier_linearizer espalier_linearizer;

/** Makes a linearizer, which serves one thread at a time; NULL if there is no
    memory. */
ESPALIER_API espalier_linearizer *espalier_linearizer_create(void);

/** Frees a linearizer, which may be NULL. */
ESPALIER_API void espalier_linearizer_destroy(espalier_linearizer *linearizer);

/** Checks and numbers structures. An error names the structure and the node. */
ESPALIER_API espalier_status espalier_linearize(
    espalier_linearizer *linearizer, const espalier_structures *structures,
    espalier_linearization *result);

/** The message of the last error; "" if there was none. */
ESPALIER_API const char *
espalier_linearizer_last_error(const espalier_linearizer *linearizer);

#ifdef __cplusplus
} /* extern "C" */
#endif

#endif /* ESPALIER_C_STRUCTURES_H */
